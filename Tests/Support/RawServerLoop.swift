import CHTTPDNSSystem

/// The thread of a ``RawDNSServer``: waits for datagrams, connections and the end.
struct RawServerLoop: Sendable {
    let sockets: RawSockets
    let wake: Int32
    let respond: @Sendable (RawDNSServer.Arrival) -> [RawDNSServer.Act]

    init(
        sockets: RawSockets, wake: Int32,
        respond: @escaping @Sendable (RawDNSServer.Arrival) -> [RawDNSServer.Act]
    ) {
        self.sockets = sockets
        self.wake = wake
        self.respond = respond
    }

    private struct Peer {
        var storage: sockaddr_storage
        var length: socklen_t
    }

    private struct Connection {
        let descriptor: Int32
        let port: UInt16
        var received: [UInt8] = []
    }

    func run() {
        var peers: [Peer?] = []
        var connections: [Connection] = []
        defer {
            for connection in connections { close(connection.descriptor) }
            sockets.close()
            close(wake)
        }
        while true {
            let fixed = [wake, sockets.udp] + (sockets.tcp.map { [$0] } ?? [])
            var entries = (fixed + connections.map { $0.descriptor }).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            guard poll(&entries, nfds_t(entries.count), -1) > 0 else { continue }
            if entries[0].revents != 0 { return }
            if entries[1].revents != 0 { readDatagrams(&peers) }
            let waiting = connections
            connections = []
            for (index, connection) in waiting.enumerated() {
                guard entries[fixed.count + index].revents != 0 else {
                    connections.append(connection)
                    continue
                }
                var connection = connection
                if read(&connection, &peers) {
                    connections.append(connection)
                } else {
                    close(connection.descriptor)
                }
            }
            if fixed.count == 3, entries[2].revents != 0, let new = accept() {
                connections.append(new)
            }
        }
    }

    private func readDatagrams(_ peers: inout [Peer?]) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            var peer = Peer(
                storage: sockaddr_storage(),
                length: socklen_t(MemoryLayout<sockaddr_storage>.size))
            let count = withUnsafeMutablePointer(to: &peer.storage) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    recvfrom(sockets.udp, &buffer, buffer.count, 0, $0, &peer.length)
                }
            }
            guard count >= 0 else { return }
            peers.append(peer)
            let acts = respond(
                RawDNSServer.Arrival(
                    octets: Array(buffer[..<count]), peerPort: RawSockets.port(of: peer.storage),
                    isOverTCP: false))
            for act in acts { perform(act, peer, peers) }
        }
    }

    private func perform(_ act: RawDNSServer.Act, _ peer: Peer, _ peers: [Peer?]) {
        switch act {
        case .send(let octets), .sendRaw(let octets): send(octets, to: peer, from: sockets.udp)
        case .sendToArrival(let index, let octets):
            if let earlier = peers[index] { send(octets, to: earlier, from: sockets.udp) }
        case .sendFromElsewhere(let octets):
            guard let other = try? RawSockets.open(SOCK_DGRAM, sockets.address, port: 0)
            else { return }
            send(octets, to: peer, from: other)
            close(other)
        case .closeConnection: break
        }
    }

    private func send(_ octets: [UInt8], to peer: Peer, from descriptor: Int32) {
        var peer = peer
        _ = withUnsafePointer(to: &peer.storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, octets, octets.count, 0, $0, peer.length)
            }
        }
    }

    private func accept() -> Connection? {
        guard let tcp = sockets.tcp else { return nil }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let descriptor = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                CHTTPDNSSystem.accept(tcp, $0, &length)
            }
        }
        guard descriptor >= 0 else { return nil }
        return Connection(descriptor: descriptor, port: RawSockets.port(of: storage))
    }

    /// False when the connection is at its end.
    private func read(_ connection: inout Connection, _ peers: inout [Peer?]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(connection.descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        connection.received += buffer[..<count]
        while connection.received.count >= 2 {
            let length = Int(connection.received[0]) << 8 | Int(connection.received[1])
            guard connection.received.count >= 2 + length else { break }
            let octets = Array(connection.received[2..<(2 + length)])
            connection.received.removeFirst(2 + length)
            peers.append(nil)
            let acts = respond(
                RawDNSServer.Arrival(
                    octets: octets, peerPort: connection.port, isOverTCP: true))
            for act in acts where !perform(act, on: connection) { return false }
        }
        return true
    }

    private func perform(_ act: RawDNSServer.Act, on connection: Connection) -> Bool {
        switch act {
        case .send(let octets):
            let framed = [UInt8(octets.count >> 8 & 0xFF), UInt8(octets.count & 0xFF)] + octets
            return CHTTPDNSSystem.send(
                connection.descriptor, framed, framed.count, Int32(MSG_NOSIGNAL))
                == framed.count
        case .sendRaw(let octets):
            return CHTTPDNSSystem.send(
                connection.descriptor, octets, octets.count, Int32(MSG_NOSIGNAL))
                == octets.count
        case .sendToArrival, .sendFromElsewhere: return true
        case .closeConnection: return false
        }
    }
}
