internal import HTTPDNSExchange
package import HTTPDNSLookup
package import HTTPDNSNames
package import HTTPDNSPlatform
package import HTTPDNSTransport
package import HTTPDNSWire

/// Asks an HTTP-DNS service: one exchange a question, in the words of its codec.
package struct HTTPDNSBackend: ResolverBackend {
    package let label: String
    private let codec: any HTTPDNSCodec
    private let service: HTTPService
    private let transport: Transport
    private let wallClock: any WallSource

    /// The label is shown to people: `https://dns.example/resolve`; the wall clock dates signatures.
    ///
    /// - Throws: ``QueryFailure/misconfigured(_:)``.
    package init(
        label: String, codec: any HTTPDNSCodec, service: HTTPService, transport: Transport,
        wallClock: any WallSource = SystemWallClock()
    ) throws(QueryFailure) {
        guard service.isAuthenticated || !codec.sendsSecret else {
            throw .misconfigured(
                "\(service.origin) would be sent a secret in clear text: use https")
        }
        self.label = label
        self.codec = codec
        self.service = service
        self.transport = transport
        self.wallClock = wallClock
    }

    package var isAuthenticated: Bool { service.isAuthenticated }
    package var supportedTypes: Set<RecordType>? { codec.supportedTypes }

    package func ask(
        _ question: Question, deadline: Monotonic
    ) async throws(QueryFailure) -> Testimony {
        let request = try codec.request(for: question, now: wallClock.now())
        var call = HTTPService.Call(target: request.target)
        do {
            try call.fields.set("Accept", request.accept)
        } catch {
            throw .unexpected("HTTPDNSBackend: \(error)")
        }
        let collected = try await service.response(
            to: call, over: transport, maximumBodyOctets: Self.maximumBodyOctets,
            deadline: deadline)
        let response = HTTPDNSResponse(
            status: collected.head.status,
            contentType: collected.head.fields.first("Content-Type"), body: collected.body)
        let source = Testimony.Source(
            resolver: label, transport: codec.answerTransport,
            server: collected.facts.remote?.description)
        return try codec.testimony(from: response, for: question, source: source)
    }

    /// Because: a DNS message has at most 65 535 octets, and its JSON form a few times as many.
    private static let maximumBodyOctets = 262_144
}
