import HTTPDNSPlatform

/// Calls that block their thread until they are let go, as getaddrinfo does.
package final class BlockedCalls: Sendable {
    private let gate = ConditionLocked(Gate())

    private struct Gate: Sendable {
        var isOpen = false
        var begun = 0
        var waiters: [(count: Int, waiter: CheckedContinuation<Void, Never>)] = []
    }

    package init() {}

    /// Blocks the calling thread until ``release()``.
    package func block() {
        let waiters = gate.withLockSignalling { gate in
            gate.begun += 1
            let begun = gate.begun
            defer { gate.waiters.removeAll { $0.count <= begun } }
            return gate.waiters.filter { $0.count <= begun }.map { $0.waiter }
        }
        for waiter in waiters { waiter.resume() }
        _ = gate.waitAndTake { gate, _ in
            gate.isOpen ? [true] : []
        } until: { _ in
            nil
        }
    }

    package func release() {
        gate.withLockSignalling { $0.isOpen = true }
    }

    /// How many calls have begun to block.
    package var begun: Int { gate.withLockSignalling { $0.begun } }

    /// Returns when so many calls have begun to block.
    package func begun(_ count: Int) async {
        await withCheckedContinuation { waiter in
            let isThere = gate.withLockSignalling { gate -> Bool in
                guard gate.begun < count else { return true }
                gate.waiters.append((count, waiter))
                return false
            }
            if isThere { waiter.resume() }
        }
    }
}

/// Lets blocked calls go when it is dropped, so that no thread outlives its test.
package final class ReleaseAtEnd: Sendable {
    private let calls: BlockedCalls

    package init(_ calls: BlockedCalls) { self.calls = calls }

    deinit { calls.release() }
}
