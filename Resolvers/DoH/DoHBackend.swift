package import HTTPDNSExchange
package import HTTPDNSLookup
package import HTTPDNSNames
internal import HTTPDNSPlatform
package import HTTPDNSSecureStream
package import HTTPDNSTransport
package import HTTPDNSTrust
package import HTTPDNSWire

/// DNS over HTTPS: our own HTTP/2, or the HTTP transport where the server has none.
///
/// Which of the two a server wants is learnt from its handshake, and kept once it has answered so. The
/// other way asks for the same proof: a peer that is not trusted is asked in neither. Source: RFC 8484.
package struct DoHBackend: ResolverBackend {
    package let label: String
    private let messages: DoHMessages
    private let service: HTTPService
    private let transport: Transport
    private let client: StreamClient
    private let hasHTTP2 = Locked(true)

    /// How a server is asked.
    package struct Settings: Sendable {
        package var method = DoHMethod.get
        /// Where to connect; may be empty when the URL names an address.
        package var bootstrap: [IPAddress]
        /// Proves the server's identity; required.
        package var verifier: (any PeerVerifier)?
        /// The thread that speaks HTTP/2.
        package var engine = StreamEngine.shared

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
        guard let verifier = settings.verifier else {
            throw .misconfigured("\(url) needs a verifier, which proves its identity")
        }
        messages = DoHMessages(target: url.target, method: settings.method)
        label = url.origin.description + url.target
        self.transport = transport
        client = settings.engine.client(
            for: SecureService(
                host: url.origin.host, route: service.route, verifier: verifier,
                form: .http2(messages.head(authority: url.origin.authority))))
    }

    package var isAuthenticated: Bool { service.isAuthenticated }
    package var isLocal: Bool { service.route.addresses.allSatisfy(\.isLoopback) }
    package var supportedTypes: Set<RecordType>? { nil }

    package func networkDidChange() {
        client.leaveConnection()
        transport.leaveConnections()
    }

    package func ask(
        _ question: Question, deadline: Monotonic
    ) async throws(QueryFailure) -> Testimony {
        guard hasHTTP2.withLock({ $0 }) else {
            return try await askOverTransport(question, deadline: deadline)
        }
        let payload = try messages.payload(for: question)
        switch await client.exchange(payload, deadline: deadline) {
        case .success(let reply):
            return try messages.testimony(from: reply, for: question, resolver: label)
        case .failure(.query(let failure)): throw failure
        case .failure(.speaksNoHTTP2):
            let testimony = try await askOverTransport(question, deadline: deadline)
            // Not before a proven peer has answered this way: an alert can be forged on the way.
            hasHTTP2.withLock { $0 = false }
            return testimony
        }
    }

    /// Asks over HTTP/2 alone, without a task: calls back once, by `deadline`, on the engine's thread or
    /// the caller's. The callback must return at once; it may ask again.
    package func ask(
        _ question: Question, deadline: Monotonic,
        deliver: @escaping @Sendable (Result<Testimony, QueryFailure>) -> Void
    ) {
        let payload: [UInt8]
        do throws(QueryFailure) { payload = try messages.payload(for: question) } catch {
            return deliver(.failure(error))
        }
        client.ask(payload, deadline: deadline) { [messages, label] outcome in
            do throws(QueryFailure) {
                switch outcome {
                case .success(let reply):
                    deliver(
                        .success(
                            try messages.testimony(from: reply, for: question, resolver: label)))
                case .failure(.query(let failure)): throw failure
                case .failure(.speaksNoHTTP2):
                    throw .misconfigured("\(label) speaks no HTTP/2")
                }
            } catch { deliver(.failure(error)) }
        }
    }

    private func askOverTransport(
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
