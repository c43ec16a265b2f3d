/// What is going on with a name on this network.
public enum Verdict: Sendable, Hashable {
    /// Nobody lies: all sources agree, or what they say proves the name.
    case clean
    /// The sources give different addresses, and each of those proves the name.
    case cdnVariation
    /// A source of answers lies about the name, or about names that do not exist.
    case dnsHijacked(source: EvidenceSource, how: Hijack)
    /// Somebody between here and the right addresses answers in the name's place.
    case tlsIntercepted
    /// Connections are cut when they say the name in clear, and only then.
    case sniFiltered
    /// The right addresses cannot be reached from here.
    case addressBlocked
    /// The network wants a login, or something like it, before it lets anything through.
    case captivePortal
    /// The site's own certificate is bad, wherever its address comes from.
    case originBroken
    /// This machine has no network, or nothing on it answers.
    case offline
    /// The evidence does not reach; the list says what is missing.
    case inconclusive(missing: [Missing])

    /// How an answer is a lie.
    public enum Hijack: String, Sendable, Hashable, CaseIterable {
        /// A second answer came from beside the path, before the server's own.
        case forged
        /// The source gives addresses that are not the name's.
        case rewritten
        /// Somebody on the path answers in the place of the server asked.
        case intercepted
        /// The source gives what was true once.
        case stale
        /// The source hides the name: NXDOMAIN, REFUSED, 0.0.0.0, a page that says so.
        case blocked
    }

    /// What a verdict would need.
    public enum Missing: String, Sendable, Hashable, CaseIterable {
        /// No source that proves itself gave an answer.
        case trustedAnswer = "trusted_answer"
        /// No source but trusted ones gave a usable answer.
        case networkAnswer = "network_answer"
        /// No address could be asked to prove the name.
        case handshake
        /// An address proves the name, and none of those does that this network, or the hosts file,
        /// gives; or not all of these were tried.
        case networkProof = "network_proof"
        /// This machine's clock is wrong, so that no certificate can be judged.
        case rightClock = "right_clock"
        /// The deadline came first, or was too near for silence to say anything.
        case time
        /// There was nobody to ask: no source is configured, or none may be asked.
        case nobodyAsked = "nobody_asked"
        /// The run was ended from outside before its own end.
        case interrupted
        /// This machine itself had nothing left to ask with: descriptors, threads, memory.
        case localResources = "local_resources"
    }

    /// The JSON spelling: `dns_hijacked`; a bounded set.
    public var label: String {
        switch self {
        case .clean: "clean"
        case .cdnVariation: "cdn_variation"
        case .dnsHijacked: "dns_hijacked"
        case .tlsIntercepted: "tls_intercepted"
        case .sniFiltered: "sni_filtered"
        case .addressBlocked: "address_blocked"
        case .captivePortal: "captive_portal"
        case .originBroken: "origin_broken"
        case .offline: "offline"
        case .inconclusive: "inconclusive"
        }
    }
}

/// How sure a verdict is.
public enum Confidence: String, Sendable, Hashable, CaseIterable {
    /// Another reading of the evidence is as good.
    case possible
    /// It is the best reading, but an innocent one is left.
    case likely
    /// There is proof.
    case certain
}
