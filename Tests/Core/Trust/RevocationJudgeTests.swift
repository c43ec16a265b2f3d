import HTTPDNSNames
import HTTPDNSTrust
import Testing

@Suite struct RevocationJudgeTests {
    private static let now = TrustFixtures.now

    private static func time(_ seconds: Int64) -> WallTime {
        WallTime(secondsSince1970: now.secondsSince1970 + seconds)
    }

    private static func staple(
        _ status: StapleFacts.Status = .good, from: Int64 = -100, to: Int64? = 100
    ) -> StapleEvidence {
        .read(StapleFacts(status: status, thisUpdate: time(from), nextUpdate: to.map(time)))
    }

    private static func outcome(
        _ staple: StapleEvidence = .absent, lists: [ListFinding] = [], demands: Bool = false,
        mode: RevocationPolicy.Mode = .ifPresent
    ) -> Result<RevocationReport, RevocationJudge.Fault> {
        let evidence = RevocationEvidence(demandsStaple: demands, lists: lists)
        do throws(RevocationJudge.Fault) {
            return .success(
                try RevocationJudge.judge(evidence, staple: staple, mode: mode, now: now))
        } catch { return .failure(error) }
    }

    private static func code(
        _ outcome: Result<RevocationReport, RevocationJudge.Fault>
    ) -> TrustFailure.Code? {
        if case .failure(let fault) = outcome { fault.code } else { nil }
    }

    @Test func `off looks at nothing and says so`() throws {
        let outcome = Self.outcome(
            Self.staple(.revoked(since: nil, reason: nil)), lists: [.revoked], demands: true,
            mode: .off)
        #expect(try outcome.get() == .off)
    }

    @Test(arguments: [RevocationPolicy.Mode.ifPresent, .required])
    func `whoever says revoked is believed, whatever else says`(mode: RevocationPolicy.Mode) {
        let revoked = StapleFacts.Status.revoked(since: Self.now, reason: "keyCompromise")
        for (staple, lists) in [
            (Self.staple(revoked), [.good(until: nil), .unlisted]),
            (Self.staple(revoked, from: -9_000, to: -8_000), []),
            (Self.staple(), [.revoked, .unlisted]), (Self.staple(), [.unlisted, .revoked]),
            (.absent, [.unlisted, .unlisted, .revoked]),
        ] as [(StapleEvidence, [ListFinding])] {
            #expect(Self.code(Self.outcome(staple, lists: lists, mode: mode)) == .revoked)
        }
    }

    @Test func `a staple counts from thisUpdate to nextUpdate, with five minutes for clocks`()
        throws
    {
        for (from, to, isGood) in [
            (-100, 100, true), (0, 0, true), (300, 900, true), (301, 900, false),
            (-900, -300, true), (-900, -301, false), (100, -100, false),
        ] as [(Int64, Int64, Bool)] {
            let leaf = try Self.outcome(Self.staple(from: from, to: to)).get().leaf
            #expect(
                leaf == (isGood ? .good(.staple, until: Self.time(to)) : .notChecked(.unusable)))
        }
    }

    @Test func `a staple without nextUpdate counts for a day`() throws {
        let fresh = try Self.outcome(Self.staple(from: -86_000, to: nil)).get()
        #expect(fresh.leaf == .good(.staple, until: Self.time(400)))
        let stale = try Self.outcome(Self.staple(from: -87_000, to: nil)).get()
        #expect(stale.leaf == .notChecked(.unusable))
    }

    @Test func `times at the ends of the calendar do not trap`() {
        for (from, to) in [(Int64.min, Int64.max), (.max, nil), (.min, nil), (.max, .min)] {
            let facts = StapleFacts(
                status: .good, thisUpdate: WallTime(secondsSince1970: from),
                nextUpdate: to.map { WallTime(secondsSince1970: $0) })
            _ = Self.outcome(.read(facts))
        }
    }

    @Test func `what is there and proves nothing is said`() throws {
        let report = try Self.outcome(
            .unusable("is malformed"), lists: [.unusable("proves nothing: CRL has expired")]
        ).get()
        #expect(report.leaf == .notChecked(.unusable))
        #expect(
            report.remarks == [
                "the staple is malformed",
                "the revocation list for the certificate proves nothing: CRL has expired",
            ])
        #expect(report.summary.hasPrefix("not checked"))
    }

    @Test func `why nothing was found out tells no staple from no handshake`() throws {
        #expect(try Self.outcome(.absent).get().leaf == .notChecked(.nothingPresent))
        #expect(try Self.outcome(.notAsked).get().leaf == .notChecked(.noHandshake))
        #expect(
            try Self.outcome(.absent, lists: [.unlisted]).get().leaf
                == .notChecked(.nothingPresent))
    }

    @Test func `required is met by a good staple or a good list, and by nothing else`() {
        for (staple, lists, code) in [
            (Self.staple(), [], nil), (.absent, [.good(until: nil)], nil),
            (.unusable("is malformed"), [.good(until: nil)], nil),
            (.notAsked, [.good(until: nil)], nil),
            (.absent, [], TrustFailure.Code.revocationUnknown),
            (.notAsked, [], .revocationUnknown), (.absent, [.unlisted], .revocationUnknown),
            (.absent, [.unlisted, .good(until: nil)], .revocationUnknown),
            (.absent, [.unusable("has ended")], .revocationUnknown),
            (.unusable("is malformed"), [], .stapleInvalid),
            (Self.staple(.unknown), [.unlisted], .stapleInvalid),
        ] as [(StapleEvidence, [ListFinding], TrustFailure.Code?)] {
            let outcome = Self.outcome(staple, lists: lists, mode: .required)
            #expect(Self.code(outcome) == code, "\(staple) \(lists)")
        }
    }

    @Test(arguments: [RevocationPolicy.Mode.ifPresent, .required])
    func `a demanded staple is not replaced by a list`(mode: RevocationPolicy.Mode) {
        let good = [ListFinding.good(until: nil)]
        for (staple, code) in [
            (Self.staple(), nil), (.absent, TrustFailure.Code.stapleMissing),
            (.unusable("is malformed"), .stapleInvalid),
            (Self.staple(from: -900, to: -301), .stapleInvalid),
            (Self.staple(.unknown), .stapleInvalid), (.notAsked, nil),
        ] as [(StapleEvidence, TrustFailure.Code?)] {
            let outcome = Self.outcome(staple, lists: good, demands: true, mode: mode)
            #expect(Self.code(outcome) == code)
        }
    }

    @Test func `authorities are those between leaf and root`() throws {
        let good = ListFinding.good(until: Self.time(50))
        let report = try Self.outcome(lists: [good, .unlisted, good, good]).get()
        #expect(
            report.issuers == [.notChecked(.nothingPresent), .good(.list, until: Self.time(50))])
        #expect(try Self.outcome(lists: [good, good]).get().issuers == [])
        #expect(try Self.outcome(lists: [good]).get().issuers == [])
    }

    @Test func `what was demanded has to hold later, what was not need not`() throws {
        let late = Self.time(100 + 301)
        let demanded = try Self.outcome(Self.staple(), demands: true).get()
        #expect(throws: Never.self) {
            try RevocationJudge.confirm(demanded, now: Self.time(400))
        }
        let fault = #expect(throws: RevocationJudge.Fault.self) {
            try RevocationJudge.confirm(demanded, now: late)
        }
        #expect(fault?.code == .stapleInvalid)
        let byList = try Self.outcome(lists: [.good(until: Self.time(100))], mode: .required).get()
        let other = #expect(throws: RevocationJudge.Fault.self) {
            try RevocationJudge.confirm(byList, now: late)
        }
        #expect(other?.code == .revocationUnknown)
        let optional = try Self.outcome(Self.staple()).get()
        #expect(throws: Never.self) { try RevocationJudge.confirm(optional, now: late) }
    }
}
