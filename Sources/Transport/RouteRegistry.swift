internal import HTTPDNSNames
internal import HTTPDNSTrust

/// Gives each pair of a route and a policy a host name of its own, under which libcurl files
/// connections and addresses.
///
/// libcurl reuses a connection when its key is equal, and the name is part of the key. So a name
/// stands for one ordered address list, port and policy, for ever: a connection made to other
/// addresses or judged by another policy cannot be reused. Names are counted up, never hashed: there
/// are no collisions.
///
/// Rules:
/// 1. A name in use is never retired.
/// 2. Beyond ``capacity``, the name unused for longest is retired; its number is not given again.
/// 3. A retired name must be told to libcurl once (``Lines/resolve``), or its table would grow.
///
/// The names end in `.invalid`, which no resolver answers. Source: RFC 6761 §6.4.
struct RouteRegistry {
    struct Key: Hashable {
        let addresses: [IPAddress]
        let port: Port
        /// Nil for plain `http`.
        let policy: PolicyFingerprint?
        /// How often connections were left behind; see ``Transport/leaveConnections()``.
        var network: UInt64 = 0
    }

    /// What one transfer tells libcurl.
    struct Lines: Hashable {
        let name: String
        /// `CURLOPT_CONNECT_TO`: any host, any port, to the name.
        let connectTo: String
        /// `CURLOPT_RESOLVE`: removals of retired names, then the addresses of this name.
        let resolve: [String]
        /// The removals among ``resolve``.
        let removals: [String]
    }

    private struct Entry {
        let number: UInt64
        var users: Int
        var lastUse: UInt64
    }

    private let capacity: Int
    private var entries: [Key: Entry] = [:]
    private var retired: [String] = []
    private var lastNumber: UInt64 = 0
    private var uses: UInt64 = 0

    init(capacity: Int = RouteRegistry.usualCapacity) {
        self.capacity = capacity
    }

    var count: Int { entries.count }

    /// Takes the name of a route and policy into use; each call is matched by one ``release(_:)``.
    mutating func take(_ key: Key) -> Lines {
        uses += 1
        var entry = entries[key] ?? fresh()
        entry.users += 1
        entry.lastUse = uses
        entries[key] = entry
        let name = RouteRegistry.name(entry.number)
        let place = "\(name):\(key.port)"
        let addresses = key.addresses.map(\.uriText).joined(separator: ",")
        let removals = retired
        retired = []
        return Lines(
            name: name, connectTo: "::" + place, resolve: removals + ["\(place):\(addresses)"],
            removals: removals)
    }

    /// Ends one use. `untold`: removals that libcurl did not get to see, to be told by another.
    mutating func release(_ key: Key, untold: [String] = []) {
        retired += untold
        guard var entry = entries[key] else { return }
        entry.users -= 1
        entries[key] = entry
    }

    private mutating func fresh() -> Entry {
        if entries.count >= capacity { retireOne() }
        lastNumber += 1
        return Entry(number: lastNumber, users: 0, lastUse: 0)
    }

    private mutating func retireOne() {
        let unused = entries.filter { $0.value.users == 0 }
        guard let oldest = unused.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
        entries[oldest.key] = nil
        retired.append("-\(RouteRegistry.name(oldest.value.number)):\(oldest.key.port)")
    }

    private static func name(_ number: UInt64) -> String { "r\(number).invalid" }

    /// Because: as many names as connections are kept idle (256), and room for those in use.
    static let usualCapacity = 512
}
