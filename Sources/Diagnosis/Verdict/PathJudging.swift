internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSWire

/// Whether somebody on the path answers in the place of name servers.
struct InterceptionJudging {
    let judging: Judging

    init(_ judging: Judging) { self.judging = judging }

    private var evidence: Evidence { judging.evidence }

    var findings: [Finding] {
        var found: [Finding] = []
        if let dark = evidence.dark, let statement = dark.statement {
            found.append(
                Finding(
                    "dark_address_answers",
                    "\(dark.address), where no name server is, answered: "
                        + InterceptionJudging.said(statement)))
        }
        found += portFindings
        for (liar, sibling) in split {
            let code = isOtherPort(liar, sibling) ? "ports_differ" : "udp_differs_from_tcp"
            found.append(
                Finding(
                    code,
                    "\(liar.source.label) lies, and the same server is honest as "
                        + "\(sibling.source.label)"))
        }
        return found
    }

    private var portFindings: [Finding] {
        answeringPorts.map { vacant, statement in
            Finding(
                "vacant_port_answers",
                "\(vacant.place), a port where that name server does no DNS, answered: "
                    + InterceptionJudging.said(statement))
        }
    }

    /// What is told of ports without DNS where it decides nothing.
    var notes: [Finding] {
        isHarmless ? portFindings + [InterceptionJudging.mayBeWilling] : []
    }

    /// Whether nothing but answers from ports without DNS hints at somebody on the path, while nothing
    /// that was said is disproved and what programs here get proves the name: a server may do DNS on all
    /// of its ports.
    private var isHarmless: Bool {
        !answeringPorts.isEmpty && evidence.dark?.statement == nil && judging.liars.isEmpty
            && judging.isProvenByNetwork && !answeringPorts.contains { isDisproved($0.1) }
    }

    /// Of a name that is proven to be somewhere.
    private func isDisproved(_ statement: Statement) -> Bool {
        if statement.code == .noSuchName { return true }
        return statement.addresses.contains { address in
            switch judging.weighing.standing(of: address) {
            case .proven: return false
            case .impostor, .impossible: return true
            case .badCertificate, .filtered, .mute, .unreachable, .untried: break
            }
            switch AddressMeaning(of: address) {
            case .sinkhole?, .null?, .impossible?, .loopback?: return true
            case .ownNetwork?, .proxy?, nil: return false
            }
        }
    }

    /// What else it may be, where a liar's words are put down to somebody on the path.
    func doubts(about liar: SourceJudgement) -> [Finding] {
        var found: [Finding] = []
        if split.contains(where: { $0.0 == liar && isOtherPort($0.0, $0.1) }),
            !split.contains(where: { $0.0 == liar && !isOtherPort($0.0, $0.1) })
        {
            found.append(
                Finding(
                    "may_be_two_servers", "two programs may answer on two ports of one machine"))
        }
        if evidence.dark?.statement == nil, !answeringPorts.isEmpty, split.isEmpty {
            found.append(InterceptionJudging.mayBeWilling)
        }
        return found
    }

    private static let mayBeWilling = Finding(
        "may_answer_on_all_ports", "a server may do DNS on every port, of its own will")

    private static func said(_ statement: Statement) -> String {
        statement.addresses.isEmpty ? statement.code.name : statement.addresses.listed
    }

    /// Ports without DNS from which there was an answer.
    private var answeringPorts: [(VacantPortEvidence, Statement)] {
        evidence.vacantPorts.compactMap { vacant in vacant.statement.map { (vacant, $0) } }
    }

    private func isOtherPort(_ liar: SourceJudgement, _ sibling: SourceJudgement) -> Bool {
        liar.source.server != sibling.source.server
    }

    /// The same server, proven one way and lying the other about the same question: by UDP and by TCP,
    /// or on two ports. That addresses differ is nothing by itself: one is disproved, the other proven.
    private var split: [(SourceJudgement, SourceJudgement)] {
        judging.sources.compactMap { liar in
            guard case .lies(let how) = liar.standing, how != .forged else { return nil }
            let sibling = judging.sources.first {
                $0.standing == .honest && isSameServer($0.source, liar.source)
                    && contradicts($0.source, liar.source)
            }
            return sibling.map { (liar, $0) }
        }
    }

    private func isSameServer(_ left: EvidenceSource, _ right: EvidenceSource) -> Bool {
        guard let here = left.server, let there = right.server else { return false }
        if here == there { return left.transport != right.transport }
        return left.alternateOf == there || right.alternateOf == here
    }

    private func contradicts(_ honest: EvidenceSource, _ liar: EvidenceSource) -> Bool {
        let weighing = judging.weighing
        let isAboutName = [RecordType.a, .aaaa].contains { type in
            guard let truth = weighing.statement(of: honest, type),
                let lie = weighing.statement(of: liar, type)
            else { return false }
            return truth.addresses.contains { weighing.standing(of: $0) == .proven }
                && !lie.addresses.contains { weighing.standing(of: $0) == .proven }
        }
        return isAboutName || contradictsOnMadeUpNames(honest, liar)
    }

    /// One knows a name that nobody has, and the other denies it.
    private func contradictsOnMadeUpNames(
        _ honest: EvidenceSource, _ liar: EvidenceSource
    ) -> Bool {
        let denied = evidence.randomNames.filter {
            $0.answer.source == honest && $0.answer.statement?.isNegative == true
        }
        return evidence.randomNames.contains { probe in
            probe.answer.source == liar && probe.answer.statement?.isPositive == true
                && denied.contains { $0.answer.name == probe.answer.name }
        }
    }

    /// Whether a liar's words are more likely put into its mouth.
    func explains(_ liar: SourceJudgement, _ how: Verdict.Hijack) -> Bool {
        guard how != .forged, liar.source.standing != .hosts else { return false }
        if split.contains(where: { $0.0.source == liar.source }) { return true }
        let isPlain = liar.source.transport == .udp || liar.source.transport == .system
        guard isPlain else { return false }
        return evidence.dark?.statement != nil
            || answeringPorts.contains { vacant, _ in
                liar.source.server.map { $0 == vacant.server } ?? true
            }
    }

    /// For interception alone: nothing that was said is a lie yet.
    var ruling: Ruling? {
        let honest = Finding(
            "honest_so_far", "what is answered about \(evidence.name) is not a lie")
        if let dark = evidence.dark, dark.statement != nil {
            let own = evidence.sources.first { $0.standing == .nameserver && $0.transport == .udp }
            let source = own ?? InterceptionJudging.source(at: dark.address)
            return Ruling(
                .dnsHijacked(source: source, how: .intercepted), .certain, findings,
                against: [honest])
        }
        guard let server = answeringPorts.first?.0.server, !isHarmless else { return nil }
        let own = evidence.sources.first { $0.server == server && $0.transport == .udp }
        let source = own ?? InterceptionJudging.source(at: server)
        return Ruling(
            .dnsHijacked(source: source, how: .intercepted), .likely, findings,
            against: [honest, InterceptionJudging.mayBeWilling])
    }

    private static func source(at place: Endpoint) -> EvidenceSource {
        EvidenceSource(
            label: "udp://\(place)", standing: .nameserver, transport: .udp, server: place)
    }

    /// Whether somebody answers where nobody should.
    var isAnsweredForNobody: Bool {
        evidence.dark?.statement != nil || !answeringPorts.isEmpty
    }

    /// The same where it says something of name servers.
    var isAnsweredInPlace: Bool { isAnsweredForNobody && !isHarmless }

    /// A port of the liar's server where the truth is still told.
    func trueOtherPort(of liar: EvidenceSource) -> EvidenceSource? {
        split.first { $0.0.source == liar && isOtherPort($0.0, $0.1) }?.1.source
    }
}

/// Whether a web page stands in the way of everything.
struct PortalJudging {
    let evidence: Evidence

    init(_ evidence: Evidence) { self.evidence = evidence }

    var finding: (finding: Finding, isSure: Bool)? {
        for fetch in evidence.fetches {
            guard case .success(let page) = fetch.result else { continue }
            if fetch.purpose == .portalProbe, let found = portal(page, fetch.url) { return found }
            if fetch.purpose != .verified, page.status == 511 {
                let text = "\(fetch.url) answers 511: the network wants a login"
                return (Finding("network_authentication", text), true)
            }
        }
        return nil
    }

    /// 511 is "Network Authentication Required". Source: RFC 6585 §6.
    private func portal(
        _ page: FetchEvidence.Page, _ url: String
    ) -> (finding: Finding, isSure: Bool)? {
        guard let expected = evidence.expectedProbe else { return nil }
        let excerpt = String(decoding: page.excerpt, as: UTF8.self)
        let isBodyRight = expected.body.map { excerpt.contains($0) } ?? true
        if page.status == expected.status {
            guard !isBodyRight, let wanted = expected.body else { return nil }
            let words =
                page.bodyOctets == 0
                ? "with an empty body"
                : "with a body that begins \"\(PortalJudging.start(excerpt))\""
            return (
                Finding(
                    "probe_answered_otherwise",
                    "\(url) answers \(page.status), as it should, \(words), and \"\(wanted)\" is not "
                        + "in it"),
                false
            )
        }
        let isRedirect = (300...399).contains(page.status)
        let place = page.location.map { ", which leads to \($0)" } ?? ""
        return (
            Finding(
                "probe_answered_otherwise",
                "\(url) answers \(page.status)\(place), not \(expected.status)"),
            isRedirect || page.status == 511
        )
    }

    /// What a person needs to see which page it is.
    private static func start(_ excerpt: String) -> String {
        let line = excerpt.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return line.count > longestStart ? String(line.prefix(longestStart)) + "…" : line
    }

    /// Because: the title of a page, about.
    private static let longestStart = 60
}

/// What looks like a portal where no page is asked for whose answer is known beforehand.
struct PortalLikeness {
    private let judging: Judging

    init(_ judging: Judging) { self.judging = judging }

    private var evidence: Evidence { judging.evidence }
    private var weighing: Weighing { judging.weighing }

    /// A page in clear, at an address of this network that proves nothing, which sends on to another
    /// host.
    var redirect: (finding: Finding, address: IPAddress)? {
        for fetch in evidence.fetches where [.plain, .reference].contains(fetch.purpose) {
            guard let address = fetch.address, weighing.networkAddresses.contains(address),
                weighing.standing(of: address) != .proven, let page = try? fetch.result.get(),
                let place = PortalLikeness.stranger(page, evidence)
            else { continue }
            let text = "\(fetch.url) at \(address) leads to another host, \(place)"
            return (Finding("redirect_elsewhere", text), address)
        }
        return nil
    }

    /// Enough for a verdict, a likely one: nobody proves anything, and every name leads to that page,
    /// also names that nobody has.
    var findings: [Finding]? {
        guard let redirect, let all = oneForAll(at: redirect.address) else { return nil }
        return [redirect.finding, all]
    }

    /// One address for every name, whatever is there.
    var oneForAll: Finding? {
        let given = weighing.addresses.lazy.filter { weighing.networkAddresses.contains($0) }
        return given.prefix(PortalLikeness.mostAddresses).compactMap { oneForAll(at: $0) }.first
    }

    /// Because: who leads everybody to one page gives one address for it, or two.
    private static let mostAddresses = 16

    private func oneForAll(at address: IPAddress) -> Finding? {
        guard !weighing.hasProof, weighing.trusted.isEmpty, !isProbed,
            let source = evidence.sources.first(where: { leadsAll($0, to: address) })
        else { return nil }
        return Finding(
            "all_names_lead_there",
            "\(source.label) gives \(address) for names, too, that were made up for this question, "
                + "and no trusted source is reached")
    }

    /// A probe that was answered has told already.
    private var isProbed: Bool {
        evidence.fetches.contains {
            $0.purpose == .portalProbe && (try? $0.result.get()) != nil
        }
    }

    private func leadsAll(_ source: EvidenceSource, to address: IPAddress) -> Bool {
        let own = evidence.randomNames.filter {
            $0.answer.source == source && $0.parent == .publicSuffix
        }
        return source.isOfNetwork && own.count > 1
            && own.allSatisfy { $0.answer.statement?.addresses.contains(address) == true }
    }

    /// The host that a page sends on to, where it is neither the name's nor under the same registration.
    static func stranger(_ page: FetchEvidence.Page, _ evidence: Evidence) -> String? {
        guard let place = host(ofURL: page.location ?? "") else { return nil }
        if let address = try? IPAddress(place) { return "\(address)" }
        guard let name = try? HostName(place),
            !name.isSameOrUnder(evidence.registrableDomain ?? evidence.name)
        else { return nil }
        return "\(name)"
    }

    /// The host of an absolute URL, without port and brackets.
    private static func host(ofURL url: String) -> String? {
        guard let slashes = url.firstRange(of: "://") else { return nil }
        let authority = url[slashes.upperBound...].prefix { !"/?#".contains($0) }
        let place = authority.lastIndex(of: "@").map { authority[$0...].dropFirst() } ?? authority
        if place.hasPrefix("[") { return String(place.dropFirst().prefix { $0 != "]" }) }
        return String(place.prefix { $0 != ":" })
    }
}
