public import HTTPDNSNames
internal import HTTPDNSPlatform

/// An origin on a free loopback port that behaves, or misbehaves, as a test says, and records what it
/// saw. It speaks HTTP/1.1, and HTTP/2 where its ``LabTLSFeatures`` say so.
///
///     let server = try LabServer(security: .tls(identity)) { request in
///         .text("hello \(request.host ?? "")")
///     }
///     try server.start()
///     defer { server.stop() }
///     // … a client connects to server.address, server.port …
///     #expect(server.record.receivedOctets == 0)
///
/// The port is taken when the server is made, so that its handler and others can name it; clients
/// are served after ``start()``. Each connection has its own thread; the handler runs there,
/// several at a time, and may block. Nothing here runs on the cooperative thread pool.
public final class LabServer: Sendable {
    /// The loopback address.
    public let address: IPAddress
    /// The port, the same before and after ``start()``.
    public let port: Port
    private let core: OriginCore

    /// Takes a port.
    ///
    /// - Parameters:
    ///   - address: 127.0.0.0/8 or ::1.
    ///   - port: A port that another server has on another address, so that one URL can lead to
    ///     both; nil for a free one.
    ///   - security: Plain HTTP, or TLS with which identity.
    ///   - fault: How it fails clients before HTTP begins.
    ///   - handler: What it does about each request; called on the connection's thread.
    /// - Throws: ``LabError``.
    public init(
        address: IPAddress = LabAddress.ipv4, port: Port? = nil,
        security: LabSecurity = .plain, fault: LabConnectionFault = .none,
        handler: @escaping @Sendable (LabRequest) -> LabResponse
    ) throws(LabError) {
        let listener = try Descriptor.bound(
            stream: true, address: address, port: port?.number ?? 0)
        self.address = address
        self.port = try listener.boundPort()
        core = OriginCore(
            listener: Listener(listener), stop: try StopSignal(),
            identities: try TLSIdentities(security),
            fault: fault, handler: handler)
    }

    /// From now on `choose` names the identity of each handshake, once the ClientHello is there, by the
    /// server name in it; nil for the one that belongs to that name. Without TLS it is never asked.
    func chooseIdentity(_ choose: @escaping @Sendable (String?) -> TLSContext?) {
        core.identityChoice.withLock { $0 = choose }
    }

    deinit { core.stop.raise() }

    /// Begins to serve.
    ///
    /// - Throws: ``LabError`` when no thread can be started.
    public func start() throws(LabError) {
        let core = core
        try core.threads.start { core.acceptAll() }
    }

    /// Ends every connection and returns when the last thread has ended. A server that was stopped
    /// cannot start again. Never call it from the handler.
    public func stop() {
        core.stop.raise()
        core.listener.close()
        core.threads.awaitAll()
    }

    /// What it has seen until now.
    public var record: LabRecord {
        core.catchUp()
        return core.record.withLock { $0 }
    }

    /// Forgets handshakes and requests, so that a long test does not fill the memory; connections and
    /// octets go on being counted.
    public func forget() {
        core.record.withLock { record in
            record.handshakes = []
            record.requests = []
        }
    }

    /// Fails the connections from now on; those already accepted go on.
    public func misbehave(_ fault: LabConnectionFault) { core.fault.withLock { $0 = fault } }

    /// Waits until every connection has ended, so that what was in flight is on record.
    ///
    /// - Returns: False when some were still open after this time.
    public func awaitConnectionsEnded(withinMilliseconds limit: Int64 = 2_000) -> Bool {
        core.threads.await(atMost: 1, milliseconds: limit)
    }

    /// `https://name:port` or `http://name:port`, followed by the path.
    public func url(host: String, path: String = "/") -> String {
        "\(core.identities == nil ? "http" : "https")://\(host):\(port)\(path)"
    }
}

/// The part of a server that its threads share; it outlives them.
final class OriginCore: Sendable {
    let listener: Listener
    let stop: StopSignal
    let identities: TLSIdentities?
    let fault: Locked<LabConnectionFault>
    let identityChoice = Locked<(@Sendable (String?) -> TLSContext?)?>(nil)
    let record = Locked(LabRecord())
    let threads = ThreadGroup()
    private let handler: @Sendable (LabRequest) -> LabResponse

    init(
        listener: Listener, stop: StopSignal, identities: TLSIdentities?,
        fault: LabConnectionFault, handler: @escaping @Sendable (LabRequest) -> LabResponse
    ) {
        self.listener = listener
        self.stop = stop
        self.identities = identities
        self.fault = Locked(fault)
        self.handler = handler
    }

    /// The accepting thread's life.
    func acceptAll() {
        guard let listener = listener.current else { return }
        var number = 0
        let take = { (accept: () -> Int32) in
            self.record.withLock { record in
                let raw = accept()
                if raw >= 0 {
                    number = record.connections
                    record.connections += 1
                }
                return raw
            }
        }
        while let accepted = acceptNext(on: listener, stop: stop, take: take) {
            let taken = number
            // Without a thread the connection closes here: the client sees an overloaded server.
            try? threads.start { self.serve(accepted, taken) }
        }
    }

    /// Waits for connections that the system has made and nobody has taken yet, so that a client
    /// that has come and gone is on record.
    func catchUp() {
        guard let listener = listener.current else { return }
        for _ in 0..<OriginCore.mostLooks {
            guard stop.isWaiting(on: listener), stop.pause(milliseconds: 1) else { return }
        }
    }

    /// Because: the accepting thread needs a processor for a moment; a server that is out of descriptors
    /// takes nobody.
    private static let mostLooks = 2_000

    /// One connection thread's life.
    private func serve(_ descriptor: Descriptor, _ number: Int) {
        let stream = LabStream(descriptor, stop: stop)
        let fault = self.fault.withLock { $0 }
        if fault == .speaksPlainHTTP {
            guard stream.read() != nil else { return }
            _ = stream.write(OriginCore.portal)
            return stream.close()
        }
        guard let identities else { return converse(stream, number, serverName: nil) }
        let hello = stream.readHello(identities)
        guard hello.isRead else { return }
        record.withLock { record in
            record.handshakes.append(
                LabHandshake(
                    connection: number, serverName: hello.serverName,
                    asksForStatus: hello.asksForStatus))
        }
        guard !fail(stream, fault) else { return }
        let chosen = identityChoice.withLock { $0 }?(hello.serverName)
        guard stream.finishHandshake(chosen ?? identities.context(for: hello.serverName)) else {
            return
        }
        let agreed = stream.agreed()
        record.withLock { record in
            // By its number: the record may have been forgotten meanwhile.
            guard let index = record.handshakes.lastIndex(where: { $0.connection == number }) else {
                return
            }
            record.handshakes[index].isComplete = true
            record.handshakes[index].isResumed = agreed.isResumed
            record.handshakes[index].isHTTP2 = agreed.isHTTP2
            record.handshakes[index].hasClientCertificate = agreed.hasClientCertificate
        }
        guard agreed.isHTTP2 else {
            return converse(stream, number, serverName: hello.serverName)
        }
        let conversation = HTTP2Conversation(
            stream, connection: number, serverName: hello.serverName, handler: answer
        ) { count in self.record.withLock { $0.receivedOctets += count } }
        conversation?.hold()
    }

    /// True when the fault has ended the connection.
    private func fail(_ stream: LabStream, _ fault: LabConnectionFault) -> Bool {
        switch fault {
        case .none, .speaksPlainHTTP: return false
        case .stallsHandshake: stream.stayOpen()
        case .resetsInHandshake: stream.reset()
        case .closesInHandshake: break
        case .alertsInHandshake: stream.writeUnprotected(OriginCore.handshakeFailure)
        }
        return true
    }

    private func converse(_ stream: LabStream, _ number: Int, serverName: String?) {
        var reader = RequestReader(
            stream, connection: number, serverName: serverName, isSecure: identities != nil
        ) { count in self.record.withLock { $0.receivedOctets += count } }
        let writer = ResponseWriter(stream: stream)
        while true {
            switch reader.next() {
            case .ended: return
            case .malformed:
                _ = stream.write(OriginCore.badRequest)
                return stream.close()
            case .request(let request):
                switch writer.write(answer(request), to: request) {
                case .keepOpen: continue
                case .close: return stream.close()
                case .drop: return
                }
            }
        }
    }

    private func answer(_ request: LabRequest) -> LabResponse {
        record.withLock { $0.requests.append(request) }
        return handler(request)
    }

    /// Fatal alert 40. Source: RFC 8446 §6.2, record layout §5.1.
    private static let handshakeFailure: [UInt8] = [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28]

    private static let badRequest = Array(
        "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".utf8)

    private static let portal = Array(
        ("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html\r\n"
            + "Content-Length: 22\r\n\r\n<title>Log in</title>\r\n").utf8)
}

/// Accepts until the stop; each connection is served on its own thread by what `admit` returns.
func acceptConnections(
    on listener: Descriptor, stop: StopSignal, threads: ThreadGroup,
    admit: (Descriptor) -> @Sendable () -> Void
) {
    while let accepted = acceptNext(on: listener, stop: stop) {
        let serve = admit(accepted)
        // Without a thread the connection closes here: the client sees an overloaded server.
        try? threads.start(serve)
    }
}
