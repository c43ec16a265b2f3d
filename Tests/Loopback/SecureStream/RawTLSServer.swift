import CHTTPDNSOpenSSL
import CHTTPDNSSystem
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform

/// A TLS server on loopback that does what a script says with the octets of each connection.
///
/// One thread serves all connections; scripts run on it and must not block. It ends with the value.
final class RawTLSServer: @unchecked Sendable {
    // Safety: nothing changes after init but what is locked; an SSL_CTX is reference counted.

    /// What it agrees to by ALPN; the raw values are OpenSSL's side of it.
    enum Agreed: Int32, Sendable {
        case http1 = 0
        case http2 = 1
        case dot = 2
        case refused = 3
    }

    struct Record: Sendable {
        var connections = 0
        var openConnections = 0
        /// Octets that came inside TLS.
        var octets = 0
    }

    let port: Port
    let address: IPAddress
    private let context: OpaquePointer
    private let listener: Int32
    private let wakeEnds: [Int32]
    private let state = Locked(Record())
    private let ended = ConditionLocked(false)

    /// - Parameters:
    ///   - identity: what it presents.
    ///   - agreed: the protocol.
    ///   - port: a port to take; nil for a free one.
    ///   - accepts: false: connections stay in the backlog, half open.
    ///   - script: makes the script of each new connection.
    init(
        _ identity: TestIdentity, _ agreed: Agreed, port: Port? = nil, accepts: Bool = true,
        script: @escaping @Sendable () -> any LinkScript
    ) throws {
        let key = identity.privateKey
        let leaf = identity.certificate
        guard let context = httpdns_lab_context_new(key, key.count, leaf, leaf.count) else {
            throw RawServerError.noContext
        }
        for issuer in identity.issuers {
            _ = httpdns_lab_context_add(context, issuer, issuer.count)
        }
        if let staple = identity.staple {
            _ = httpdns_lab_context_staple(context, staple, staple.count)
        }
        if let authority = identity.clientAuthority {
            _ = httpdns_lab_context_ask_clients(context, authority, authority.count, 1)
        }
        httpdns_lab_context_protocol(context, agreed.rawValue)
        self.context = context
        address = LabAddress.ipv4
        let octets = address.octets
        listener = httpdns_socket_bound(1, octets, octets.count, port?.number ?? 0)
        guard listener >= 0, let bound = Port(httpdns_socket_port(listener)) else {
            throw RawServerError.noPort
        }
        self.port = bound
        var ends: [Int32] = [-1, -1]
        httpdns_pipe(&ends)
        wakeEnds = ends
        let loop = ServerLoop(
            context: context, listener: listener, wake: ends[0], state: state, script: script)
        let (ended, listener) = (ended, listener)
        DetachedThread.start(named: "raw-tls") {
            if accepts { loop.run() } else { loop.waitForEnd() }
            close(listener)
            ended.withLockSignalling { $0 = true }
        }
    }

    deinit {
        stop()
        close(wakeEnds[0])
        close(wakeEnds[1])
        SSL_CTX_free(context)
    }

    /// Ends the connections and returns when the port is free.
    func stop() {
        var octet: UInt8 = 1
        _ = write(wakeEnds[1], &octet, 1)
        _ = ended.waitAndTake { ended, _ in
            ended ? [true] : []
        } until: { _ in
            nil
        }
    }

    var record: Record { state.withLock { $0 } }
}

enum RawServerError: Error { case noContext, noPort }

/// What a server does on one connection. Confined to the server's thread.
protocol LinkScript: AnyObject {
    func opened(_ link: Link)
    func received(_ octets: [UInt8], _ link: Link)
}

/// One connection of a ``RawTLSServer``, as its script sees it.
final class Link {
    fileprivate let socket: Int32
    fileprivate let tls: OpaquePointer
    fileprivate var isOpen = false
    fileprivate(set) var isOver = false

    fileprivate init(_ socket: Int32, _ tls: OpaquePointer) {
        self.socket = socket
        self.tls = tls
    }

    deinit {
        SSL_free(tls)
        CHTTPDNSSystem.close(socket)
    }

    func send(_ octets: [UInt8]) {
        var rest = octets[...]
        while !rest.isEmpty, !isOver {
            let count = rest.withUnsafeBufferPointer { buffer -> Int32 in
                guard let base = buffer.baseAddress else { return -5 }
                return httpdns_lab_write(tls, base, Int32(min(buffer.count, 16_384)))
            }
            if count > 0 {
                rest = rest.dropFirst(Int(count))
            } else if count == Int32(HTTPDNS_LAB_WANTS_WRITE) {
                var entry = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
                poll(&entry, 1, 2_000)
            } else {
                isOver = true
            }
        }
    }

    /// Says goodbye and closes.
    func close() {
        httpdns_lab_goodbye(tls)
        isOver = true
    }

    /// Returns when the client's system has all that was sent.
    func waitUntilTaken() { waitUntilAcknowledged(socket) }

    func reset() {
        httpdns_socket_reset_on_close(socket)
        isOver = true
    }
}

private struct ServerLoop: @unchecked Sendable {
    // Safety: the context is reference counted and outlives the loop, which the server waits for.
    let context: OpaquePointer
    let listener: Int32
    let wake: Int32
    let state: Locked<RawTLSServer.Record>
    let script: @Sendable () -> any LinkScript

    func waitForEnd() {
        var entry = pollfd(fd: wake, events: Int16(POLLIN), revents: 0)
        while poll(&entry, 1, -1) < 1 {}
    }

    func run() {
        var links: [(link: Link, script: any LinkScript)] = []
        while true {
            var entries = ([wake, listener] + links.map { $0.link.socket }).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            guard poll(&entries, nfds_t(entries.count), -1) > 0 else { continue }
            if entries[0].revents != 0 {
                // A reset leaves the port free for the next server.
                for (link, _) in links { link.reset() }
                return
            }
            for (index, (link, script)) in links.enumerated()
            where entries[2 + index].revents != 0 {
                serve(link, script)
            }
            links.removeAll { $0.link.isOver }
            if entries[1].revents != 0, let link = accept() { links.append((link, script())) }
            let open = links.count
            state.withLock { $0.openConnections = open }
        }
    }

    private func accept() -> Link? {
        let socket = httpdns_socket_accept(listener)
        guard socket >= 0 else { return nil }
        guard let tls = httpdns_lab_accept(context, socket) else {
            close(socket)
            return nil
        }
        state.withLock { $0.connections += 1 }
        return Link(socket, tls)
    }

    private func serve(_ link: Link, _ script: any LinkScript) {
        if !link.isOpen {
            while true {
                let status = httpdns_lab_handshake(link.tls)
                if status > 0 { break }
                if status == Int32(HTTPDNS_LAB_HELLO_READ) { continue }
                if status != Int32(HTTPDNS_LAB_WANTS_READ) { link.isOver = true }
                return
            }
            link.isOpen = true
            script.opened(link)
        }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while !link.isOver {
            let count = httpdns_lab_read(link.tls, &buffer, Int32(buffer.count))
            guard count > 0 else {
                if count != Int32(HTTPDNS_LAB_WANTS_READ) { link.isOver = true }
                return
            }
            state.withLock { $0.octets += Int(count) }
            script.received(Array(buffer.prefix(Int(count))), link)
        }
    }
}
