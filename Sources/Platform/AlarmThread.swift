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

    package init(number: UInt64) { self.number = number }
}

/// One thread for all alarms of the process; it sleeps until the next one is due.
///
/// Why not a dispatch timer or a sleeping task: those pull in Dispatch and the cooperative pool,
/// whose threads an application may have blocked.
package final class AlarmThread: AlarmSource {
    package static let shared = AlarmThread { serve in
        DetachedThread.start(named: "httpdns-alarm", serve)
    }

    private let waiting = ConditionLocked(AlarmQueue())
    private let start: @Sendable (@escaping @Sendable () -> Void) -> Bool

    /// - Parameter start: runs its argument on a new thread; false when the system gives none.
    package init(start: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool) {
        self.start = start
    }

    package func schedule(
        at moment: Monotonic, _ ring: @escaping @Sendable () -> Void
    ) -> AlarmID {
        let (id, needsThread) = waiting.withLock { queue in
            let needsThread = !queue.isServed
            queue.isServed = true
            return (queue.add(moment, ring), needsThread)
        } signallingIf: { queue in
            // An alarm that rings after the thread wakes up anyhow need not wake it now.
            queue.next.map { $0 < queue.sleepsUntil } ?? false
        }
        if needsThread, !start({ self.serve() }) {
            // Without a thread now: the next alarm tries again, and its thread rings this one too.
            waiting.withLockSignalling { $0.isServed = false }
        }
        return id
    }

    package func cancel(_ id: AlarmID) {
        // The thread finds out when it wakes up.
        waiting.withLock {
            $0.cancel(id)
        } signallingIf: { _ in
            false
        }
    }

    /// Runs on the alarm thread for the life of the process.
    private func serve() {
        while true {
            let due = waiting.waitAndTake { queue, now in
                queue.takeDue(now: now)
            } until: { queue in
                queue.sleepsUntil = queue.next ?? .distantFuture
                return queue.next
            }
            for ring in due { ring() }
        }
    }
}

/// Alarms by the moment they are due. Cancelled ones are dropped when they come up.
private struct AlarmQueue {
    private struct Alarm {
        let moment: Monotonic
        let number: UInt64
    }

    var isServed = false
    /// When the thread wakes up by itself. Earlier than the first alarm when that one was cancelled;
    /// the past while the thread is awake, and then it looks at the queue before it sleeps.
    var sleepsUntil = Monotonic.zero
    private var heap: [Alarm] = []
    private var rings: [UInt64: @Sendable () -> Void] = [:]
    private var lastNumber: UInt64 = 0

    /// When the next alarm is due.
    var next: Monotonic? { heap.first?.moment }

    mutating func add(_ moment: Monotonic, _ ring: @escaping @Sendable () -> Void) -> AlarmID {
        lastNumber &+= 1
        rings[lastNumber] = ring
        heap.append(Alarm(moment: moment, number: lastNumber))
        siftUp(heap.count - 1)
        return AlarmID(number: lastNumber)
    }

    mutating func cancel(_ id: AlarmID) {
        rings[id.number] = nil
        // Cancelled alarms far in the future would otherwise pile up; rebuild when most are dead.
        guard heap.count > 64, heap.count > rings.count * 2 else { return }
        heap = heap.filter { rings[$0.number] != nil }.sorted { $0.moment < $1.moment }
    }

    mutating func takeDue(now: Monotonic) -> [@Sendable () -> Void] {
        var due: [@Sendable () -> Void] = []
        while let first = heap.first, first.moment <= now || rings[first.number] == nil {
            removeFirst()
            if let ring = rings.removeValue(forKey: first.number) { due.append(ring) }
        }
        return due
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var at = 0
        while true {
            var least = at
            for child in [2 * at + 1, 2 * at + 2]
            where child < heap.count && heap[child].moment < heap[least].moment {
                least = child
            }
            guard least != at else { return }
            heap.swapAt(at, least)
            at = least
        }
    }

    private mutating func siftUp(_ start: Int) {
        var at = start
        while at > 0, heap[at].moment < heap[(at - 1) / 2].moment {
            heap.swapAt(at, (at - 1) / 2)
            at = (at - 1) / 2
        }
    }
}
