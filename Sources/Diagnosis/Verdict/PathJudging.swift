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
            let said =
                statement.addresses.isEmpty ? statement.code.name : statement.addresses.listed
            found.append(
                Finding(
                    "dark_address_answers",
                    "\(dark.address), where no name server is, answered: \(said)"))
        }
        for (udp, tcp) in split {
            found.append(
                Finding(
                    "udp_differs_from_tcp",
                    "\(udp.source.label) lies, and the same server is honest as "
                        + "\(tcp.source.label)"))
        }
        return found
    }

    /// The same server, proven one way and lying the other about the same question.
    private var split: [(SourceJudgement, SourceJudgement)] {
        judging.sources.compactMap { liar in
            guard case .lies(let how) = liar.standing, how != .forged,
                let server = liar.source.server
            else { return nil }
            let sibling = judging.sources.first {
                $0.source.server == server && $0.source.transport != liar.source.transport
                    && $0.standing == .honest && contradicts($0.source, liar.source)
            }
            return sibling.map { (liar, $0) }
        }
    }

    private func contradicts(_ honest: EvidenceSource, _ liar: EvidenceSource) -> Bool {
        let weighing = judging.weighing
        return [RecordType.a, .aaaa].contains { type in
            guard let truth = weighing.statement(of: honest, type),
                let lie = weighing.statement(of: liar, type)
            else { return false }
            return truth.addresses.contains { weighing.standing(of: $0) == .proven }
                && !lie.addresses.contains { weighing.standing(of: $0) == .proven }
        }
    }

    /// Whether a liar's words are more likely put into its mouth.
    func explains(_ liar: SourceJudgement, _ how: Verdict.Hijack) -> Bool {
        guard how != .forged, liar.source.standing != .hosts else { return false }
        if split.contains(where: { $0.0.source == liar.source }) { return true }
        let isPlain = liar.source.transport == .udp || liar.source.transport == .system
        return evidence.dark?.statement != nil && isPlain
    }

    /// For interception alone: nothing that was said is a lie yet.
    var ruling: Ruling? {
        guard let dark = evidence.dark, dark.statement != nil else { return nil }
        let own = evidence.sources.first { $0.standing == .nameserver && $0.transport == .udp }
        let source =
            own
            ?? EvidenceSource(
                label: "udp://\(dark.address)", standing: .nameserver, transport: .udp,
                server: dark.address)
        return Ruling(
            .dnsHijacked(source: source, how: .intercepted), .certain, findings,
            against: [
                Finding("honest_so_far", "what is answered about \(evidence.name) is not a lie")
            ])
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
        if page.status == expected.status, expected.body.map({ excerpt.contains($0) }) ?? true {
            return nil
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
}
