internal import HTTPDNSPlatform

/// What other threads ask of the engine.
enum Command: Sendable {
    case start(Transfer, any TransferObserver)
    case cancel(Transfer)
    case resume(Transfer)
    /// The request's body source has more.
    case bodyReady(Transfer)
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
/// 2. The engine is woken when it sleeps, and not otherwise: it looks for mail before it does.
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
        /// Set while there is a thread to wake.
        var signal: WakeSignal?
        /// The engine sleeps, or is about to, and nobody is on the way to wake it.
        var isDozing = false

        /// Whom to wake once the lock is given back.
        mutating func sleeper() -> WakeSignal? {
            guard isDozing else { return nil }
            isDozing = false
            return signal
        }
    }

    private let state = Locked(State())

    func post(_ command: Command) -> Reception {
        let (reception, sleeper) = state.withLock { state -> (Reception, WakeSignal?) in
            switch (state.phase, command) {
            case (.closed, _): return (.refused, nil)
            case (.asleep, .start):
                state.commands.append(command)
                state.phase = .awake
                return (.needsThread, nil)
            case (.asleep, _): return (.refused, nil)
            case (.awake, _):
                state.commands.append(command)
                return (.taken, state.sleeper())
            }
        }
        sleeper?.wake()
        return reception
    }

    /// No more work: the engine ends every exchange and its thread.
    func close() {
        let sleeper = state.withLock { state in
            state.phase = .closed
            return state.sleeper()
        }
        sleeper?.wake()
    }

    // The engine's side

    /// Lets others wake the engine from now on, when it sleeps.
    func attach(_ signal: WakeSignal) {
        state.withLock { state in
            state.signal = signal
            state.isDozing = false
        }
    }

    /// The engine is about to sleep until it is woken: false when there is mail.
    func doze() -> Bool {
        state.withLock { state in
            state.isDozing = state.commands.isEmpty && state.phase != .closed
            return state.isDozing
        }
    }

    func take() -> Batch {
        var commands: [Command] = []
        let isClosed = take(into: &commands)
        return Batch(commands: commands, isClosed: isClosed)
    }

    /// The same into an empty array, whose memory the next letters get; true when it is closed.
    func take(into commands: inout [Command]) -> Bool {
        state.withLock { state in
            swap(&state.commands, &commands)
            state.isDozing = false
            return state.phase == .closed
        }
    }

    /// True when there was nothing to do: the engine's thread must then end.
    func sleepIfEmpty() -> Bool {
        state.withLock { state in
            guard state.commands.isEmpty else { return false }
            state.signal = nil
            if state.phase == .awake { state.phase = .asleep }
            return true
        }
    }
}
