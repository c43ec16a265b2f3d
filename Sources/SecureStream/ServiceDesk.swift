/// What the engine's thread keeps of one service: the questions that wait, and the connection that takes
/// them.
final class ServiceDesk: @unchecked Sendable {
    // Safety: `service` does not change; the rest is touched by the engine's thread alone.
    let service: SecureService
    /// The one that gets the next question; those that only finish are known to the loop alone.
    var connection: LiveConnection?
    private var waiting: [StreamExchange] = []
    private var next = 0
    /// How many wait that are not settled.
    private(set) var waitingCount = 0

    init(_ service: SecureService) { self.service = service }

    func append(_ exchange: StreamExchange) {
        // Under steady load the queue is never empty: what has left it must not pile up.
        if waiting.count >= 2 * waitingCount + Self.spareExchanges {
            waiting = waiting[next...].filter { !$0.isSettled }
            next = 0
        }
        waiting.append(exchange)
        waitingCount += 1
    }

    /// One of those that wait was settled; its place in the queue is passed over.
    func settledWaiting() {
        waitingCount -= 1
        if waitingCount == 0 { clear() }
    }

    func popFirst() -> StreamExchange? {
        while next < waiting.count {
            let exchange = waiting[next]
            next += 1
            guard !exchange.isSettled else { continue }
            waitingCount -= 1
            if waitingCount == 0 { clear() }
            return exchange
        }
        return nil
    }

    /// All that wait, taken out.
    func takeWaiting() -> [StreamExchange] {
        defer {
            waitingCount = 0
            clear()
        }
        return waiting[next...].filter { !$0.isSettled }
    }

    /// Because: below that, looking for what has left costs more than it does.
    private static let spareExchanges = 64

    private func clear() {
        waiting.removeAll(keepingCapacity: true)
        next = 0
    }
}
