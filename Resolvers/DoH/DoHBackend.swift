package import HTTPDNSExchange
package import HTTPDNSLookup
package import HTTPDNSNames
package import HTTPDNSTransport
package import HTTPDNSTrust
package import HTTPDNSWire

/// DNS over HTTPS through the HTTP transport: HTTP/2, or 1.1 where the server has no other.
///
/// Source: RFC 8484.
package struct DoHBackend: ResolverBackend {
    package let label: String
    private let messages: DoHMessages
    private let service: HTTPService
    private let transport: Transport

    /// How a server is asked.
    package struct Settings: Sendable {
        package var method = DoHMethod.get
        /// Where to connect; may be empty when the URL names an address.
        package var bootstrap: [IPAddress]
        /// Proves the server's identity; required.
        package var verifier: (any PeerVerifier)?

        package init(
            bootstrap: [IPAddress], verifier: (any PeerVerifier)?, method: DoHMethod = .get
        ) {
            self.bootstrap = bootstrap
            self.verifier = verifier
            self.method = method
        }
    }

    /// Asks the server at that URL; its userinfo and fragment are not sent.
    ///
    /// - Throws: ``QueryFailure/misconfigured(_:)``: no `https`, no address, no verifier.
    package init(
        url: HTTPURL, settings: Settings, transport: Transport
    ) throws(QueryFailure) {
        guard url.origin.scheme == .https else {
            throw .misconfigured("\(url) is not https; without it nothing proves the answers")
        }
        service = try HTTPService(
            origin: url.origin, bootstrap: settings.bootstrap, verifier: settings.verifier)
        messages = DoHMessages(target: url.target, method: settings.method)
        label = url.origin.description + url.target
        self.transport = transport
    }

    package var isAuthenticated: Bool { service.isAuthenticated }
    package var supportedTypes: Set<RecordType>? { nil }

    package func ask(
        _ question: Question, deadline: Monotonic
    ) async throws(QueryFailure) -> Testimony {
        let response = try await service.response(
            to: try messages.call(for: question), over: transport,
            maximumBodyOctets: Message.maximumOctets, deadline: deadline)
        let source = Testimony.Source(
            resolver: label, transport: .https, server: response.facts.remote?.description)
        return try messages.testimony(from: response, for: question, source: source)
    }
}
