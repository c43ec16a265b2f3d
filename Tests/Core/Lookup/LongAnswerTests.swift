import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import Testing

/// A message has room for thousands of records: they must cost no more than their number.
@Suite(.timeLimit(.minutes(1))) struct LongAnswerTests {
    /// As many as 64 KiB hold, of 16 octets each.
    static let count = 4_000

    @Test func `a chain of thousands of aliases is followed to its end`() throws {
        let question = try Said.question("n0.test")
        var records = try (0..<Self.count).map {
            try Said.alias("n\($0).test", 60, "n\($0 + 1).test")
        }
        records.append(try Said.record("n\(Self.count).test", 60, "127.0.0.1"))
        let answer = LookupAnswer(
            testimony: Testimony(
                question: question, code: .noError, answers: records.reversed(),
                source: Testimony.Source(resolver: "one", transport: .tcp)),
            ttlSeconds: 60, isCached: false)
        for _ in 0..<20 { #expect(answer.outcome == .records) }
        #expect(answer.aliases.count == Self.count)
        #expect(answer.addresses == [try IPAddress("127.0.0.1")])
    }
}
