import HTTPDNS
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport
import Testing

/// An origin for `shop.example.test` on loopback, and clients that trust it and record.
struct CaptureLab {
    static let host = "shop.example.test"
    let root: TestAuthority
    let directory: TemporaryDirectory

    init() throws {
        root = try TestAuthority()
        directory = try TemporaryDirectory()
    }

    var path: String { directory.path + "/traffic.sqlite" }

    /// A running origin; stopped by the caller.
    func origin(
        _ handler: @escaping @Sendable (LabRequest) -> LabResponse = { .text("hello \($0.path)") }
    ) throws -> LabServer {
        let leaf = try root.leaf([.dns(CaptureLab.host)])
        let server = try LabServer(
            address: LabAddress.ipv4, security: .tls(leaf), handler: handler)
        try server.start()
        return server
    }

    func httpdns(
        _ capture: Capture?, change: (inout HTTPDNSConfiguration) -> Void = { _ in }
    ) throws -> HTTPDNS {
        var configuration = HTTPDNSConfiguration()
        configuration.resolvers = []
        configuration.overrides = [try HostName(CaptureLab.host): [LabAddress.ipv4]]
        configuration.trust = TrustPolicy(roots: .pem(root.certificatePEM))
        configuration.capture = capture
        change(&configuration)
        return try HTTPDNS(configuration)
    }

    func url(_ origin: LabServer, _ path: String = "/") throws -> HTTPURL {
        try HTTPURL(origin.url(host: CaptureLab.host, path: path))
    }

    /// A ring, and nothing else.
    func ring(_ change: (inout CaptureConfiguration) -> Void = { _ in }) -> Capture {
        var configuration = CaptureConfiguration(ringRecords: 100)
        change(&configuration)
        return Capture(configuration)
    }
}

extension HTTPDNSClient {
    /// Sends and reads all; the body.
    @discardableResult
    func text(_ request: HTTPRequest) async throws -> String {
        let (body, _) = try await send(request).collect(upTo: 300_000_000)
        return String(decoding: body, as: UTF8.self)
    }
}

extension Capture {
    /// All that has ended by now.
    var all: [CaptureRecord] {
        get async {
            await flush()
            return recent
        }
    }
}

extension CaptureRecord.Body {
    var text: String { String(decoding: octets, as: UTF8.self) }
}
