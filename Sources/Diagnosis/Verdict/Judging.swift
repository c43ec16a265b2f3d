internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSTrust
internal import HTTPDNSWire

extension Judgement {
    /// What the evidence means. Pure: the same evidence always gets the same verdict.
    ///
    /// In this order, the first that holds:
    ///
    ///     nobody answers ▶ a portal is in the way ▶ the clock is wrong ▶ a source lies ▶
    ///     the right addresses: somebody else, a filter, silence, a bad certificate, or the proof
    ///
    /// The order is that of the layers a person would have to mend first: behind a portal every name
    /// is lied about, and under a wrong clock every certificate is bad.
    public init(of evidence: Evidence) {
        let judging = Judging(evidence)
        let ruling = judging.ruling
        self.init(
            verdict: ruling.verdict, confidence: ruling.confidence, evidenceFor: ruling.supports,
            evidenceAgainst: ruling.contradicts, notes: Notes(judging).all,
            advice: AdviceBook(judging, ruling).advice, layers: LayerBook(judging, ruling).lines,
            sources: judging.sources, addresses: judging.addresses)
    }
}

/// A verdict on its way.
struct Ruling: Sendable, Hashable {
    let verdict: Verdict
    let confidence: Confidence
    var supports: [Finding] = []
    var contradicts: [Finding] = []

    init(
        _ verdict: Verdict, _ confidence: Confidence, _ supports: [Finding],
        against contradicts: [Finding] = []
    ) {
        self.verdict = verdict
        self.confidence = confidence
        self.supports = supports
        self.contradicts = contradicts
    }

    /// Who was cut short, or could not ask all, has not heard everybody: that nobody lies is then no
    /// more than likely.
    func hedged(by reasons: [Finding]) -> Ruling {
        guard !reasons.isEmpty, verdict == .clean || verdict == .cdnVariation else { return self }
        return Ruling(
            verdict, confidence == .certain ? .likely : confidence, supports,
            against: contradicts + reasons)
    }
}

extension Result<Statement, QueryFailure> {
    /// Whether a question went out, or only the network kept it from that.
    var wasAsked: Bool {
        switch self {
        case .success: true
        case .failure(let failure):
            switch failure {
            case .timedOut, .unreachable, .untrusted, .malformed, .httpStatus, .rejected,
                .refusedAddresses, .unexpected:
                true
            case .unsupportedType, .misconfigured, .cancelled, .overQuota, .resting, .notCovered,
                .withheld:
                false
            }
        }
    }
}

/// Goes through the questions in order.
struct Judging {
    let weighing: Weighing
    let sources: [SourceJudgement]
    let addresses: [AddressJudgement]

    var evidence: Evidence { weighing.evidence }

    init(_ evidence: Evidence) {
        let weighing = Weighing(evidence)
        self.weighing = weighing
        sources = evidence.sources.map { SourceJudging(weighing: weighing, source: $0).judgement }
        var givers: [IPAddress: [String]] = [:]
        for answer in evidence.answers {
            for address in answer.statement?.addresses ?? []
            where givers[address]?.contains(answer.source.label) != true {
                givers[address, default: []].append(answer.source.label)
            }
        }
        addresses = weighing.addresses.map { address in
            AddressJudgement(
                address: address, standing: weighing.standing(of: address),
                givenBy: givers[address] ?? [])
        }
    }

    var ruling: Ruling {
        var ruling =
            offline ?? portal ?? clock ?? lie ?? PeerJudging(self).ruling ?? agreement ?? unsettled
        ruling = ruling.hedged(by: gaps)
        ruling.contradicts += contradictions(to: ruling)
        ruling.supports = Judging.each(ruling.supports)
        ruling.contradicts = Judging.each(ruling.contradicts)
        return ruling
    }

    /// Why not everybody was heard.
    private var gaps: [Finding] {
        var gaps: [Finding] = []
        if evidence.isInterrupted {
            gaps.append(Finding("interrupted", "the run was ended before everybody had answered"))
        }
        return gaps + (shortage.map { [$0] } ?? [])
    }

    private var shortage: Finding? {
        guard !evidence.shortages.isEmpty else { return nil }
        let words = evidence.shortages.joined(separator: ", ")
        return Finding(
            "out_of_resources", "this machine itself had nothing left to ask with: \(words)")
    }

    /// A and AAAA often give the same reason twice.
    private static func each(_ findings: [Finding]) -> [Finding] {
        var seen: Set<Finding> = []
        return findings.filter { seen.insert($0).inserted }
    }

    // MARK: Nobody answers

    /// Whether anything came from outside of this machine, or from a server on it.
    var hasAnyReply: Bool {
        let hasAnswer = evidence.answers.contains {
            guard $0.source.standing != .hosts, let statement = $0.statement else { return false }
            // A server on this machine says by a failure that it reached nobody.
            return statement.isPositive || statement.isNegative || isFar($0.source)
        }
        return hasAnswer || evidence.peers.contains { $0.connection == .connected }
            || evidence.fetches.contains { (try? $0.result.get()) != nil }
            || InterceptionJudging(self).isAnsweredForNobody
    }

    /// Whether somebody was asked, and all who were had the time to answer.
    var hasHeardOut: Bool { gaps.isEmpty && !asked.isEmpty }

    /// Silence says something only of who was asked, and had the time to answer.
    private var offline: Ruling? {
        guard !hasAnyReply, hasHeardOut, !isHasty else { return nil }
        let names = asked.prefix(4).map(\.label).joined(separator: ", ")
        let more = asked.count > 4 ? " and \(asked.count - 4) more" : ""
        let silence = Finding("no_reply", "nobody answered who was asked: \(names)\(more)")
        guard evidence.network.hasRoute else {
            let findings = [Finding("no_route", "this machine has no route to anywhere"), silence]
            return Ruling(.offline, .certain, findings)
        }
        guard asked.contains(where: isFar), !isAllOnLoopback else { return nil }
        return Ruling(
            .offline, .likely, [silence],
            against: [Finding("has_route", "this machine has a route, which leads nowhere")])
    }

    private func isFar(_ source: EvidenceSource) -> Bool {
        source.server.map { !$0.address.isLoopback } ?? (source.standing == .trusted)
    }

    /// Whether somebody was silent who was given too little time for that to say anything.
    var isHasty: Bool {
        guard let patience = evidence.patienceMilliseconds, patience < Judging.hastyMilliseconds
        else { return false }
        return isSilent
    }

    private var isSilent: Bool {
        let isUnheard = evidence.sources.contains { source in
            let answers = evidence.answers.filter { $0.source == source }
            return answers.isEmpty
                || answers.contains {
                    if case .failure(.timedOut) = $0.result { true } else { false }
                }
        }
        return isUnheard
            || evidence.peers.contains { $0.connection == .timedOut || $0.real == .timedOut }
    }

    /// Because: answers have six tenths of it; of those a question that was lost needs 0.8 s until it is
    /// sent again, and the answer a round trip.
    static let hastyMilliseconds: Int64 = 2_000

    /// Sources that a question went to, or would have, had the network let it.
    var asked: [EvidenceSource] {
        evidence.sources.filter { source in
            source.standing != .hosts
                && evidence.answers.contains { $0.source == source && $0.result.wasAsked }
        }
    }

    /// Servers on this machine that are silent say nothing of the network.
    private var isAllOnLoopback: Bool {
        let servers = asked.compactMap(\.server)
        return !servers.isEmpty && servers.allSatisfy(\.address.isLoopback)
    }

    // MARK: A portal

    private var portal: Ruling? {
        guard let finding = PortalJudging(evidence).finding else {
            return PortalLikeness(self).findings.map { Ruling(.captivePortal, .likely, $0) }
        }
        // What the network lets through to the name itself, it is not waiting to be paid for.
        guard !isProvenByNetwork else { return nil }
        return Ruling(.captivePortal, finding.isSure ? .certain : .likely, [finding.finding])
    }

    /// Whether an address that programs here are led to proves the name.
    var isProvenByNetwork: Bool {
        weighing.networkAddresses.contains { weighing.standing(of: $0) == .proven }
    }

    /// Honest sources that lead programs here to an address which proves the name.
    var bearers: [SourceJudgement] {
        sources.filter { judged in
            judged.standing == .honest
                && evidence.answers.contains { answer in
                    answer.source == judged.source && evidence.isUsed(answer)
                        && (answer.statement?.addresses ?? []).contains {
                            weighing.standing(of: $0) == .proven
                        }
                }
        }
    }

    /// What programs of this machine go by before all resolvers, where it is not borne out.
    var badHosts: SourceJudgement? {
        sources.first {
            $0.source.standing == .hosts && ![.honest, .silent].contains($0.standing)
        }
    }

    /// Judged sources of which something is not proven.
    var doubtful: [SourceJudgement] {
        sources.filter { judged in
            judged.source.isSuspect
                && (judged.standing == .unproven
                    || judged.standing == .honest && judged.confidence != .certain)
        }
    }

    // MARK: The clock

    private var clock: Ruling? { ClockJudging(self).ruling }

    // MARK: A lie

    /// Sources that lie, the one to be mended first before the others.
    var liars: [SourceJudgement] {
        sources.filter { if case .lies = $0.standing { true } else { false } }
            .enumerated().sorted { left, right in
                let ranks = (Judging.rank(left.element), Judging.rank(right.element))
                return ranks.0 != ranks.1 ? ranks.0 > ranks.1 : left.offset < right.offset
            }.map(\.element)
    }

    /// By confidence; of equal ones what stands before the system, which only passes on.
    private static func rank(_ judgement: SourceJudgement) -> Int {
        let place =
            switch judgement.source.standing {
            case .hosts: 3
            case .nameserver: 2
            case .resolver: 1
            case .system, .trusted: 0
            }
        return judgement.confidence.rank * 4 + place
    }

    private var lie: Ruling? {
        let interception = InterceptionJudging(self)
        guard let worst = liars.first, case .lies(let how) = worst.standing else {
            return interception.ruling
        }
        let isIntercepted = interception.explains(worst, how)
        let verdict = Verdict.dnsHijacked(
            source: worst.source, how: isIntercepted ? .intercepted : how)
        var supports = worst.reasons
        if isIntercepted { supports += interception.findings }
        for other in liars.dropFirst() { supports += other.reasons.prefix(1) }
        return Ruling(
            verdict, worst.confidence, supports,
            against: isIntercepted ? interception.doubts(about: worst) : [])
    }

    // MARK: No fault

    /// All deny the name, the network, too: a silent one agrees with nobody.
    private var agreement: Ruling? {
        guard weighing.isDenied || weighing.trusted[.a]?.isNegative == true,
            !weighing.isTrustedPositive
        else { return nil }
        let said = evidence.answers.filter { $0.source.isSuspect }
        let deniers = said.filter {
            $0.source.standing != .hosts && $0.statement?.isNegative == true
        }
        guard !deniers.isEmpty, !said.contains(where: { $0.statement?.isPositive == true })
        else { return nil }
        let what = weighing.isDenied ? "the name does not exist" : "the name has no address"
        return Ruling(
            .clean, .certain,
            [Finding("denied_by_all", "\(what): trusted sources say so, and nobody differs")])
    }

    private var unsettled: Ruling {
        let reasons = sources.flatMap(\.reasons)
        // What else is missing follows from it.
        if evidence.isInterrupted {
            return Ruling(.inconclusive(missing: [.interrupted]), .certain, reasons)
        }
        if let shortage {
            return Ruling(
                .inconclusive(missing: [.localResources]), .certain, [shortage] + reasons)
        }
        if isHasty, !hasAnyReply {
            return Ruling(.inconclusive(missing: [.time]), .certain, [haste] + reasons)
        }
        if asked.isEmpty, weighing.addresses.isEmpty {
            let route =
                evidence.network.hasRoute
                ? []
                : [
                    Finding("no_route", "this machine has no route to anywhere")
                ]
            return Ruling(.inconclusive(missing: [.nobodyAsked]), .certain, route + reasons)
        }
        var supports = isHasty ? [haste] : []
        supports += proofsElsewhere
        return Ruling(
            .inconclusive(missing: missing), .certain,
            supports + (PeerJudging(self).closedPort.map { [$0] } ?? []) + reasons)
    }

    private var missing: [Verdict.Missing] {
        var missing: [Verdict.Missing] = []
        if weighing.trusted.isEmpty { missing.append(.trustedAnswer) }
        let isHeard = evidence.answers.contains {
            ($0.source.standing == .hosts || evidence.isUsed($0)) && isUsable($0)
        }
        if !isHeard { missing.append(.networkAnswer) }
        if !weighing.addresses.isEmpty, !weighing.hasProof { missing.append(.handshake) }
        if isHeard, weighing.hasProof { missing.append(.networkProof) }
        if isHasty || !evidence.unfinished.isEmpty { missing.append(.time) }
        return missing.isEmpty ? [.handshake] : missing
    }

    /// To deny what all deny is no answer where the other type has something.
    private func isUsable(_ answer: AnswerEvidence) -> Bool {
        guard let statement = answer.statement else { return false }
        if statement.isPositive { return true }
        let isAgreed =
            weighing.isTrustedPositive && weighing.trusted[answer.type]?.isNegative == true
        return statement.isNegative && !isAgreed
    }

    private var haste: Finding {
        let patience = evidence.patienceMilliseconds ?? 0
        return Finding(
            "too_little_time",
            "all of it had \(patience) ms: who was silent may have had no time to answer")
    }

    /// Who proves the name, where nobody does whom programs here ask.
    private var proofsElsewhere: [Finding] {
        guard !isProvenByNetwork else { return [] }
        var found: [Finding] = []
        let proven = weighing.provenByTrusted
        if !proven.isEmpty {
            found.append(
                Finding(
                    "proven_elsewhere",
                    "\(evidence.name) is proven by TLS at \(proven.listed), which "
                        + "\(weighing.trustedGivers(of: proven)) gives, and nowhere that this network "
                        + "leads to"))
        }
        return found
            + proversBeside.map { source, addresses in
                Finding(
                    "proven_beside",
                    "\(source.label) gives \(addresses.listed), which proves the name, and is not "
                        + "what programs here ask")
            }
    }

    /// Judged sources that prove the name, where none does whom programs here ask.
    var proversBeside: [(source: EvidenceSource, addresses: [IPAddress])] {
        guard !isProvenByNetwork else { return [] }
        return sources.filter { $0.source.isOfNetwork }.compactMap { judged in
            let proven = [RecordType.a, .aaaa].flatMap {
                weighing.statement(of: judged.source, $0)?.addresses ?? []
            }.filter { weighing.standing(of: $0) == .proven }
            return proven.isEmpty ? nil : (judged.source, proven)
        }
    }

    // MARK: The other side

    /// What does not fit the verdict.
    private func contradictions(to ruling: Ruling) -> [Finding] {
        var found: [Finding] = []
        switch ruling.verdict {
        case .dnsHijacked(let source, let how):
            let honest = sources.filter { $0.standing == .honest && $0.source.isSuspect }
            if !honest.isEmpty {
                let labels = honest.map(\.source.label).joined(separator: ", ")
                found.append(Finding("others_are_honest", "honest here: \(labels)"))
            }
            if how == .stale || ruling.confidence == .possible {
                found.append(
                    Finding(
                        "may_be_innocent",
                        "the name may just have moved, or \(source.label) may be out of date"))
            }
        case .clean, .cdnVariation:
            found += doubtful.flatMap(\.reasons)
        case .tlsIntercepted, .sniFiltered, .addressBlocked, .captivePortal, .originBroken,
            .offline, .inconclusive:
            break
        }
        return found
    }
}
