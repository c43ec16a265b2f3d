public import HTTPDNSNames
internal import HTTPDNSPlatform

/// A box on the way to a server that lets every connection pass, but those whose first message names a
/// host that it does not like.
///
///     let filter = try NameFilter(to: origin, hides: "shop.example.test", deed: .resets)
///     try filter.start()
///     // what connects to filter.address, filter.port reaches the origin, with any other name or none
///
/// It reads the server name of the ClientHello in clear, as such boxes do, and decrypts nothing.
public final class NameFilter: Sendable {
    /// What it does to a connection that it does not like.
    public enum Deed: Sendable {
        /// A reset, as from the server.
        case resets
        /// Nothing is answered any more.
        case swallows
        /// It is led to another server.
        case diverts(to: LabServer)
    }

    /// Where clients connect to.
    public var address: IPAddress { relay.address }
    /// And on which port.
    public var port: Port { relay.port }
    private let relay: RelayServer
    private let passage: Passage

    /// Takes a port.
    ///
    /// - Parameters:
    ///   - origin: Where connections lead that pass.
    ///   - address: Where clients find it: 127.0.0.0/8 or ::1.
    ///   - port: Nil: a free one.
    ///   - name: Which server name is not liked.
    ///   - deed: What is done then.
    /// - Throws: ``LabError``.
    public init(
        to origin: LabServer, at address: IPAddress, port: Port? = nil, hides name: String,
        deed: Deed
    ) throws(LabError) {
        let relay = try RelayServer(at: address, port: port)
        self.relay = relay
        passage = Passage(relay: relay, origin: origin, name: name.lowercased(), deed: deed)
    }

    deinit { relay.stop.raise() }

    /// Begins to serve.
    ///
    /// - Throws: ``LabError``.
    public func start() throws(LabError) {
        let passage = passage
        try relay.start { passage.serve($0) }
    }

    /// Ends every connection.
    public func stop() { relay.end() }

    /// The connections until now: the name that each asked for, "" for none.
    public var names: [String] { passage.names.withLock { $0 } }

    /// Waits until no connection is open; false when some still were after two seconds.
    func awaitConnectionsEnded() -> Bool {
        relay.awaitConnectionsEnded(milliseconds: NameFilter.drainMilliseconds)
    }

    /// Because: as a server's own, which follows from clients that close when they are done.
    private static let drainMilliseconds: Int64 = 2_000
}

/// The part of a filter that its threads share.
private final class Passage: Sendable {
    let names = Locked<[String]>([])
    private let relay: RelayServer
    private let origin: LabServer
    private let name: String
    private let deed: NameFilter.Deed

    init(relay: RelayServer, origin: LabServer, name: String, deed: NameFilter.Deed) {
        self.relay = relay
        self.origin = origin
        self.name = name
        self.deed = deed
    }

    func serve(_ client: Descriptor) {
        let stream = LabStream(client, stop: relay.stop)
        var octets: [UInt8] = []
        var hello: ClientHello?
        while hello == nil {
            guard let more = stream.read() else { return }
            octets += more
            switch ClientHello.reading(octets) {
            case .unfinished: continue
            case .read(let read): hello = read
            // What it cannot read, it lets pass.
            case .foreign: hello = ClientHello(serverName: nil)
            }
        }
        let asked = hello?.serverName
        names.withLock { $0.append(asked ?? "") }
        guard asked == name else { return lead(client, to: origin, octets) }
        switch deed {
        case .resets: stream.reset()
        case .swallows: stream.stayOpen()
        case .diverts(let other): lead(client, to: other, octets)
        }
    }

    private func lead(_ client: Descriptor, to place: LabServer, _ first: [UInt8]) {
        relay.lead(client, to: place.address, place.port.number, first: first)
    }
}

extension ClientHello {
    init(serverName: String?) { self.serverName = serverName }
}
