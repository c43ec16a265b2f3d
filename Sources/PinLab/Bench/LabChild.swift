internal import CHTTPDNSSystem
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// One program, run to its end or its time-out. Blocks; for a thread of its own.
struct LabChild {
    /// What became of it.
    struct Ended {
        var exitCode: Int32
        var isTimedOut: Bool
        /// The first octets of what it wrote, on both streams.
        var output: [UInt8]
        var milliseconds: Int64
    }

    let words: [String]
    let environment: [String]
    let timeoutMilliseconds: Int64
    /// In its environment alone: what it starts is known by it, wherever that goes.
    private let mark: String

    init(words: [String], environment: [String], timeoutMilliseconds: Int64) {
        self.words = words
        self.environment = environment
        self.timeoutMilliseconds = timeoutMilliseconds
        mark = HTTPDNS_CHILD_MARK + String(UInt64.random(in: .min ... .max), radix: 36)
    }

    /// - Throws: ``LabError/notStarted(program:code:)``.
    func run(_ threads: ThreadGroup, stop: StopSignal) throws(LabError) -> Ended {
        let begun = labNow()
        let child = withPointers(words) { words in
            withPointers(environment + [mark]) { httpdns_child_start(words, $0) }
        }
        guard child.process > 0 else {
            throw .notStarted(program: words.first ?? "", code: child.error)
        }
        let output = Descriptor(owning: child.output)
        let watch = ChildWatch()
        let timeout = timeoutMilliseconds
        let deadline = begun.adding(milliseconds: timeout)
        do {
            try threads.start {
                watch.follow(child.process, output, deadline: deadline, stop: stop)
            }
        } catch {
            httpdns_child_kill(child.process)
            _ = httpdns_child_reap(child.process, mark)
            throw error
        }
        let code = watch.reap(child.process, mark)
        let seen = watch.awaitOutput()
        return Ended(
            exitCode: code, isTimedOut: seen.isTimedOut, output: seen.octets,
            milliseconds: labNow().milliseconds(since: begun))
    }
}

/// What the thread that reads a child's output and the one that waits for its end share.
private final class ChildWatch: Sendable {
    private struct State {
        var octets: [UInt8] = []
        var isTimedOut = false
        var isReaped = false
        var isRead = false
    }

    private let state = ConditionLocked(State())

    /// Reads until all writers have ended; ends them all when the time is over.
    func follow(_ process: pid_t, _ output: Descriptor, deadline: Monotonic, stop: StopSignal) {
        // A moment, not a silence: who writes without a pause would never be silent.
        var limit = deadline
        var isEnding = false
        while true {
            let left = max(0, limit.millisecondsLeft(from: labNow()))
            let event =
                left == 0
                ? .elapsed : stop.wait(for: [(output.raw, Int32(POLLIN))], milliseconds: left)
            switch event {
            case .ready:
                guard take(output) else { return finish() }
            case .elapsed:
                // What still writes after the program's end has left its group: it is not waited for.
                guard !isEnding, end(process, isTimedOut: true) else { return finish() }
                isEnding = true
                limit = labNow().adding(milliseconds: ChildWatch.graceMilliseconds)
            case .stopped:
                _ = end(process, isTimedOut: false)
                return finish()
            }
        }
    }

    /// Waits for the program's end.
    func reap(_ process: pid_t, _ mark: String) -> Int32 {
        httpdns_child_await(process)
        return state.withLockSignalling { state in
            state.isReaped = true
            return httpdns_child_reap(process, mark)
        }
    }

    func awaitOutput() -> (octets: [UInt8], isTimedOut: Bool) {
        let ended = state.waitAndTake(
            { state, _ in state.isRead ? [state] : [] }, until: { _ in nil })
        return (ended.first?.octets ?? [], ended.first?.isTimedOut ?? false)
    }

    /// False at the end of the output.
    private func take(_ output: Descriptor) -> Bool {
        var octets = [UInt8](repeating: 0, count: 16_384)
        let count = read(output.raw, &octets, octets.count)
        guard count > 0 else {
            let code = httpdns_socket_error()
            return count < 0 && (code == EAGAIN || code == EINTR)
        }
        state.withLockSignalling { state in
            let room = ChildWatch.outputOctets - state.octets.count
            state.octets += octets.prefix(min(count, max(0, room)))
        }
        return true
    }

    /// Ends the group; false when the program had ended already.
    private func end(_ process: pid_t, isTimedOut: Bool) -> Bool {
        state.withLockSignalling { state in
            guard !state.isReaped else { return false }
            state.isTimedOut = isTimedOut
            // Under the lock: a reaped process's number may be another's.
            httpdns_child_kill(process)
            return true
        }
    }

    private func finish() { state.withLockSignalling { $0.isRead = true } }

    /// Because: what a client says about a refusal is a few lines; the rest is read and dropped.
    private static let outputOctets = 16_384
    /// Because: a killed group ends at once; only what has left it holds the output longer.
    private static let graceMilliseconds: Int64 = 1_000
}

/// The texts as C has them, a NULL at the end, for one call.
private func withPointers<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    pointers.append(nil)
    return pointers.withUnsafeBufferPointer { buffer in
        guard let start = buffer.baseAddress else { preconditionFailure("it has an element") }
        return body(start)
    }
}
