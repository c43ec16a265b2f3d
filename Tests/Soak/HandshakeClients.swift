import HTTPDNSExchange
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSSecureStream
import HTTPDNSTransport
import HTTPDNSTrust

/// The two ways in which this library shakes hands: libcurl with our verifier, and our own streams.
struct HandshakeClients: Sendable {
    enum Way: String, CaseIterable, Sendable {
        case transport, stream
    }

    private let ports: [HandshakeCase: Port]
    private let root: String
    private let rightPin: Pin
    private let otherPin: Pin
    private let host: Host
    private let clock = SystemMonotonicClock()
    let transport = Transport()
    let engine = StreamEngine()

    init(ports: [HandshakeCase: Port], root: String, pin: String) throws {
        self.ports = ports
        self.root = root
        rightPin = try Pin(pin)
        otherPin = try TestAuthority("Never Met").identity.pin
        host = .name(try HostName(HandshakeLaboratory.name))
    }

    /// Meets the server of `kind`, and what became of it, a label for each handshake.
    func meet(_ kind: HandshakeCase, _ way: Way) async throws -> [String] {
        switch kind {
        case .otherPolicy:
            let plain = try await exchange(kind, way, verifier())
            return [plain, try await exchange(kind, way, verifier(pinnedTo: rightPin))]
        case .pinMismatch:
            return [try await exchange(kind, way, verifier(pinnedTo: otherPin))]
        case .abandoned:
            let verifier = try verifier()
            let leaving = Task { try await exchange(kind, way, verifier) }
            // Some leave before the handshake begins, most in it.
            await pause(milliseconds: HandshakeClients.patienceMilliseconds / 2)
            leaving.cancel()
            return [try await leaving.value]
        default: return [try await exchange(kind, way, verifier())]
        }
    }

    /// A verifier of its own each time, so that those that end are counted as well.
    private func verifier(pinnedTo pin: Pin? = nil) throws -> OpenSSLVerifier {
        var pins = PinSet()
        if let pin { try pins.add([pin], for: HostPattern(exactly: host), backup: .waived) }
        return try OpenSSLVerifier(policy: TrustPolicy(roots: .pem(root), pins: pins))
    }

    private func exchange(
        _ kind: HandshakeCase, _ way: Way, _ verifier: OpenSSLVerifier
    ) async throws -> String {
        guard let port = ports[kind.server],
            let route = Route(addresses: [LabAddress.ipv4], port: port)
        else { return "no_server" }
        let patience =
            kind == .stalled
            ? HandshakeClients.patienceMilliseconds : HandshakeClients.longestMilliseconds
        let deadline = clock.now().adding(milliseconds: patience)
        switch way {
        case .transport:
            var request = TransportRequest(
                origin: Origin(scheme: .https, host: host, port: port), route: route,
                method: .get, target: "/", verifier: verifier)
            request.version = .http11
            request.limits.deadline = deadline
            do {
                let response = try await transport.collect(request, maximumBodyOctets: 1_000)
                return response.peer == nil ? "no_proof" : "ok"
            } catch { return error.label }
        case .stream:
            let service = SecureService(
                host: host, route: route, verifier: verifier,
                form: .http2(
                    HTTP2Head(
                        authority: "\(HandshakeLaboratory.name):\(port)", path: "/", isPost: true,
                        mediaType: "text/plain")))
            let outcome = await engine.client(for: service).exchange([1, 2, 3], deadline: deadline)
            return HandshakeClients.label(outcome)
        }
    }

    private static func label(_ outcome: StreamExchange.Outcome) -> String {
        switch outcome {
        case .success(let reply): reply.status == 200 ? "ok" : "status"
        case .failure(.query(let failure)): failure.label
        case .failure(.speaksNoHTTP2): "handshake_failed"
        }
    }

    /// How long a server that never answers is waited for.
    ///
    /// Because: the handshake has begun by then on a machine that is not overloaded.
    private static let patienceMilliseconds: Int64 = 100
    /// Because: no machine is so busy; who is not answered by then never will be.
    private static let longestMilliseconds: Int64 = 60_000
}
