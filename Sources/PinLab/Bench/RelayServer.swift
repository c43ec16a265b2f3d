internal import CHTTPDNSSystem
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// Takes connections on a loopback port, and leads those that its owner lets pass on to other servers.
final class RelayServer: Sendable {
    let address: IPAddress
    let port: Port
    let stop: StopSignal
    private let listener: Listener
    private let threads = ThreadGroup()

    /// Takes a port; a free one where none is given.
    ///
    /// - Throws: ``LabError``.
    init(at address: IPAddress, port: Port? = nil) throws(LabError) {
        let bound = try Descriptor.bound(
            stream: true, address: address, port: port?.number ?? 0)
        self.address = address
        self.port = try bound.boundPort()
        listener = Listener(bound)
        stop = try StopSignal()
    }

    deinit { stop.raise() }

    /// Begins to take connections; each is served on a thread of its own.
    ///
    /// - Throws: ``LabError``.
    func start(_ serve: @escaping @Sendable (Descriptor) -> Void) throws(LabError) {
        let (listener, stop, threads) = (listener, stop, threads)
        try threads.start {
            guard let listener = listener.current else { return }
            acceptConnections(on: listener, stop: stop, threads: threads) { accepted in
                { serve(accepted) }
            }
        }
    }

    /// Ends every connection, and waits for it.
    func end() {
        stop.raise()
        listener.close()
        threads.awaitAll()
    }

    /// Waits until no connection is open; false when some still were after so long.
    func awaitConnectionsEnded(milliseconds: Int64) -> Bool {
        threads.await(atMost: 1, milliseconds: milliseconds)
    }

    /// Leads a connection to a server until one of the two ends; then the other is ended alike, by a
    /// reset if it was one.
    ///
    /// - Parameters:
    ///   - first: what the server is sent before anything else.
    ///   - answer: what the client is sent as soon as the server is reached.
    func lead(
        _ client: Descriptor, to address: IPAddress, _ port: UInt16, first: [UInt8] = [],
        answer: [UInt8] = []
    ) {
        let octets = address.octets
        let raw = httpdns_socket_connecting(octets, octets.count, port)
        guard raw >= 0 else { return }
        let server = Descriptor(owning: raw)
        guard stop.wait(for: [(server.raw, Int32(POLLOUT))]) == .ready,
            first.isEmpty || LabStream(server, stop: stop).write(first),
            answer.isEmpty || LabStream(client, stop: stop).write(answer)
        else { return }
        while true {
            let both = [(client.raw, Int32(POLLIN)), (server.raw, Int32(POLLIN))]
            guard stop.wait(for: both) == .ready else { return }
            guard pass(from: client, to: server), pass(from: server, to: client) else { return }
        }
    }

    /// False when the source has ended.
    private func pass(from source: Descriptor, to sink: Descriptor) -> Bool {
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
}
