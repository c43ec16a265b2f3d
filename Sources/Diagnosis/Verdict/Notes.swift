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
        var all = lives + differences + wildcards + deadAddresses + families + pages + identities
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
        for source in judging.sources where source.standing == .privateView {
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
        }.map {
            Finding("dead_address", "nothing answers at \($0.address), and others work")
        }
    }

    private var families: [Finding] {
        var found: [Finding] = []
        let six = judging.addresses.filter { $0.address.family == .ipv6 }
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

    // MARK: Pages

    private var pages: [Finding] {
        let pages = evidence.fetches.compactMap { fetch in
            (try? fetch.result.get()).map { (fetch, $0) }
        }
        var found: [Finding] = []
        for (fetch, page) in pages where [.plain, .reference].contains(fetch.purpose) {
            if let host = Notes.host(ofURL: page.location ?? ""), isForeign(host) {
                found.append(
                    Finding("redirect_elsewhere", "\(fetch.url) leads to another host, \(host)"))
            }
        }
        // A page in clear from the right address may have been changed on the way, too.
        let measure =
            pages.first { $0.0.purpose == .verified } ?? pages.first { $0.0.purpose == .reference }
        guard let (own, measure) = measure, measure.status == 200 else { return found }
        for (fetch, page) in pages
        where fetch != own && [.plain, .reference].contains(fetch.purpose) {
            guard page.status == 200, page.bodyDigest != measure.bodyDigest else { continue }
            found.append(difference(fetch, page, measure))
            break
        }
        return found
    }

    private func difference(
        _ fetch: FetchEvidence, _ page: FetchEvidence.Page, _ measure: FetchEvidence.Page
    ) -> Finding {
        let extra = page.fieldNames.filter { !measure.fieldNames.contains($0) }
        let fields =
            extra.isEmpty ? "" : ", with these fields more: \(extra.joined(separator: ", "))"
        let place = fetch.address.map { " at \($0)" } ?? ""
        return Finding(
            "content_differs",
            "the page in clear\(place) is not the one to compare with (\(page.bodyOctets) octets "
                + "and \(measure.bodyOctets))\(fields): pages that change by themselves do that, too"
        )
    }

    private func isForeign(_ host: HostName) -> Bool {
        let home = evidence.registrableDomain ?? evidence.name
        return !host.isSameOrUnder(home)
    }

    /// The host of an absolute URL; nil for what has none, or an address.
    private static func host(ofURL url: String) -> HostName? {
        guard let slashes = url.firstRange(of: "://") else { return nil }
        let authority = url[slashes.upperBound...].prefix { !"/?#".contains($0) }
        let place = authority.lastIndex(of: "@").map { authority[$0...].dropFirst() } ?? authority
        return try? HostName(String(place.prefix { $0 != ":" }))
    }
}
