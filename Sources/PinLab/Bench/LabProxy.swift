internal import CHTTPDNSSystem
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// A proxy for clients that cannot be told an address for a name: whatever name `CONNECT` asks for, it
/// leads to loopback, and only to ports that belong to the laboratory. Source: RFC 9110 §9.3.6.
public final class LabProxy: Sendable {
    /// `http://127.0.0.1:40120`.
    public var url: String { "http://\(LabAddress.ipv4):\(port)" }
    private let port: Port
    private let core: ProxyCore

    /// Takes a port.
    ///
    /// - Throws: ``LabError``.
    public init() throws(LabError) {
        let listener = try Descriptor.bound(stream: true, address: LabAddress.ipv4)
        port = try listener.boundPort()
        core = ProxyCore(listener: Listener(listener), stop: try StopSignal())
    }

    deinit { core.stop.raise() }

    /// Begins to serve.
    ///
    /// - Throws: ``LabError``.
    public func start() throws(LabError) {
        let core = core
        try core.threads.start { core.acceptAll() }
    }

    /// Ends every tunnel.
    public func stop() {
        core.stop.raise()
        core.listener.close()
        core.threads.awaitAll()
    }

    /// From now on leads to the servers of this stage.
    public func admit(_ stage: LabStage) {
        core.ports.withLock { $0.formUnion(stage.ports.map(\.number)) }
    }
}

/// The part of a proxy that its threads share.
private final class ProxyCore: Sendable {
    let listener: Listener
    let stop: StopSignal
    let threads = ThreadGroup()
    let ports = Locked<Set<UInt16>>([])

    init(listener: Listener, stop: StopSignal) {
        self.listener = listener
        self.stop = stop
    }

    func acceptAll() {
        guard let listener = listener.current else { return }
        acceptConnections(on: listener, stop: stop, threads: threads) { accepted in
            { self.serve(accepted) }
        }
    }

    private func serve(_ client: Descriptor) {
        let stream = LabStream(client, stop: stop)
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual([0x0D, 0x0A, 0x0D, 0x0A]) {
            // Because: a head longer than this is no CONNECT.
            guard head.count < 65_536, let more = stream.read() else { return }
            head += more
        }
        guard let port = ProxyCore.target(head), ports.withLock({ $0.contains(port) }) else {
            _ = stream.write(Array("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n".utf8))
            return stream.close()
        }
        let octets = LabAddress.ipv4.octets
        let raw = httpdns_socket_connecting(octets, octets.count, port)
        guard raw >= 0 else { return }
        let server = Descriptor(owning: raw)
        guard stop.wait(for: [(server.raw, Int32(POLLOUT))]) == .ready,
            stream.write(Array("HTTP/1.1 200 Connected\r\n\r\n".utf8))
        else { return }
        relay(client, server, stop: stop)
    }

    /// The port of `CONNECT name:port HTTP/1.1`.
    private static func target(_ head: [UInt8]) -> UInt16? {
        let line = String(decoding: head.prefix { $0 != 0x0D }, as: UTF8.self)
        let words = line.split(separator: " ")
        guard words.count == 3, words[0] == "CONNECT",
            let colon = words[1].lastIndex(of: ":")
        else { return nil }
        return UInt16(words[1][words[1].index(after: colon)...])
    }
}

/// Passes octets on until one side ends; then the other is ended alike, by a reset if it was one.
func relay(_ client: Descriptor, _ server: Descriptor, stop: StopSignal) {
    while true {
        let both = [(client.raw, Int32(POLLIN)), (server.raw, Int32(POLLIN))]
        guard stop.wait(for: both) == .ready else { return }
        guard pass(from: client, to: server, stop: stop), pass(from: server, to: client, stop: stop)
        else { return }
    }
}

/// False when the source has ended.
private func pass(from source: Descriptor, to sink: Descriptor, stop: StopSignal) -> Bool {
    var octets = [UInt8](repeating: 0, count: 16_384)
    let count = recv(source.raw, &octets, octets.count, 0)
    guard count > 0 else {
        let code = httpdns_socket_error()
        if count < 0, code == EAGAIN || code == EINTR { return true }
        if count < 0 { httpdns_socket_reset_on_close(sink.raw) }
        return false
    }
    return LabStream(sink, stop: stop).write(octets.prefix(count))
}
