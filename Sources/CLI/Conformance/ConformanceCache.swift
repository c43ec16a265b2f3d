internal import HTTPDNSJSON
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSWire

// A resolver with its cache, over plain DNS, in a time that the requests say
extension ConformanceAdapter {
    static let cacheOperations: [String: Operation] = [
        "cache.open": { (request) throws(ConformanceRequest.Fault) in
            guard let server = Endpoint(loopback: try request.text("server")) else {
                return skipped("servers are at 127.0.0.1 only")
            }
            let settings = try cacheSettings(request)
            session.withLock { $0 = CacheSession(server: server, settings: settings) }
            return ["ok": true]
        },
        "cache.resolve": { (request) throws(ConformanceRequest.Fault) in
            guard let session = session.withLock({ $0 }) else {
                throw ConformanceRequest.Fault(description: "cache.open has not come yet")
            }
            let text = try request.text("name")
            guard let name = try? HostName(text) else { return skipped("no host name: \(text)") }
            guard let type = RecordType(name: try request.text("type")) else {
                return skipped("no record type")
            }
            return session.resolve(
                Question(name: name, type: type), nowSeconds: try request.integer("now"))
        },
    ]

    /// The one that was opened last.
    private static let session = Locked<CacheSession?>(nil)

    private static func cacheSettings(
        _ request: ConformanceRequest
    ) throws(ConformanceRequest.Fault) -> CacheSettings {
        var settings = CacheSettings()
        if let patience = try request.optionalInteger("timeout_ms") {
            settings.patienceMilliseconds = min(max(patience, 1), 60_000)
        }
        guard let config = try request.object("config") else { return settings }
        settings.servesExpired = try config.flag("serve_expired")
        settings.maximumStale = try config.optionalInteger("max_stale")
        settings.staleTTL = try config.optionalInteger("stale_ttl")
        settings.clientTimeout = try config.optionalInteger("client_timeout_ms")
        settings.minimumTTL = try config.optionalInteger("min_ttl") ?? 0
        settings.maximumTTL = try config.optionalInteger("max_ttl")
        return settings
    }
}

/// What a scenario says of its cache.
struct CacheSettings: Sendable {
    /// How long an answer is waited for.
    ///
    /// Because: the vectors' upstream is on loopback; what it does not answer at once it never does.
    var patienceMilliseconds: Int64 = 800
    /// Whether an answer whose time is over may be given when no other comes.
    var servesExpired = false
    /// In seconds; nil: without end.
    var maximumStale: Int64?
    /// In seconds: what such an answer is said to be good for.
    var staleTTL: Int64?
    /// In milliseconds: how long a new answer is waited for before an old one is given.
    var clientTimeout: Int64?
    /// In seconds.
    var minimumTTL: Int64 = 0
    /// In seconds.
    var maximumTTL: Int64?
}

extension Endpoint {
    /// `127.0.0.1:PORT`; nil for any other address.
    fileprivate init?(loopback text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "127.0.0.1", let port = Port(parts[1]),
            let address = try? IPAddress(String(parts[0]))
        else { return nil }
        self.init(address: address, port: port)
    }
}
