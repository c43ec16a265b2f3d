public import HTTPDNSExchange
package import HTTPDNSRules

extension HTTPDNSClient {
    /// As ``send(_:)``, under rules: what they answer is a response like any other, what they
    /// refuse fails as ``ExchangeFailure/Cause/refusedByRule(_:)``. There is no system's loader
    /// here: a rule that passes leaves the request to this client.
    ///
    /// - Throws: ``ExchangeFailure``.
    public func send(
        _ request: HTTPRequest, under rules: LiveRules
    ) async throws(ExchangeFailure) -> HTTPResponse {
        try await send(request) { waiting in
            RuledExchange(
                request, rules.decide(self.ruled(request)), under: rules, client: self,
                observer: waiting, cookies: self.parts.cookies)
        }
    }

    /// A request under rules, to be started once.
    ///
    /// - Parameter first: what was decided of the request.
    package func exchange(
        _ request: HTTPRequest, _ first: RuleDecision, under rules: LiveRules,
        observer: any ExchangeObserver, cookies: any CookieKeeper
    ) -> RuledExchange {
        RuledExchange(
            request, first, under: rules, client: self, observer: observer, cookies: cookies)
    }

    /// A request as rules see it.
    package func ruled(_ request: HTTPRequest) -> RuledRequest {
        let known = request.knownBody
        return RuledRequest(request.head) { [body = request.body] in
            switch body {
            case .none: []
            case .bytes(let octets): octets
            case .stream: known?()
            }
        }
    }
}
