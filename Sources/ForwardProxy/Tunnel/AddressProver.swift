internal import HTTPDNSClient
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSOpenSSLTrust
internal import HTTPDNSPlatform
internal import HTTPDNSResolution
internal import HTTPDNSTrust

/// Where a tunnel may lead.
struct ProvenRoute: Sendable {
    let resolution: ResolvedHost
    let endpoint: Endpoint
    /// Nil for a port that the operator lets go without.
    let proof: AddressProof?
    /// The proof is of an earlier tunnel.
    let isKept: Bool
    /// Addresses before it that failed.
    let failures: [AddressFailure]
    let resolveMilliseconds: Double
    let proveMilliseconds: Double
}

/// Why there is none.
enum RouteFailure: Error, Sendable {
    case notResolved(ResolutionFailure)
    case notProven(ResolvedHost, [AddressFailure])
    /// Too many addresses of others are to prove themselves first.
    case busy
    /// The name leads to this machine alone, or to the proxy itself.
    case local(ResolvedHost, Refusal)
}

/// Finds the addresses of a host by the resolver's chain, and lets them prove the name by a handshake of
/// its own, in which no request is sent, before anything is let through to them. Any thread.
final class AddressProver: Sendable {
    typealias Answer = @Sendable (Result<ProvenRoute, RouteFailure>) -> Void

    private struct State {
        var cache = ProofCache()
        var queue = PeekQueue()
    }

    private let client: HTTPDNSClient
    private let rules: ProxyRules
    private let clock = SystemMonotonicClock()
    private let state = Locked(State())

    init(_ client: HTTPDNSClient, _ rules: ProxyRules) {
        self.client = client
        self.rules = rules
    }

    /// - Parameters:
    ///   - excluding: addresses of the host that have failed meanwhile.
    ///   - answer: called once at most, on any thread, also before this returns.
    /// - Returns: what the search is left by.
    func find(
        _ target: TunnelTarget, excluding: Set<IPAddress>, _ answer: @escaping Answer
    ) -> RouteSearch {
        let search = RouteSearch()
        let begun = clock.now()
        let lookup = client.resolver.resolve(target.host) { result in
            guard !search.isOver else { return }
            switch result {
            case .failure(let failure): answer(.failure(.notResolved(failure)))
            case .success(let found):
                let resolution: ResolvedHost
                do throws(Refusal) {
                    resolution = try self.rules.screened(found, target.port)
                } catch {
                    return answer(.failure(.local(found, error)))
                }
                let question = Question(
                    target: target, resolution: resolution, begun: begun,
                    resolved: self.clock.now(),
                    endpoints: resolution.addresses.filter { !excluding.contains($0) }
                        .prefix(max(0, AddressProver.maximumAddresses - excluding.count))
                        .map { Endpoint(address: $0, port: target.port) })
                self.choose(question, search, answer)
            }
        }
        search.began(lookup)
        return search
    }

    /// Handshakes that are being made now.
    var peekCount: Int { state.withLock { $0.queue.runningCount } }
    /// Nothing is being proven, and nobody waits.
    var isIdle: Bool { state.withLock { $0.queue.isEmpty } }

    /// A proven address could not be connected to: it is to prove itself anew.
    func forget(_ endpoint: Endpoint, for host: Host) {
        let key = ProofCache.Key(
            host: host, endpoint: endpoint, policy: client.verifier.fingerprint)
        state.withLock { $0.cache.forget(key) }
        if case .name(let name) = host {
            client.resolver.report(endpoint.address, for: name, outcome: .unreachable)
        }
    }

    private struct Question: Sendable {
        let target: TunnelTarget
        let resolution: ResolvedHost
        let begun: Monotonic
        let resolved: Monotonic
        let endpoints: [Endpoint]
    }

    private func choose(
        _ question: Question, _ search: RouteSearch, _ answer: @escaping Answer
    ) {
        guard let first = question.endpoints.first else {
            return answer(.failure(.notProven(question.resolution, [])))
        }
        guard !question.target.isUnproven else {
            return answer(.success(route(question, first, proof: nil, isKept: true, failures: [])))
        }
        let verifier = client.verifier.settled
        let keys = question.endpoints.map {
            ProofCache.Key(
                host: question.target.host, endpoint: $0, policy: verifier.fingerprint)
        }
        let entries = known(keys)
        if let index = entries.firstIndex(where: { $0?.proof != nil }),
            let proof = entries[index]?.proof
        {
            return answer(
                .success(
                    route(
                        question, question.endpoints[index], proof: proof, isKept: true,
                        failures: entries[..<index].compactMap { $0?.failure })))
        }
        let open = keys.indices.filter { entries[$0] == nil }.map { keys[$0] }
        guard open.isEmpty || !state.withLock({ $0.queue.isFull }) else {
            return answer(.failure(.busy))
        }
        let race = PeekRace(count: open.count) { index, done in
            self.prove(open[index], verifier, done)
        } ended: { outcome in
            self.end(question, keys, outcome.map { open[$0] }, answer)
        }
        search.began(race)
        race.start()
    }

    private func known(_ keys: [ProofCache.Key]) -> [ProofCache.Entry?] {
        let (now, wall) = (clock.now(), SystemWallClock().now())
        return state.withLock { state in
            keys.map { state.cache.entry($0, now: now, wall: wall) }
        }
    }

    private func end(
        _ question: Question, _ keys: [ProofCache.Key],
        _ outcome: Result<ProofCache.Key, PeekRaceLost>, _ answer: Answer
    ) {
        let entries = known(keys)
        let failures = entries.compactMap { $0?.failure }
        guard case .success(let key) = outcome, let index = keys.firstIndex(of: key),
            let proof = entries[index]?.proof
        else { return answer(.failure(.notProven(question.resolution, failures))) }
        answer(
            .success(
                route(question, key.endpoint, proof: proof, isKept: false, failures: failures)))
    }

    private func route(
        _ question: Question, _ endpoint: Endpoint, proof: AddressProof?, isKept: Bool,
        failures: [AddressFailure]
    ) -> ProvenRoute {
        ProvenRoute(
            resolution: question.resolution, endpoint: endpoint, proof: proof, isKept: isKept,
            failures: failures,
            resolveMilliseconds: AddressProver.milliseconds(question.begun, question.resolved),
            proveMilliseconds: AddressProver.milliseconds(question.resolved, clock.now()))
    }

    private static func milliseconds(_ from: Monotonic, _ to: Monotonic) -> Double {
        Double(to.nanoseconds &- from.nanoseconds) / 1_000_000
    }

    /// Of one request, however often it asks anew.
    ///
    /// Because: as many as the cache's own values hold; a longer list is a scan.
    private static let maximumAddresses = 8
}

// One handshake
extension AddressProver {
    /// Joins the handshake with that address if one is under way.
    private func prove(
        _ key: ProofCache.Key, _ verifier: any PeerVerifier,
        _ done: @escaping @Sendable (Bool) -> Void
    ) -> PeekRace.Leave {
        let (ticket, needsThread) = state.withLock { $0.queue.join(key, done) }
        if needsThread {
            let isStarted = DetachedThread.start(named: "httpdns-peek") { self.serve(verifier) }
            if !isStarted { serve(verifier) }
        }
        return { self.state.withLock { $0.queue.leave(ticket) } }
    }

    private func serve(_ verifier: any PeerVerifier) {
        while let key = state.withLock({ $0.queue.next() }) { peek(key, verifier) }
    }

    private func peek(_ key: ProofCache.Key, _ usual: any PeerVerifier) {
        // What waited long may be of another policy than what came before it.
        let verifier = usual.fingerprint == key.policy ? usual : client.verifier.settled
        let isStopped = Locked(false)
        let entry = AddressProver.shakeHands(key, verifier) {
            let isWanted = self.state.withLock { $0.queue.isWanted(key) }
            if !isWanted { isStopped.withLock { $0 = true } }
            return isWanted
        }
        let wasStopped = isStopped.withLock { $0 } && entry.proof == nil
        let now = clock.now()
        let waiting = state.withLock { state in
            // What was broken off tells nothing of the address.
            if !wasStopped, verifier.fingerprint == key.policy {
                state.cache.keep(entry, for: key, now: now)
            }
            return state.queue.ended(key, wasStopped: wasStopped)
        }
        if !wasStopped { tellResolver(key, entry) }
        for done in waiting { done(entry.proof != nil) }
    }

    private static func shakeHands(
        _ key: ProofCache.Key, _ verifier: any PeerVerifier,
        _ isWanted: @escaping @Sendable () -> Bool
    ) -> ProofCache.Entry {
        let probe = TLSProbe(
            verifier: verifier, timeoutMilliseconds: peekMilliseconds, isWanted: isWanted)
        do throws(TLSProbe.Failure) {
            let success = try probe.connect(to: key.endpoint, host: key.host)
            return .proven(
                AddressProof(
                    peer: success.peer, version: success.version, cipher: success.cipher))
        } catch { return .failed(AddressFailure(error, key.endpoint)) }
    }

    private func tellResolver(_ key: ProofCache.Key, _ entry: ProofCache.Entry) {
        guard case .name(let name) = key.host, let failure = entry.failure else { return }
        let outcome: AddressOutcome =
            switch failure.kind {
            case .untrusted: .untrusted
            case .timedOut: .timedOut
            case .unreachable, .notTLS: .unreachable
            }
        client.resolver.report(key.endpoint.address, for: name, outcome: outcome)
    }

    /// For the connection, and again for the handshake.
    ///
    /// Because: two lost SYNs (1 + 2 s, RFC 6298 §5) still fit; the next address begins meanwhile.
    private static let peekMilliseconds: Int64 = 4_000
}

extension ProofCache.Entry {
    var proof: AddressProof? { if case .proven(let proof) = self { proof } else { nil } }
    var failure: AddressFailure? { if case .failed(let failure) = self { failure } else { nil } }
}

extension AddressFailure {
    init(_ failure: TLSProbe.Failure, _ endpoint: Endpoint) {
        self.endpoint = endpoint
        switch failure {
        case .untrusted(let refusal):
            kind = .untrusted
            label = refusal.label
            message = refusal.message(route: "connected to \(endpoint)")
        case .handshake:
            kind = .notTLS
            label = "handshake_failed"
            message = failure.description
        case .timedOut:
            kind = .timedOut
            label = "timed_out"
            message = failure.description
        case .unreachable, .unexpected:
            kind = .unreachable
            label = "cannot_connect"
            message = failure.description
        }
    }
}

extension Refusal {
    init(_ failure: RouteFailure, _ target: TunnelTarget) {
        switch failure {
        case .notResolved(let failure): self.init(failure, target.host)
        case .local(_, let refusal): self = refusal
        case .busy:
            self.init(
                503, "no_room", "proxy_internal_error",
                "Too many addresses are being asked to prove their names: try again in a moment.")
        case .notProven(_, let failures):
            guard let worst = failures.max(by: { $0.kind.rawValue < $1.kind.rawValue }) else {
                self.init(
                    502, "cannot_connect", "destination_unavailable",
                    "No address of \(target.text) can be connected to.")
                return
            }
            self.init(worst, failures, target)
        }
    }

    private init(_ worst: AddressFailure, _ failures: [AddressFailure], _ target: TunnelTarget) {
        let others = failures.filter { $0 != worst }
            .map { "\n\($0.endpoint): \($0.message)" }.joined()
        let text = "No tunnel to \(target.text).\n\(worst.message)\(others)"
        switch worst.kind {
        case .untrusted: self.init(502, worst.label, "tls_certificate_error", text)
        case .notTLS:
            self.init(
                502, worst.label, "tls_protocol_error",
                text + "\nA port without TLS is tunnelled to only if --unproven-port names it.")
        case .timedOut: self.init(504, worst.label, "connection_timeout", text)
        case .unreachable: self.init(502, worst.label, "destination_unavailable", text)
        }
    }

    init(_ failure: ResolutionFailure, _ host: Host) {
        let text = "\(host) was not resolved: \(failure)"
        switch failure {
        case .negative: self.init(502, failure.label, "dns_error", text)
        case .failed(.timedOut): self.init(504, failure.label, "dns_timeout", text)
        case .failed: self.init(502, failure.label, "dns_error", text)
        }
    }
}
