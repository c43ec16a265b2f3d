internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// A proxy for clients that cannot be told an address for a name: whatever name `CONNECT` asks for, it
/// leads to loopback, and only to ports that belong to the laboratory. Source: RFC 9110 §9.3.6.
public final class LabProxy: Sendable {
    /// `http://127.0.0.1:40120`.
    public var url: String { "http://\(LabAddress.ipv4):\(relay.port)" }
    private let relay: RelayServer
    private let ports = Locked<Set<UInt16>>([])

    /// Takes a port.
    ///
    /// - Throws: ``LabError``.
    public init() throws(LabError) { relay = try RelayServer(at: LabAddress.ipv4) }

    deinit { relay.stop.raise() }

    /// Begins to serve.
    ///
    /// - Throws: ``LabError``.
    public func start() throws(LabError) {
        let tunnels = Tunnels(relay: relay, ports: ports)
        try relay.start { tunnels.serve($0) }
    }

    /// Ends every tunnel.
    public func stop() { relay.end() }

    /// From now on leads to the servers of this stage.
    public func admit(_ stage: LabStage) {
        ports.withLock { $0.formUnion(stage.ports.map(\.number)) }
    }
}

/// The part of a proxy that its threads share.
private struct Tunnels: Sendable {
    let relay: RelayServer
    let ports: Locked<Set<UInt16>>

    func serve(_ client: Descriptor) {
        let stream = LabStream(client, stop: relay.stop)
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual([0x0D, 0x0A, 0x0D, 0x0A]) {
            // Because: a head longer than this is no CONNECT.
            guard head.count < 65_536, let more = stream.read() else { return }
            head += more
        }
        guard let port = Tunnels.target(head), ports.withLock({ $0.contains(port) }) else {
            _ = stream.write(Array("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n".utf8))
            return stream.close()
        }
        relay.lead(
            client, to: LabAddress.ipv4, port,
            answer: Array("HTTP/1.1 200 Connected\r\n\r\n".utf8))
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
