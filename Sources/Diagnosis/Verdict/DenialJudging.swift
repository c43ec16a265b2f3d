internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSWire

/// Judges an answer without addresses.
struct DenialJudging {
    let weighing: Weighing
    let source: EvidenceSource

    func part(_ statement: Statement, _ type: RecordType) -> SourceJudging.Part {
        let blocking = statement.extendedErrors.first {
            DenialJudging.blockingCodes.contains($0.code)
        }
        if let blocking {
            let word = blocking.name ?? "error \(blocking.code)"
            return .lies(
                .blocked, weighing.isTrustedPositive ? .certain : .likely,
                finding("says_blocked", "\(said(statement)) and says why: \(word)"))
        }
        guard statement.isNegative else { return failure(statement, type) }
        guard let measure = weighing.trusted[type] else {
            // Who proves the name by one family may well have nothing of the other.
            if provesOtherThan(type) { return .agrees }
            return .unproven(
                finding("denial_unproven", "\(said(statement)), and no trusted source answers"))
        }
        guard measure.isPositive else { return .agrees }
        return denied(statement, measure, type)
    }

    /// The source denies what a trusted one knows.
    private func denied(
        _ statement: Statement, _ measure: Statement, _ type: RecordType
    ) -> SourceJudging.Part {
        // Some resolvers leave IPv6 out on purpose, and the name still works.
        if type == .aaaa, statement.code == .noError,
            weighing.statement(of: source, .a)?.isPositive == true
        {
            return .remark(finding("hides_ipv6", "it leaves IPv6 addresses out"))
        }
        // Or IPv4; but then the name must work.
        if type == .a, statement.code == .noError, provesOtherThan(.a) {
            return .remark(
                finding(
                    "hides_ipv4",
                    "it leaves IPv4 addresses out, and the IPv6 one that it gives proves the name"))
        }
        // What only a private network has, the public tree may well deny.
        guard measure.addresses.contains(where: { AddressMeaning(of: $0) == nil || isProven($0) })
        else {
            return .unproven(
                finding("denial_of_private", "\(said(statement)); the name's address is private"))
        }
        return .lies(
            .blocked, weighing.hasProof ? .certain : .likely,
            finding(
                "denied", "\(said(statement)); trusted sources give \(measure.addresses.listed)"))
    }

    private func provesOtherThan(_ type: RecordType) -> Bool {
        let other: RecordType = type == .a ? .aaaa : .a
        return weighing.statement(of: source, other)?.addresses.contains(where: isProven) == true
    }

    private func isProven(_ address: IPAddress) -> Bool {
        weighing.standing(of: address) == .proven
    }

    /// REFUSED for this name alone is a block; a server that fails for all is none.
    private func failure(_ statement: Statement, _ type: RecordType) -> SourceJudging.Part {
        guard statement.code == .refused, weighing.isTrustedPositive, answersOthers else {
            return .failed(statement.code, failed(statement))
        }
        return .lies(
            .blocked, .likely,
            finding("refused_alone", "it refuses this name, and answers for others"))
    }

    /// What a server says that fails, and whether for this name alone.
    func failed(_ statement: Statement) -> Finding {
        let scope =
            answersOthers
            ? " for this name, and answers for others"
            : weighing.evidence.randomNames.contains {
                $0.answer.source == source && $0.answer.statement != nil
            } ? " for every name" : ""
        let why = statement.extendedErrors.compactMap(\.name)
        let word = why.isEmpty ? "" : " (\(why.joined(separator: ", ")))"
        return finding("server_fails", "it answers \(statement.code.name)\(word)\(scope)")
    }

    private var answersOthers: Bool {
        weighing.evidence.randomNames.contains {
            $0.answer.source == source
                && ($0.answer.statement?.isNegative == true
                    || $0.answer.statement?.isPositive == true)
        }
    }

    private func said(_ statement: Statement) -> String {
        statement.code == .noError
            ? "it says that there is no address" : "it says \(statement.code)"
    }

    private func finding(_ code: String, _ text: String) -> Finding {
        Finding(code, "\(source.label): \(text)")
    }

    /// Forged Answer, Blocked, Censored, Filtered, Prohibited. Source: RFC 8914 §4.5, §4.16 to §4.19.
    private static let blockingCodes: Set<UInt16> = [4, 15, 16, 17, 18]
}

/// Judges two answers to one query. Honest servers never send two that differ, but both may be right.
struct RaceJudging {
    let weighing: Weighing
    let race: RaceEvidence

    /// Nil: they say nothing against the source.
    var part: SourceJudging.Part? {
        // A server that fails once and then answers is under load, or behind others that differ.
        guard [race.first, race.second].allSatisfy({ $0.isPositive || $0.isNegative }) else {
            return nil
        }
        let first = weight(race.first)
        let second = weight(race.second)
        guard first != second else { return nil }
        let (worse, better) = first < second ? (race.first, second) : (race.second, first)
        guard better == .true else { return nil }
        let isSure = min(first, second) == .false
        return .lies(
            .forged, isSure ? .certain : .likely,
            Finding(
                "forged_race",
                "two answers to one query to \(race.source.label), \(race.millisecondsApart) ms "
                    + "apart: the one with \(said(worse)) is not the server's"))
    }

    /// How much speaks for an answer.
    private enum Weight: Int, Comparable {
        case `false`, unknown, `true`

        static func < (lhs: Weight, rhs: Weight) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    private func weight(_ statement: Statement) -> Weight {
        let measure = weighing.trusted[race.type]
        guard statement.isPositive else {
            guard let measure else { return .unknown }
            return measure.isPositive ? .false : .true
        }
        let known = Set(measure?.addresses ?? [])
        let standings = statement.addresses.map { weighing.standing(of: $0) }
        if standings.contains(.impostor) || standings.contains(.impossible) { return .false }
        if standings.contains(.proven) { return .true }
        return statement.addresses.contains(where: { known.contains($0) }) ? .true : .unknown
    }

    private func said(_ statement: Statement) -> String {
        statement.isPositive ? statement.addresses.listed : statement.code.name
    }
}
