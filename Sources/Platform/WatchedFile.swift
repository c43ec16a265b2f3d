internal import CHTTPDNSSystem
internal import HTTPDNSNames

/// A small text file of the system's that is read again when it has changed.
///
/// Looking costs one `stat`, at most once a second; nothing watches in between. A file that is gone
/// or cannot be read is empty.
package final class WatchedFile<Value: Sendable>: Sendable {
    private struct Stamp: Equatable {
        let device: UInt64
        let inode: UInt64
        let octets: Int64
        let seconds: Int64
        let nanoseconds: Int64
    }

    private struct State {
        var stamp: Stamp?
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
            let stamp = WatchedFile.stamp(path)
            guard stamp != state.stamp else { return state.value }
            state.stamp = stamp
            state.value = parse(stamp == nil ? "" : WatchedFiles.text(path))
            return state.value
        }
    }

    private static func stamp(_ path: String) -> Stamp? {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        #if canImport(Darwin)
            let time = facts.st_mtimespec
        #else
            let time = facts.st_mtim
        #endif
        return Stamp(
            device: UInt64(truncatingIfNeeded: facts.st_dev),
            inode: UInt64(truncatingIfNeeded: facts.st_ino), octets: Int64(facts.st_size),
            seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
    }
}

/// What all watched files have in common.
package enum WatchedFiles {
    /// Because: a person who edits a file and tries again sees the change; a busy program pays one
    /// `stat` a second.
    package static let recheckMilliseconds: Int64 = 1_000
    /// Because: the largest block lists in the syntax of a hosts file; what is beyond is not read.
    package static let maximumOctets = 16_777_216

    static func text(_ path: String) -> String {
        guard let file = fopen(path, "re") else { return "" }
        defer { fclose(file) }
        var octets: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while octets.count < maximumOctets {
            let count = fread(&piece, 1, piece.count, file)
            octets += piece.prefix(count)
            if count < piece.count { break }
        }
        return String(decoding: octets.prefix(maximumOctets), as: UTF8.self)
    }
}
