internal import HTTPDNSNames

/// A text file of the system's that is read again when it has changed.
///
/// Looking costs one `stat`, at most once a second; nothing watches in between. A file that is gone is
/// empty; one that is there and cannot be read, or is still being written, leaves the last word.
package final class WatchedFile<Value: Sendable>: Sendable {
    private struct State {
        var stamp: SmallFile.Stamp?
        var value: Value
        var looked: Monotonic?
    }

    private let path: String
    private let clock: any MonotonicSource
    private let parse: @Sendable (String) -> Value
    private let state: Locked<State>

    /// - Parameter parse: makes the value of the text; called under a lock, and must not block.
    package init(
        path: String, clock: any MonotonicSource = SystemMonotonicClock(),
        parse: @escaping @Sendable (String) -> Value
    ) {
        self.path = path
        self.clock = clock
        self.parse = parse
        state = Locked(State(stamp: nil, value: parse(""), looked: nil))
    }

    /// What the file says now, or said within the last second.
    package var value: Value {
        let now = clock.now()
        return state.withLock { state in
            let next = state.looked?.adding(milliseconds: WatchedFiles.recheckMilliseconds)
            guard next.map({ $0 <= now }) ?? true else { return state.value }
            state.looked = now
            let stamp = SmallFile.stamp(path)
            guard stamp != state.stamp else { return state.value }
            guard stamp != nil else {
                state.stamp = nil
                state.value = parse("")
                return state.value
            }
            guard let octets = SmallFile.read(path, atMost: WatchedFiles.maximumOctets) else {
                return state.value
            }
            state.stamp = stamp
            state.value = parse(String(decoding: octets, as: UTF8.self))
            return state.value
        }
    }
}

/// What all watched files have in common.
package enum WatchedFiles {
    /// Because: a person who edits a file and tries again sees the change; a busy program pays one
    /// `stat` a second.
    package static let recheckMilliseconds: Int64 = 1_000
    /// Because: the largest block lists in the syntax of a hosts file; what is beyond is not read.
    package static let maximumOctets = 16_777_216
}
