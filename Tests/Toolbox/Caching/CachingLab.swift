import HTTPDNS
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport
import Testing

/// An origin that proves itself, and clients that keep its answers in one directory.
struct CachingLab {
    static let host = "shop.example.test"
    let root: TestAuthority
    let directory: TemporaryDirectory

    init() throws {
        root = try TestAuthority()
        directory = try TemporaryDirectory()
    }

    var place: String { directory.path + "/cache" }

    /// A running origin; stopped by the caller.
    func origin(
        at address: IPAddress = LabAddress.ipv4, port: Port? = nil, security: LabSecurity? = nil,
        _ handler: @escaping @Sendable (LabRequest) -> LabResponse
    ) throws -> LabServer {
        let leaf = try root.leaf([.dns(CachingLab.host), .dns("other.example.test")])
        let server = try LabServer(
            address: address, port: port, security: security ?? .tls(leaf), handler: handler)
        try server.start()
        return server
    }

    func httpdns(
        at address: IPAddress = LabAddress.ipv4,
        cache tune: (inout OfflineCacheSettings) -> Void = { _ in },
        change: (inout HTTPDNSConfiguration) -> Void = { _ in }
    ) throws -> HTTPDNS {
        var settings = OfflineCacheSettings(directory: place)
        tune(&settings)
        var configuration = HTTPDNSConfiguration()
        configuration.resolvers = []
        for name in [CachingLab.host, "other.example.test"] {
            configuration.overrides[try HostName(name)] = [address]
        }
        configuration.trust = TrustPolicy(roots: .pem(root.certificatePEM))
        configuration.offlineCache = settings
        change(&configuration)
        return try HTTPDNS(configuration)
    }
}

/// One answer and what the report says of it.
struct Fetched: Sendable {
    let head: ResponseHead
    let body: [UInt8]
    let report: ExchangeReport

    var text: String { String(decoding: body, as: UTF8.self) }
    var cache: CacheProvenance? { report.hops.last?.cache }
    var outcome: CacheProvenance.Outcome? { cache?.outcome }
}

extension HTTPDNS {
    /// Sends with time for a machine that is busy with other tests.
    func fetch(
        _ url: String, _ method: HTTPMethod = .get, _ fields: KeyValuePairs<String, String> = [:],
        mode: CacheMode? = nil, body: RequestBody = .none,
        change: (inout HTTPRequest) -> Void = { _ in }
    ) async throws -> Fetched {
        var request = HTTPRequest(
            method, try HTTPURL(url), fields: try HTTPFields(fields), body: body)
        request.limits.resolve = .seconds(50)
        request.limits.connect = .seconds(50)
        request.cacheMode = mode
        change(&request)
        let response = try await client.send(request)
        let (octets, report) = try await response.collect(upTo: 256 * 1_024 * 1_024)
        return Fetched(head: response.head, body: octets, report: report)
    }
}

extension LabResponse {
    func with(_ fields: KeyValuePairs<String, String>) -> LabResponse {
        var copy = self
        copy.fields += fields.map { LabField($0.key, $0.value) }
        return copy
    }
}

extension LabServer {
    var count: Int { record.requests.count }

    func at(_ path: String = "/", host: String = CachingLab.host) -> String {
        url(host: host, path: path)
    }
}
