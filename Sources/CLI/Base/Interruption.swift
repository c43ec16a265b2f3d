internal import CHTTPDNSSystem
internal import HTTPDNSPlatform

/// Ctrl-C, for commands that tell what they have before they end.
package enum Interruption {
    /// Cancels the work at the first SIGINT or SIGTERM; the second one ends the process at once.
    ///
    /// A thread of its own waits for the signal: a handler may do next to nothing.
    static func cancels(_ work: Task<Void, Never>) {
        let listener = httpdns_signals_listen()
        // Without a pipe the first signal ends the process, as it does for other commands.
        guard listener >= 0 else { return }
        DetachedThread.start(named: "httpdns-signal") {
            guard httpdns_signals_await(listener) == 0 else { return }
            // The terminal has shown "^C" where the next line is to begin.
            let errors = OutputStream(descriptor: STDERR_FILENO)
            if errors.isTerminal { errors.write("\r\u{1B}[K") }
            work.cancel()
        }
    }

    /// Whether the command was told to end.
    package static var hasCome: Bool { Task.isCancelled }

    /// Waits for what ends by itself later, at most until the command is told to end.
    ///
    /// - Parameters:
    ///   - interrupted: what is returned then.
    ///   - begin: gets what is to be called with the result, from any thread; a second call is ignored.
    static func awaiting<Result: Sendable>(
        interrupted: Result, _ begin: (@escaping @Sendable (Result) -> Void) -> Void
    ) async -> Result {
        let once = Once<Result>()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                once.waits { continuation.resume(returning: $0) }
                begin { once.tell($0) }
            }
        } onCancel: {
            once.tell(interrupted)
        }
    }
}

/// A result that is told once, before or after somebody waits for it.
private final class Once<Result: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(@Sendable (Result) -> Void)
        case told(Result)
        case over
    }

    private let state = Locked(State.open)

    func waits(_ resume: @escaping @Sendable (Result) -> Void) {
        let told = state.withLock { state -> Result? in
            if case .told(let result) = state {
                state = .over
                return result
            }
            state = .awaited(resume)
            return nil
        }
        if let told { resume(told) }
    }

    func tell(_ result: Result) {
        let resume = state.withLock { state -> (@Sendable (Result) -> Void)? in
            switch state {
            case .open:
                state = .told(result)
                return nil
            case .awaited(let resume):
                state = .over
                return resume
            case .told, .over: return nil
            }
        }
        resume?(result)
    }
}
