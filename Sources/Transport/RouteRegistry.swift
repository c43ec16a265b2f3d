internal import HTTPDNSExchange
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
/// 3. A name older than ``lifetimeMilliseconds`` is left: the next request over its route gets another,
///    and so a new connection, however busy the old ones are. It is retired with its last user.
/// 4. A retired name must be told to libcurl once (``Lines/resolve``), or its table would grow.
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
        /// libcurl tells connections through a proxy apart by neither credentials nor target.
        var via: ProxyPath?
    }

    /// What one transfer tells libcurl.
    struct Lines: Hashable {
        let number: UInt64
        let name: String
        /// `CURLOPT_CONNECT_TO`: any host, any port, to the name.
        let connectTo: String
        /// `CURLOPT_RESOLVE`: removals of retired names, then the addresses of this name until they are
        /// known.
        let resolve: [String]
        /// The removals among ``resolve``.
        let removals: [String]
        /// The first address as libcurl writes it; nil for one with a zone.
        let firstAddress: String?
    }

    private struct Entry {
        let number: UInt64
        /// Of a name that libcurl knows, when nothing is to be removed: most of the time.
        let lines: Lines
        let bornAt: Monotonic
        var users: Int
        var lastUse: UInt64
        /// libcurl has the addresses of the name, for good: an entry of `CURLOPT_RESOLVE` has no age.
        var isTold = false
    }

    private let capacity: Int
    private let lifetimeMilliseconds: Int64
    private var entries: [Key: Entry] = [:]
    /// Names that were left and still have users.
    private var left: [UInt64: Entry] = [:]
    private var retired: [String] = []
    private var lastNumber: UInt64 = 0
    private var uses: UInt64 = 0

    init(capacity: Int = RouteRegistry.usualCapacity, lifetimeMilliseconds: Int64 = .max) {
        self.capacity = capacity
        self.lifetimeMilliseconds = lifetimeMilliseconds
    }

    var count: Int { entries.count }

    /// Takes the name of a route and policy into use; each call is matched by one
    /// ``release(_:_:untold:wereTold:)``.
    mutating func take(_ key: Key, now: Monotonic) -> Lines {
        uses += 1
        if let entry = entries[key], now.milliseconds(since: entry.bornAt) >= lifetimeMilliseconds {
            leave(entry, of: key)
        }
        var entry = entries[key] ?? fresh(key, now)
        entry.users += 1
        entry.lastUse = uses
        entries[key] = entry
        let lines = entry.lines
        guard !entry.isTold || !retired.isEmpty else { return lines }
        let removals = retired
        retired = []
        var resolve = removals
        if !entry.isTold {
            let addresses = key.addresses.map(\.uriText).joined(separator: ",")
            resolve.append("\(lines.name):\(key.port):\(addresses)")
        }
        return Lines(
            number: lines.number, name: lines.name, connectTo: lines.connectTo,
            resolve: resolve, removals: removals, firstAddress: lines.firstAddress)
    }

    /// Ends one use.
    ///
    /// - Parameters:
    ///   - untold: removals that libcurl did not get to see, to be told by another.
    ///   - wereTold: libcurl has seen the lines.
    mutating func release(
        _ key: Key, _ lines: Lines, untold: [String] = [], wereTold: Bool = false
    ) {
        retired += untold
        if var entry = entries[key], entry.number == lines.number {
            entry.users -= 1
            entry.isTold = entry.isTold || wereTold
            entries[key] = entry
        } else if let entry = left[lines.number] {
            left[lines.number]?.users -= 1
            guard entry.users <= 1 else { return }
            left[lines.number] = nil
            retire(entry.number, key.port)
        }
    }

    /// `CURLOPT_CONNECT_TO` through a proxy, which is told where to connect.
    static func connectTo(_ address: IPAddress, _ port: Port) -> String {
        "::\(address.uriText):\(port)"
    }

    private mutating func leave(_ entry: Entry, of key: Key) {
        entries[key] = nil
        if entry.users > 0 { left[entry.number] = entry } else { retire(entry.number, key.port) }
    }

    private mutating func retire(_ number: UInt64, _ port: Port) {
        retired.append("-\(RouteRegistry.name(number)):\(port)")
    }

    private mutating func fresh(_ key: Key, _ now: Monotonic) -> Entry {
        if entries.count >= capacity { retireOne() }
        lastNumber += 1
        let name = RouteRegistry.name(lastNumber)
        let first = key.addresses.first.flatMap { $0.zone == nil ? $0.description : nil }
        let lines = Lines(
            number: lastNumber, name: name, connectTo: "::\(name):\(key.port)", resolve: [],
            removals: [], firstAddress: first)
        return Entry(number: lastNumber, lines: lines, bornAt: now, users: 0, lastUse: 0)
    }

    private mutating func retireOne() {
        let unused = entries.filter { $0.value.users == 0 }
        guard let oldest = unused.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
        entries[oldest.key] = nil
        retire(oldest.value.number, oldest.key.port)
    }

    private static func name(_ number: UInt64) -> String { "r\(number).invalid" }

    /// Because: as many names as connections are kept idle (256), and room for those in use.
    static let usualCapacity = 512
}
