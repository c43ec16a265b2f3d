package import HTTPDNSExchange
package import HTTPDNSLookup
package import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSRedaction
package import HTTPDNSSecureStream
package import HTTPDNSTransport
package import HTTPDNSTrust
package import HTTPDNSWire

/// DNS over HTTPS: our own HTTP/2, or the HTTP transport where the server has none.
///
/// Which of the two a server wants is learnt from its handshake, and kept once it has answered so. The
/// other way asks for the same proof: a peer that is not trusted is asked in neither. Source: RFC 8484.
package struct DoHBackend: TellingBackend {
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
        // It is shown wherever answers are: what the URL holds of an account stays out of it.
        label = TextRedactor().url(url.origin.description + url.target)
        guard url.origin.scheme == .https else {
            throw .misconfigured("\(label) is not https; without it nothing proves the answers")
        }
        service = try HTTPService(
            origin: url.origin, bootstrap: settings.bootstrap, verifier: settings.verifier)
        guard let verifier = settings.verifier else {
            throw .misconfigured("\(label) needs a verifier, which proves its identity")
        }
        messages = DoHMessages(target: url.target, method: settings.method)
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
        _ question: Question, deadline: Monotonic, telling observer: ReplyObserver?
    ) async throws(QueryFailure) -> Testimony {
        guard hasHTTP2.withLock({ $0 }) else {
            return try await askOverTransport(question, deadline, telling: observer)
        }
        let payload = try messages.payload(for: question)
        switch await client.exchange(
            payload, deadline: deadline, keepsDate: observer != nil)
        {
        case .success(let reply):
            observer?(messages.received(reply))
            return try messages.testimony(from: reply, for: question, resolver: label)
        case .failure(.query(let failure)): throw failure
        case .failure(.speaksNoHTTP2):
            let testimony = try await askOverTransport(question, deadline, telling: observer)
            // Not before a proven peer has answered this way: an alert can be forged on the way.
            hasHTTP2.withLock { $0 = false }
            return testimony
        }
    }

    /// Asks as ``start(_:deadline:completion:)`` does, for a caller who waits until the end.
    package func ask(
        _ question: Question, deadline: Monotonic,
        deliver: @escaping @Sendable (Result<Testimony, QueryFailure>) -> Void
    ) {
        _ = start(question, deadline: deadline, completion: deliver)
    }

    private func askOverTransport(
        _ question: Question, _ deadline: Monotonic, telling observer: ReplyObserver? = nil
    ) async throws(QueryFailure) -> Testimony {
        let response = try await service.response(
            to: try messages.call(for: question), over: transport,
            maximumBodyOctets: Message.maximumOctets, deadline: deadline)
        observer?(messages.received(response))
        let source = Testimony.Source(
            resolver: label, transport: .https, server: response.facts.remote?.description)
        return try messages.testimony(from: response, for: question, source: source)
    }
}

extension DoHBackend: DirectBackend {
    /// Asks over HTTP/2 without a task, and with one where the server has none. Calls back once, by
    /// `deadline`, on the engine's thread, the caller's or that task's; the callback must return at
    /// once, and may ask again.
    package func start(
        _ question: Question, deadline: Monotonic,
        completion: @escaping @Sendable (Result<Testimony, QueryFailure>) -> Void
    ) -> @Sendable () -> Void {
        let asking = Asking()
        guard hasHTTP2.withLock({ $0 }) else {
            startOverTransport(question, deadline, asking, completion)
            return { asking.cancel() }
        }
        let payload: [UInt8]
        do throws(QueryFailure) { payload = try messages.payload(for: question) } catch {
            completion(.failure(error))
            return {}
        }
        let exchange = client.ask(payload, deadline: deadline) { outcome in
            switch outcome {
            case .success(let reply): completion(read(reply, for: question))
            case .failure(.query(let failure)): completion(.failure(failure))
            case .failure(.speaksNoHTTP2):
                startOverTransport(question, deadline, asking, completion)
            }
        }
        return { [client] in
            asking.cancel()
            client.cancel(exchange)
        }
    }

    private func read(
        _ reply: StreamReply, for question: Question
    ) -> Result<Testimony, QueryFailure> {
        do throws(QueryFailure) {
            return .success(try messages.testimony(from: reply, for: question, resolver: label))
        } catch {
            return .failure(error)
        }
    }

    private func startOverTransport(
        _ question: Question, _ deadline: Monotonic, _ asking: Asking,
        _ completion: @escaping @Sendable (Result<Testimony, QueryFailure>) -> Void
    ) {
        let isWanted = asking.start {
            do throws(QueryFailure) {
                let testimony = try await askOverTransport(question, deadline)
                // As above: not before a proven peer has answered this way.
                hasHTTP2.withLock { $0 = false }
                completion(.success(testimony))
            } catch {
                completion(.failure(error))
            }
        }
        if !isWanted { completion(.failure(.cancelled)) }
    }
}

/// One asking without a task, which may come to need one.
private final class Asking: Sendable {
    private struct State {
        var isCancelled = false
        var task: Task<Void, Never>?
    }

    private let state = Locked(State())

    /// False when it was cancelled before.
    func start(_ work: @escaping @Sendable () async -> Void) -> Bool {
        state.withLock { state in
            guard !state.isCancelled else { return false }
            state.task = Task.detached { await work() }
            return true
        }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }
}
