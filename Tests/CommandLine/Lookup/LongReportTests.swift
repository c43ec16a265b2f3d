import HTTPDNSCLI
import HTTPDNSJSON
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import Testing

/// A message has room for thousands of records: they must cost no more than their number.
@Suite(.timeLimit(.minutes(1))) struct LongReportTests {
    /// As many as 64 KiB hold, of 16 octets each.
    static let count = 4_000

    private func report() throws -> LookupReport {
        let subject = LookupSubject("many.test", types: [.a])
        let name = try subject.name.get()
        let records = try (0..<Self.count).map { number in
            ResourceRecord(
                name: WireName(name), type: .a, ttlSeconds: 60,
                data: .address(try IPAddress("127.0.\(number / 256).\(number % 256)")))
        }
        let testimony = Testimony(
            question: Question(name: name, type: .a), code: .noError, answers: records + records,
            source: Testimony.Source(resolver: "one", transport: .tcp))
        let answer = LookupAnswer(testimony: testimony, ttlSeconds: 60, isCached: false)
        return LookupReport(
            subject: subject, source: LookupSourceFacts(label: "one", transport: "tcp"),
            parts: [LookupReport.Part(type: .a, result: .success(answer))], milliseconds: 1,
            asksForAddresses: false)
    }

    @Test func `thousands of records are shown, each once`() throws {
        let report = try report()
        let rendering = LookupRendering(
            usesSeconds: false, wantsDNSSEC: false, paint: Paint(isOn: false))
        #expect(rendering.table(report).count == Self.count + 2)
        #expect(rendering.rows(report).count == Self.count)
        #expect(report.addresses.count == Self.count)
        #expect(report.json["answers"]?.array?.count == Self.count)
    }
}
