internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSTrust

/// Whether this machine's clock is what makes certificates bad.
///
/// Rules:
/// 1. Where the name is proven, the clock bears it.
/// 2. It can be the clock only if every certificate that was refused is out of date, and one is.
/// 3. A time is anybody's to forge but those who proved who they are: these decide whether the clock is
///    wrong, and that it is right. What others say decides nothing.
/// 4. Without proven times, certificates that have all not begun, or those of unrelated servers that are
///    all out of date, speak for a wrong clock.
struct ClockJudging {
    let judging: Judging

    init(_ judging: Judging) { self.judging = judging }

    private var evidence: Evidence { judging.evidence }

    /// Nil: it need not be the clock.
    var ruling: Ruling? {
        guard !judging.weighing.hasProof, let failures = datedFailures else { return nil }
        if let skew = provenSkew {
            guard skew.magnitude > ClockJudging.muchSeconds, failures.mayCome(from: skew) else {
                return nil
            }
            let finding = Finding(
                "clock_is_wrong",
                "this machine's clock is \(ClockJudging.words(skew)), by "
                    + provenTimes.prefix(3).map(\.teller).joined(separator: ", "))
            return Ruling(.inconclusive(missing: [.rightClock]), confidence, [finding])
        }
        guard let finding = failures.finding else { return nil }
        return Ruling(
            .inconclusive(missing: [.rightClock]), .likely, [finding] + (doubt.map { [$0] } ?? []))
    }

    /// One server may have a wrong clock itself; not two that agree.
    private var confidence: Confidence {
        let skews = Dictionary(grouping: provenTimes, by: \.teller).compactMap {
            $0.value.first?.skewSeconds
        }.sorted()
        guard skews.count > 1, let first = skews.first, let last = skews.last else {
            return .likely
        }
        return ClockJudging.distance(first, last) <= ClockJudging.muchSeconds ? .certain : .likely
    }

    /// A time that nobody proved, and that would explain the certificates.
    var doubt: Finding? {
        guard provenSkew == nil, let skew = unprovenSkew,
            skew.magnitude > ClockJudging.muchSeconds,
            datedFailures?.mayCome(from: skew) == true
        else { return nil }
        return Finding(
            "clock_may_be_wrong",
            "this machine's clock is \(ClockJudging.words(skew)), as servers say that did not prove "
                + "who they are")
    }

    // MARK: Certificates

    /// How many certificates are out of date, and which way.
    private struct DatedFailures {
        let early: Int
        let late: Int
        /// Of trusted sources.
        let ofSources: Int

        /// A clock that is behind makes certificates begin too late, one ahead makes them end too early.
        func mayCome(from skew: Int64) -> Bool {
            ofSources > 0 || (skew < 0 ? early > 0 : late > 0)
        }

        /// What they say by themselves.
        var finding: Finding? {
            if early > 0, late == 0 {
                return Finding(
                    "nothing_valid_yet",
                    "every certificate begins later than this machine's clock says")
            }
            guard ofSources > 0 else { return nil }
            return Finding(
                "nothing_valid",
                "certificates of unrelated servers are all out of date by this machine's clock")
        }
    }

    /// Nil where a certificate was refused for another reason, or none was.
    private var datedFailures: DatedFailures? {
        let failures = judging.weighing.addresses.compactMap { judging.weighing.failure(at: $0) }
        let ofSources = evidence.answers.filter { answer in
            guard case .failure(.untrusted(let why)) = answer.result else { return false }
            return why.contains(TrustFailure.Code.expired.label)
                || why.contains(TrustFailure.Code.notYetValid.label)
        }.count
        let early = failures.filter { $0.code == .notYetValid }.count
        let late = failures.filter { $0.code == .expired }.count
        guard early + late == failures.count, early + late + ofSources > 0 else { return nil }
        return DatedFailures(early: early, late: late, ofSources: ofSources)
    }

    // MARK: Times

    /// What sources and pages say.
    private var times: [TimeEvidence] {
        evidence.times
            + evidence.fetches.compactMap { fetch in
                guard let date = (try? fetch.result.get())?.date else { return nil }
                return TimeEvidence(
                    teller: fetch.url, form: .dateField, isProven: fetch.purpose == .verified,
                    time: date, now: evidence.now, seen: fetch.seen)
            }
    }

    private var provenTimes: [TimeEvidence] { times.filter(\.isProven) }

    /// Our clock before or behind what proven servers say, in seconds; nil where none says.
    private var provenSkew: Int64? { ClockJudging.middle(provenTimes) }

    private var unprovenSkew: Int64? { ClockJudging.middle(times.filter { !$0.isProven }) }

    /// By those who proved who they are; where there are none, by the others.
    var skew: (seconds: Int64, isProven: Bool)? {
        if let provenSkew { return (provenSkew, true) }
        return unprovenSkew.map { ($0, false) }
    }

    private static func middle(_ times: [TimeEvidence]) -> Int64? {
        let skews = times.map(\.skewSeconds).sorted()
        return skews.isEmpty ? nil : skews[skews.count / 2]
    }

    private static func distance(_ left: Int64, _ right: Int64) -> UInt64 {
        let (distance, overflow) = left.subtractingReportingOverflow(right)
        return overflow ? .max : distance.magnitude
    }

    static func words(_ skew: Int64) -> String {
        let (days, hours) = (skew.magnitude / 86_400, skew.magnitude / 3_600)
        let amount = days > 1 ? "\(days) days" : hours > 1 ? "\(hours) h" : "\(skew.magnitude) s"
        return amount + (skew < 0 ? " behind servers'" : " ahead of servers'")
    }

    /// Because: a page takes a second or two to arrive, and its date has whole ones.
    static let fewSeconds: UInt64 = 10

    /// Because: a certificate's first and last day are what a wrong time zone can spoil; more than a
    /// day is a wrong clock.
    static let muchSeconds: UInt64 = 86_400
}
