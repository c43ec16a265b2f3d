import HTTPDNSDatagram
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSWire

/// Each answer asks the next question, on the engine's thread.
final class CallbackRun: Sendable {
    private let backend: DatagramBackend
    private let meter: Meter
    private let clock = SystemMonotonicClock()
    private let left: Locked<Int>
    private let over: @Sendable () -> Void

    init(
        _ backend: DatagramBackend, _ meter: Meter, _ total: Int,
        over: @escaping @Sendable () -> Void
    ) {
        self.backend = backend
        self.meter = meter
        left = Locked(total)
        self.over = over
    }

    func start(inFlight: Int) { for _ in 0..<inFlight { next() } }

    private func next() {
        guard let question = meter.next() else { return }
        let begun = clock.now()
        backend.ask(question, deadline: begun.adding(seconds: 20)) { result in
            if case .success = result {
                self.meter.took(self.clock.now().nanoseconds - begun.nanoseconds)
            } else {
                self.meter.took(nil)
            }
            let isLast = self.left.withLock { left in
                left -= 1
                return left == 0
            }
            if isLast { self.over() } else { self.next() }
        }
    }
}
