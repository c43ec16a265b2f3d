import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import Testing

@Suite struct DisagreementTests {
    private enum Answer {
        case addresses([String])
        case code(ResponseCode)

        func testimony(by label: String) throws -> Testimony {
            let question = try Said.question("www.example.com")
            switch self {
            case .addresses(let texts):
                return try Said.addresses(texts, to: question, by: label)
            case .code(let code): return Said.nothing(code, soa: 60, to: question, by: label)
            }
        }
    }

    private static func compared(
        _ authenticated: Answer, _ plain: Answer
    ) throws -> Disagreement? {
        Disagreement(
            authenticated: try authenticated.testimony(by: "doh"),
            plain: try plain.testimony(by: "udp"), millisecondsApart: 12)
    }

    private static let one = Answer.addresses(["1.0.0.1", "1.0.0.2"])

    @Test func `answers that share an address agree, whatever their order`() throws {
        #expect(try Self.compared(Self.one, .addresses(["1.0.0.2", "1.0.0.1"])) == nil)
        #expect(try Self.compared(Self.one, .addresses(["1.0.0.2", "1.0.0.3"])) == nil)
        #expect(try Self.compared(.code(.noSuchName), .code(.noSuchName)) == nil)
        #expect(try Self.compared(.code(.noError), .code(.noError)) == nil)
        #expect(try Self.compared(.code(.serverFailure), .code(.refused)) == nil)
    }

    @Test func `what differs is told by how telling it is`() throws {
        #expect(try Self.compared(Self.one, .addresses(["2.0.0.1"]))?.kind == .disjoint)
        #expect(try Self.compared(Self.one, .code(.noSuchName))?.kind == .denied)
        #expect(try Self.compared(.code(.noSuchName), Self.one)?.kind == .denied)
        #expect(try Self.compared(Self.one, .code(.noError))?.kind == .emptied)
        #expect(try Self.compared(Self.one, .code(.refused))?.kind == .failed)
        #expect(try Self.compared(.code(.serverFailure), Self.one)?.kind == .failed)
    }

    @Test(arguments: ["127.0.0.1", "0.0.0.0", "10.1.1.1", "198.18.0.1"])
    func `a sinkhole is impossible, even beside a shared address`(sinkhole: String) throws {
        let found = try Self.compared(Self.one, .addresses(["1.0.0.1", sinkhole]))
        #expect(found?.kind == .impossibleAddresses)
        #expect(
            try Self.compared(.code(.noSuchName), .addresses([sinkhole]))?.kind
                == .impossibleAddresses)
        #expect(try Self.compared(.addresses([sinkhole]), .addresses([sinkhole])) == nil)
    }

    @Test func `answers to different questions are not compared`() throws {
        let other = try Said.addresses(["2.0.0.1"], to: try Said.question("other.example.com"))
        let found = Disagreement(
            authenticated: try Self.one.testimony(by: "doh"), plain: other, millisecondsApart: 0)
        #expect(found == nil)
    }

    @Test func `a disagreement reads as one line with both sides`() throws {
        let found = try #require(try Self.compared(Self.one, .addresses(["127.0.0.1"])))
        #expect(found.millisecondsApart == 12)
        #expect(
            found.description
                == "www.example.com A: doh says 1.0.0.1, 1.0.0.2, but udp says 127.0.0.1 "
                + "(impossible_addresses)")
    }
}
