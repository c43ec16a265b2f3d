import HTTPDNSJSON
import Testing

@Suite struct LocatedJSONTests {
    @Test func `values, names and duplicates know where they stand`() throws {
        let text = "\u{FEFF} {\n \"a\": [1, \"x,]\\\"\" , {}],\n \"ü\" :true, \"a\":null }"
        let octets = Array(text.utf8)
        let root = try LocatedJSON.parse(octets)
        let members = try #require(root.members)
        #expect(members.map(\.name) == ["a", "ü", "a"])
        let place = { (offset: Int) in
            let (line, column) = LocatedJSON.position(of: offset, in: octets)
            return "\(line):\(column)"
        }
        #expect(members.map { place($0.nameOffset) } == ["2:2", "3:2", "3:13"])
        #expect(members.map { place($0.value.offset) } == ["2:7", "3:7", "3:17"])
        #expect(root.duplicate?.nameOffset == members[2].nameOffset)
        let list = try #require(members[0].value.array)
        #expect(list.map { place($0.offset) } == ["2:8", "2:11", "2:21"])
        #expect(list[0].integer == 1)
        #expect(list[1].string == "x,]\"")
        #expect(list[2].members?.isEmpty == true)
        #expect(members[1].value.bool == true)
        #expect(members[2].value.kind == "null")
    }

    @Test func `what is not JSON is refused as everywhere, with its place`() {
        do throws(JSONError) {
            _ = try LocatedJSON.parse(Array("[1,\n 2,, 3]".utf8))
            Issue.record("two commas were taken")
        } catch {
            #expect(error.offset == 7)
        }
    }
}
