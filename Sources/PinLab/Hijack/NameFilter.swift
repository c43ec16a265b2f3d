internal import CHTTPDNSSystem
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
    public let address: IPAddress
    /// And on which port.
    public let port: Port
    private let core: FilterCore

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
        let listener = try Descriptor.bound(
            stream: true, address: address, port: port?.number ?? 0)
        self.address = address
        self.port = try listener.boundPort()
        core = FilterCore(
            listener: Listener(listener), stop: try StopSignal(), origin: origin,
            name: name.lowercased(), deed: deed)
    }

    deinit { core.stop.raise() }

    /// Begins to serve.
    ///
    /// - Throws: ``LabError``.
    public func start() throws(LabError) {
        let core = core
        try core.threads.start { core.acceptAll() }
    }

    /// Ends every connection.
    public func stop() {
        core.stop.raise()
        core.listener.close()
        core.threads.awaitAll()
    }

    /// The connections until now: the name that each asked for, "" for none.
    public var names: [String] { core.names.withLock { $0 } }

    /// Waits until no connection is open; false when some still were after two seconds.
    func awaitConnectionsEnded() -> Bool {
        core.threads.await(atMost: 1, milliseconds: NameFilter.drainMilliseconds)
    }

    /// Because: as a server's own, which follows from clients that close when they are done.
    private static let drainMilliseconds: Int64 = 2_000
}

private final class FilterCore: Sendable {
    let listener: Listener
    let stop: StopSignal
    let threads = ThreadGroup()
    let names = Locked<[String]>([])
    private let origin: LabServer
    private let name: String
    private let deed: NameFilter.Deed

    init(
        listener: Listener, stop: StopSignal, origin: LabServer, name: String,
        deed: NameFilter.Deed
    ) {
        self.listener = listener
        self.stop = stop
        self.origin = origin
        self.name = name
        self.deed = deed
    }

    func acceptAll() {
        guard let listener = listener.current else { return }
        acceptConnections(on: listener, stop: stop, threads: threads) { accepted in
            { self.serve(accepted) }
        }
    }

    private func serve(_ client: Descriptor) {
        let stream = LabStream(client, stop: stop)
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
        guard asked != name else {
            switch deed {
            case .resets: stream.reset()
            case .swallows: stream.stayOpen()
            case .diverts(let other): pass(octets, client, to: other)
            }
            return
        }
        pass(octets, client, to: origin)
    }

    private func pass(_ first: [UInt8], _ client: Descriptor, to place: LabServer) {
        let octets = place.address.octets
        let raw = httpdns_socket_connecting(octets, octets.count, place.port.number)
        guard raw >= 0 else { return }
        let server = Descriptor(owning: raw)
        guard stop.wait(for: [(server.raw, Int32(POLLOUT))]) == .ready,
            LabStream(server, stop: stop).write(first)
        else { return }
        relay(client, server, stop: stop)
    }
}

extension ClientHello {
    init(serverName: String?) { self.serverName = serverName }
}
