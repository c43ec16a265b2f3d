import CHTTPDNSSystem
import Glibc
import HTTPDNSNames
import HTTPDNSPlatform
import Testing

/// A plain TCP server on a free loopback port; every connection runs `script` on a thread of its own.
final class ScriptedServer: Sendable {
    let endpoint: Endpoint
    private let listener: Int32
    private let record = Locked(Record())

    /// Descriptors stand in it until just before they are closed: a closed one's number is another's at
    /// once, and to shut it down would end a server of another test.
    private struct Record {
        var heads: [String] = []
        var connections = 0
        var open: [Int32] = []
        var isListening = true
    }

    init(
        address: String = "127.0.0.1",
        script: @escaping @Sendable (ServerConnection) -> Void
    ) throws {
        let ip = try IPAddress(address)
        listener = try ScriptedServer.listen(on: ip)
        let port = try #require(ScriptedServer.port(of: listener), "the listener has no port")
        endpoint = Endpoint(address: ip, port: port)
        let (listener, record) = (listener, record)
        startThread {
            // Closed here alone: closed elsewhere, its number could be another server's listener before
            // this thread accepts again, which would then take that server's connections.
            defer {
                record.withLock { $0.isListening = false }
                close(listener)
            }
            while true {
                let peer = accept(listener, nil, nil)
                guard peer >= 0 else { return }
                // Children of other tests must not hold a connection open that this server closes.
                _ = fcntl(peer, F_SETFD, FD_CLOEXEC)
                record.withLock {
                    $0.connections += 1
                    $0.open.append(peer)
                }
                startThread {
                    let connection = ServerConnection(
                        peer, note: { head in record.withLock { $0.heads.append(head) } },
                        onClose: { record.withLock { $0.open.removeAll { $0 == peer } } })
                    script(connection)
                    connection.close()
                }
            }
        }
    }

    deinit {
        refuseOthers()
        record.withLock { record in
            for peer in record.open { shutdown(peer, Int32(SHUT_RDWR)) }
        }
    }

    /// New connections are refused from now on; those that are open stay.
    func refuseOthers() {
        record.withLock { if $0.isListening { shutdown(listener, Int32(SHUT_RDWR)) } }
    }

    /// The heads read so far, in order of arrival.
    var heads: [String] { record.withLock { $0.heads } }
    var connections: Int { record.withLock { $0.connections } }

    func route(before others: [String] = []) throws -> Route {
        let before = try others.map { try IPAddress($0) }
        return try #require(
            Route(addresses: before + [endpoint.address], port: endpoint.port))
    }

    private static func listen(on ip: IPAddress) throws -> Int32 {
        let isIPv4 = ip.family == .ipv4
        let made = socket(
            isIPv4 ? AF_INET : AF_INET6, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try #require(made >= 0)
        var code: Int32 = -1
        if isIPv4 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: ip.octets) }
            code = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(made, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        } else {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: ip.octets) }
            code = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(made, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        }
        try #require(code == 0)
        try #require(CHTTPDNSSystem.listen(made, 512) == 0)
        return made
    }

    private static func port(of listener: Int32) -> Port? {
        var address = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(listener, $0, &size)
            }
        }
        // The port is at the same place for both families.
        return code == 0 ? Port(UInt16(bigEndian: address.sin6_port)) : nil
    }
}

/// The server's end of one connection: blocking calls, on its own thread.
final class ServerConnection {
    private let descriptor: Int32
    private let note: (String) -> Void
    private let onClose: () -> Void
    private var buffer: [UInt8] = []
    private var isOpen = true

    /// - Parameter onClose: comes once, just before the descriptor is closed.
    init(
        _ descriptor: Int32, note: @escaping (String) -> Void, onClose: @escaping () -> Void
    ) {
        self.descriptor = descriptor
        self.note = note
        self.onClose = onClose
    }

    /// Everything up to the blank line, without it; nil when the client has gone.
    func readHead() -> String? { readHeadOctets().map { String(decoding: $0, as: UTF8.self) } }

    /// The same as it came.
    func readHeadOctets() -> [UInt8]? {
        while true {
            if let end = headEnd() {
                let head = Array(buffer[..<end])
                buffer.removeFirst(end + 4)
                note(String(decoding: head, as: UTF8.self))
                return head
            }
            guard fill() else { return nil }
        }
    }

    func read(_ count: Int) -> [UInt8]? {
        while buffer.count < count { guard fill() else { return nil } }
        let octets = Array(buffer.prefix(count))
        buffer.removeFirst(count)
        return octets
    }

    /// The text until and with `end`.
    func read(until end: String) -> String? {
        let mark = Array(end.utf8)
        while true {
            if buffer.count >= mark.count {
                for start in 0...(buffer.count - mark.count)
                where Array(buffer[start..<(start + mark.count)]) == mark {
                    return read(start + mark.count).map { String(decoding: $0, as: UTF8.self) }
                }
            }
            guard fill() else { return nil }
        }
    }

    /// Returns when the client has closed.
    func waitForEnd() { while fill() {} }

    @discardableResult func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    @discardableResult func send(_ octets: [UInt8]) -> Bool {
        var sent = 0
        while sent < octets.count {
            let count = octets[sent...].withUnsafeBytes {
                CHTTPDNSSystem.send(
                    descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Says that no more comes.
    func hangUp() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Returns when the client's system has all that was sent.
    func waitUntilTaken() { waitUntilAcknowledged(descriptor) }

    /// Passes octets on between the client and a server on 127.0.0.1, until one of them ends.
    func relay(to port: Port) {
        let server = ServerConnection.connected(to: port)
        guard server >= 0 else { return }
        defer { CHTTPDNSSystem.close(server) }
        while true {
            var ends = [descriptor, server].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            guard poll(&ends, 2, -1) > 0 else { return }
            for (index, sink) in [server, descriptor].enumerated() where ends[index].revents != 0 {
                guard ServerConnection.pass(from: ends[index].fd, to: sink) else { return }
            }
        }
    }

    private static func pass(from source: Int32, to sink: Int32) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = chunk.withUnsafeMutableBytes { recv(source, $0.baseAddress, $0.count, 0) }
        guard count > 0 else { return false }
        var sent = 0
        while sent < count {
            let more = chunk[sent..<count].withUnsafeBytes {
                CHTTPDNSSystem.send(sink, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard more > 0 else { return false }
            sent += more
        }
        return true
    }

    private static func connected(to port: Port) -> Int32 {
        let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.number.bigEndian
        withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: [127, 0, 0, 1]) }
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(made, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if code == 0 { return made }
        CHTTPDNSSystem.close(made)
        return -1
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        onClose()
        CHTTPDNSSystem.close(descriptor)
    }

    private func headEnd() -> Int? {
        guard buffer.count >= 4 else { return nil }
        return (0...(buffer.count - 4)).first { Array(buffer[$0..<($0 + 4)]) == [13, 10, 13, 10] }
    }

    private func fill() -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = chunk.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
        guard count > 0 else { return false }
        buffer += chunk.prefix(count)
        return true
    }
}

/// Returns when the peer's system has all that was sent on a socket, or the socket is none.
func waitUntilAcknowledged(_ socket: Int32) {
    var left: Int32 = 0
    while ioctl(socket, UInt(TIOCOUTQ), &left) == 0, left > 0 { sched_yield() }
}

private final class ThreadBody: Sendable {
    let work: @Sendable () -> Void
    init(_ work: @escaping @Sendable () -> Void) { self.work = work }
}

/// A detached thread: blocking calls must not hold the cooperative pool.
func startThread(_ work: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(ThreadBody(work)).toOpaque()
    pthread_create(
        &thread, nil,
        { context in
            guard let context else { return nil }
            Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().work()
            return nil
        }, context)
    pthread_detach(thread)
}
