internal import HTTPDNSPlatform

/// Threads for handshakes, which block: a few at most, and none when there is nothing to do.
final class PeekThreads: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var running = 0
    }

    private let state = Locked(State())

    /// Runs `work` on a thread of its own, now or when one is free. Without any thread, at once.
    func run(_ work: @escaping @Sendable () -> Void) {
        let begins = state.withLock { state in
            state.waiting.append(work)
            guard state.running < PeekThreads.maximumThreads else { return false }
            state.running += 1
            return true
        }
        guard begins else { return }
        let isStarted = DetachedThread.start(named: "httpdns-peek") { self.serve() }
        if !isStarted { serve() }
    }

    private func serve() {
        while let work = next() { work() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.running -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
    }

    /// Because: handshakes with dead addresses last seconds each, and a page asks for tens of hosts.
    private static let maximumThreads = 32
}
