internal import CHTTPDNSOpenSSL
internal import CHTTPDNSSystem
internal import HTTPDNSNames

/// One accepted connection, plain or TLS. Confined to its thread; every wait ends when the server
/// stops.
final class LabStream {
    private let descriptor: Descriptor
    private let stop: StopSignal
    private var tls: OpaquePointer?

    init(_ descriptor: Descriptor, stop: StopSignal) {
        self.descriptor = descriptor
        self.stop = stop
    }

    deinit { SSL_free(tls) }

    /// The next octets, at most 16 KiB; nil when the peer or the server has ended.
    func read() -> [UInt8]? {
        var octets = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = readOnce(&octets)
            if count > 0 { return Array(octets.prefix(Int(count))) }
            guard waited(for: count) else { return nil }
        }
    }

    /// False when not all could be written.
    func write(_ octets: [UInt8]) -> Bool { write(octets[...]) }

    /// False when not all could be written.
    func write(_ octets: ArraySlice<UInt8>) -> Bool {
        var rest = octets
        while !rest.isEmpty {
            let count = rest.withUnsafeBufferPointer { writeOnce($0) }
            if count > 0 {
                rest = rest.dropFirst(Int(count))
            } else if !waited(for: count) {
                return false
            }
        }
        return true
    }

    /// False when the server stopped meanwhile.
    func pause(milliseconds: Int64) -> Bool { stop.pause(milliseconds: milliseconds) }

    /// Makes the coming close a reset.
    func reset() { httpdns_socket_reset_on_close(descriptor.raw) }

    /// Keeps the connection open and silent until the peer ends it or the server stops.
    func stayOpen() {
        while true {
            var octets = [UInt8](repeating: 0, count: 16_384)
            let count = recv(descriptor.raw, &octets, octets.count, 0)
            if count > 0 { continue }
            guard count < 0, wouldBlock, stop.wait(for: [reading]) == .ready else { return }
        }
    }

    /// Says goodbye, then lets the peer read what was sent: a close with unread input would reset
    /// the connection and take the response with it. Source: RFC 9112 §9.6.
    func close() {
        if let tls { httpdns_lab_goodbye(tls) }
        shutdown(descriptor.raw, Int32(SHUT_WR))
        let deadline = labNow().adding(milliseconds: LabStream.lingerMilliseconds)
        while true {
            var octets = [UInt8](repeating: 0, count: 16_384)
            let count = recv(descriptor.raw, &octets, octets.count, 0)
            if count > 0 { continue }
            let left = deadline.millisecondsLeft(from: labNow())
            guard count < 0, wouldBlock, left > 0,
                stop.wait(for: [reading], milliseconds: left) == .ready
            else { return }
        }
    }

    /// Because: a peer on loopback has read its response long before a second is over.
    private static let lingerMilliseconds: Int64 = 1_000
}

// The handshake.
extension LabStream {
    /// What a ClientHello said.
    struct Hello {
        var serverName: String?
        var asksForStatus = false
        /// False when there was none.
        var isRead = false
    }

    /// Reads the ClientHello and no more.
    func readHello(_ identities: TLSIdentities) -> Hello {
        guard let made = httpdns_lab_accept(identities.first.raw, descriptor.raw) else {
            return Hello()
        }
        tls = made
        while true {
            let status = httpdns_lab_handshake(made)
            if status == Int32(HTTPDNS_LAB_HELLO_READ) {
                let agreed = httpdns_lab_what_was_agreed(made)
                return Hello(
                    serverName: serverName(of: made), asksForStatus: agreed.asks_for_status != 0,
                    isRead: true)
            }
            guard status <= 0, waited(for: status) else { return Hello() }
        }
    }

    /// What the two ends agreed on.
    struct Agreed {
        var isHTTP2 = false
        var isResumed = false
        var hasClientCertificate = false
    }

    /// What the finished handshake agreed on.
    func agreed() -> Agreed {
        guard let tls else { return Agreed() }
        let agreed = httpdns_lab_what_was_agreed(tls)
        return Agreed(
            isHTTP2: agreed.is_http2 != 0, isResumed: agreed.is_resumed != 0,
            hasClientCertificate: agreed.has_client_certificate != 0)
    }

    /// Goes on after the ClientHello with this identity; true when the handshake is complete.
    func finishHandshake(_ context: TLSContext) -> Bool {
        guard let tls else { return false }
        SSL_set_SSL_CTX(tls, context.raw)
        while true {
            let status = httpdns_lab_handshake(tls)
            if status > 0 { return true }
            guard waited(for: status) else { return false }
        }
    }

    /// Writes below TLS.
    func writeUnprotected(_ octets: [UInt8]) {
        send(descriptor.raw, octets, octets.count, Int32(MSG_NOSIGNAL))
    }

    private func serverName(of connection: OpaquePointer) -> String? {
        var name = [CChar](repeating: 0, count: 256)
        let count = httpdns_lab_server_name(connection, &name, name.count)
        guard count >= 0 else { return nil }
        return String(
            decoding: name.prefix(Int(count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

// One step; negative results are the HTTPDNS_LAB_ values.
extension LabStream {
    private func readOnce(_ octets: inout [UInt8]) -> Int32 {
        if let tls { return httpdns_lab_read(tls, &octets, Int32(octets.count)) }
        let count = recv(descriptor.raw, &octets, octets.count, 0)
        return plainOutcome(count, blocked: Int32(HTTPDNS_LAB_WANTS_READ))
    }

    private func writeOnce(_ octets: UnsafeBufferPointer<UInt8>) -> Int32 {
        guard let start = octets.baseAddress else { return Int32(HTTPDNS_LAB_BROKEN) }
        // One TLS record's worth, so that a peer that reads slowly is felt soon.
        let count = min(octets.count, 16_384)
        if let tls { return httpdns_lab_write(tls, start, Int32(count)) }
        let sent = send(descriptor.raw, start, count, Int32(MSG_NOSIGNAL))
        return plainOutcome(sent, blocked: Int32(HTTPDNS_LAB_WANTS_WRITE))
    }

    private func plainOutcome(_ count: Int, blocked: Int32) -> Int32 {
        if count > 0 { return Int32(count) }
        if count == 0 { return Int32(HTTPDNS_LAB_CLOSED) }
        return wouldBlock ? blocked : Int32(HTTPDNS_LAB_BROKEN)
    }

    /// Waits for what the step wanted; false when the connection or the server has ended.
    private func waited(for status: Int32) -> Bool {
        switch status {
        case Int32(HTTPDNS_LAB_WANTS_READ): stop.wait(for: [reading]) == .ready
        case Int32(HTTPDNS_LAB_WANTS_WRITE):
            stop.wait(for: [(descriptor.raw, Int32(POLLOUT))]) == .ready
        default: false
        }
    }

    private var reading: (fd: Int32, events: Int32) { (descriptor.raw, Int32(POLLIN)) }

    private var wouldBlock: Bool {
        let code = httpdns_socket_error()
        return code == EAGAIN || code == EINTR
    }
}
