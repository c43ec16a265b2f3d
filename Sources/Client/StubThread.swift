internal import HTTPDNSPlatform

/// The one thread on which stubs are played, piece by piece in turn; it waits for work and for
/// nothing else: moments are the alarms'.
///
/// It starts with the first stub and stays.
final class StubThread: Sendable {
    static let shared = StubThread()

    typealias Work = @Sendable () -> Void

    private struct Desk {
        var work: [Work] = []
        var isServed = false
    }

    private let desk = ConditionLocked(Desk())

    /// Runs later, in order.
    func run(_ work: @escaping Work) {
        let needsThread = desk.withLockSignalling { desk in
            desk.work.append(work)
            defer { desk.isServed = true }
            return !desk.isServed
        }
        guard needsThread else { return }
        let isStarted = DetachedThread.start(named: "httpdns-stub") { self.serve() }
        // Without a thread now: the next stub tries again, and its thread plays this one, too.
        if !isStarted { desk.withLockSignalling { $0.isServed = false } }
    }

    private func serve() {
        while true {
            let work = desk.waitAndTake { desk, _ in
                defer { desk.work = [] }
                return desk.work
            } until: { _ in
                nil
            }
            for work in work { work() }
        }
    }
}
