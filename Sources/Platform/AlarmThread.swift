internal import CHTTPDNSSystem
package import HTTPDNSNames

/// Calls back at a moment of the monotonic clock.
package protocol AlarmSource: Sendable {
    /// Calls `ring` once, not before `moment`, on a thread of the source; it must return at once.
    func schedule(at moment: Monotonic, _ ring: @escaping @Sendable () -> Void) -> AlarmID

    /// An alarm that has not rung will not ring; one that has is ignored.
    func cancel(_ id: AlarmID)
}

/// Names one alarm of one source.
package struct AlarmID: Sendable, Hashable {
    package let number: UInt64
    /// Where its source finds it.
    package let slot: Int

    package init(number: UInt64, slot: Int = 0) {
        self.number = number
        self.slot = slot
    }
}

/// One thread for all alarms of the process; it sleeps until the next one is due.
///
/// Why not a dispatch timer or a sleeping task: those pull in Dispatch and the cooperative pool,
/// whose threads an application may have blocked.
package final class AlarmThread: AlarmSource {
    package static let shared = AlarmThread { serve in
        DetachedThread.start(named: "httpdns-alarm", serve)
    }

    private let waiting = ConditionLocked(AlarmDesk())
    private let start: @Sendable (@escaping @Sendable () -> Void) -> Bool

    /// - Parameter start: runs its argument on a new thread; false when the system gives none.
    package init(start: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool) {
        self.start = start
    }

    package func schedule(
        at moment: Monotonic, _ ring: @escaping @Sendable () -> Void
    ) -> AlarmID {
        let (id, needsThread) = waiting.withLock { desk in
            let needsThread = !desk.isServed
            desk.isServed = true
            return (desk.queue.add(moment, ring), needsThread)
        } signallingIf: { desk in
            // An alarm that rings after the thread wakes up anyhow need not wake it now.
            desk.queue.next.map { $0 < desk.sleepsUntil } ?? false
        }
        if needsThread, !start({ self.serve() }) {
            // Without a thread now: the next alarm tries again, and its thread rings this one too.
            waiting.withLockSignalling { $0.isServed = false }
        }
        return id
    }

    package func cancel(_ id: AlarmID) {
        // The thread finds out when it wakes up. What the ring held ends here, after the lock: its end
        // may cancel another alarm.
        let ring = waiting.withLock {
            $0.queue.cancel(id)
        } signallingIf: { _ in
            false
        }
        withExtendedLifetime(ring) {}
    }

    /// Runs on the alarm thread for the life of the process.
    private func serve() {
        while true {
            let due = waiting.waitAndTake { desk, now in
                // Awake: nobody needs to wake it.
                desk.sleepsUntil = .zero
                return desk.queue.takeDue(now: now)
            } until: { desk in
                desk.sleepsUntil = desk.queue.next ?? .distantFuture
                return desk.queue.next
            }
            for ring in due { ring() }
        }
    }
}

/// What callers and the thread share.
private struct AlarmDesk {
    var queue = AlarmQueue()
    var isServed = false
    /// When the thread wakes up by itself. Earlier than the first alarm when that one was cancelled;
    /// the past while the thread is awake, and then it looks at the queue before it sleeps.
    var sleepsUntil = Monotonic.zero
}
