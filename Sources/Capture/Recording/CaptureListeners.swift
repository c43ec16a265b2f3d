internal import HTTPDNSPlatform

/// Who listens to a capture's events.
final class CaptureListeners: Sendable {
    private struct State: Sendable {
        var listeners: [Int: AsyncStream<CaptureEvent>.Continuation] = [:]
        var lastNumber = 0
        var missed: Int64 = 0
    }

    private let state = Locked(State())

    var isListenedTo: Bool { state.withLock { !$0.listeners.isEmpty } }
    var missed: Int64 { state.withLock { $0.missed } }

    func listen(holding count: Int) -> AsyncStream<CaptureEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: CaptureEvent.self, bufferingPolicy: .bufferingNewest(count))
        let number = state.withLock { state in
            state.lastNumber += 1
            state.listeners[state.lastNumber] = continuation
            return state.lastNumber
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    func tell(_ event: CaptureEvent) {
        let listeners = state.withLock { Array($0.listeners.values) }
        var missed: Int64 = 0
        for listener in listeners {
            if case .dropped = listener.yield(event) { missed += 1 }
        }
        guard missed > 0 else { return }
        state.withLock { $0.missed += missed }
    }

    func finish() {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}

/// The last records.
final class CaptureRing: Sendable {
    private struct State: Sendable {
        var slots: [CaptureRecord] = []
        /// Where the next one goes, once all slots are taken.
        var next = 0
    }

    private let capacity: Int
    private let state = Locked(State())

    init(_ capacity: Int) { self.capacity = max(0, capacity) }

    var isWanted: Bool { capacity > 0 }

    /// Oldest first.
    var records: [CaptureRecord] {
        state.withLock { Array($0.slots[$0.next...] + $0.slots[..<$0.next]) }
    }

    func add(_ record: CaptureRecord) {
        guard capacity > 0 else { return }
        state.withLock { state in
            if state.slots.count < capacity {
                state.slots.append(record)
            } else {
                state.slots[state.next] = record
                state.next = (state.next + 1) % capacity
            }
        }
    }

    func clear() { state.withLock { $0 = State() } }
}
