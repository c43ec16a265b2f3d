internal import CHTTPDNSCurl
internal import HTTPDNSPlatform

/// Names one exchange for the life of a transport; never used again.
typealias TransferID = UInt64

/// What other threads ask of the engine.
enum Command: Sendable {
    case start(TransferID, TransportRequest, any TransferObserver, Transfer)
    case cancel(TransferID)
    case resume(TransferID)
    /// The request's body source has more.
    case bodyReady(TransferID)
    /// Connections made until now are not used again.
    case leaveConnections
}

/// The only door between other threads and the engine's thread.
///
///     asleep ── start ──▶ awake ── idle ──▶ asleep
///        └───── close ──────┴───── close ──▶ closed
///
/// Rules:
/// 1. While asleep there is no thread and no transfer: all commands but `start` are dropped.
/// 2. The wake-up is called under the lock, so the multi handle cannot be freed during it.
/// 3. Nothing is taken after `close`; what was posted before is still handed to the engine.
final class Mailbox: Sendable {
    enum Reception: Sendable {
        case taken
        /// Taken, and the caller must start the engine's thread.
        case needsThread
        case refused
    }

    struct Batch: Sendable {
        var commands: [Command]
        var isClosed: Bool
    }

    private enum Phase {
        case asleep
        case awake
        case closed
    }

    private struct State {
        var phase = Phase.asleep
        var commands: [Command] = []
        var lastID: TransferID = 0
        /// Set while it is legal to wake the engine.
        var multi: UnsafeMutableRawPointer?
        /// The engine was woken since it last took the mail: once is enough.
        var isWoken = false

        mutating func wake() {
            guard let multi, !isWoken else { return }
            isWoken = true
            httpdns_curl_multi_wakeup(multi)
        }
    }

    private let state = Locked(State())

    func nextID() -> TransferID {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    func post(_ command: Command) -> Reception {
        state.withLock { state in
            switch (state.phase, command) {
            case (.closed, _): return .refused
            case (.asleep, .start):
                state.commands.append(command)
                state.phase = .awake
                return .needsThread
            case (.asleep, _): return .refused
            case (.awake, _):
                state.commands.append(command)
                state.wake()
                return .taken
            }
        }
    }

    /// No more work: the engine ends every exchange and its thread.
    func close() {
        state.withLock { state in
            state.phase = .closed
            state.wake()
        }
    }

    // The engine's side

    /// Lets others wake the engine from now on.
    func attach(multi: UnsafeMutableRawPointer) {
        state.withLock { state in
            state.multi = multi
            state.isWoken = false
        }
    }

    /// After `close`: nobody touches the multi handle from now on.
    ///
    /// Not for falling asleep: another thread could by then have attached its own.
    func detach() {
        state.withLock { $0.multi = nil }
    }

    func take() -> Batch {
        state.withLock { state in
            let batch = Batch(commands: state.commands, isClosed: state.phase == .closed)
            state.commands = []
            state.isWoken = false
            return batch
        }
    }

    /// True when there was nothing to do: the engine's thread must then end.
    func sleepIfEmpty() -> Bool {
        state.withLock { state in
            guard state.commands.isEmpty else { return false }
            state.multi = nil
            if state.phase == .awake { state.phase = .asleep }
            return true
        }
    }
}
