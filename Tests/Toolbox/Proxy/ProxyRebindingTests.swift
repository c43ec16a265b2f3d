import HTTPDNSForwardProxy
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSWire
import TestSupport
import Testing

/// Names whose owner leads them to this machine.
@Suite(.timeLimit(.minutes(5))) struct ProxyRebindingTests {
    private let server: LabServer
    private let root: String
    private let directory: TemporaryDirectory

    init() throws {
        server = try LabServer { _ in .text("what only this machine may see") }
        try server.start()
        directory = try TemporaryDirectory()
        try directory.write("root.pem", try TestAuthority("Rebinding Root").certificatePEM)
        root = directory.path + "/root.pem"
    }

    private func lab(
        _ addresses: [String], _ hosts: [String: [String]] = [:],
        _ adjust: (inout ForwardProxyConfiguration) -> Void = { _ in }
    ) throws -> ProxyLab {
        let resolver = OwnResolver(addresses: try addresses.map { try IPAddress($0) })
        return try ProxyLab(
            hosts, root: root,
            { settings in
                settings.unprovenPorts = [server.port]
                adjust(&settings)
            }, resolver: resolver)
    }

    private var url: String { "http://rebound.example.test:\(server.port)/" }

    @Test(arguments: [["127.0.0.1"], ["::1", "127.0.0.1", "0.0.0.0"], ["169.254.1.1", "fe80::1"]])
    func `a name that a resolver leads to this machine is reached neither way`(
        addresses: [String]
    ) async throws {
        let lab = try lab(addresses)
        let plain = try await lab.curl([url])
        #expect(plain.outputText.contains("--allow-local"), "\(plain.outputText)")
        let tunnel = try await lab.curl(["--proxytunnel", url])
        #expect(tunnel.errorText.contains("403"), "\(tunnel.errorText)")
        let records = await lab.ended(2)
        #expect(records.map(\.reason) == ["local_target", "local_target"])
        #expect(records.map(\.status) == [403, 403])
        #expect(server.record.requests.isEmpty)
    }

    @Test(arguments: [[], ["--proxytunnel"]])
    func `it is reached where that is asked for`(way: [String]) async throws {
        let open = try lab(["127.0.0.1"]) { $0.allowsLocalTargets = true }
        #expect(try await open.curl(way + [url]).status == 0)
        let table = try lab([], ["rebound.example.test": ["127.0.0.1"]])
        #expect(try await table.curl(way + [url]).status == 0)
        #expect(server.record.requests.count == 2)
    }
}

/// A resolver on this machine: loopback addresses in its answers pass the resolver's own rules.
struct OwnResolver: ResolverBackend {
    let label = "own"
    let isAuthenticated = false
    let isLocal = true
    let supportedTypes: Set<RecordType>? = nil
    let addresses: [IPAddress]

    func ask(_ question: Question, deadline: Monotonic) async throws(QueryFailure) -> Testimony {
        let family: IPAddress.Family = question.type == .a ? .ipv4 : .ipv6
        let records = addresses.filter { $0.family == family }.map {
            ResourceRecord(
                name: WireName(question.name), type: question.type, ttlSeconds: 60,
                data: .address($0))
        }
        return Testimony(
            question: question, code: .noError, answers: records,
            negativeTTLSeconds: records.isEmpty ? 60 : nil,
            source: Testimony.Source(resolver: label, transport: .udp))
    }
}
