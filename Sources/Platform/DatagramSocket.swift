internal import CHTTPDNSSystem
package import HTTPDNSNames

/// A UDP socket on a random port of the system's choice that hears one peer only: what comes from
/// another address or port never reaches it. Non-blocking; closed with its last reference.
package final class DatagramSocket: Sendable {
    package enum Received: Sendable, Hashable {
        case datagram([UInt8])
        /// Nothing there.
        case nothing
        /// What the network said to a datagram of ours, or another error, in the system's word.
        case trouble(String)
    }

    package struct Trouble: Error, Sendable, Hashable {
        /// The system's own.
        package let word: String

        package init(word: String) { self.word = word }
    }

    package let descriptor: Int32

    package init(to peer: Endpoint) throws(Trouble) {
        guard let scope = DatagramSocket.scope(of: peer.address) else {
            throw Trouble(word: "no network interface named \(peer.address.zone ?? "")")
        }
        let octets = peer.address.octets
        descriptor = httpdns_datagram_connected(octets, octets.count, scope, peer.port.number)
        guard descriptor >= 0 else { throw Trouble(word: systemWord()) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Our own port; 0 when the system does not say.
    package var port: UInt16 { httpdns_socket_port(descriptor) }

    package func send(_ octets: [UInt8]) throws(Trouble) {
        guard httpdns_connected_send(descriptor, octets, octets.count) == octets.count else {
            throw Trouble(word: systemWord())
        }
    }

    /// The next datagram; `buffer` is where the system puts it, and what does not fit there is cut.
    package func receive(_ buffer: inout [UInt8]) -> Received {
        let count = buffer.withUnsafeMutableBufferPointer { pointer -> Int in
            guard let start = pointer.baseAddress else { return 0 }
            return httpdns_connected_receive(descriptor, start, pointer.count)
        }
        guard count < 0 else { return .datagram(Array(buffer[..<min(count, buffer.count)])) }
        let error = httpdns_socket_error()
        return error == EAGAIN || error == EWOULDBLOCK ? .nothing : .trouble(systemWord(error))
    }

    /// The interface index that a zone means, 0 without one; nil when there is no such interface.
    package static func scope(of address: IPAddress) -> UInt32? {
        guard let zone = address.zone else { return 0 }
        if let index = UInt32(zone), index > 0 { return index }
        let index = httpdns_interface_index(zone)
        return index > 0 ? index : nil
    }
}
