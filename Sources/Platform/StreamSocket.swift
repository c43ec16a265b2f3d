internal import CHTTPDNSSystem
package import HTTPDNSNames

/// A TCP connection on its way or there: non-blocking, closed with its last reference. For one thread
/// that waits with an ``EventPoll``.
package final class StreamSocket: Sendable {
    package enum Received: Sendable, Hashable {
        case octets([UInt8])
        /// Nothing there yet.
        case nothing
        /// The peer has ended.
        case closed
        /// In the system's word.
        case trouble(String)
    }

    package let descriptor: Int32

    /// Begins to connect.
    package init(to peer: Endpoint) throws(DatagramSocket.Trouble) {
        guard let scope = DatagramSocket.scope(of: peer.address) else {
            throw DatagramSocket.Trouble(
                word: "no network interface named \(peer.address.zone ?? "")")
        }
        let octets = peer.address.octets
        descriptor = httpdns_connecting(octets, octets.count, scope, peer.port.number)
        guard descriptor >= 0 else { throw DatagramSocket.Trouble(word: systemWord()) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Why there is no connection, once the socket is ready; nil when there is one.
    package var fault: String? {
        let error = httpdns_connect_outcome(descriptor)
        return error == 0 ? nil : systemWord(error)
    }

    /// How many octets the system took.
    package func send(_ octets: ArraySlice<UInt8>) throws(DatagramSocket.Trouble) -> Int {
        let count = octets.withUnsafeBufferPointer {
            httpdns_connected_send(descriptor, $0.baseAddress, $0.count)
        }
        guard count < 0 else { return count }
        let error = httpdns_socket_error()
        guard error == EAGAIN || error == EWOULDBLOCK else {
            throw DatagramSocket.Trouble(word: systemWord(error))
        }
        return 0
    }

    /// What is there; `buffer` is where the system puts it.
    package func receive(_ buffer: inout [UInt8]) -> Received {
        let count = buffer.withUnsafeMutableBufferPointer { pointer -> Int in
            guard let start = pointer.baseAddress else { return 0 }
            return httpdns_connected_receive(descriptor, start, pointer.count)
        }
        if count > 0 { return .octets(Array(buffer[..<min(count, buffer.count)])) }
        guard count < 0 else { return .closed }
        let error = httpdns_socket_error()
        return error == EAGAIN || error == EWOULDBLOCK ? .nothing : .trouble(systemWord(error))
    }
}
