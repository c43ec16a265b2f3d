import HTTPDNSDiagnosis
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSTrust
import Testing

/// Whether it is the clock: decided by certificates and by times that are proven, and by no other.
@Suite struct ClockVerdictTests {
    private static let year: Int64 = 365 * 86_400

    /// Everybody gives 8.8.9.1, whose certificate is out of date.
    private func dated(_ code: TrustFailure.Code) -> Scene {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.refuses("8.8.9.1", code)
        return scene
    }

    private let clockIsWrong = Verdict.inconclusive(missing: [.rightClock])

    @Test func `certificates that have not begun anywhere are the clock's fault`() {
        #expect(dated(.notYetValid).verdict == clockIsWrong)
    }

    @Test func `certificates of unrelated servers that have all ended are the clock's fault`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.fails(scene.doh, .untrusted("expired: the certificate has ended"))
        scene.refuses("8.8.9.1", .expired)
        #expect(scene.verdict == clockIsWrong)
    }

    @Test(arguments: [(TrustFailure.Code.expired, year), (.notYetValid, -year)])
    func `a trusted source that says another date shows that the clock is wrong`(
        code: TrustFailure.Code, ahead: Int64
    ) {
        var scene = dated(code)
        scene.tells(scene.doh, ahead: ahead, isProven: true)
        #expect(scene.verdict == clockIsWrong)
        #expect(scene.judgement.confidence == .likely)
        #expect(scene.judgement.evidenceFor.first?.text.contains(scene.doh.label) == true)
        #expect(scene.judgement.layers.first { $0.layer == .clock }?.state == .bad)
    }

    @Test func `two trusted sources that agree on the date leave no doubt`() {
        var scene = dated(.expired)
        let other = EvidenceSource(
            label: "https://dns.example.net/dns-query", standing: .trusted, transport: .https)
        scene.tells(scene.doh, ahead: Self.year, isProven: true)
        scene.tells(other, ahead: Self.year + 3, isProven: true)
        #expect(scene.verdict == clockIsWrong)
        #expect(scene.judgement.confidence == .certain)
    }

    @Test(arguments: [TrustFailure.Code.expired, .notYetValid])
    func `a trusted source that says the same date leaves it to the origin`(
        code: TrustFailure.Code
    ) {
        var scene = dated(code)
        scene.tells(scene.doh, ahead: 2, isProven: true)
        #expect(scene.verdict == .originBroken)
        #expect(scene.judgement.layers.first { $0.layer == .clock }?.state == .good)
    }

    @Test func `a clock that is wrong the other way does not end a certificate`() {
        var scene = dated(.expired)
        scene.tells(scene.doh, ahead: -Self.year, isProven: true)
        #expect(scene.verdict == .originBroken)
    }

    @Test func `a date that nobody proved does not decide, and is told as a doubt`() {
        var scene = dated(.expired)
        scene.tells(scene.resolver, ahead: Self.year, isProven: false)
        let then = WallTime(secondsSince1970: Scene.now.secondsSince1970 - Self.year)
        scene.fetches(.plain, FetchEvidence.Page(status: 200, date: then))
        #expect(scene.verdict == .originBroken)
        #expect(scene.judgement.confidence == .likely)
        #expect(scene.judgement.evidenceAgainst.contains { $0.code == "clock_may_be_wrong" })
    }

    @Test(arguments: [
        (Int64(0), year, Verdict.inconclusive(missing: [.rightClock])), (year, 0, .originBroken),
    ])
    func `a date that nobody proved changes nothing about one that is proven`(
        lie: Int64, truth: Int64, verdict: Verdict
    ) {
        var scene = dated(.expired)
        scene.tells(scene.resolver, ahead: lie, isProven: false)
        scene.tells(scene.doh, ahead: truth, isProven: true)
        #expect(scene.verdict == verdict)
    }

    @Test func `a certificate refused for another reason is not the clock's fault`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.refuses("8.8.9.1", .unknownIssuer, issuer: "CN=Quiet Root")
        scene.tells(scene.doh, ahead: Self.year, isProven: true)
        #expect(scene.verdict == .tlsIntercepted)
    }

    @Test func `a wrong date from a server does not shake a proof`() {
        var scene = Scene()
        scene.networkSays("8.8.9.1")
        scene.says(scene.doh, "8.8.9.1")
        scene.proves("8.8.9.1")
        scene.fetches(
            .plain, FetchEvidence.Page(status: 200, date: WallTime(secondsSince1970: 0)))
        #expect(scene.verdict == .clean)
        #expect(scene.judgement.notes.contains { $0.code == "clock_skew" })
    }

    @Test(arguments: [Int64.min, .min + 1, -1, 0, .max])
    func `no time that a server can say overflows`(seconds: Int64) {
        var scene = dated(.expired)
        for isProven in [true, false] {
            scene.evidence.times.append(
                TimeEvidence(
                    teller: "far away", form: .serviceTime, isProven: isProven,
                    time: WallTime(secondsSince1970: seconds), now: Scene.now))
        }
        _ = scene.judgement
        #expect(ToldTime(date: WallTime(secondsSince1970: .max), age: "1") == nil)
    }
}
