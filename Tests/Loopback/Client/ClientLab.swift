import HTTPDNS
import HTTPDNSPinLab
import HTTPDNSPlatform
import Testing

/// An authority, origins under it, and clients that trust it and take addresses from a table.
struct ClientLab {
    let root: TestAuthority

    init() throws { root = try TestAuthority() }

    /// A running origin for `names`; stopped by the caller.
    func origin(
        _ names: [String] = ["shop.example.test"], at address: IPAddress = LabAddress.ipv4,
        port: Port? = nil, security: LabSecurity? = nil,
        _ handler: @escaping @Sendable (LabRequest) -> LabResponse = { .text("hello \($0.path)") }
    ) throws -> LabServer {
        let leaf = try root.leaf(names.map { .dns($0) })
        let server = try LabServer(
            address: address, port: port, security: security ?? .tls(leaf), handler: handler)
        try server.start()
        return server
    }

    func httpdns(
        _ table: [String: [IPAddress]] = ["shop.example.test": [LabAddress.ipv4]],
        change: (inout HTTPDNSConfiguration) -> Void = { _ in }
    ) throws -> HTTPDNS {
        var entries: [HostName: [IPAddress]] = [:]
        for (name, addresses) in table { entries[try HostName(name)] = addresses }
        var configuration = HTTPDNSConfiguration()
        configuration.resolvers = []
        configuration.overrides = entries
        configuration.trust = TrustPolicy(roots: .pem(root.certificatePEM))
        change(&configuration)
        return try HTTPDNS(configuration)
    }

    func client(
        _ table: [String: [IPAddress]] = ["shop.example.test": [LabAddress.ipv4]]
    ) throws -> HTTPDNSClient {
        try httpdns(table).client
    }
}

/// Gives addresses from a table that the test may change, and counts the questions.
final class TableBackend: ResolverBackend {
    let label: String
    let isAuthenticated = true
    let supportedTypes: Set<RecordType>? = nil
    private let state: Locked<State>

    private struct State {
        var table: [String: [IPAddress]]
        var asked: [String] = []
    }

    init(_ table: [String: [IPAddress]], label: String = "table") {
        self.label = label
        state = Locked(State(table: table))
    }

    /// The names asked for by type A, in order.
    var asked: [String] { state.withLock { $0.asked } }

    func tell(_ name: String, _ addresses: [IPAddress]) {
        state.withLock { $0.table[name] = addresses }
    }

    func ask(_ question: Question, deadline: Monotonic) async throws(QueryFailure) -> Testimony {
        let name = question.name.text
        let addresses = state.withLock { state in
            if question.type == .a { state.asked.append(name) }
            return state.table[name]
        }
        return Testimony(
            question: question, code: addresses == nil ? .noSuchName : .noError,
            answers: (addresses ?? []).filter {
                ($0.family == .ipv4) == (question.type == .a)
            }.map {
                ResourceRecord(
                    name: WireName(question.name), type: question.type, ttlSeconds: 60,
                    data: .address($0))
            },
            source: Testimony.Source(resolver: label, transport: .httpdns))
    }
}

extension LabServer {
    func httpURL(_ path: String = "/", host: String = "shop.example.test") throws -> HTTPURL {
        try HTTPURL(url(host: host, path: path))
    }
}

extension HTTPDNSClient {
    /// Sends with time for a machine that is busy with other tests.
    func sendPatiently(_ request: HTTPRequest) async throws(ExchangeFailure) -> HTTPResponse {
        var request = request
        request.limits.resolve = .seconds(50)
        request.limits.connect = .seconds(50)
        return try await send(request)
    }

    /// The whole response.
    func fetch(
        _ request: HTTPRequest
    ) async throws(ExchangeFailure) -> (head: ResponseHead, text: String, report: ExchangeReport) {
        let response = try await sendPatiently(request)
        let (body, report) = try await response.collect(upTo: 256 * 1_024 * 1_024)
        return (response.head, String(decoding: body, as: UTF8.self), report)
    }

    func get(
        _ url: HTTPURL
    ) async throws(ExchangeFailure) -> (head: ResponseHead, text: String, report: ExchangeReport) {
        try await fetch(HTTPRequest(.get, url))
    }

    /// The failure of a request that must fail.
    func failure(of request: HTTPRequest) async -> ExchangeFailure? {
        do {
            let response = try await fetch(request)
            Issue.record("an answer came: \(response.head.status) \(response.text)")
            return nil
        } catch {
            return error
        }
    }
}
