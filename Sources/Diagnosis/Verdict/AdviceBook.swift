internal import HTTPDNSNames

/// What to do about a verdict, and honestly whether HTTPDNS changes it.
struct AdviceBook {
    private let judging: Judging
    private let ruling: Ruling

    init(_ judging: Judging, _ ruling: Ruling) {
        self.judging = judging
        self.ruling = ruling
    }

    var advice: [Advice] {
        let advice = adviceForVerdict
        // A portal is not told by its name alone, but who is behind one has to know.
        switch ruling.verdict {
        case .dnsHijacked, .inconclusive, .tlsIntercepted:
            guard let portal = mayBePortal else { return advice }
            return advice + [portal]
        default: return advice
        }
    }

    private var mayBePortal: Advice? {
        let likeness = PortalLikeness(judging)
        guard !judging.isProvenByNetwork,
            let sign = likeness.redirect?.finding ?? likeness.oneForAll
        else { return nil }
        return Advice(
            .doesNotHelp,
            "It may be a captive portal: \(sign.text). Open a plain http page in a browser and see "
                + "whether it wants a login; --probe URL tells for certain.")
    }

    private var adviceForVerdict: [Advice] {
        switch ruling.verdict {
        case .clean: [harmless]
        case .cdnVariation:
            [
                Advice(
                    .notNeeded,
                    "The name's operator sends its visitors to different servers, all of them its "
                        + "own. That is no hijack.")
            ]
        case .dnsHijacked(let source, let how): hijacked(source, how)
        case .tlsIntercepted: intercepted
        case .sniFiltered:
            [
                filtered,
                Advice(
                    .doesNotHelp,
                    "What can help is a way around this network (a VPN, a proxy), or Encrypted "
                        + "Client Hello where both the site and the program have it."),
            ]
        case .addressBlocked:
            [
                Advice(
                    .doesNotHelp,
                    "HTTPDNS does not help: the addresses are right and cannot be reached. Try from "
                        + "another network: where it works there, this one blocks; else the server "
                        + "is down.")
            ]
        case .captivePortal:
            [
                Advice(
                    .doesNotHelp,
                    "Open a plain http page in a browser and log in, then try again. HTTPDNS cannot "
                        + "pass a network that lets nothing through.")
            ]
        case .originBroken: [broken]
        case .offline:
            [Advice(.doesNotHelp, "Connect this machine to a network, then try again.")]
        case .inconclusive(let missing): missing.map { advice(for: $0) }
        }
    }

    private var harmless: Advice {
        let weighing = judging.weighing
        guard !weighing.trusted.isEmpty else {
            return Advice(.notNeeded, "Nothing to mend: what is given here proves the name.")
        }
        // IPv4 addresses are translated here by HTTPDNS, too.
        let isTranslated = weighing.networkAddresses.contains(where: weighing.isTranslated)
        guard judging.isProvenByNetwork, weighing.provenByTrusted.isEmpty, !isTranslated else {
            return Advice(
                .notNeeded, "Nothing to mend: HTTPDNS would give what is given already.")
        }
        let honest = judging.sources.filter { !$0.source.isSuspect && $0.standing == .honest }
        let names = honest.prefix(2).map(\.source.label).joined(separator: ", ")
        return Advice(
            .notNeeded,
            "What this network gives works. HTTPDNS would be worse here: \(names) gives no address "
                + "that proves the name.")
    }

    private var filtered: Advice {
        let open = judging.weighing.provenByTrusted
        return open.isEmpty
            ? Advice(
                .doesNotHelp,
                "HTTPDNS does not help: the addresses are right, and the name in clear in the TLS "
                    + "handshake is what gives the connection away.")
            : Advice(
                .helps,
                "HTTPDNS helps for now: at \(open.listed), which "
                    + "\(judging.weighing.trustedGivers(of: open)) gives, the name is not cut. The next "
                    + "address may be filtered like the others.")
    }

    private var broken: Advice {
        ruling.supports.contains { $0.code == "tls_refused" }
            ? Advice(
                .doesNotHelp,
                "HTTPDNS does not help: the addresses are right, and what is there speaks no TLS "
                    + "for the name. Its operator can tell whether it should; a port where it does "
                    + "may be another (--tls-port).")
            : Advice(
                .doesNotHelp,
                "HTTPDNS does not help: the site itself has a bad certificate. Its operator has to mend "
                    + "it; do not go on past the warning.")
    }

    private var hosts: Advice {
        Advice(
            .doesNotHelp,
            "The hosts file of this machine names another address. This library reads it first, too, "
                + "unless it is told not to: remove the line if nobody wants it.")
    }

    /// An address proves the name, and what is given here does not.
    private var unproven: Advice {
        guard judging.badHosts == nil else { return hosts }
        let proven = judging.weighing.provenByTrusted
        if proven.isEmpty, let beside = judging.proversBeside.first {
            return Advice(
                .helps,
                "HTTPDNS may help: \(beside.source.label) gives \(beside.addresses.listed), which "
                    + "proves the name, and what programs here ask does not. Name a source that "
                    + "proves itself with --trusted.")
        }
        guard !proven.isEmpty, !judging.isProvenByNetwork else {
            return Advice(
                .doesNotHelp,
                "Not all addresses that are given here were tried: give it more time "
                    + "(--timeout 15s), or let it go where it does not by itself (--dial-private).")
        }
        return Advice(
            .helps,
            "HTTPDNS helps: \(judging.weighing.trustedGivers(of: proven)) is reached from here, and "
                + "\(proven.listed), which it gives, proves the name. Whether this network lies, "
                + "or leads to a server of the name that is down, is not known.")
    }

    private func hijacked(_ source: EvidenceSource, _ how: Verdict.Hijack) -> [Advice] {
        guard source.standing != .hosts else { return [hosts] }
        let honest = judging.sources.filter { !$0.source.isSuspect && $0.standing == .honest }
        let names = honest.prefix(2).map(\.source.label).joined(separator: ", ")
        let isReached = judging.weighing.hasProof
        var list: [Advice] = []
        if isReached, !names.isEmpty {
            list.append(
                Advice(
                    .helps,
                    "HTTPDNS helps: \(names) is reached from here, and an address proves the name.")
            )
        } else if !names.isEmpty {
            list.append(
                Advice(
                    .helps,
                    "HTTPDNS gives true answers here (\(names)); whether the addresses then can be "
                        + "reached is not proven."))
        } else {
            list.append(
                Advice(
                    .doesNotHelp,
                    "No trusted source is reached from here, so that HTTPDNS would have nobody to "
                        + "ask either: another network or another provider is needed."))
        }
        if let open = InterceptionJudging(judging).trueOtherPort(of: source) {
            list.append(
                Advice(
                    .helps,
                    "For now \(open.label) is let through and tells the truth; nothing proves that it "
                        + "stays so."))
        }
        switch how {
        case .intercepted, .forged:
            list.append(
                Advice(
                    .helps,
                    "Another plain name server does not help: its answers are replaced on the way. "
                        + "Only answers that prove themselves (HTTPS, TLS) do."))
        case .rewritten, .stale, .blocked:
            list.append(
                Advice(
                    .helps,
                    "Whoever runs \(source.label) can mend it; another name server may be enough."))
        }
        return list
    }

    private var intercepted: [Advice] {
        [
            Advice(
                .doesNotHelp,
                "HTTPDNS does not help: the addresses are right, and somebody on the way, or a "
                    + "program on this machine, answers in the site's place. This library refuses "
                    + "such connections."),
            Advice(
                .doesNotHelp,
                "If it is meant to be there (a company's gateway, an antivirus program), its "
                    + "authority can be trusted by --cacert; else use another network."),
        ]
    }

    private func advice(for missing: Verdict.Missing) -> Advice {
        switch missing {
        case .trustedAnswer:
            Advice(
                .doesNotHelp,
                "No trusted source answered: name one that is reached from here with --trusted.")
        case .networkAnswer:
            judging.weighing.provenByTrusted.isEmpty
                ? Advice(
                    .doesNotHelp,
                    "No name server of this network gave an answer, and no trusted source an address "
                        + "that proves the name.")
                : Advice(
                    .helps,
                    "No name server of this network gave an answer. HTTPDNS helps: a trusted source is "
                        + "reached from here, and an address that it gives proves the name.")
        case .networkProof: unproven
        case .handshake:
            Advice(
                .doesNotHelp,
                "No address proved the name: a port where it speaks TLS may be another (--tls-port)."
            )
        case .rightClock:
            Advice(
                .doesNotHelp,
                "Set this machine's clock, then try again: until then no certificate can be judged."
            )
        case .nobodyAsked:
            Advice(
                .doesNotHelp,
                "Nobody was asked: name sources with --nameserver, --resolver or --trusted, or leave "
                    + "out what turns them off (none, --no-system).")
        case .interrupted:
            Advice(
                .doesNotHelp,
                "It was ended before there was enough to go by: let it run to its end.")
        case .localResources:
            Advice(
                .doesNotHelp,
                "Let this machine open more at once (ulimit -n), or end other programs, then try "
                    + "again.")
        case .time: Advice(.doesNotHelp, "Give it more time: --timeout 15s.")
        }
    }
}
