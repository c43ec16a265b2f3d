internal import HTTPDNSExchange
package import HTTPDNSLookup
package import HTTPDNSNames
package import HTTPDNSPlatform
package import HTTPDNSTransport
package import HTTPDNSWire

/// Asks an HTTP-DNS service, in the words of its codec.
///
/// What the protocol lets go together goes in one request: A and AAAA of a name always, several names
/// where that is switched on. A request that fails for a fault of the server goes to the next one,
/// within the same deadline.
package struct HTTPDNSBackend: TellingBackend {
    package let label: String
    private let codec: any HTTPDNSCodec
    private let exchange: ServiceExchange
    private let gatherer: QuestionGatherer?

    /// What a back-end can be told beside whom to ask.
    package struct Settings: Sendable {
        /// Puts names that are asked in the same moment into one request.
        package var batchesNames = false
        /// Holds the account to its limit.
        package var quota: QuotaGuard?
        /// Knows the servers, where they are not those of the service alone.
        package var servers: (any ServerDirectory)?
        /// Dates signatures.
        package var wallClock: any WallSource = SystemWallClock()
        package var clock: any MonotonicSource = SystemMonotonicClock()
        package var alarms: any AlarmSource = AlarmThread.shared

        package init() {}
    }

    /// The label is shown to people: `https://dns.example/resolve`; the wall clock dates signatures.
    ///
    /// - Throws: ``QueryFailure/misconfigured(_:)``.
    package init(
        label: String, codec: any HTTPDNSCodec, service: HTTPService, transport: Transport,
        wallClock: any WallSource = SystemWallClock()
    ) throws(QueryFailure) {
        var settings = Settings()
        settings.wallClock = wallClock
        try self.init(
            label: label, codec: codec, service: service, transport: transport,
            settings: settings)
    }

    /// - Throws: ``QueryFailure/misconfigured(_:)``.
    package init(
        label: String, codec: any HTTPDNSCodec, service: HTTPService, transport: Transport,
        settings: Settings
    ) throws(QueryFailure) {
        guard service.isAuthenticated || !codec.sendsSecret else {
            throw .misconfigured(
                "\(service.origin) would be sent a secret in clear text: use https")
        }
        self.label = label
        self.codec = codec
        let exchange = ServiceExchange(
            label: label, codec: codec, service: service, transport: transport,
            settings: settings)
        self.exchange = exchange
        let batching = Batching(
            maximumNames: settings.batchesNames ? codec.batching.maximumNames : 1,
            joinsFamilies: codec.batching.joinsFamilies)
        guard batching != .none else {
            gatherer = nil
            return
        }
        gatherer = QuestionGatherer(
            batching, alarms: settings.alarms, clock: settings.clock
        ) { questions, deadline in
            await exchange.ask(questions, deadline: deadline)
        }
    }

    package var isAuthenticated: Bool { exchange.isAuthenticated }
    package var isLocal: Bool { exchange.isLocal }
    package var supportedTypes: Set<RecordType>? { codec.supportedTypes }

    package func networkDidChange() { exchange.networkDidChange() }

    /// While somebody looks nothing is gathered: what is told is the answer to this question.
    package func ask(
        _ question: Question, deadline: Monotonic, telling observer: ReplyObserver?
    ) async throws(QueryFailure) -> Testimony {
        if let types = codec.supportedTypes, !types.contains(question.type) {
            throw .unsupportedType(question.type)
        }
        if observer == nil, let gatherer {
            return try await gatherer.ask(question, deadline: deadline)
        }
        let outcomes = await exchange.ask([question], deadline: deadline, telling: observer)
        guard let outcome = outcomes.first else {
            throw .unexpected("HTTPDNSBackend: a question without an outcome")
        }
        return try outcome.get()
    }
}
