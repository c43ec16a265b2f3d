import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSWire

/// A source that answers when the test says so.
final class ScriptedBackend: ResolverBackend {
    let label: String
    let isAuthenticated = true
    let supportedTypes: Set<RecordType>? = nil
    private let waiting = Locked<[(Question, CheckedContinuation<Testimony, any Error>)]>([])
    private let count = Locked(0)

    init(label: String) { self.label = label }

    var asked: Int { count.withLock { $0 } }

    func ask(_ question: Question, deadline: Monotonic) async throws(QueryFailure) -> Testimony {
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    self.count.withLock { $0 += 1 }
                    self.waiting.withLock { $0.append((question, continuation)) }
                }
            } onCancel: {
                self.answerAll { _ in throw QueryFailure.cancelled }
            }
        } catch {
            throw error as? QueryFailure ?? .unexpected("a foreign error")
        }
    }

    func answerAll(_ answer: (Question) throws -> Testimony) {
        let taken = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for (question, continuation) in taken {
            continuation.resume(with: Result { try answer(question) })
        }
    }

    func waitUntilAsked(_ times: Int) async {
        while asked < times { await Task.yield() }
    }
}

/// Alarms that ring when the test says that it is their time.
final class ScriptedAlarms: AlarmSource {
    private struct State {
        var lastNumber: UInt64 = 0
        var waiting: [UInt64: (moment: Monotonic, ring: @Sendable () -> Void)] = [:]
    }

    private let state = Locked(State())

    var count: Int { state.withLock { $0.waiting.count } }

    func schedule(at moment: Monotonic, _ ring: @escaping @Sendable () -> Void) -> AlarmID {
        state.withLock { state in
            state.lastNumber += 1
            state.waiting[state.lastNumber] = (moment, ring)
            return AlarmID(number: state.lastNumber)
        }
    }

    /// When the next alarm is due.
    var nextMoment: Monotonic? { state.withLock { $0.waiting.values.map(\.moment).min() } }

    func cancel(_ id: AlarmID) { state.withLock { $0.waiting[id.number] = nil } }

    /// Rings what is due, in the order of the moments, or in the other one.
    func ring(now: Monotonic, lastFirst: Bool = false) {
        while true {
            let next = state.withLock { state -> (@Sendable () -> Void)? in
                let due = state.waiting.filter { $0.value.moment <= now }.map(\.key).sorted()
                guard let number = lastFirst ? due.last : due.first else { return nil }
                return state.waiting.removeValue(forKey: number)?.ring
            }
            guard let next else { return }
            next()
        }
    }
}
