import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import Testing

@Suite struct ServiceParametersTests {
    @Test func `parameters are kept by key, the last of equals`() throws {
        let some = try ServiceParameters([("b", "2"), ("a", "1"), ("b", "3=")])
        #expect(some.entries.map(\.key) == ["a", "b"])
        #expect(some.entries.map(\.value) == ["1", "3="])
        #expect(try some == ServiceParameters([("a", "1"), ("b", "3=")]))
    }

    @Test(arguments: [("", "x"), ("a b", "x"), ("a", "x&y"), ("ключ", "x"), ("a", "é")])
    func `what would not travel unchanged is refused`(key: String, value: String) {
        let error = #expect(throws: ServiceParameterError.self) {
            try ServiceParameters([(key, value)])
        }
        #expect(error?.description.isEmpty == false)
    }

    @Test func `1,000 octets are allowed and not one more`() throws {
        #expect(try !ServiceParameters([("k", String(repeating: "v", count: 999))]).isEmpty)
        #expect(throws: ServiceParameterError.tooLong(octets: 1_001)) {
            try ServiceParameters([("k", String(repeating: "v", count: 1_000))])
        }
    }

    @Test(arguments: [
        ("192.0.2.77/24", [0, 1, 24, 0, 192, 0, 2] as [UInt8]), ("10.0.0.0/8", [0, 1, 8, 0, 10]),
        ("0.0.0.0/0", [0, 1, 0, 0]),
        ("2001:db8:ffff::/33", [0, 2, 33, 0, 0x20, 1, 0xD, 0xB8, 0x80]),
    ]) func `a client subnet travels as RFC 7871 says`(block: String, octets: [UInt8]) throws {
        var question = Question(name: try HostName("www.example.test"), type: .a)
        question.clientSubnet = try AddressBlock(block)
        let edns = question.query(id: 7, edns: nil).edns
        #expect(edns?.options == [.clientSubnet(octets)])
    }
}
