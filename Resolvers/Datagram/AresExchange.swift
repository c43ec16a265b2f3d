internal import CHTTPDNSAres
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// One attempt at one server over TCP: a c-ares channel of its own with its socket. Owned by the
/// engine's thread, which alone may touch it.
final class AresExchange {
    enum Ending {
        case message([UInt8])
        case trouble(DatagramTrouble)
    }

    private let raw: OpaquePointer

    /// Sends `message`; the sockets are registered with `poll` under `token`. Nil when memory or the
    /// channel cannot be had.
    init?(
        _ server: Endpoint, scope: UInt32, isOverTCP: Bool, message: [UInt8],
        registeredWith registration: (poll: EventPoll, token: UInt64)
    ) {
        var target = httpdns_ares_server()
        withUnsafeMutableBytes(of: &target.octets) { $0.copyBytes(from: server.address.octets) }
        target.is_ipv6 = server.address.family == .ipv6 ? 1 : 0
        target.scope = scope
        target.port = server.port.number
        target.over_tcp = isOverTCP ? 1 : 0
        guard
            let raw = httpdns_ares_start(
                &target, message, message.count, registration.poll.descriptor, registration.token)
        else { return nil }
        self.raw = raw
    }

    deinit { httpdns_ares_destroy(raw) }

    func advance(isReadable: Bool, isWritable: Bool) {
        httpdns_ares_advance(raw, isReadable ? 1 : 0, isWritable ? 1 : 0)
    }

    /// How often the question left.
    var sends: Int { Int(httpdns_ares_sends(raw)) }

    /// Nil while it goes on.
    var ending: Ending? {
        switch httpdns_ares_outcome(raw) {
        case HTTPDNS_ARES_PENDING: nil
        case HTTPDNS_ARES_ANSWERED: .message(reply)
        case HTTPDNS_ARES_NETWORK:
            .trouble(.network(Self.systemWord(httpdns_ares_system_error(raw))))
        case HTTPDNS_ARES_CLOSED: .trouble(.closed)
        case HTTPDNS_ARES_BAD_REPLY: .trouble(.malformed("it is not a DNS message"))
        case HTTPDNS_ARES_NO_MEMORY: .trouble(.network("out of memory"))
        case HTTPDNS_ARES_BAD_QUERY: .trouble(.fault("c-ares refused our own question"))
        default:
            .trouble(
                .network("the exchange was given up (c-ares code \(httpdns_ares_status(raw)))"))
        }
    }

    private var reply: [UInt8] {
        var count = 0
        guard let bytes = httpdns_ares_reply(raw, &count) else { return [] }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    private static func systemWord(_ error: Int32) -> String {
        // strerror's longest text in the C locale is well below 128 octets. Source: glibc errlist.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let base = buffer.baseAddress else { return "error \(error)" }
            httpdns_ares_error_text(error, base, buffer.count)
            return String(cString: base)
        }
    }
}
