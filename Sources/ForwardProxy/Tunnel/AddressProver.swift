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
}

/// Finds the addresses of a host by the resolver's chain, and lets them prove the name by a handshake of
/// its own, in which no request is sent, before anything is let through to them. Any thread.
final class AddressProver: Sendable {
    typealias Answer = @Sendable (Result<ProvenRoute, RouteFailure>) -> Void

    private struct State {
        var cache = ProofCache()
        /// Who waits for a handshake that is under way.
        var waiting: [ProofCache.Key: [@Sendable (Bool) -> Void]] = [:]
    }

    private let client: HTTPDNSClient
    private let threads = PeekThreads()
    private let clock = SystemMonotonicClock()
    private let state = Locked(State())

    init(_ client: HTTPDNSClient) { self.client = client }

    /// - Parameters:
    ///   - excluding: addresses that could not be connected to meanwhile.
    ///   - answer: called once, on any thread, also before this returns.
    func find(
        _ target: TunnelTarget, excluding: Set<IPAddress>, _ answer: @escaping Answer
    ) {
        let begun = clock.now()
        client.resolver.resolve(target.host) { result in
            switch result {
            case .failure(let failure): answer(.failure(.notResolved(failure)))
            case .success(let resolution):
                let question = Question(
                    target: target, resolution: resolution, begun: begun,
                    resolved: self.clock.now(),
                    endpoints: resolution.addresses.filter { !excluding.contains($0) }
                        .prefix(AddressProver.maximumAddresses)
                        .map { Endpoint(address: $0, port: target.port) })
                self.choose(question, answer)
            }
        }
    }

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

    private func choose(_ question: Question, _ answer: @escaping Answer) {
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
        let race = PeekRace(count: open.count) { index, done in
            self.prove(open[index], verifier, done)
        } ended: { outcome in
            self.end(question, keys, outcome.map { open[$0] }, answer)
        }
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

    /// Because: as many as the cache's own values hold; a longer list is a scan.
    private static let maximumAddresses = 8
}

// One handshake
extension AddressProver {
    /// Joins the handshake with that address if one is under way.
    private func prove(
        _ key: ProofCache.Key, _ verifier: any PeerVerifier,
        _ done: @escaping @Sendable (Bool) -> Void
    ) {
        let isFirst = state.withLock { state in
            state.waiting[key, default: []].append(done)
            return state.waiting[key]?.count == 1
        }
        guard isFirst else { return }
        threads.run {
            let entry = AddressProver.shakeHands(key, verifier)
            let now = self.clock.now()
            let waiting = self.state.withLock { state in
                state.cache.keep(entry, for: key, now: now)
                return state.waiting.removeValue(forKey: key) ?? []
            }
            self.tellResolver(key, entry)
            for done in waiting { done(entry.proof != nil) }
        }
    }

    private static func shakeHands(
        _ key: ProofCache.Key, _ verifier: any PeerVerifier
    ) -> ProofCache.Entry {
        let probe = TLSProbe(verifier: verifier, timeoutMilliseconds: peekMilliseconds)
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
