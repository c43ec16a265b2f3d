internal import CHTTPDNSCurl

/// The two ends of a connection: no two that are open have the same.
struct ConnectionEnds: Hashable {
    let raw: httpdns_curl_ends

    init(_ raw: httpdns_curl_ends) { self.raw = raw }

    /// The peer's address.
    var remote: String {
        withUnsafePointer(to: raw.remote) {
            // Its last octet is 0, whatever it was made from.
            $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: raw.remote)) {
                String(cString: $0)
            }
        }
    }

    static func == (one: ConnectionEnds, other: ConnectionEnds) -> Bool {
        withUnsafePointer(to: one.raw) { one in
            withUnsafePointer(to: other.raw) { httpdns_curl_same_ends(one, $0) }
        }
    }

    /// Few connections share a port of ours.
    func hash(into hasher: inout Hasher) { hasher.combine(raw.local_port) }
}

/// The sockets of connections that speak HTTP/1.1. libcurl tells the gate which ends a connection has
/// and not which socket: `CURLINFO_ACTIVESOCKET` knows of none there (7.88). Used on the engine's
/// thread.
///
/// Rules:
/// 1. Noted at the gate, when a connection's first request goes out. Whoever has the same ends later is
///    noted in its place then, so that what is found is the socket of the connection that is open.
/// 2. What was not looked for in a long time is forgotten.
final class KeptSockets {
    private var young: [ConnectionEnds: Int32] = [:]
    private var old: [ConnectionEnds: Int32] = [:]

    /// Nil: it is not known.
    func note(_ socket: Int32?, of ends: ConnectionEnds) {
        if young.count >= KeptSockets.mostYoung {
            swap(&old, &young)
            young.removeAll(keepingCapacity: true)
        }
        old[ends] = nil
        young[ends] = socket
    }

    func socket(of ends: ConnectionEnds) -> Int32? {
        if let socket = young[ends] { return socket }
        guard let socket = old[ends] else { return nil }
        note(socket, of: ends)
        return socket
    }

    /// Because: more than twice the connections that are kept idle (``MultiHandle``: 256), so that the
    /// older half holds what is still in use.
    private static let mostYoung = 1_024
}
