internal import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSPlatform

// Bodies that nobody wants, read away to keep their connections.
extension ExchangeDriver {
    func endSoon() { drain { $0.cancel() } }

    /// Waits for the rest of a body for a moment, and not for its sender's pleasure.
    func drain(_ giveUp: @escaping @Sendable (ExchangeDriver) -> Void) {
        let moment = clock.now().adding(milliseconds: ExchangeDriver.drainMilliseconds)
        // Nobody is held for it.
        let alarm = alarms.schedule(at: moment) { [weak self] in
            if let self { giveUp(self) }
        }
        let late = state.withLock { state -> AlarmID? in
            guard !state.isOver else { return alarm }
            defer { state.drainAlarm = alarm }
            return state.drainAlarm
        }
        if let late { alarms.cancel(late) }
    }

    /// The transfer is over, with its body.
    func drained() {
        let alarm = state.withLock { state in
            defer { state.drainAlarm = nil }
            return state.drainAlarm
        }
        if let alarm { alarms.cancel(alarm) }
    }

    /// How long the rest of such a body is waited for.
    ///
    /// Because: a round trip of the longest kind; another connection costs two or three.
    private static let drainMilliseconds: Int64 = 250
}
