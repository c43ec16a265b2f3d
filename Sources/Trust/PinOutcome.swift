public import HTTPDNSNames

/// What the pins had to say about a peer that was accepted.
public enum PinOutcome: Sendable, Hashable {
    /// No pattern matches the host.
    case unpinned
    /// The pattern takes the host out of a wider one.
    case exempt(pattern: HostPattern)
    /// A certificate of the verified chain has this pinned key.
    case matched(Pin, pattern: HostPattern)
    /// No pin matched, and the rule only reports: never silent.
    case mismatched(PinMismatch)
    /// The rule has ended, and says that its hosts are then unpinned.
    case lapsed(pattern: HostPattern, at: WallTime)
    /// The chain ends in a root that somebody added to this machine, and the rule lets it pass.
    case waived(pattern: HostPattern)
}

/// A peer that did not have what its host's rule asks for.
public struct PinMismatch: Sendable, Hashable {
    public let pattern: HostPattern
    public let rule: PinRule
    /// The chain as the peer sent it, leaf first; for the report, never for a decision.
    public let served: [CertificateFacts]
    /// Whether the rule had ended.
    public let isExpired: Bool

    package init(
        pattern: HostPattern, rule: PinRule, served: [CertificateFacts] = [],
        isExpired: Bool = false
    ) {
        self.pattern = pattern
        self.rule = rule
        self.served = served
        self.isExpired = isExpired
    }
}

/// Where the root of a verified chain comes from.
public enum RootOrigin: String, Sendable, Hashable {
    /// From ``TrustPolicy/roots``.
    case policy
    /// Somebody added it to this machine: see ``TrustPolicy/userRoots``.
    case user
}

extension PinSet {
    /// Why the pins refuse a peer.
    struct Refusal: Error {
        let code: TrustFailure.Code
        let mismatch: PinMismatch
    }

    /// Judges a verified chain. Only `evidence.chain` counts: anyone can send a pinned certificate
    /// along with a chain of his own.
    ///
    /// Rules, in this order:
    /// 1. A rule that only reports refuses nobody.
    /// 2. A rule that has ended fails closed, only reports, or is no rule, as it says itself.
    /// 3. A root that somebody added to this machine is refused, or passes, as the rule says.
    /// 4. One certificate of the chain has a pinned key.
    func outcome(
        for host: Host, _ evidence: ChainEvidence, now: WallTime
    ) throws(Refusal) -> PinOutcome {
        guard let match = match(for: host) else { return .unpinned }
        guard let rule = match.rule else { return .exempt(pattern: match.pattern) }
        let isExpired = rule.isExpired(at: now)
        var mismatch: PinMismatch {
            PinMismatch(
                pattern: match.pattern, rule: rule, served: evidence.served, isExpired: isExpired)
        }
        var onlyReports = rule.enforcement == .reportOnly
        if let expiry = rule.expiry, isExpired {
            switch expiry.then {
            case .unpinned: return .lapsed(pattern: match.pattern, at: expiry.at)
            case .reportOnly: onlyReports = true
            case .failClosed where !onlyReports:
                throw Refusal(code: .pinsExpired, mismatch: mismatch)
            case .failClosed: break
            }
        }
        if evidence.root == .user {
            switch rule.userRoots {
            case .pinsApply: break
            case .pinsWaived: return .waived(pattern: match.pattern)
            case .refused:
                if onlyReports { return .mismatched(mismatch) }
                throw Refusal(code: .userRootRefused, mismatch: mismatch)
            }
        }
        if let depth = evidence.chain.firstIndex(where: { rule.pins.contains($0.pin) }) {
            return .matched(evidence.chain[depth].pin, pattern: match.pattern)
        }
        if onlyReports { return .mismatched(mismatch) }
        throw Refusal(code: .noPinMatched, mismatch: mismatch)
    }
}
