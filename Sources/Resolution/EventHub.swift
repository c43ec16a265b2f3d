public import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// Tells events to whoever listens, and counts them.
final class EventHub: Sendable {
    private struct State {
        var metrics = ResolverMetrics()
        var listeners: [UInt64: AsyncStream<ResolverEvent>.Continuation] = [:]
        var lastListener: UInt64 = 0
    }

    private let observer: (@Sendable (ResolverEvent) -> Void)?
    private let state = Locked(State())

    init(observer: (@Sendable (ResolverEvent) -> Void)?) {
        self.observer = observer
    }

    // Whoever still listens would wait for ever.
    deinit {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners { listener.finish() }
    }

    var metrics: ResolverMetrics { state.withLock { $0.metrics } }

    func emit(_ event: ResolverEvent) {
        let listeners = state.withLock { state in
            state.metrics.record(event)
            return state.listeners.isEmpty ? [] : Array(state.listeners.values)
        }
        observer?(event)
        for listener in listeners { listener.yield(event) }
    }

    func stream() -> AsyncStream<ResolverEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ResolverEvent.self, bufferingPolicy: .bufferingNewest(EventHub.bufferedEvents))
        let number = state.withLock { state in
            state.lastListener &+= 1
            state.listeners[state.lastListener] = continuation
            return state.lastListener
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.listeners[number] = nil }
        }
        return stream
    }

    /// Because: a listener that is a second behind a busy resolver (some hundred lookups of a few
    /// events each) still hears all; one that stopped reading costs a bounded amount of memory.
    static let bufferedEvents = 4_096
}

extension Resolver {
    func emit(_ event: ResolverEvent) { events.emit(event) }

    /// Tells an event of what the resolver was put together with.
    package func tell(_ event: ResolverEvent) { events.emit(event) }

    /// Everything that happens from now on. A listener that is too slow misses the oldest; it ends
    /// with the task that reads it, or with the resolver.
    public var eventStream: AsyncStream<ResolverEvent> { events.stream() }

    /// Counters and histograms of everything until now.
    public func metrics() -> ResolverMetrics { events.metrics }

    /// How each source does, in the order of the chain.
    public func sourceStates() -> [SourceState] {
        let now = clock.now()
        let health = state.withLock { $0.health }
        return everySource.map { source in
            let health = health[source.label] ?? SourceHealth()
            let breaker: SourceState.Breaker =
                switch health.state {
                case .closed: .closed
                case .open(let until):
                    .open(milliseconds: until.millisecondsLeft(from: now))
                case .halfOpen: .halfOpen
                }
            return SourceState(
                label: source.label, isAuthenticated: source.isAuthenticated, breaker: breaker,
                consecutiveFailures: health.consecutiveFailures,
                smoothedMilliseconds: health.answerTime.milliseconds)
        }
    }
}

/// How one source does.
public struct SourceState: Sendable, Hashable {
    /// Whether it may be asked.
    public enum Breaker: Sendable, Hashable {
        case closed
        /// It failed several times and is left alone for so long.
        case open(milliseconds: Int64)
        /// One question is out to see whether it is back.
        case halfOpen
    }

    public let label: String
    public let isAuthenticated: Bool
    public let breaker: Breaker
    /// Failures since its last answer.
    public let consecutiveFailures: Int
    /// How long its answers take, smoothed; nil before the first. Source: RFC 6298 §2.
    public let smoothedMilliseconds: Double?
}
