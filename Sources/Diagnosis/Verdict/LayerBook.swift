internal import HTTPDNSNames
internal import HTTPDNSWire

/// The state of each layer in one line.
struct LayerBook {
    private let judging: Judging
    private let ruling: Ruling

    init(_ judging: Judging, _ ruling: Ruling) {
        self.judging = judging
        self.ruling = ruling
    }

    private var evidence: Evidence { judging.evidence }

    var lines: [LayerLine] { [network, dns, address, tls, http, clock] }

    private var network: LayerLine {
        let facts = evidence.network
        guard facts.hasRoute else {
            return judging.hasAnyReply
                ? LayerLine(.network, .unclear, "no route beyond this machine")
                : LayerLine(.network, .bad, "no route to anywhere")
        }
        guard facts.routes != nil else {
            return judging.hasAnyReply
                ? LayerLine(.network, .good, "connected")
                : LayerLine(.network, .unclear, "what routes there are is not known")
        }
        let families = [facts.hasIPv4Route ? "IPv4" : nil, facts.hasIPv6Route ? "IPv6" : nil]
            .compactMap(\.self).joined(separator: " and ")
        if judging.hasAnyReply {
            return LayerLine(.network, .good, "connected by \(families)")
        }
        // Silence says something only of who was asked, and had the time to answer.
        guard judging.hasHeardOut else {
            return LayerLine(.network, .unclear, "a route for \(families), and nothing heard yet")
        }
        return LayerLine(.network, .bad, "a route for \(families), and nothing answers")
    }

    private var dns: LayerLine {
        let suspects = judging.sources.filter { $0.source.isSuspect }
        let liars = judging.liars
        let heard = suspects.filter { $0.standing != .silent && $0.failure == nil }
        if let first = liars.first, case .lies(var how) = first.standing {
            if case .dnsHijacked(_, let final) = ruling.verdict { how = final }
            let others = liars.count > 1 ? " and \(liars.count - 1) more" : ""
            return LayerLine(
                .dns, .bad, "\(first.source.label)\(others): \(LayerBook.words(how))")
        }
        if InterceptionJudging(judging).isAnsweredInPlace {
            return LayerLine(.dns, .bad, "somebody answers in the place of name servers")
        }
        let trusted = judging.sources.filter { !$0.source.isSuspect && $0.standing == .honest }
        let measure =
            trusted.isEmpty
            ? "no trusted source answers" : "\(trusted.count) trusted to compare with"
        let failures = Set(suspects.compactMap(\.failure)).map(\.name).sorted()
        let failing = failures.isEmpty ? "" : " with more than \(failures.joined(separator: ", "))"
        guard !heard.isEmpty else {
            return LayerLine(
                .dns, suspects.isEmpty ? .notTried : .unclear,
                "none of \(suspects.count) sources to be judged answers\(failing); \(measure)")
        }
        let honest = heard.filter { $0.standing == .honest }.count
        let state: LayerLine.State = honest == heard.count ? .good : .unclear
        return LayerLine(
            .dns, state, "\(honest) of \(heard.count) sources that answer are honest; \(measure)")
    }

    static func words(_ how: Verdict.Hijack) -> String {
        switch how {
        case .forged: "a forged answer comes before the true one"
        case .rewritten: "gives what is not true"
        case .intercepted: "somebody on the path answers for it"
        case .stale: "gives what is no longer true"
        case .blocked: "hides the name"
        }
    }

    private var address: LayerLine {
        let tried = evidence.peers.filter {
            if case .notDialled = $0.connection { false } else { true }
        }
        guard !tried.isEmpty else {
            return LayerLine(.address, .notTried, "no address to connect to")
        }
        let met = tried.filter { $0.connection == .connected }.count
        let state: LayerLine.State = met == 0 ? .bad : met == tried.count ? .good : .unclear
        return LayerLine(.address, state, "\(met) of \(tried.count) addresses take connections")
    }

    private var tls: LayerLine {
        let judged = judging.addresses.filter {
            ![.untried, .impossible, .unreachable].contains($0.standing)
        }
        guard !judged.isEmpty else { return LayerLine(.tls, .notTried, "no handshake") }
        let proven = judged.filter { $0.standing == .proven }.count
        if proven == judged.count {
            return LayerLine(.tls, .good, "\(proven) of \(judged.count) peers prove the name")
        }
        let faults = judged.filter { $0.standing != .proven }.map {
            "\($0.address) \(LayerBook.words($0.standing))"
        }
        let state: LayerLine.State = proven == 0 ? .bad : .unclear
        let list = faults.prefix(3).joined(separator: ", ") + (faults.count > 3 ? ", …" : "")
        return LayerLine(
            .tls, state, "\(proven) of \(judged.count) peers prove the name; \(list)")
    }

    static func words(_ standing: AddressJudgement.Standing) -> String {
        switch standing {
        case .proven: "proves the name"
        case .impostor: "is somebody else"
        case .badCertificate: "has a certificate gone bad"
        case .filtered: "cuts the name"
        case .mute: "shows no certificate"
        case .unreachable: "takes no connection"
        case .impossible: "is no host's address"
        case .untried: "was not tried"
        }
    }

    private var http: LayerLine {
        guard !evidence.fetches.isEmpty else {
            return LayerLine(.http, .notTried, "no page was asked for")
        }
        if ruling.verdict == .captivePortal, let first = ruling.supports.first {
            return LayerLine(.http, .bad, first.text)
        }
        if let portal = PortalJudging(evidence).finding {
            return LayerLine(
                .http, judging.isProvenByNetwork ? .unclear : .bad, portal.finding.text)
        }
        let pages = evidence.fetches.filter { (try? $0.result.get()) != nil }.count
        let state: LayerLine.State = pages == 0 ? .unclear : .good
        return LayerLine(.http, state, "\(pages) of \(evidence.fetches.count) requests answered")
    }

    private var clock: LayerLine {
        let clock = ClockJudging(judging)
        if let finding = clock.ruling?.supports.first {
            return LayerLine(.clock, .bad, finding.text)
        }
        let hasProof = judging.weighing.hasProof
        guard let (skew, isProven) = clock.skew else {
            return hasProof
                ? LayerLine(.clock, .good, "certificates are valid by it")
                : LayerLine(.clock, .notTried, "nothing to compare it with")
        }
        let doubt = isProven || hasProof ? "" : ", which did not prove who they are"
        let isWrong = skew.magnitude > ClockJudging.muchSeconds
        let words =
            skew.magnitude < ClockJudging.fewSeconds
            ? "this machine's clock agrees with servers'"
            : "this machine's clock is \(ClockJudging.words(skew))"
        let state: LayerLine.State =
            isWrong && isProven ? .bad : isWrong || !doubt.isEmpty ? .unclear : .good
        return LayerLine(.clock, state, words + doubt)
    }
}
