/// A failure of the network that a rule can play, by the name that `URLError` has for it.
public enum NetworkFault: String, Sendable, Hashable, CaseIterable {
    case notConnectedToInternet
    case timedOut
    case cannotFindHost
    case cannotConnectToHost
    case networkConnectionLost
    case dnsLookupFailed
    case secureConnectionFailed
    case serverCertificateUntrusted
    case badServerResponse
    case resourceUnavailable
    case cancelled
}

/// Why a rule of the application ended a request; nothing of it was sent.
///
/// Two refusals are equal when kind, rule, fault and message are; the application's own error is
/// not compared.
public struct RuleRefusal: Error, Sendable {
    /// What kind of ending it is.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A rule blocks the request.
        case blocked = "blocked"
        /// No rule answers it, and the list lets nothing else through.
        case unmatched = "no_rule_matched"
        /// No recorded exchange fits it.
        case notRecorded = "not_recorded"
        /// A stub cannot be played: its file cannot be read, its closure threw.
        case stubFailed = "stub_failed"
        /// Nothing that is kept answers it, and the network may not be asked.
        case offline = "offline"
    }

    public let kind: Kind
    /// The name of the rule; nil where no rule is to blame.
    public let rule: String?
    /// What happened, and what to do.
    public let message: String
    /// The failure that is played; nil for none in particular.
    public let fault: NetworkFault?
    /// The application's own error, which a `URLSession` hands on unchanged.
    public let error: (any Error & Sendable)?

    package init(
        _ kind: Kind, rule: String? = nil, _ message: String, fault: NetworkFault? = nil,
        error: (any Error & Sendable)? = nil
    ) {
        self.kind = kind
        self.rule = rule
        self.message = message
        self.fault = fault
        self.error = error
    }
}

extension RuleRefusal: Hashable, CustomStringConvertible {
    public static func == (left: RuleRefusal, right: RuleRefusal) -> Bool {
        left.kind == right.kind && left.rule == right.rule && left.message == right.message
            && left.fault == right.fault
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(rule)
        hasher.combine(message)
        hasher.combine(fault)
    }

    public var description: String { rule.map { "rule \"\($0)\": \(message)" } ?? message }
}
