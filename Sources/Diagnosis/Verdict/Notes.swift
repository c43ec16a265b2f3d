internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSWire

/// What was found besides, and decides nothing.
struct Notes {
    private let judging: Judging

    init(_ judging: Judging) { self.judging = judging }

    private var evidence: Evidence { judging.evidence }
    private var weighing: Weighing { judging.weighing }

    var all: [Finding] {
        var all = lives + differences + wildcards + deadAddresses + badAddresses + families + pages
        all += unmadeChecks + identities + InterceptionJudging(judging).notes
        if let skew = ClockJudging(judging).skew,
            skew.seconds.magnitude > Notes.noticeableSeconds
        {
            let doubt = skew.isProven ? "" : ", as servers say that did not prove who they are"
            all.append(
                Finding(
                    "clock_skew",
                    "this machine's clock is \(ClockJudging.words(skew.seconds))\(doubt)"))
        }
        if judging.isProvenByNetwork, let portal = PortalJudging(evidence).finding {
            all.append(portal.finding)
        }
        return all
    }

    /// Because: a few minutes are what unset clocks drift, and certificates bear them.
    private static let noticeableSeconds: UInt64 = 300

    // MARK: TTLs

    private var lives: [Finding] {
        var found: [Finding] = []
        for answer in evidence.answers where answer.source.isSuspect {
            guard let statement = answer.statement, statement.isPositive,
                let life = statement.ttlSeconds, answer.source.transport != .system
            else { continue }
            let who = "\(answer.source.label) \(answer.type)"
            if life > TTLRules.hugeSeconds {
                found.append(Finding("ttl_huge", "\(who): a TTL of \(life) s, more than a week"))
            } else if life == 0 {
                found.append(Finding("ttl_zero", "\(who): a TTL of 0, so that nothing may keep it"))
            } else if let usual = weighing.trusted[answer.type]?.ttlSeconds, usual > 0,
                life >= TTLRules.longSeconds, Int64(life) > Int64(usual) * TTLRules.factor
            {
                found.append(
                    Finding(
                        "ttl_inflated",
                        "\(who): a TTL of \(life) s, where trusted sources say \(usual) s"))
            }
        }
        return found + changing
    }

    /// Over UDP and TCP the same cache counts down: it never counts up.
    private var changing: [Finding] {
        evidence.answers.compactMap { answer in
            guard answer.source.transport == .udp, answer.source.isSuspect,
                let life = answer.statement?.ttlSeconds, answer.statement?.isPositive == true
            else { return nil }
            let twin = evidence.answers.first {
                $0.source.server == answer.source.server && $0.source.transport == .tcp
                    && $0.type == answer.type
            }
            guard let other = twin?.statement, other.isPositive, let second = other.ttlSeconds,
                other.addresses.sorted(by: Notes.order)
                    == answer.statement?.addresses.sorted(by: Notes.order),
                max(life, second) - min(life, second) > Notes.countdownSeconds
            else { return nil }
            return Finding(
                "ttl_changes",
                "\(answer.source.label): a TTL of \(life) s over UDP and \(second) s over TCP for "
                    + "the same \(answer.type) records")
        }
    }

    private static func order(_ left: IPAddress, _ right: IPAddress) -> Bool {
        left.description < right.description
    }

    /// Because: the two questions are asked in the same moment.
    private static let countdownSeconds: UInt32 = 10

    // MARK: Answers

    /// Differences without consequence, so that nobody has to find them in the evidence.
    private var differences: [Finding] {
        var found: [Finding] = []
        for source in judging.sources where source.standing == .privateView || isBorneOut(source) {
            found += source.reasons
        }
        // An address beside the right ones that does nothing.
        for answer in evidence.answers where answer.source.isSuspect {
            let special = (answer.statement?.addresses ?? []).first {
                AddressMeaning(of: $0) == .proxy
            }
            if let special {
                found.append(
                    Finding(
                        "proxy_address",
                        "\(answer.source.label) gives \(special): a program on this machine or its "
                            + "router answers names itself"))
            }
        }
        return found
    }

    /// What it leaves out, or does not answer, then does no harm.
    private func isBorneOut(_ source: SourceJudgement) -> Bool {
        source.source.isSuspect && source.standing == .honest && source.confidence == .certain
    }

    private var wildcards: [Finding] {
        let trusted = evidence.randomNames.first {
            !$0.answer.source.isSuspect && $0.answer.statement?.isPositive == true
        }
        guard let trusted else { return [] }
        let parent =
            trusted.parent == .name ? "\(evidence.name)" : "the public suffix above it"
        return [
            Finding(
                "wildcard_zone",
                "every name under \(parent) has an address, trusted sources say so, too")
        ]
    }

    private var identities: [Finding] {
        evidence.identities.filter { !$0.texts.isEmpty }.map {
            Finding(
                "server_says",
                "\($0.source.label), asked \($0.probe): \($0.texts.joined(separator: ", "))")
        }
    }

    // MARK: Connections

    private var deadAddresses: [Finding] {
        guard weighing.hasProof else { return [] }
        return judging.addresses.filter {
            [.unreachable, .mute].contains($0.standing) && $0.address.family == .ipv4
                && !$0.address.isLoopback
        }.map {
            Finding("dead_address", "nothing answers at \($0.address), and others work")
        }
    }

    /// Where the network proves the name, addresses that are worse: HTTPDNS might give them.
    private var badAddresses: [Finding] {
        guard judging.isProvenByNetwork else { return [] }
        let trusted = weighing.trustedAddresses
        return judging.addresses.compactMap { judged in
            let address = judged.address
            if let words = weighing.cutWords(at: address) {
                return Finding("name_is_cut_here", words + "; others work")
            }
            guard trusted.contains(address),
                [.impostor, .badCertificate].contains(judged.standing)
            else { return nil }
            return Finding(
                "trusted_address_bad",
                "by \(weighing.trustedGivers(of: [address])): " + weighing.whoAnswers(at: address)
                    + "; others work")
        }
    }

    private var families: [Finding] {
        var found: [Finding] = []
        let six = judging.addresses.filter {
            $0.address.family == .ipv6 && !$0.address.isLoopback
        }
        let dead = six.filter { [.unreachable, .mute].contains($0.standing) }
        let worksOnFour = judging.addresses.contains {
            $0.address.family == .ipv4 && $0.standing == .proven
        }
        if !six.isEmpty, dead.count == six.count, worksOnFour {
            let why =
                evidence.network.hasIPv6Route
                ? "there is a route, and nothing comes back" : "this machine has no route for it"
            found.append(
                Finding("ipv6_broken", "the name has IPv6 addresses, none is reached: \(why)"))
        }
        let translated = judging.addresses.filter { weighing.isTranslated($0.address) }
        let prefixes = evidence.network.translators.map(\.description).joined(separator: ", ")
        if !translated.isEmpty || !prefixes.isEmpty {
            let under = prefixes.isEmpty ? "" : " under \(prefixes)"
            found.append(
                Finding(
                    "nat64",
                    "this network translates IPv4 into IPv6 addresses\(under): its answers "
                        + "differ from those of others, and are right"))
        }
        return found
    }

    // MARK: Checks that did not happen

    private var unmadeChecks: [Finding] {
        evidence.fetches.compactMap { fetch in
            guard fetch.purpose == .portalProbe, case .failure(let failure) = fetch.result else {
                return nil
            }
            return Finding(
                "probe_not_answered",
                "whether a portal is in the way was not found out: \(fetch.url): \(failure.reason)")
        }
    }

    // MARK: Pages

    private var pages: [Finding] {
        let pages = evidence.fetches.compactMap { fetch in
            (try? fetch.result.get()).map { (fetch, $0) }
        }
        var found: [Finding] = []
        for (fetch, page) in pages where [.plain, .reference].contains(fetch.purpose) {
            if let host = PortalLikeness.stranger(page, evidence) {
                found.append(
                    Finding("redirect_elsewhere", "\(fetch.url) leads to another host, \(host)"))
            }
        }
        // What a proven peer said measures every page in clear, whoever gave its address: the way there
        // may change it, too.
        let proven = pages.first { $0.0.purpose == .verified }
        let measure = proven ?? pages.first { $0.0.purpose == .reference }
        guard let (source, measure) = measure, measure.status == 200 else { return found }
        for (fetch, page) in pages where [.plain, .reference].contains(fetch.purpose) {
            guard fetch != source, page.status == 200, page.bodyDigest != measure.bodyDigest
            else { continue }
            found.append(difference(fetch, page, measure, isProven: proven != nil))
            break
        }
        return found
    }

    private func difference(
        _ fetch: FetchEvidence, _ page: FetchEvidence.Page, _ measure: FetchEvidence.Page,
        isProven: Bool
    ) -> Finding {
        let extra = page.fieldNames.filter { !measure.fieldNames.contains($0) }
        let fields =
            extra.isEmpty ? "" : ", with these fields more: \(extra.joined(separator: ", "))"
        let place = fetch.address.map { " at \($0)" } ?? ""
        return Finding(
            "content_differs",
            "the page in clear\(place) is not the one of a "
                + "\(isProven ? "proven peer" : "trusted address") (\(page.bodyOctets) octets "
                + "and \(measure.bodyOctets))\(fields): pages that change by themselves do that, too"
        )
    }
}
