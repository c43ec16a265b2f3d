internal import HTTPDNSPlatform

/// What the engine's thread is told.
enum StreamOrder: Sendable {
    case ask(StreamExchange, ServiceDesk)
    case cancel(StreamExchange)
    /// The service's connection gets no more questions.
    case renew(ServiceDesk)
    /// No client of the service is left.
    case leave(ServiceDesk)
}

/// What callers leave for the engine's thread, and whether it has to be woken for that.
final class StreamMailbox: Sendable {
    private enum Phase {
        case idle
        case starting
        case running(EventPoll)
        case stopped
    }

    private struct State {
        var phase = Phase.idle
        var orders: [StreamOrder] = []
        var isAsleep = false
    }

    enum Posted {
        case done
        case needsThread
        case refused
    }

    private let state = Locked(State())

    func post(_ order: StreamOrder) -> Posted {
        let (posted, poll) = state.withLock { state -> (Posted, EventPoll?) in
            switch state.phase {
            case .stopped: return (.refused, nil)
            case .idle:
                guard case .ask = order else { return (.done, nil) }
                state.phase = .starting
                state.orders.append(order)
                return (.needsThread, nil)
            case .starting:
                state.orders.append(order)
                return (.done, nil)
            case .running(let poll):
                state.orders.append(order)
                guard state.isAsleep else { return (.done, nil) }
                // One wake-up is enough.
                state.isAsleep = false
                return (.done, poll)
            }
        }
        poll?.wake()
        return posted
    }

    func postQuietly(_ order: StreamOrder) { _ = post(order) }

    /// The thread's first act.
    func attach(_ poll: EventPoll) {
        state.withLock { state in
            if case .starting = state.phase { state.phase = .running(poll) }
        }
    }

    /// There is no thread after all: the orders until now. The next question tries again.
    func takeWithoutThread() -> [StreamOrder] {
        state.withLock { state in
            if case .starting = state.phase { state.phase = .idle }
            let orders = state.orders
            state.orders = []
            return orders
        }
    }

    func stop() {
        let poll = state.withLock { state -> EventPoll? in
            defer { state.phase = .stopped }
            if case .running(let poll) = state.phase { return poll }
            return nil
        }
        poll?.wake()
    }

    var isStopped: Bool {
        state.withLock { state in
            if case .stopped = state.phase { true } else { false }
        }
    }

    /// What was left since the last call. The thread is awake from now on.
    func take() -> [StreamOrder] {
        state.withLock { state in
            state.isAsleep = false
            guard !state.orders.isEmpty else { return [] }
            let orders = state.orders
            state.orders = []
            state.orders.reserveCapacity(orders.count)
            return orders
        }
    }

    /// False when there is something to do first; else the next order wakes the thread.
    func maySleep() -> Bool {
        state.withLock { state in
            if case .stopped = state.phase { return false }
            state.isAsleep = state.orders.isEmpty
            return state.isAsleep
        }
    }
}
