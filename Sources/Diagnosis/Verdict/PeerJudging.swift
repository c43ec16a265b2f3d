internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSTrust
internal import HTTPDNSWire

/// Judges what is found at the right addresses, when no source lies about them.
///
/// Rules:
/// 1. What programs here get is what the system gives, and name servers on their own ports: where that
///    proves the name, the name works, whatever is at addresses of trusted sources; only a sure sign of
///    somebody in between counts then.
/// 2. Where it does not, a proof elsewhere makes nothing clean.
/// 3. The rest is judged at the addresses of trusted sources; without one, at all.
struct PeerJudging {
    private let judging: Judging
    /// The right addresses as far as anybody knows: those of trusted sources, else all.
    private let targets: [IPAddress]
    private let weighing: Weighing

    init(_ judging: Judging) {
        self.judging = judging
        weighing = judging.weighing
        let trusted = weighing.trustedAddresses
        targets =
            trusted.isEmpty
            ? weighing.addresses : weighing.addresses.filter { trusted.contains($0) }
    }

    /// Nil: the addresses decide nothing.
    var ruling: Ruling? {
        guard !targets.isEmpty else { return nil }
        let impostors = at(.impostor)
        if !judging.bearers.isEmpty { return mixed(impostors) ?? harmless }
        if !at(.proven).isEmpty { return mixed(impostors) ?? cutHere ?? unasked }
        let filtered = at(.filtered)
        if !filtered.isEmpty { return sniFiltered(filtered) }
        if !impostors.isEmpty {
            let ruling = InterceptorJudging(judging, impostors).ruling
            // Without a measure these may not be the right addresses; only a sure sign is one anyhow.
            return weighing.isTrustedPositive || ruling.confidence == .certain ? ruling : nil
        }
        guard weighing.isTrustedPositive else { return nil }
        let bad = at(.badCertificate)
        if !bad.isEmpty { return broken(bad) }
        return silence
    }

    private func at(_ standing: AddressJudgement.Standing) -> [IPAddress] {
        targets.filter { weighing.standing(of: $0) == standing }
    }

    /// Some of the right addresses prove the name, and at others somebody else is.
    private func mixed(_ impostors: [IPAddress]) -> Ruling? {
        guard !impostors.isEmpty else { return nil }
        let ruling = InterceptorJudging(judging, impostors).ruling
        guard ruling.verdict == .tlsIntercepted else { return nil }
        // An address that nobody here is led to is one of many where the name is proven.
        let isMet = impostors.contains { weighing.networkAddresses.contains($0) }
        guard isMet || judging.bearers.isEmpty || ruling.confidence == .certain else { return nil }
        return ruling
    }

    // MARK: The proof

    /// The network proves the name, and nobody lies.
    private var harmless: Ruling? {
        guard judging.badHosts == nil else { return nil }
        let confidence: Confidence = judging.doubtful.isEmpty ? .certain : .likely
        let proven = weighing.addresses.filter {
            weighing.networkAddresses.contains($0) && weighing.standing(of: $0) == .proven
        }
        guard let variation else {
            return Ruling(.clean, confidence, [isProven(at: proven)])
        }
        return Ruling(.cdnVariation, confidence, [isProven(at: proven), variation])
    }

    /// Nobody of this network was to be judged.
    private var unasked: Ruling? {
        let hasNetwork = judging.evidence.sources.contains { $0.isOfNetwork }
        guard !hasNetwork, judging.badHosts == nil else { return nil }
        return Ruling(
            .clean, judging.doubtful.isEmpty ? .certain : .likely, [isProven(at: at(.proven))])
    }

    private func isProven(at addresses: [IPAddress]) -> Finding {
        Finding(
            "name_proven", "\(judging.evidence.name) is proven by TLS at \(addresses.listed)")
    }

    /// Where this network leads to, the handshake is cut with the name, and without it the name's own
    /// certificate comes: the name's server, and a filter before it. Elsewhere the name passes.
    private var cutHere: Ruling? {
        let cut = weighing.addresses.filter {
            weighing.networkAddresses.contains($0) && weighing.standing(of: $0) == .filtered
                && weighing.peers[$0]?.withoutName?.isProven == true
        }
        guard !cut.isEmpty, !judging.isProvenByNetwork else { return nil }
        return Ruling(
            .sniFiltered, .likely, cut.compactMap(cutFinding),
            against: [
                Finding("passes_elsewhere", "with the name, and not cut: \(at(.proven).listed)")
            ])
    }

    /// Two answers of one type, or all that two sources give, that share no address and prove the name.
    private var variation: Finding? {
        let answers = judging.evidence.answers.filter { answer in
            let addresses = answer.statement?.addresses ?? []
            return addresses.contains { weighing.standing(of: $0) == .proven }
        }
        for (place, left) in answers.enumerated() {
            for right in answers[(place + 1)...] where left.type == right.type {
                let sets = (left.statement?.addresses ?? [], right.statement?.addresses ?? [])
                guard Set(sets.0).isDisjoint(with: sets.1) else { continue }
                return differ(left.source, sets.0, right.source, sets.1)
            }
        }
        return variationOfFamilies
    }

    /// One has IPv4 alone, and the other IPv6.
    private var variationOfFamilies: Finding? {
        let given = judging.evidence.sources.map { source in
            (
                source,
                [RecordType.a, .aaaa].flatMap {
                    weighing.statement(of: source, $0)?.addresses ?? []
                }
            )
        }.filter { $0.1.contains { weighing.standing(of: $0) == .proven } }
        for (place, left) in given.enumerated() {
            for right in given[(place + 1)...]
            where Set(left.1).isDisjoint(with: right.1)
                && !(left.1 + right.1).contains(where: weighing.isTranslated)
            {
                return differ(left.0, left.1, right.0, right.1)
            }
        }
        return nil
    }

    private func differ(
        _ left: EvidenceSource, _ here: [IPAddress], _ right: EvidenceSource, _ there: [IPAddress]
    ) -> Finding {
        Finding(
            "different_addresses",
            "\(left.label) gives \(here.listed), \(right.label) gives \(there.listed), and each "
                + "proves the name")
    }

    // MARK: No proof

    private func sniFiltered(_ filtered: [IPAddress]) -> Ruling {
        let findings = filtered.compactMap(cutFinding)
        let isCut = filtered.contains { weighing.peers[$0]?.real != .timedOut }
        let untouched = at(.unreachable)
        let against =
            untouched.isEmpty
            ? [] : [Finding("also_unreachable", "not reachable at all: \(untouched.listed)")]
        let isSure = isCut && weighing.isTrustedPositive
        return Ruling(.sniFiltered, isSure ? .certain : .likely, findings, against: against)
    }

    private func cutFinding(at address: IPAddress) -> Finding? {
        weighing.cutWords(at: address).map { Finding("cut_with_name_only", $0) }
    }

    static func words(_ handshake: Handshake) -> String {
        switch handshake {
        case .proven: "proves the name"
        case .untrusted(let failure): "is refused (\(failure.label))"
        case .cut(.reset): "is reset"
        case .cut(.closed): "is cut"
        case .cut(.refused(let why)): "is refused by the server (\(why))"
        case .timedOut: "gets no answer"
        }
    }

    private func broken(_ bad: [IPAddress]) -> Ruling {
        let findings = bad.map {
            Finding("certificate_is_bad", weighing.whoAnswers(at: $0))
        }
        // Only a lie, perhaps; but then another reason is as good.
        guard let doubt = ClockJudging(judging).doubt else {
            return Ruling(.originBroken, .certain, findings)
        }
        return Ruling(.originBroken, .likely, findings, against: [doubt])
    }

    /// Nothing at the right addresses says a word.
    private var silence: Ruling? {
        // In a moment too short nobody is silent.
        judging.isHasty ? nil : silent.ruling
    }

    /// A port that is shut while others are open, where nothing else is known of the right addresses.
    var closedPort: Finding? { weighing.isTrustedPositive ? silent.closedPort : nil }

    private var silent: SilenceJudging {
        SilenceJudging(judging: judging, dead: at(.unreachable) + at(.mute))
    }
}

/// Tells a site whose own certificate is bad from somebody who answers in its place.
///
/// Rules, the first that holds:
/// 1. A known product's name on the certificate, certificates made for whatever name is asked, or the
///    site's own certificate as soon as the name is not said: somebody in between, for certain.
/// 2. Other addresses of the name prove it, or trusted resolvers meet a bad certificate, too.
/// 3. A chain that wants one certificate of a public authority, a certificate that signs itself, one of
///    a trusted authority for another name: the site's own fault, most often.
/// 4. A certificate for the name by an authority that nobody knows: somebody in between, likely.
struct InterceptorJudging {
    private let judging: Judging
    private let impostors: [IPAddress]
    private let weighing: Weighing

    init(_ judging: Judging, _ impostors: [IPAddress]) {
        self.judging = judging
        self.impostors = impostors
        weighing = judging.weighing
    }

    var ruling: Ruling {
        let shown = impostors.map {
            Finding("somebody_else_answers", weighing.whoAnswers(at: $0))
        }
        for address in impostors {
            if let sign = sign(at: address) {
                return Ruling(.tlsIntercepted, .certain, [sign] + shown)
            }
        }
        if let hint = hint { return Ruling(.tlsIntercepted, .likely, shown + [hint]) }
        let faults = impostors.compactMap { fault(at: $0) }
        if faults.count == impostors.count {
            return Ruling(
                .originBroken, .likely, shown + faults,
                against: [
                    Finding("may_be_intercepted", "somebody in between could show the same")
                ])
        }
        return Ruling(
            .tlsIntercepted, .likely, shown,
            against: [
                Finding(
                    "may_be_private_authority",
                    "a site with an authority of its own looks the same: --cacert tells it apart")
            ])
    }

    /// What only somebody in between does.
    private func sign(at address: IPAddress) -> Finding? {
        guard let peer = weighing.peers[address], let real = peer.real else { return nil }
        if let product = KnownInterceptors.product(in: real.chain) {
            return Finding(
                "known_interceptor", "\(address): the certificate is made by \(product)")
        }
        if peer.withoutName?.isProven == true {
            return Finding(
                "honest_without_name",
                "\(address): without the name in the handshake the site's own certificate comes")
        }
        if let other = peer.otherName, let leaf = other.chain.first, !other.isProven,
            let own = real.chain.first, leaf.issuer == own.issuer,
            leaf.fingerprint != own.fingerprint, isMinted(other)
        {
            return Finding(
                "certificates_made_on_demand",
                "\(address) shows a certificate of the same issuer for whatever name it is asked")
        }
        return nil
    }

    /// A certificate for the other name, by somebody whom nobody trusts.
    private func isMinted(_ other: Handshake) -> Bool {
        guard case .untrusted(let failure) = other, case .name(let name) = failure.facts.host else {
            return false
        }
        return failure.facts.chain.first?.covers(name.text) ?? false
    }

    private var hint: Finding? {
        if weighing.hasProof {
            return Finding(
                "proven_elsewhere", "other addresses of the name prove it")
        }
        let isShunned = judging.evidence.answers.contains { answer in
            guard !answer.source.isSuspect, case .failure(.untrusted) = answer.result else {
                return false
            }
            return true
        }
        return isShunned
            ? Finding(
                "resolvers_intercepted", "trusted resolvers do not prove themselves here, either")
            : nil
    }

    private func fault(at address: IPAddress) -> Finding? {
        guard let failure = weighing.failure(at: address), let leaf = failure.facts.chain.first
        else { return nil }
        let name = judging.evidence.name.text
        switch failure.code {
        case .selfSigned where failure.facts.chain.count == 1 && leaf.subject == leaf.issuer:
            return Finding("signs_itself", "\(address): the certificate signs itself")
        case .unknownIssuer where KnownAuthorities.isNamed(by: leaf):
            return Finding(
                "chain_is_short",
                "\(address): a certificate between it and a public authority is missing")
        case .wrongName where !leaf.covers(name):
            return Finding(
                "for_another_name",
                "\(address): the certificate is sound, and for \(leaf.listedNames())")
        default: return nil
        }
    }
}
