import HTTPDNS
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport
import Testing

/// What a record shows of a request's head is what its origin received.
@Suite(.timeLimit(.minutes(3))) struct SentFieldsTests {
    private let lab: CaptureLab

    init() throws { lab = try CaptureLab() }

    /// Requests that differ in what the transport writes for them.
    enum Kind: String, CaseIterable, Sendable {
        case plain, bytes, nothingPosted, stream, streamOfUnknownLength, continued, ownCoding, range
        case ownLength, connectionOptions
    }

    private func request(_ kind: Kind, _ url: HTTPURL) throws -> HTTPRequest {
        var request = HTTPRequest(.get, url)
        try request.head.fields.append("X-Own", "yes")
        let body = RepeatableSource(Array("a body".utf8))
        switch kind {
        case .plain: break
        case .bytes: request.body = .bytes(Array("a body".utf8))
        case .nothingPosted: request.head.method = .post
        case .stream: request.body = .stream(body)
        case .streamOfUnknownLength: request.body = .stream(UnknownLength(body))
        case .continued:
            request.body = .stream(UnknownLength(body))
            request.expectsContinue = true
        case .ownCoding: try request.head.fields.append("Accept-Encoding", "br")
        case .range: try request.head.fields.append("Range", "bytes=0-3")
        case .ownLength:
            request.body = .bytes(Array("a body".utf8))
            try request.head.fields.append("Content-Length", "6")
            try request.head.fields.append("Content-Type", "text/plain")
        case .connectionOptions:
            try request.head.fields.append("Connection", "keep-alive")
            try request.head.fields.append("Keep-Alive", "timeout=5")
            try request.head.fields.append("TE", "gzip")
            try request.head.fields.append("Accept", "*/*")
        }
        if case .none = request.body {} else { request.head.method = .put }
        return request
    }

    private func lines(_ fields: [(String, String)]) -> [String] {
        fields.map { "\($0.0.lowercased()): \($0.1)" }.sorted()
    }

    @Test(arguments: Kind.allCases, [false, true])
    func `the head is recorded as it arrives`(kind: Kind, speaksHTTP2: Bool) async throws {
        let leaf = try lab.root.leaf([.dns(CaptureLab.host)])
        var features = LabTLSFeatures()
        features.speaksHTTP2 = speaksHTTP2
        let origin = try LabServer(
            address: LabAddress.ipv4, security: .tls(leaf, features: features)
        ) { _ in .text("there") }
        try origin.start()
        defer { origin.stop() }
        let capture = lab.ring()
        let client = try lab.httpdns(capture).client
        // The second time nothing but the record before it tells what goes out.
        for _ in 0..<2 { try await client.text(request(kind, lab.url(origin, "/x"))) }
        let records = await capture.all
        let received = origin.record.requests
        try #require(records.count == 2 && received.count == 2)
        for (record, request) in zip(records, received) {
            let hop = try #require(record.hops.first)
            #expect(hop.version == (speaksHTTP2 ? "2" : "1.1"))
            #expect(
                lines(hop.requestFields.map { ($0.name, $0.value) })
                    == lines(request.fields.map { ($0.name, $0.value) }))
            #expect(hop.requestField("Host") == "\(CaptureLab.host):\(origin.port)")
        }
    }

    @Test func `a proxy that reads the request is told more, and that is recorded`() async throws {
        let proxy = try LabServer(address: LabAddress.ipv4, security: .plain) { _ in .text("there")
        }
        try proxy.start()
        defer { proxy.stop() }
        let capture = lab.ring()
        let client = try lab.httpdns(capture).client
        var request = HTTPRequest(.get, try HTTPURL("http://\(CaptureLab.host)/x"))
        request.proxies = ProxyPolicy(try Proxy("http://me:hidden-away@127.0.0.1:\(proxy.port)"))
        try await client.text(request)
        let hop = try #require(await capture.all.first?.hops.first)
        let received = try #require(proxy.record.requests.first)
        #expect(received.value(of: "Proxy-Authorization")?.hasPrefix("Basic ") == true)
        #expect(
            Set(hop.requestFields.map { $0.name.lowercased() })
                == Set(received.fields.map { $0.name.lowercased() }))
        #expect(hop.requestField("Proxy-Authorization") == "Basic REDACTED")
    }

    @Test func `conditions of the cache are recorded where they go out`() async throws {
        let origin = try lab.origin { request in
            request.value(of: "If-None-Match") == nil
                ? LabResponse(
                    fields: [LabField("ETag", "\"1\""), LabField("Cache-Control", "no-cache")],
                    body: Array("kept".utf8))
                : LabResponse(status: 304, fields: [LabField("ETag", "\"1\"")])
        }
        defer { origin.stop() }
        let capture = lab.ring()
        let client = try lab.httpdns(capture) {
            $0.offlineCache = OfflineCacheSettings(directory: lab.directory.path + "/kept")
        }.client
        for _ in 0..<2 { try await client.text(HTTPRequest(.get, lab.url(origin))) }
        let hop = try #require(await capture.all.last?.hops.first)
        #expect(hop.cache == "validated" && hop.requestField("If-None-Match") == "\"1\"")
    }
}

/// A source that does not say how long it is.
private final class UnknownLength: RequestBodySource {
    private let source: RepeatableSource

    init(_ source: RepeatableSource) { self.source = source }

    var length: Int64? { nil }
    var canRewind: Bool { true }
    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead { source.read(into: buffer) }
    func whenReadable(_ wake: @escaping @Sendable () -> Void) { source.whenReadable(wake) }
    func rewind() -> Bool { source.rewind() }
}
