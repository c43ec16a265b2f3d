internal import HTTPDNSLookup
package import HTTPDNSNames
internal import HTTPDNSPlatform

/// A look-up on its way to a thread.
package struct SystemCall: Sendable {
    package let name: HostName
    package let family: IPAddress.Family
    package let lookUp: SystemLookup.Call

    package init(
        name: HostName, family: IPAddress.Family, lookUp: @escaping SystemLookup.Call
    ) {
        self.name = name
        self.family = family
        self.lookUp = lookUp
    }
}

/// A few threads that may block in getaddrinfo, so that none of Swift's own ever does.
///
/// A call that outlives its deadline keeps its thread until getaddrinfo returns, which nothing can
/// hurry; its late result is dropped. Calls that wait for a thread still end at their own deadline.
package final class SystemThreads: Sendable {
    package static let shared = SystemThreads(count: defaultCount)

    private let work = ConditionLocked(Work())
    private let count: Int

    package init(count: Int) { self.count = count }

    deinit {
        work.withLockSignalling { $0.isClosed = true }
    }

    /// Runs one call; returns by `deadline`, or at once when the task is cancelled.
    package func run(_ call: SystemCall, deadline: Monotonic) async -> SystemLookup.Outcome {
        let pending = PendingCall(call)
        let alarm = AlarmThread.shared.schedule(at: deadline) {
            pending.expire()
        }
        defer { AlarmThread.shared.cancel(alarm) }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                pending.wait(continuation)
                post(pending)
            }
        } onCancel: {
            pending.settle(.failed(.cancelled))
        }
    }

    private func post(_ pending: PendingCall) {
        let (needsThread, work) = (
            work.withLockSignalling { work -> Bool in
                work.queue.append(pending)
                guard work.idle < work.queue.count, work.threads < count else { return false }
                work.threads += 1
                return true
            }, work
        )
        guard needsThread else { return }
        let isStarted = DetachedThread.start(named: "httpdns-system") { Self.serve(work) }
        guard !isStarted else { return }
        let isAlone = work.withLockSignalling { work -> Bool in
            work.threads -= 1
            return work.threads == 0
        }
        // Another thread takes it later; without any, nobody would.
        if isAlone { pending.settle(.failed(.unreachable("no thread left for getaddrinfo"))) }
    }

    /// Runs on each thread until its owner is gone.
    private static func serve(_ work: ConditionLocked<Work>) {
        work.withLockSignalling { $0.idle += 1 }
        while true {
            let taken = work.waitAndTake { work, _ in
                work.take()
            } until: { _ in
                nil
            }
            for case .call(let pending) in taken {
                pending.runUnlessSettled()
                work.withLockSignalling { $0.idle += 1 }
            }
            if taken.contains(where: { if case .end = $0 { true } else { false } }) { return }
        }
    }

    private struct Work: Sendable {
        enum Item: Sendable {
            case call(PendingCall)
            case end
        }

        var queue: [PendingCall] = []
        var threads = 0
        /// Threads that wait for work.
        var idle = 0
        var isClosed = false

        /// One call for one thread, which then is idle no more. Whether anybody still waits for it is
        /// behind the call's own lock: the thread looks, with this one free.
        mutating func take() -> [Item] {
            guard !queue.isEmpty else { return isClosed ? [.end] : [] }
            idle -= 1
            return [.call(queue.removeFirst())]
        }
    }

    /// Because: look-ups are short or stuck; four let a few stuck ones not hold up the rest, and
    /// cost little. Callers with many names use a DNS back-end, which needs one thread for all.
    private static let defaultCount = 4
}

/// A call and who waits for it: settled once, by the thread, the deadline or a cancellation.
private final class PendingCall: Sendable {
    private struct State: Sendable {
        var hasBegun = false
        var outcome: SystemLookup.Outcome?
        var waiter: CheckedContinuation<SystemLookup.Outcome, Never>?
    }

    private let call: SystemCall
    private let state = Locked(State())

    init(_ call: SystemCall) { self.call = call }

    func wait(_ waiter: CheckedContinuation<SystemLookup.Outcome, Never>) {
        let outcome = state.withLock { state -> SystemLookup.Outcome? in
            if state.outcome == nil { state.waiter = waiter }
            return state.outcome
        }
        if let outcome { waiter.resume(returning: outcome) }
    }

    func settle(_ outcome: SystemLookup.Outcome) {
        let waiter = state.withLock { state -> CheckedContinuation<SystemLookup.Outcome, Never>? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: outcome)
    }

    /// The deadline has come. The system does not say how often it sent: once counts for all.
    func expire() {
        let hasBegun = state.withLock { $0.hasBegun }
        settle(.failed(.timedOut(tries: hasBegun ? 1 : 0)))
    }

    func runUnlessSettled() {
        let isWanted = state.withLock { state -> Bool in
            state.hasBegun = true
            return state.outcome == nil
        }
        if isWanted { settle(call.lookUp(call.name, call.family)) }
    }
}
