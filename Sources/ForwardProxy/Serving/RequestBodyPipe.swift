internal import HTTPDNSExchange
internal import HTTPDNSPlatform

/// Carries the body of one request from the proxy's thread to the transport's, within bounds.
///
/// Above ``highWaterOctets`` the client is not read from; it is again once half of that is left.
final class RequestBodyPipe: RequestBodySource {
    private struct State {
        var octets: [UInt8] = []
        var sent = 0
        var end: BodyRead?
        var wake: (@Sendable () -> Void)?
        var wasWanted = false
        var isFull = false
    }

    let length: Int64?
    private let turn: Turn
    private let desk: ProxyDesk
    private let state = Locked(State())

    init(length: Int64?, turn: Turn, desk: ProxyDesk) {
        self.length = length
        self.turn = turn
        self.desk = desk
    }

    /// False: the client is to wait until `bodyDrained` is told.
    func add(_ octets: [UInt8]) -> Bool {
        let (isOpen, wake) = state.withLock { state in
            state.octets += octets
            state.isFull = state.octets.count - state.sent >= RequestBodyPipe.highWaterOctets
            return (!state.isFull, state.wake)
        }
        wake?()
        return isOpen
    }

    func finish(_ end: BodyRead) {
        let wake = state.withLock { state in
            if state.end == nil { state.end = end }
            return state.wake
        }
        wake?()
    }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) {
        state.withLock { $0.wake = wake }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        let (read, messages) = state.withLock { state -> (BodyRead, [ProxyMessage]) in
            var messages: [ProxyMessage] = []
            if !state.wasWanted {
                state.wasWanted = true
                messages.append(.bodyWanted)
            }
            let ready = state.octets.count - state.sent
            guard ready > 0 else { return (state.end ?? .pending, messages) }
            let count = min(buffer.count, ready)
            buffer.copyBytes(from: state.octets[state.sent..<(state.sent + count)])
            state.sent += count
            let left = ready - count
            if left == 0 || state.sent >= RequestBodyPipe.highWaterOctets {
                state.octets.removeFirst(state.sent)
                state.sent = 0
            }
            if state.isFull, left <= RequestBodyPipe.highWaterOctets / 2 {
                state.isFull = false
                messages.append(.bodyDrained)
            }
            return (.filled(count), messages)
        }
        for message in messages { desk.tell(turn, message) }
        return read
    }

    func rewind() -> Bool { false }

    func letGo() {
        state.withLock { state in
            state.wake = nil
            state.octets = []
            state.sent = 0
        }
    }

    /// Because: four of libcurl's own 64 KiB upload buffers.
    private static let highWaterOctets = 262_144
}
