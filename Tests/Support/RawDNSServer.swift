import CHTTPDNSSystem
package import HTTPDNSNames
import HTTPDNSPlatform
package import HTTPDNSWire

/// A DNS server on loopback whose every octet the test decides: UDP and TCP on one free port.
package final class RawDNSServer: Sendable {
    /// One question as it came.
    package struct Arrival: Sendable {
        package let octets: [UInt8]
        package let peerPort: UInt16
        package let isOverTCP: Bool

        package var message: Message? { try? Message(decoding: octets) }
    }

    /// What to do about an arrival; several are done in order.
    package enum Act: Sendable {
        case send([UInt8])
        /// To a question that came earlier over UDP, by its place in ``arrivals``.
        case sendToArrival(Int, [UInt8])
        /// Over UDP, from a socket that was not asked.
        case sendFromElsewhere([UInt8])
        /// Over TCP: octets without a length before them.
        case sendRaw([UInt8])
        case closeConnection
    }

    package struct StartFailure: Error {
        package let step: String
        package let error: Int32
    }

    package let endpoint: Endpoint
    private let state = Locked(State())
    private let wake: Int32

    private struct State: Sendable {
        var isStopped = false
        var arrivals: [Arrival] = []
        var waiters: [(count: Int, waiter: CheckedContinuation<Void, Never>)] = []
    }

    /// Starts it; without `isListeningOnTCP` the TCP port is closed.
    package init(
        on address: String = "127.0.0.1", isListeningOnTCP: Bool = true,
        respond: @escaping @Sendable (Arrival) -> [Act]
    ) throws {
        let address = try IPAddress(address)
        let sockets = try RawSockets(address, isListeningOnTCP: isListeningOnTCP)
        guard let port = Port(sockets.port) else { throw StartFailure(step: "port", error: 0) }
        endpoint = Endpoint(address: address, port: port)
        wake = eventfd(0, Int32(EFD_CLOEXEC))
        let loop = RawServerLoop(sockets: sockets, wake: wake) { [state] arrival in
            let waiters = state.withLock { state in
                state.arrivals.append(arrival)
                let count = state.arrivals.count
                defer { state.waiters.removeAll { $0.count <= count } }
                return state.waiters.filter { $0.count <= count }.map { $0.waiter }
            }
            for waiter in waiters { waiter.resume() }
            return respond(arrival)
        }
        DetachedThread.start(named: "raw-dns") { loop.run() }
    }

    deinit { stop() }

    /// Ends; to be called where the test's use of the server ends, since nothing else keeps it.
    package func stop() {
        let signal = state.withLock { [wake] state -> Int32? in
            defer { state.isStopped = true }
            return state.isStopped ? nil : wake
        }
        guard let signal else { return }
        // The thread closes the descriptors when it has read this.
        var one: UInt64 = 1
        _ = write(signal, &one, 8)
    }

    package var arrivals: [Arrival] { state.withLock { $0.arrivals } }

    /// Returns when so many questions have arrived.
    package func received(_ count: Int) async {
        await withCheckedContinuation { waiter in
            let isThere = state.withLock { state -> Bool in
                guard state.arrivals.count < count else { return true }
                state.waiters.append((count, waiter))
                return false
            }
            if isThere { waiter.resume() }
        }
    }
}

/// A closed loopback port: nothing listens there on UDP or TCP, and nobody else comes to have it while
/// the process lives.
package func closedEndpoint(on address: String = "127.0.0.1") throws -> Endpoint {
    let address = try IPAddress(address)
    let sockets = try RawSockets(address, isListeningOnTCP: true)
    try sockets.refuseAll()
    guard let port = Port(sockets.port) else {
        throw RawDNSServer.StartFailure(step: "port", error: 0)
    }
    return Endpoint(address: address, port: port)
}

/// A UDP socket and, if asked for, a TCP listener on one port that the system chose.
struct RawSockets: Sendable {
    let udp: Int32
    let tcp: Int32?
    let port: UInt16
    let address: IPAddress

    init(_ address: IPAddress, isListeningOnTCP: Bool) throws {
        self.address = address
        // Because: a port that is free on UDP may be taken on TCP; a few tries find one free on both.
        for _ in 0..<50 {
            let udp = try RawSockets.open(SOCK_DGRAM, address, port: 0)
            let port = RawSockets.localPort(udp)
            if !isListeningOnTCP {
                (self.udp, tcp, self.port) = (udp, nil, port)
                return
            }
            if let tcp = try? RawSockets.open(SOCK_STREAM, address, port: port),
                listen(tcp, 1_024) == 0
            {
                (self.udp, self.tcp, self.port) = (udp, tcp, port)
                return
            }
            CHTTPDNSSystem.close(udp)
        }
        throw RawDNSServer.StartFailure(step: "one port for UDP and TCP", error: 0)
    }

    func close() {
        CHTTPDNSSystem.close(udp)
        if let tcp { CHTTPDNSSystem.close(tcp) }
    }

    /// Keeps the port, and refuses what comes to it, as if nobody had it.
    func refuseAll() throws {
        // Bound, and listening no more.
        if let tcp { shutdown(tcp, Int32(SHUT_RD)) }
        // To itself: of all other peers nothing reaches it.
        var storage = sockaddr_storage()
        let length = RawSockets.fill(&storage, address, port)
        let isConnected = withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(udp, $0, length) == 0
            }
        }
        guard isConnected else {
            throw RawDNSServer.StartFailure(step: "connect", error: httpdns_errno())
        }
    }

    static func open(_ type: __socket_type, _ address: IPAddress, port: UInt16) throws -> Int32 {
        let family = address.family == .ipv4 ? AF_INET : AF_INET6
        let descriptor = socket(
            family, Int32(type.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else {
            throw RawDNSServer.StartFailure(step: "socket", error: httpdns_errno())
        }
        // Because: a thousand questions at once fit.
        var size: Int32 = 4 << 20
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, 4)
        var storage = sockaddr_storage()
        let length = fill(&storage, address, port)
        let isBound = withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0
            }
        }
        guard isBound else {
            let error = httpdns_errno()
            CHTTPDNSSystem.close(descriptor)
            throw RawDNSServer.StartFailure(step: "bind", error: error)
        }
        return descriptor
    }

    private static func fill(
        _ storage: inout sockaddr_storage, _ address: IPAddress, _ port: UInt16
    ) -> socklen_t {
        withUnsafeMutableBytes(of: &storage) { bytes in
            let family = UInt16(address.family == .ipv4 ? AF_INET : AF_INET6)
            bytes.storeBytes(of: family, as: UInt16.self)
            bytes.storeBytes(of: port.bigEndian, toByteOffset: 2, as: UInt16.self)
            // Source: struct sockaddr_in and sockaddr_in6, netinet/in.h.
            let offset = address.family == .ipv4 ? 4 : 8
            for (index, octet) in address.octets.enumerated() { bytes[offset + index] = octet }
            return socklen_t(
                address.family == .ipv4
                    ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size)
        }
    }

    static func localPort(_ descriptor: Int32) -> UInt16 {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        _ = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &length)
            }
        }
        return port(of: storage)
    }

    static func port(of storage: sockaddr_storage) -> UInt16 {
        withUnsafeBytes(of: storage) {
            UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        }
    }
}
