import HTTPDNS
import HTTPDNSForwardProxy
import HTTPDNSJSON
import HTTPDNSPinLab
import TestSupport
import Testing

/// What the proxy refuses is in its capture, as far as it could be read.
@Suite(.timeLimit(.minutes(3))) struct RefusalCaptureTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try directory.write("root.pem", try TestAuthority("Refusing Root").certificatePEM)
    }

    private func records(
        of text: String
    ) async throws -> (told: ForwardProxyRecord, kept: CaptureRecord) {
        let capture = Capture(CaptureConfiguration(ringRecords: 10))
        let lab = try ProxyLab([:], root: directory.path + "/root.pem") { $0.capture = capture }
        _ = try await offPool {
            let client = try lab.proxy.connected()
            client.send(text)
            client.endWriting()
            return client.readText()
        }
        let told = try #require(await lab.ended(1).first)
        await capture.flush()
        #expect(capture.recent.count == 1, "\(text)")
        return (told, try #require(capture.recent.first))
    }

    @Test(arguments: [
        ("GET /x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET", "/x"),
        ("CONNECT nonsense HTTP/1.1\r\nHost: nonsense\r\n\r\n", "CONNECT", "nonsense"),
        ("hello\r\n\r\n", "", ""),
        (
            "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\n"
                + "Content-Length: 2\r\n\r\n", "", ""
        ),
        (
            "GET /admin?token=hidden-away HTTP/1.1\r\nHost: rebound.example.test:99\r\n\r\n", "GET",
            "http://rebound.example.test:99/admin?token=REDACTED"
        ),
        ("GET ftp://a.test/x HTTP/1.1\r\nHost: a.test\r\n\r\n", "GET", "ftp://a.test/x"),
    ])
    func `a request that is refused is recorded with what is known of it`(
        text: String, method: String, url: String
    ) async throws {
        let (told, kept) = try await records(of: text)
        #expect(told.kind == .refused && kept.kind == .blocked)
        #expect(kept.initiator.name == "proxy" && kept.status == told.status)
        #expect(kept.failure?.label == told.reason && told.reason != nil)
        #expect(kept.method == method || method.isEmpty, "\(kept.method)")
        #expect(kept.url == url || url.isEmpty && !kept.url.contains("hidden"), "\(kept.url)")
        let har = HARWriter.file([kept])
        let reader = try HARReader(har)
        #expect(reader.faults.isEmpty, "\(reader.faults)")
        #expect(reader.records.first?.url == kept.url)
        #expect(reader.records.first?.method == kept.method)
    }

    @Test func `a tunnel whose host nobody knows says who was asked`() async throws {
        let capture = Capture(CaptureConfiguration(ringRecords: 10))
        let lab = try ProxyLab(
            [:], root: directory.path + "/root.pem", { $0.capture = capture },
            resolver: OwnResolver(addresses: []))
        _ = try await lab.curl(["https://unknown.example.test/"])
        _ = await lab.ended(1)
        await capture.flush()
        let hop = try #require(capture.recent.first?.hops.first)
        #expect(hop.resolution == nil && !hop.resolverFailures.isEmpty)
        #expect(hop.url == "https://unknown.example.test:443/")
    }

    @Test func `a coded answer that was not asked for is kept as one that came coded`() async throws
    {
        let coded: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        let server = try LabServer { _ in
            LabResponse(fields: [LabField("Content-Encoding", "gzip")], body: coded)
        }
        try server.start()
        defer { server.stop() }
        let capture = Capture(CaptureConfiguration(ringRecords: 10))
        let lab = try ProxyLab(
            ["web.example.test": ["127.0.0.1"]], root: directory.path + "/root.pem"
        ) { $0.capture = capture }
        let result = try await lab.curl(["http://web.example.test:\(server.port)/"])
        #expect(result.output == coded)
        _ = await lab.ended(1)
        await capture.flush()
        let record = try #require(capture.recent.first)
        #expect(record.responseBody.totalOctets == Int64(coded.count))
        #expect(record.responseBody.omission == .coded && record.responseBody.octets.isEmpty)
        #expect(record.hops.first?.requestField("Accept-Encoding") == nil)
    }
}
