internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// Somebody who waits for an answer.
struct Waiter: Sendable {
    let deliver: @Sendable (Result<LookupAnswer, LookupFailure>) -> Void
    let alarm: AlarmCell
    /// When its patience ends.
    let limit: Monotonic

    /// One that only keeps a lookup going.
    static func silent(until limit: Monotonic) -> Waiter {
        Waiter(deliver: { _ in }, alarm: AlarmCell(), limit: limit)
    }
}

/// The alarm of a waiter, known only after the waiter has joined.
final class AlarmCell: Sendable {
    private enum Phase: Sendable {
        case unset
        case set(AlarmID)
        /// The waiter has been told.
        case closed
    }

    private let phase = Locked(Phase.unset)

    /// False when the waiter has been told already, so that nobody needs the alarm.
    func set(_ alarm: AlarmID) -> Bool {
        phase.withLock { phase in
            guard case .unset = phase else { return false }
            phase = .set(alarm)
            return true
        }
    }

    /// Closes the cell; the alarm to cancel, where one was set.
    func close() -> AlarmID? {
        phase.withLock { phase in
            defer { phase = .closed }
            guard case .set(let alarm) = phase else { return nil }
            return alarm
        }
    }
}
