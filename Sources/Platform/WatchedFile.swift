internal import HTTPDNSNames

/// A text file of the system's that is read again when it has changed.
///
/// Looking costs one `stat`, at most once a second, when somebody asks; no thread and no watch of the
/// system's is needed, and a laptop that sleeps pays nothing. A file that is gone is empty; one that is
/// there and cannot be read, or is still being written, leaves the last word. While one caller reads,
/// the others have what was read before.
package final class WatchedFile<Value: Sendable & Equatable>: Sendable {
    private struct State {
        var stamp: SmallFile.Stamp?
        var value: Value
        var looked: Monotonic?
        /// A look has come to its end: `value` is more than a guess.
        var hasLooked = false
        var changes = 0
    }

    package let path: String
    private let maximumOctets: Int
    private let clock: any MonotonicSource
    private let parse: @Sendable (String) -> Value
    private let state: Locked<State>

    /// Reads nothing yet.
    ///
    /// - Parameters:
    ///   - maximumOctets: what is beyond is not read.
    ///   - parse: makes the value of the text; called on the caller's thread, and must not block.
    package init(
        path: String, maximumOctets: Int = WatchedFiles.maximumOctets,
        clock: any MonotonicSource = SystemMonotonicClock(),
        parse: @escaping @Sendable (String) -> Value
    ) {
        self.path = path
        self.maximumOctets = maximumOctets
        self.clock = clock
        self.parse = parse
        state = Locked(State(value: parse("")))
    }

    /// What the file says now, or said within the last second.
    package var value: Value {
        let now = clock.now()
        let (known, stamp, isFresh) = state.withLock { state in
            let next = state.looked?.adding(milliseconds: WatchedFiles.recheckMilliseconds)
            let isFresh = state.hasLooked && next.map { now < $0 } ?? false
            if !isFresh { state.looked = now }
            return (state.value, state.stamp, isFresh)
        }
        return isFresh ? known : look(known, stamp)
    }

    /// Reads the file anew whatever it looks like.
    package func reload() -> Value {
        let now = clock.now()
        let known = state.withLock { state in
            state.looked = now
            return state.value
        }
        return look(known, nil)
    }

    /// How often another value was found.
    package var changes: Int { state.withLock { $0.changes } }

    private func look(_ known: Value, _ stamp: SmallFile.Stamp?) -> Value {
        defer { state.withLock { $0.hasLooked = true } }
        let found = SmallFile.stamp(path)
        if let found, found == stamp { return known }
        var text = ""
        if found != nil {
            guard let octets = SmallFile.read(path, atMost: maximumOctets) else { return known }
            text = String(decoding: octets, as: UTF8.self)
        }
        let value = parse(text)
        state.withLock { state in
            if state.value != value { state.changes += 1 }
            state.value = value
            state.stamp = found
        }
        return value
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
