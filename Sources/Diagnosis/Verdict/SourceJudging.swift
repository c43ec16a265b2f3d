internal import HTTPDNSNames
internal import HTTPDNSTrust
internal import HTTPDNSWire

/// Judges one suspect source by what it says of the name, one type after the other.
///
/// Rules:
/// 1. An address that proves the name is the name's, whoever gives it and whatever others give.
/// 2. An address that proves something else is a lie only if a right one of its type proves the name,
///    or no public host can have it. Where the right ones of its type show the same issuer, somebody is
///    on the path, whatever address was given.
/// 3. A name that is denied is a lie only if a trusted source knows it.
/// 4. Nobody is honest while an address of his was not tried that no trusted source gives.
/// 5. To deny what all deny bears nobody out who gives, of the other type, what proves nothing.
struct SourceJudging {
    let weighing: Weighing
    let source: EvidenceSource

    /// What one part of the evidence says of the source.
    enum Part: Sendable {
        /// What it gives proves the name, or is what a trusted source gives.
        case honest
        /// It denies what trusted sources deny.
        case agrees
        case lies(Verdict.Hijack, Confidence, Finding)
        case privateView(Finding)
        case unproven(Finding)
        /// Nobody looked at an address that it gives.
        case untried(Finding)
        /// It says nothing where trusted sources know something.
        case unanswered(Finding)
        /// It answers with a failure.
        case failed(ResponseCode, Finding)
        /// What it leaves out does no harm.
        case remark(Finding)
    }

    var judgement: SourceJudgement {
        guard source.isSuspect else { return ofTrusted }
        var tally = SourceTally()
        for part in [RecordType.a, .aaaa].flatMap({ self.parts(of: $0) }) + rewriting {
            tally.add(part)
        }
        return tally.judgement(of: source, isTrustedPositive: weighing.isTrustedPositive)
    }

    /// A trusted source is honest by assumption; an address of it that proves nothing is no lie of it.
    private var ofTrusted: SourceJudgement {
        let answers = weighing.evidence.answers.filter { $0.source == source }
        let hasAnswered = answers.contains {
            $0.statement.map { $0.isPositive || $0.isNegative } ?? false
        }
        let failures = answers.compactMap { answer -> Finding? in
            guard case .failure(let failure) = answer.result else { return nil }
            return Finding("trusted_source_silent", "\(source.label): \(failure)")
        }
        if hasAnswered {
            return SourceJudgement(
                source: source, standing: .honest, confidence: .certain, reasons: [])
        }
        let denial = DenialJudging(weighing: weighing, source: source)
        if let statement = answers.lazy.compactMap(\.statement).first {
            return SourceJudgement(
                source: source, standing: .failing(statement.code), confidence: .certain,
                reasons: [denial.failed(statement)])
        }
        return SourceJudgement(
            source: source, standing: .silent, confidence: .certain,
            reasons: Array(failures.prefix(1)))
    }

    private func parts(of type: RecordType) -> [Part] {
        if let race = weighing.evidence.races.first(where: {
            $0.source == source && $0.type == type
        }) {
            if let part = RaceJudging(weighing: weighing, race: race).part { return [part] }
        }
        guard let statement = weighing.statement(of: source, type) else {
            return unanswered(type).map { [$0] } ?? []
        }
        if statement.isPositive { return [positive(statement, type)] }
        let denial = DenialJudging(weighing: weighing, source: source)
        return [denial.part(statement, type)]
    }

    /// Nothing came of a question that a trusted source has an address for.
    private func unanswered(_ type: RecordType) -> Part? {
        let isAsked = weighing.evidence.answers.contains {
            $0.source == source && $0.type == type && $0.result.wasAsked
        }
        guard isAsked, let measure = weighing.trusted[type], measure.isPositive else { return nil }
        return .unanswered(
            Finding(
                "type_unanswered",
                "\(source.label): it does not answer for \(type.name); trusted sources give "
                    + measure.addresses.listed))
    }

    private func positive(_ statement: Statement, _ type: RecordType) -> Part {
        let standings = statement.addresses.map { ($0, weighing.standing(of: $0)) }
        let measure = weighing.trusted[type]
        let known = Set(measure?.addresses ?? [])
        let strangers = standings.filter { !known.contains($0.0) && !weighing.isTranslated($0.0) }
        if let lie = lie(strangers, statement, measure) { return lie }
        if strangers.count < standings.count || standings.contains(where: { $0.1 == .proven }) {
            return untried(strangers, statement) ?? .honest
        }
        if let special = special(statement.addresses, measure) { return special }
        if let aged = aged(strangers, statement, measure) { return aged }
        return .unproven(
            Finding(
                "address_unproven",
                "\(source.label) gives \(statement.addresses.listed), and nothing there "
                    + "proves \(weighing.evidence.name)"))
    }

    /// Good addresses may stand before a bad one that nobody got round to.
    private func untried(
        _ strangers: [(IPAddress, AddressJudgement.Standing)], _ statement: Statement
    ) -> Part? {
        let open = strangers.filter { $0.1 == .untried }.map(\.0)
        guard !open.isEmpty else { return nil }
        return .untried(
            Finding(
                "address_untried",
                "\(source.label) gives \(open.listed), too, which no trusted source gives and "
                    + "nobody tried"))
    }

    /// Whether somebody else at an address must be there by the source's word, not by the path's doing.
    private func isByWord(_ impostor: IPAddress, _ measure: Statement?) -> Bool {
        let right = measure?.addresses ?? []
        let isProven =
            right.isEmpty
            ? measure != nil || weighing.hasProof(of: impostor.family)
            : right.contains { weighing.standing(of: $0) == .proven }
        guard isProven else { return false }
        guard let issuer = weighing.issuer(at: impostor) else { return true }
        return !weighing.trustedAddresses.contains {
            weighing.standing(of: $0) == .impostor && weighing.issuer(at: $0) == issuer
        }
    }

    /// Addresses that prove something else, while another one proves the name.
    private func lie(
        _ strangers: [(IPAddress, AddressJudgement.Standing)], _ statement: Statement,
        _ measure: Statement?
    ) -> Part? {
        guard weighing.hasProof else { return nil }
        let impostor = strangers.first { $0.1 == .impostor && isByWord($0.0, measure) }?.0
        guard let impostor else { return nil }
        let isOwn = AddressMeaning(of: impostor) == .ownNetwork
        return .lies(
            kind(impostor, statement, measure), isOwn ? .likely : .certain,
            Finding(
                "address_of_another",
                "\(source.label) gives \(statement.addresses.listed); "
                    + weighing.whoAnswers(at: impostor)))
    }

    /// Addresses that say "blocked", or that no public host can have.
    private func special(_ addresses: [IPAddress], _ measure: Statement?) -> Part? {
        let meanings = addresses.compactMap { meaning(of: $0, measure) }
        guard let meaning = meanings.first, meanings.count == addresses.count else { return nil }
        let isKnown = measure?.addresses.contains { self.meaning(of: $0, measure) == nil } ?? false
        let finding = Finding(
            "special_address", "\(source.label) gives \(addresses.listed), \(meaning.words)")
        let isPublicName = isKnown || meaning == .loopback
        let sure: Confidence = isPublicName && weighing.hasProof ? .certain : .likely
        switch meaning {
        case .sinkhole: return .lies(.blocked, sure, finding)
        case .null: return .lies(.blocked, isKnown ? .certain : .likely, finding)
        case .impossible where isKnown: return .lies(.rewritten, sure, finding)
        // Whatever its type: no public name is on the machine of whoever asks.
        case .loopback where weighing.trustedAddresses.contains(where: isPublic):
            return .lies(source.standing == .hosts ? .blocked : .rewritten, sure, finding)
        case .ownNetwork where isKnown && weighing.hasProof:
            return .lies(.rewritten, .possible, finding)
        // A network may know its own names otherwise: what nobody denies is no lie.
        case .ownNetwork: return .privateView(finding)
        case .impossible, .loopback, .proxy: return .unproven(finding)
        }
    }

    /// A name that is on this machine for trusted sources, too, is no wonder there.
    private func meaning(of address: IPAddress, _ measure: Statement?) -> AddressMeaning? {
        let meaning = AddressMeaning(of: address)
        let isUsual = measure?.addresses.contains(where: \.isLoopback) ?? false
        return meaning == .loopback && isUsual ? nil : meaning
    }

    private func isPublic(_ address: IPAddress) -> Bool { AddressMeaning(of: address) == nil }

    /// Addresses where nobody answers, or where the name's own certificate has gone bad, while another
    /// one proves the name. Only where the answer looks old itself is that a lie: content networks have
    /// servers that are down, and some that nobody gave a new certificate.
    private func aged(
        _ strangers: [(IPAddress, AddressJudgement.Standing)], _ statement: Statement,
        _ measure: Statement?
    ) -> Part? {
        guard let finding = agedFinding(strangers, statement, measure) else { return nil }
        let isOld = how(statement, measure, otherwise: .rewritten) == .stale
        return isOld ? .lies(.stale, .likely, finding) : .unproven(finding)
    }

    private func agedFinding(
        _ strangers: [(IPAddress, AddressJudgement.Standing)], _ statement: Statement,
        _ measure: Statement?
    ) -> Finding? {
        if weighing.hasProof, let bad = strangers.first(where: { $0.1 == .badCertificate }) {
            return Finding(
                "address_of_old_server",
                "\(source.label) gives \(statement.addresses.listed); "
                    + weighing.whoAnswers(at: bad.0))
        }
        let proven = measure?.addresses.contains { weighing.standing(of: $0) == .proven } ?? false
        guard proven, !strangers.isEmpty,
            strangers.allSatisfy({ $0.1 == .unreachable || $0.1 == .mute })
        else { return nil }
        return Finding(
            "address_dead",
            "\(source.label) gives \(statement.addresses.listed), where nobody answers for "
                + "\(weighing.evidence.name)")
    }

    /// An old address has a new tenant, who is somebody with a sound certificate of its own; who forges
    /// one for the name was never the right one.
    private func kind(
        _ address: IPAddress, _ statement: Statement, _ measure: Statement?
    ) -> Verdict.Hijack {
        guard weighing.failure(at: address)?.code == .wrongName else { return .rewritten }
        return how(statement, measure, otherwise: .rewritten)
    }

    /// Whether what is wrong was right once.
    private func how(
        _ statement: Statement, _ measure: Statement?, otherwise: Verdict.Hijack
    ) -> Verdict.Hijack {
        if statement.extendedErrors.contains(where: { StaleErrors.codes.contains($0.code) }) {
            return .stale
        }
        guard let life = statement.ttlSeconds else { return otherwise }
        let usual = Int64(measure?.ttlSeconds ?? 0)
        let isInflated = life >= TTLRules.longSeconds && Int64(life) > usual * TTLRules.factor
        return isInflated ? .stale : otherwise
    }

    /// Names that nobody has registered, and the source knows them.
    private var rewriting: [Part] {
        let asked = weighing.evidence.randomNames
        let own = asked.filter {
            $0.answer.source == source && $0.answer.statement?.isPositive == true
        }
        let proven = own.filter { probe in
            mayCount(probe)
                && asked.contains {
                    $0.answer.name == probe.answer.name && !$0.answer.source.isSuspect
                        && $0.answer.statement?.isNegative == true
                }
        }
        if let first = proven.first { return [rewritten(first, .certain)] }
        // Without a measure: no public suffix answers for every name under it, at lengths of all kinds.
        let isMeasured = asked.contains {
            !$0.answer.source.isSuspect && $0.answer.statement != nil
        }
        let wild = own.filter { isUnderRegistry($0) }
        guard !isMeasured, wild.count > 1, let first = wild.first else { return [] }
        return [rewritten(first, .likely)]
    }

    /// A zone that is a network's own may hold a wildcard, and the public tree denies all of it: only
    /// where a trusted source knows the name does its denial of another one there say something.
    private func mayCount(_ probe: RandomNameEvidence) -> Bool {
        isUnderRegistry(probe) || weighing.isTrustedPositive
    }

    private func isUnderRegistry(_ probe: RandomNameEvidence) -> Bool {
        probe.parent == .publicSuffix && weighing.evidence.isUnderRegistry
    }

    private func rewritten(_ probe: RandomNameEvidence, _ confidence: Confidence) -> Part {
        let addresses = probe.answer.statement?.addresses ?? []
        return .lies(
            .rewritten, confidence,
            Finding(
                "rewrites_nxdomain",
                "\(source.label) gives \(addresses.listed) for \(probe.answer.name), a name made "
                    + "up for this question"))
    }
}

extension Confidence {
    var rank: Int {
        switch self {
        case .possible: 0
        case .likely: 1
        case .certain: 2
        }
    }
}

/// What a source says of a stale answer. Source: RFC 8914 §4.4 and §4.20.
enum StaleErrors {
    static let codes: Set<UInt16> = [3, 19]
}

/// When a TTL is a game.
enum TTLRules {
    /// Because: an operator who can move a name keeps it below a day.
    static let longSeconds: UInt32 = 86_400
    /// Because: caches only ever shorten a TTL, so that a trusted one is a little below at most.
    static let factor: Int64 = 4
    /// Source: RFC 8767 §4: a cache should cap at seven days.
    static let hugeSeconds: UInt32 = 604_800
}
