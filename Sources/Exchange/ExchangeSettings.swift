package import HTTPDNSNames
package import HTTPDNSTrust

extension ExchangeMachine {
    /// What is fixed for the whole exchange.
    package struct Settings: Sendable {
        package var hasBody: Bool
        package var canReplayBody: Bool
        package var followsRedirects: Bool
        package var redirects: RedirectRules
        package var toASCII: DomainToASCII
        /// Whether the system may be asked for that host when nobody else has an answer.
        package var allowsSystem: @Sendable (Host) -> Bool = { _ in false }
        /// Why that host is not asked over `http`: it is pinned. Nil where it is.
        package var refusesCleartext: @Sendable (Host) -> TrustFailure? = { _ in nil }
        package var proxies = ProxyPolicy.none
        /// There is a cache to be asked before each hop.
        package var consults = false

        package init(
            hasBody: Bool, canReplayBody: Bool, followsRedirects: Bool = true,
            redirects: RedirectRules = RedirectRules(),
            toASCII: @escaping DomainToASCII = HTTPURL.refusingUnicode
        ) {
            self.hasBody = hasBody
            self.canReplayBody = canReplayBody
            self.followsRedirects = followsRedirects
            self.redirects = redirects
            self.toASCII = toASCII
        }
    }
}

extension ExchangeFailure.Cause {
    /// The origin could not be reached, or did not answer: what a kept response may stand in for. A peer
    /// that did not prove itself is no such thing. Source: RFC 5861 §4.
    var isOfTheNetwork: Bool {
        switch self {
        case .notResolved, .cannotConnect, .connectionLost(_, hadResponse: false): true
        case .timedOut(let phase): phase != "total"
        default: false
        }
    }
}
