import HTTPDNSCLI
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire

extension LookupReport {
    /// A negative answer that took so long.
    static func answered(milliseconds: Double) throws -> LookupReport {
        let subject = LookupSubject("a.test", types: [.a])
        let testimony = Testimony(
            question: Question(name: try subject.name.get(), type: .a), code: .noSuchName,
            answers: [], source: Testimony.Source(resolver: "one", transport: .udp))
        return LookupReport(
            subject: subject, source: LookupSourceFacts(label: "one", transport: "udp"),
            parts: [
                Part(
                    type: .a,
                    result: .success(
                        LookupAnswer(testimony: testimony, ttlSeconds: 0, isCached: false)))
            ], milliseconds: milliseconds, asksForAddresses: false)
    }
}
