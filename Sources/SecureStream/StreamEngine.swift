internal import HTTPDNSLookup
package import HTTPDNSNames
internal import HTTPDNSPlatform

/// The one thread that speaks to resolvers over TLS. It starts with the first question and sleeps until
/// a socket, a timer or a new order wakes it.
package final class StreamEngine: Sendable {
    /// The engine of the process.
    package static let shared = StreamEngine()

    private let mailbox = StreamMailbox()
    private let desks = Locked<[SecureService.Key: WeakDesk]>([:])

    /// An engine of its own: for tests, and for programs that must be able to end it.
    package init() {}

    deinit { stop() }

    /// Ends the thread. Questions in flight fail as cancelled; later ones are refused.
    package func stop() { mailbox.stop() }

    /// What speaks to `service`: equal services under equal policies share a connection.
    package func client(for service: SecureService) -> StreamClient {
        let key = service.key
        // Leases that others let go of meanwhile end when `known` does, outside the lock.
        let (lease, known) = desks.withLock { desks -> (DeskLease, [DeskLease]) in
            if let lease = desks[key]?.lease { return (lease, []) }
            let known = desks.values.compactMap { $0.lease }
            desks = desks.filter { $0.value.lease != nil }
            let lease = DeskLease(ServiceDesk(service), mailbox)
            desks[key] = WeakDesk(lease: lease)
            return (lease, known)
        }
        return withExtendedLifetime(known) { StreamClient(engine: self, lease: lease) }
    }

    /// Hands an order to the thread, which is started if need be.
    fileprivate func post(_ order: StreamOrder) -> QueryFailure? {
        switch mailbox.post(order) {
        case .done: return nil
        case .refused: return .misconfigured("the engine for encrypted DNS was stopped")
        case .needsThread:
            start()
            return nil
        }
    }

    private func start() {
        guard let poll = EventPoll() else {
            return refuseAll("no descriptor left for encrypted DNS")
        }
        let mailbox = mailbox
        let isStarted = DetachedThread.start(named: "httpdns-tls") {
            mailbox.attach(poll)
            StreamLoop(poll: poll, mailbox: mailbox).run()
        }
        if !isStarted { refuseAll("no thread left for encrypted DNS") }
    }

    /// Without a thread to call back on: the caller's must do.
    private func refuseAll(_ why: String) {
        for case .ask(let exchange, _) in mailbox.takeWithoutThread() {
            exchange.deliver?(.failure(.query(.unreachable(why))))
            exchange.deliver = nil
        }
    }

    private struct WeakDesk {
        weak var lease: DeskLease?
    }
}

/// Ends the connection of a service when the last client of it goes.
private final class DeskLease: Sendable {
    let desk: ServiceDesk
    private let mailbox: StreamMailbox

    init(_ desk: ServiceDesk, _ mailbox: StreamMailbox) {
        self.desk = desk
        self.mailbox = mailbox
    }

    deinit { mailbox.postQuietly(.leave(desk)) }
}

/// Asks one service. While a client of it lives, its connection is kept.
package final class StreamClient: Sendable {
    private let engine: StreamEngine
    private let lease: DeskLease

    fileprivate init(engine: StreamEngine, lease: DeskLease) {
        self.engine = engine
        self.lease = lease
    }

    /// Sends a payload and calls back once, by `deadline`: on the engine's thread, or on the caller's
    /// when the engine cannot take it. The callback must return at once; it may ask again.
    @discardableResult
    package func ask(
        _ payload: [UInt8], deadline: Monotonic,
        deliver: @escaping @Sendable (StreamExchange.Outcome) -> Void
    ) -> StreamExchange {
        let exchange = StreamExchange(payload: payload, deadline: deadline)
        begin(exchange, deliver)
        return exchange
    }

    /// Asks the next question over a new connection: the network of this one is gone. What is under way
    /// is still waited for. Any thread.
    package func leaveConnection() { _ = engine.post(.renew(lease.desk)) }

    /// Ends an exchange, which is told ``QueryFailure/cancelled`` unless it had ended. Any thread.
    package func cancel(_ exchange: StreamExchange) { _ = engine.post(.cancel(exchange)) }

    /// Sends a payload and waits for its reply, until `deadline`. Cancelling the task settles it at
    /// once.
    ///
    /// - Parameter keepsDate: whether the reply is to have its `Date` field.
    package func exchange(
        _ payload: [UInt8], deadline: Monotonic, keepsDate: Bool = false
    ) async -> StreamExchange.Outcome {
        let exchange = StreamExchange(
            payload: payload, deadline: deadline, keepsDate: keepsDate)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                begin(exchange) { continuation.resume(returning: $0) }
                // The handler below may have run before the exchange was posted.
                if Task.isCancelled { cancel(exchange) }
            }
        } onCancel: {
            cancel(exchange)
        }
    }

    private func begin(
        _ exchange: StreamExchange, _ deliver: @escaping @Sendable (StreamExchange.Outcome) -> Void
    ) {
        exchange.deliver = deliver
        if let refusal = engine.post(.ask(exchange, lease.desk)) {
            deliver(.failure(.query(refusal)))
        }
    }
}
