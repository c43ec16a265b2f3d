internal import Foundation
internal import HTTPDNSExchange
internal import HTTPDNSPlatform

/// Feeds a Foundation `InputStream` to the transport without ever blocking its thread.
///
/// A thread of its own reads ahead, at most ``bufferOctets``; it ends with the stream, with a failure,
/// or when the transport lets go of the source.
final class InputStreamSource: RequestBodySource {
    /// Because: four of libcurl's own 64 KiB upload buffers.
    private static let bufferOctets = 262_144
    private static let pieceOctets = 65_536

    private struct State {
        var buffered: [UInt8] = []
        var end: BodyRead?
        var wake: (@Sendable () -> Void)?
        var isStarted = false
    }

    let length: Int64?
    private let stream: SharedStream
    private let room: ConditionLocked<Room>
    private let state = Locked(State())

    /// What the reading thread waits for.
    private struct Room {
        var isWanted = true
        var isClosed = false
    }

    /// Reads from `stream`, which nobody else may touch from now on.
    init(_ stream: InputStream, length: Int64?) {
        self.stream = SharedStream(stream: stream)
        self.length = length
        room = ConditionLocked(Room())
    }

    deinit { room.withLockSignalling { $0.isClosed = true } }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            state.wake = wake
            defer { state.isStarted = true }
            return !state.isStarted
        }
        guard isFirst else { return }
        let stream = stream
        let room = room
        let isStarted = DetachedThread.start(named: "httpdns-body") { [weak self] in
            InputStreamSource.pump(stream, room) { self }
        }
        if !isStarted { finish(.failed("the system gave no thread to read the body with")) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        let read = state.withLock { state -> BodyRead in
            guard !state.buffered.isEmpty else { return state.end ?? .pending }
            let count = min(buffer.count, state.buffered.count)
            buffer.copyBytes(from: state.buffered[..<count])
            state.buffered.removeFirst(count)
            return .filled(count)
        }
        if case .filled = read { room.withLockSignalling { $0.isWanted = true } }
        return read
    }

    func rewind() -> Bool { false }

    /// Runs on the reading thread.
    private static func pump(
        _ shared: SharedStream, _ room: ConditionLocked<Room>, _ source: () -> InputStreamSource?
    ) {
        shared.stream.open()
        defer { shared.stream.close() }
        var piece = [UInt8](repeating: 0, count: pieceOctets)
        while true {
            let step = room.waitAndTake { room, _ in
                if room.isClosed { return [false] }
                guard room.isWanted else { return [] }
                room.isWanted = false
                return [true]
            } until: { _ in
                nil
            }
            guard step.first == true else { return }
            var goesOn = true
            while goesOn {
                let count = shared.stream.read(&piece, maxLength: piece.count)
                guard let source = source() else { return }
                guard count > 0 else {
                    let why = shared.stream.streamError.map { "\($0)" } ?? "the stream broke"
                    source.finish(count == 0 ? .end : .failed(why))
                    return
                }
                goesOn = source.append(piece[..<count])
            }
        }
    }

    /// False when the buffer is full for now.
    private func append(_ octets: ArraySlice<UInt8>) -> Bool {
        let (wake, hasRoom) = state.withLock { state in
            state.buffered += octets
            return (state.wake, state.buffered.count < InputStreamSource.bufferOctets)
        }
        wake?()
        return hasRoom
    }

    private func finish(_ end: BodyRead) {
        let wake = state.withLock { state in
            state.end = end
            return state.wake
        }
        wake?()
    }
}

/// The stream, passed to the one thread that reads it.
private struct SharedStream: @unchecked Sendable {
    // Safety: after `InputStreamSource.init` only the reading thread touches the stream.
    let stream: InputStream
}
