import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSWire

/// A source that answers when the scenario says so, and tells what it is asked.
final class ScenarioBackend: ResolverBackend {
    private struct Asking {
        let number: Int
        let question: Question
        let continuation: CheckedContinuation<Result<Testimony, QueryFailure>, Never>
    }

    private struct State {
        var lastNumber = 0
        var waiting: [Asking] = []
        var cancelled: Set<Int> = []
    }

    let label: String
    let isAuthenticated: Bool
    let isLocal: Bool
    let supportedTypes: Set<RecordType>? = nil
    private let tell: @Sendable (String) -> Void
    private let state = Locked(State())

    init(
        label: String, isAuthenticated: Bool, isLocal: Bool,
        tell: @escaping @Sendable (String) -> Void
    ) {
        self.label = label
        self.isAuthenticated = isAuthenticated
        self.isLocal = isLocal
        self.tell = tell
    }

    func ask(_ question: Question, deadline: Monotonic) async throws(QueryFailure) -> Testimony {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if !state.cancelled.contains(number) {
                        state.waiting.append(
                            Asking(
                                number: number, question: question, continuation: continuation))
                        return false
                    }
                    return true
                }
                tell("\(label) asked \(question.name) \(question.type.name)")
                if isCancelled { continuation.resume(returning: .failure(.cancelled)) }
            }
        } onCancel: {
            cancel(number, question)
        }
        return try result.get()
    }

    private func cancel(_ number: Int, _ question: Question) {
        let taken = state.withLock { state -> Asking? in
            state.cancelled.insert(number)
            guard let at = state.waiting.firstIndex(where: { $0.number == number }) else {
                return nil
            }
            return state.waiting.remove(at: at)
        }
        tell("\(label) left \(question.name) \(question.type.name)")
        taken?.continuation.resume(returning: .failure(.cancelled))
    }

    /// False when nobody waits for that.
    func reply(
        to name: HostName, _ type: RecordType,
        _ result: (Question) throws -> Result<Testimony, QueryFailure>
    ) rethrows -> Bool {
        let taken = state.withLock { state -> Asking? in
            let at = state.waiting.firstIndex {
                $0.question.name == name && $0.question.type == type
            }
            return at.map { state.waiting.remove(at: $0) }
        }
        guard let taken else { return false }
        taken.continuation.resume(returning: try result(taken.question))
        return true
    }
}

/// A store in memory that outlives the resolver of a scenario.
final class ScenarioStore: AnswerStore {
    private struct Entry {
        let testimony: Testimony
        let ends: Monotonic
    }

    private let clock: any MonotonicSource
    private let entries = Locked<[String: Entry]>([:])

    init(clock: any MonotonicSource) { self.clock = clock }

    func find(
        _ question: Question, scope: String, _ found: @escaping @Sendable (StoredAnswer?) -> Void
    ) {
        let now = clock.now()
        let entry = entries.withLock { $0["\(question) \(scope)"] }
        found(
            entry.map {
                StoredAnswer(
                    testimony: $0.testimony,
                    secondsLeft: UInt32(clamping: $0.ends.millisecondsLeft(from: now) / 1_000),
                    secondsOver: UInt32(clamping: now.milliseconds(since: $0.ends) / 1_000))
            })
    }

    func keep(_ testimony: Testimony, scope: String, lifeSeconds: UInt32) {
        let ends = clock.now().adding(seconds: Int64(lifeSeconds))
        entries.withLock {
            $0["\(testimony.question) \(scope)"] = Entry(testimony: testimony, ends: ends)
        }
    }

    func forget(_ question: Question, scope: String) {
        entries.withLock { $0["\(question) \(scope)"] = nil }
    }

    func removeAll() { entries.withLock { $0 = [:] } }

    func flush() async {}
}
