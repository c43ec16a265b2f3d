internal import CHTTPDNSSystem
internal import HTTPDNSPlatform

/// One connected, or connecting, socket and what still waits to be written to it. Confined to the
/// proxy's thread.
///
/// The poll is asked for exactly what is wanted; for a socket of which nothing is wanted it is left, so
/// that a peer that has hung up does not wake the thread for ever.
final class Channel {
    enum Read {
        case octets(Int)
        case nothing
        case end
        case broken
    }

    let socket: Int32
    private let poll: EventPoll
    private let token: UInt64
    private var registered: UInt32 = 0
    private var unsent: [UInt8] = []
    private var sent = 0
    private var isClosed = false
    /// Octets are taken from the peer.
    var wantsRead = false
    /// The connection is being made.
    var isConnecting = false
    private(set) var receivedOctets: Int64 = 0
    private(set) var sentOctets: Int64 = 0

    /// Takes the socket over.
    init(_ socket: Int32, token: UInt64, poll: EventPoll) {
        self.socket = socket
        self.token = token
        self.poll = poll
        // A peer that vanished without a word is noticed in the end, also on an idle tunnel.
        var on: Int32 = 1
        setsockopt(
            socket, SOL_SOCKET, SO_KEEPALIVE, &on, socklen_t(MemoryLayout<Int32>.size))
        setsockopt(
            socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(resetting: false) }

    var unsentCount: Int { unsent.count - sent }

    /// Tells the poll what is wanted now. False when the system refuses.
    @discardableResult
    func settle() -> Bool {
        guard !isClosed else { return true }
        var wanted: UInt32 = wantsRead && !isConnecting ? EPOLLIN.rawValue : 0
        if isConnecting || unsentCount > 0 { wanted |= EPOLLOUT.rawValue }
        guard wanted != registered else { return true }
        var event = epoll_event()
        event.events = wanted
        event.data.u64 = token
        let operation =
            wanted == 0 ? EPOLL_CTL_DEL : registered == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
        registered = wanted
        return epoll_ctl(poll.descriptor, operation, socket, &event) == 0
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Read {
        guard let base = buffer.baseAddress, !isClosed else { return .end }
        let count = httpdns_connected_receive(
            socket, base.assumingMemoryBound(to: UInt8.self), buffer.count)
        if count > 0 {
            receivedOctets += Int64(count)
            return .octets(count)
        }
        if count == 0 { return .end }
        return [EAGAIN, EWOULDBLOCK].contains(httpdns_errno()) ? .nothing : .broken
    }

    /// Writes what can be written now and keeps the rest. False when the connection is broken.
    func write(_ octets: UnsafeRawBufferPointer) -> Bool {
        guard !octets.isEmpty else { return true }
        guard unsentCount == 0, !isConnecting else {
            unsent.append(contentsOf: octets)
            return true
        }
        guard let count = send(octets) else { return false }
        if count < octets.count { unsent.append(contentsOf: octets.dropFirst(count)) }
        return true
    }

    func write(_ octets: [UInt8]) -> Bool { octets.withUnsafeBytes { write($0) } }

    /// Writes on where the last write ended. False when the connection is broken.
    func flush() -> Bool {
        guard unsentCount > 0, !isConnecting else { return true }
        let position = sent
        let count = unsent.withUnsafeBytes {
            send(UnsafeRawBufferPointer(rebasing: $0[position...]))
        }
        guard let count else { return false }
        sent += count
        if sent == unsent.count {
            // An idle connection holds no memory.
            unsent = []
            sent = 0
        }
        return true
    }

    /// Nil when the connection is broken.
    private func send(_ octets: UnsafeRawBufferPointer) -> Int? {
        guard let base = octets.bindMemory(to: UInt8.self).baseAddress, !isClosed else {
            return nil
        }
        var done = 0
        while done < octets.count {
            let count = httpdns_connected_send(socket, base + done, octets.count - done)
            guard count > 0 else {
                let isFull = [EAGAIN, EWOULDBLOCK].contains(httpdns_errno())
                sentOctets += Int64(done)
                return isFull ? done : nil
            }
            done += count
        }
        sentOctets += Int64(done)
        return done
    }

    /// Says that nothing more will come.
    func endWriting() {
        if !isClosed { shutdown(socket, Int32(SHUT_WR)) }
    }

    /// Closing takes the socket out of the poll.
    func close(resetting: Bool) {
        guard !isClosed else { return }
        isClosed = true
        if resetting { httpdns_socket_reset_on_close(socket) }
        CHTTPDNSSystem.close(socket)
    }
}
