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
    struct Lines {
        fileprivate let entry: Entry
        /// `CURLOPT_RESOLVE`: removals of retired names, then the addresses of this name until they are
        /// known.
        let resolve: [String]
        /// The removals among ``resolve``.
        let removals: [String]

        var number: UInt64 { entry.number }
        var name: String { entry.name }
        /// `CURLOPT_CONNECT_TO`: any host, any port, to the name.
        var connectTo: String { entry.connectTo }
        /// The first address as libcurl writes it; nil for one with a zone.
        var firstAddress: String? { entry.firstAddress }
        var network: UInt64 { entry.network }
        /// Where a connection of this name is being made; nil when the last one was made.
        var connecting: Endpoint? {
            get { entry.connecting }
            nonmutating set { entry.connecting = newValue }
        }
    }

    /// One name, and who uses it. An object, so that its end needs no second search; used where the
    /// registry is.
    fileprivate final class Entry {
        let number: UInt64
        let name: String
        let connectTo: String
        let firstAddress: String?
        let port: Port
        let network: UInt64
        let bornAt: Monotonic
        var users = 0
        var connecting: Endpoint?
        var lastUse: UInt64 = 0
        /// libcurl has the addresses of the name, for good: an entry of `CURLOPT_RESOLVE` has no age.
        var isTold = false
        /// It is too old, and still has users.
        var isLeft = false

        init(_ number: UInt64, _ key: Key, bornAt: Monotonic) {
            self.number = number
            name = RouteRegistry.name(number)
            connectTo = "::\(name):\(key.port)"
            firstAddress = key.addresses.first.flatMap { $0.zone == nil ? $0.description : nil }
            port = key.port
            network = key.network
            self.bornAt = bornAt
        }
    }

    private let capacity: Int
    private let lifetimeMilliseconds: Int64
    private var entries: [Key: Entry] = [:]
    /// The one taken last, while it is among ``entries``: most often the next one, too, and its key is
    /// then the same memory.
    private var latest: (key: Key, entry: Entry)?
    private var retired: [String] = []
    private var lastNumber: UInt64 = 0
    private var uses: UInt64 = 0

    init(capacity: Int = RouteRegistry.usualCapacity, lifetimeMilliseconds: Int64 = .max) {
        self.capacity = capacity
        self.lifetimeMilliseconds = lifetimeMilliseconds
    }

    var count: Int { entries.count }

    /// Takes the name of a route and policy into use; each call is matched by one
    /// ``release(_:untold:wereTold:)``.
    mutating func take(_ key: Key, now: Monotonic) -> Lines {
        uses += 1
        let entry = current(key, now)
        entry.users += 1
        entry.lastUse = uses
        guard !entry.isTold || !retired.isEmpty else {
            return Lines(entry: entry, resolve: [], removals: [])
        }
        let removals = retired
        retired = []
        var resolve = removals
        if !entry.isTold {
            let addresses = key.addresses.map(\.uriText).joined(separator: ",")
            resolve.append("\(entry.name):\(key.port):\(addresses)")
        }
        return Lines(entry: entry, resolve: resolve, removals: removals)
    }

    private mutating func current(_ key: Key, _ now: Monotonic) -> Entry {
        let known = latest.flatMap { $0.key == key ? $0.entry : nil } ?? entries[key]
        if let entry = known {
            guard now.milliseconds(since: entry.bornAt) >= lifetimeMilliseconds else {
                latest = (key, entry)
                return entry
            }
            entry.isLeft = true
            entries[key] = nil
            if entry.users == 0 { retire(entry) }
        }
        latest = nil
        if entries.count >= capacity { retireOne() }
        lastNumber += 1
        let entry = Entry(lastNumber, key, bornAt: now)
        entries[key] = entry
        latest = (key, entry)
        return entry
    }

    /// Ends one use.
    ///
    /// - Parameters:
    ///   - untold: removals that libcurl did not get to see, to be told by another.
    ///   - wereTold: libcurl has seen the lines.
    mutating func release(_ lines: Lines, untold: [String] = [], wereTold: Bool = false) {
        retired += untold
        let entry = lines.entry
        entry.users -= 1
        entry.isTold = entry.isTold || wereTold
        if entry.isLeft, entry.users == 0 { retire(entry) }
    }

    /// `CURLOPT_CONNECT_TO` through a proxy, which is told where to connect.
    static func connectTo(_ address: IPAddress, _ port: Port) -> String {
        "::\(address.uriText):\(port)"
    }

    private mutating func retire(_ entry: Entry) {
        retired.append("-\(entry.name):\(entry.port)")
    }

    private mutating func retireOne() {
        let unused = entries.filter { $0.value.users == 0 }
        guard let oldest = unused.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
        entries[oldest.key] = nil
        retire(oldest.value)
    }

    private static func name(_ number: UInt64) -> String { "r\(number).invalid" }

    /// Because: as many names as connections are kept idle (256), and room for those in use.
    static let usualCapacity = 512
}
