internal import CHTTPDNSSystem
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// Owns a file descriptor; closes it when the last reference goes.
final class Descriptor: Sendable {
    let raw: Int32

    init(owning raw: Int32) { self.raw = raw }

    deinit { close(raw) }

    /// A socket bound to a loopback address and the port, 0 for a free one.
    static func bound(
        stream: Bool, address: IPAddress, port: UInt16 = 0
    ) throws(LabError) -> Descriptor {
        guard address.isLoopback else { throw .notLoopback(address) }
        let raw = httpdns_socket_bound(
            stream ? 1 : 0, address.octets, address.octets.count, port)
        guard raw >= 0 else {
            throw .system(
                operation: "bind a socket to \(address) port \(port)", code: httpdns_socket_error())
        }
        return Descriptor(owning: raw)
    }

    /// The port that the socket is bound to.
    func boundPort() throws(LabError) -> Port {
        guard let port = Port(httpdns_socket_port(raw)) else {
            throw .system(operation: "tell a socket's port", code: httpdns_socket_error())
        }
        return port
    }
}

/// Tells every thread of one server to end. Once raised it stays raised.
final class StopSignal: Sendable {
    private let readEnd: Descriptor
    private let writeEnd: Descriptor

    init() throws(LabError) {
        var ends: [Int32] = [-1, -1]
        guard httpdns_pipe(&ends) == 0 else {
            throw .system(operation: "open a pipe", code: httpdns_socket_error())
        }
        readEnd = Descriptor(owning: ends[0])
        writeEnd = Descriptor(owning: ends[1])
    }

    func raise() {
        var octet: UInt8 = 1
        // A full pipe has been raised already.
        _ = write(writeEnd.raw, &octet, 1)
    }

    enum Wake {
        case ready
        case elapsed
        case stopped
    }

    /// Waits until one of the descriptors has one of its events, the time is over, or the stop is
    /// raised; the stop wins. A negative time waits without end.
    func wait(for watched: [(fd: Int32, events: Int32)], milliseconds: Int64 = -1) -> Wake {
        var polled = watched.map { pollfd(fd: $0.fd, events: Int16($0.events), revents: 0) }
        polled.append(pollfd(fd: readEnd.raw, events: Int16(POLLIN), revents: 0))
        let deadline = milliseconds < 0 ? nil : labNow().adding(milliseconds: milliseconds)
        while true {
            let left = deadline.map { $0.millisecondsLeft(from: labNow()) } ?? -1
            let count = poll(&polled, nfds_t(polled.count), Int32(clamping: left))
            if polled[polled.count - 1].revents != 0 { return .stopped }
            if count > 0 { return .ready }
            if count == 0, let deadline, deadline <= labNow() { return .elapsed }
            if count < 0, httpdns_socket_error() != EINTR { return .stopped }
        }
    }

    /// Lets time pass; false when the server stopped meanwhile.
    func pause(milliseconds: Int64) -> Bool {
        guard milliseconds > 0 else { return true }
        return wait(for: [], milliseconds: milliseconds) == .elapsed
    }
}

extension StopSignal {
    /// Whether there is a connection that nobody has taken yet.
    func isWaiting(on listener: Descriptor) -> Bool {
        wait(for: [(listener.raw, Int32(POLLIN))], milliseconds: 0) == .ready
    }
}

/// A listening socket that leaves its port when the server stops, though the server's record stays.
final class Listener: Sendable {
    private let descriptor: Locked<Descriptor?>

    init(_ descriptor: Descriptor) { self.descriptor = Locked(descriptor) }

    /// The socket; nil once closed. Whoever holds it keeps the port.
    var current: Descriptor? { descriptor.withLock { $0 } }

    /// The port is free once nobody else holds the socket.
    func close() { descriptor.withLock { $0 = nil } }
}

/// The next connection, or nil once the stop is raised.
///
/// - Parameter take: runs what it is given, which takes the connection and never waits; a server that
///   counts does both in one go.
func acceptNext(
    on listener: Descriptor, stop: StopSignal, take: (() -> Int32) -> Int32 = { $0() }
) -> Descriptor? {
    while true {
        guard stop.wait(for: [(listener.raw, Int32(POLLIN))]) == .ready else { return nil }
        let raw = take { httpdns_socket_accept(listener.raw) }
        if raw >= 0 { return Descriptor(owning: raw) }
        // The client may have gone, or descriptors run short: neither ends the server, but the
        // second must not become a busy loop.
        let code = httpdns_socket_error()
        if code == EMFILE || code == ENFILE, !stop.pause(milliseconds: 10) { return nil }
    }
}
