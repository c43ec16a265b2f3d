internal import Foundation
internal import HTTPDNSExchange
internal import HTTPDNSPlatform

/// Feeds a Foundation `InputStream` to the transport without ever blocking its thread.
///
/// A thread of its own reads ahead, at most ``bufferOctets``; it ends with the stream, with a failure,
/// when the exchange has ended, or when nobody holds the source.
final class InputStreamSource: RequestBodySource {
    /// Because: four of libcurl's own 64 KiB upload buffers.
    private static let bufferOctets = 262_144
    private static let pieceOctets = 65_536
    private static let noStream = "no stream was given for it"

    private struct State {
        var buffered: [UInt8] = []
        var end: BodyRead?
        var wake: (@Sendable () -> Void)?
        /// Of the thread that reads now; an earlier one's octets no longer count.
        var room: ConditionLocked<Room>?
    }

    /// What a reading thread waits for.
    private struct Room {
        var isWanted = true
        var isClosed = false
    }

    /// Gives the stream anew, from its first octet; on any thread, at once or later; nil for none.
    typealias Supply = @Sendable (@escaping @Sendable (SharedStream?) -> Void) -> Void

    let length: Int64?
    private let first: SharedStream?
    private let again: Supply?
    private let state = Locked(State())

    /// Reads from `stream`, which nobody else may touch from now on; nil asks `again` for the first
    /// one, too.
    init(_ stream: SharedStream?, length: Int64?, again: Supply? = nil) {
        first = stream
        self.length = length
        self.again = again
    }

    deinit { state.withLock { $0.room }?.withLockSignalling { $0.isClosed = true } }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            state.wake = wake
            return state.room == nil
        }
        guard isFirst else { return }
        if let first { begin(first, open()) } else { supply() }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        let (read, room) = state.withLock { state in
            guard !state.buffered.isEmpty else { return (state.end ?? .pending, state.room) }
            let count = min(buffer.count, state.buffered.count)
            buffer.copyBytes(from: state.buffered[..<count])
            state.buffered.removeFirst(count)
            return (BodyRead.filled(count), state.room)
        }
        if case .filled = read { room?.withLockSignalling { $0.isWanted = true } }
        return read
    }

    var canRewind: Bool { again != nil }

    func rewind() -> Bool {
        guard again != nil else { return false }
        supply()
        return true
    }

    func letGo() {
        let none = ConditionLocked(Room(isWanted: false, isClosed: true))
        let last = state.withLock { state in
            defer { state.room = none }
            state.buffered = []
            state.end = nil
            return state.room
        }
        last?.withLockSignalling { $0.isClosed = true }
    }

    private func supply() {
        let room = open()
        guard let again else { return finish(.failed(InputStreamSource.noStream), room) }
        again { [weak self] stream in
            guard let self else { return }
            guard let stream else {
                return self.finish(.failed(InputStreamSource.noStream), room)
            }
            self.begin(stream, room)
        }
    }

    /// From now on octets of an earlier stream no longer count.
    private func open() -> ConditionLocked<Room> {
        let room = ConditionLocked(Room())
        let earlier = state.withLock { state in
            defer { state.room = room }
            state.buffered = []
            state.end = nil
            return state.room
        }
        earlier?.withLockSignalling { $0.isClosed = true }
        return room
    }

    private func begin(_ stream: SharedStream, _ room: ConditionLocked<Room>) {
        let isStarted = DetachedThread.start(named: "httpdns-body") { [weak self] in
            InputStreamSource.pump(stream, room) { self }
        }
        if !isStarted {
            finish(.failed("the system gave no thread to read the body with"), room)
        }
    }

    /// Runs on the reading thread.
    private static func pump(
        _ shared: SharedStream, _ room: ConditionLocked<Room>, _ source: () -> InputStreamSource?
    ) {
        guard let stream = shared.take() else {
            // By another request that was made of the same stream, or by its maker.
            return source()?.finish(.failed("the stream was read already"), room) ?? ()
        }
        stream.open()
        defer { stream.close() }
        var piece = [UInt8](repeating: 0, count: pieceOctets)
        while isWanted(room) {
            var goesOn = true
            while goesOn {
                let count = stream.read(&piece, maxLength: piece.count)
                guard let source = source() else { return }
                guard count > 0 else {
                    // Why it broke is not asked: on this platform `streamError` traps.
                    return source.finish(
                        count == 0 ? .end : .failed("the stream cannot be read"), room)
                }
                goesOn = source.append(piece[..<count], room)
            }
        }
    }

    /// Waits until more is wanted; false when nothing ever will be.
    private static func isWanted(_ room: ConditionLocked<Room>) -> Bool {
        room.waitAndTake { room, _ in
            if room.isClosed { return [false] }
            guard room.isWanted else { return [] }
            room.isWanted = false
            return [true]
        } until: { _ in
            nil
        } == [true]
    }

    /// False when the buffer is full for now.
    private func append(_ octets: ArraySlice<UInt8>, _ room: ConditionLocked<Room>) -> Bool {
        let (wake, hasRoom) = state.withLock { state -> ((@Sendable () -> Void)?, Bool) in
            guard state.room === room else { return (nil, false) }
            state.buffered += octets
            return (state.wake, state.buffered.count < InputStreamSource.bufferOctets)
        }
        wake?()
        return hasRoom
    }

    private func finish(_ end: BodyRead, _ room: ConditionLocked<Room>) {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.room === room else { return nil }
            state.end = end
            return state.wake
        }
        wake?()
    }
}

/// A stream, which one thread gets to read, once: who came later would go on from its middle.
final class SharedStream: @unchecked Sendable {
    // Safety: once made, only the thread that took the stream touches it.
    private let stream: InputStream
    private let isTaken = Locked(false)

    init(stream: InputStream) { self.stream = stream }

    /// For the first who asks; nil for all others, and where its maker has read it.
    func take() -> InputStream? {
        let wasTaken = isTaken.withLock { isTaken in
            defer { isTaken = true }
            return isTaken
        }
        guard !wasTaken else { return nil }
        switch stream.streamStatus {
        case .atEnd, .closed, .error: return nil
        default: return stream
        }
    }
}
