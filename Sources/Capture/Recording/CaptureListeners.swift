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

    /// Events that never came so far.
    func missed(_ count: Int64) { state.withLock { $0.missed += count } }

    func finish() {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
