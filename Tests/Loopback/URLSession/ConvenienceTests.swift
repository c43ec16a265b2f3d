import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct ConvenienceTests {
    let lab: SessionLab

    init() throws { lab = try SessionLab() }

    private func client() throws -> HTTPDNSClient { try lab.lab.client() }

    private func request(_ url: URL) -> URLRequest { URLRequest(url: url, timeoutInterval: 50) }

    @Test func `a request is sent as its author wrote it, and answered under its own URL`()
        async throws
    {
        let origin = try lab.origin {
            .text("\($0.method) \($0.value(of: "X-A") ?? "") \($0.text)")
        }
        defer { origin.stop() }
        var request = request(try origin.page("/a?b=%2F#part"))
        request.httpMethod = "PATCH"
        request.setValue("1", forHTTPHeaderField: "X-A")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data("{}".utf8)
        let (data, response) = try await client().data(for: request)
        #expect(String(decoding: data, as: UTF8.self) == "PATCH 1 {}")
        #expect(response.statusCode == 200)
        #expect(response.url?.host == SessionLab.host)
        let sent = try #require(origin.record.requests.first)
        #expect(sent.target == "/a?b=%2F")
        #expect(sent.values(of: "Content-Type") == ["application/json"])
        #expect(sent.values(of: "Content-Length") == ["2"])
    }

    @Test func `a status of an error is an answer, and a failure is a URLError with its cause`()
        async throws
    {
        let origin = try lab.origin { _ in .text("not here", status: 404) }
        let (data, response) = try await client().data(from: origin.page())
        #expect(response.statusCode == 404)
        #expect(String(decoding: data, as: UTF8.self) == "not here")
        let page = try origin.page()
        origin.stop()
        let error = await #expect(throws: URLError.self) {
            _ = try await client().data(for: request(page))
        }
        #expect(error?.code == .cannotConnectToHost)
        #expect(error?.userInfo[NSUnderlyingErrorKey] is ExchangeFailure)
        #expect(error?.failingURL == page)
    }

    @Test func `a body beyond the bound is an error, not a cut`() async throws {
        let origin = try lab.origin { _ in LabResponse(body: [UInt8](repeating: 1, count: 1_001)) }
        defer { origin.stop() }
        let error = await #expect(throws: URLError.self) {
            _ = try await client().data(from: origin.page(), upTo: 1_000)
        }
        #expect(error?.code == .dataLengthExceedsMaximum)
        #expect(try await client().data(from: origin.page(), upTo: 1_001).0.count == 1_001)
    }

    @Test func `data, files and streams are sent whole`() async throws {
        let origin = try lab.origin { LabResponse(body: $0.body) }
        defer { origin.stop() }
        let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        var put = request(try origin.page())
        put.httpMethod = "PUT"
        let client = try client()
        #expect(try await client.upload(for: put, from: body).0 == body)
        let directory = try TemporaryDirectory()
        let file = URL(fileURLWithPath: directory.path + "/body")
        try body.write(to: file)
        #expect(try await client.upload(for: put, fromFile: file).0 == body)
        put.httpBodyStream = InputStream(data: body)
        #expect(try await client.data(for: put).0 == body)
        let lengths = origin.record.requests.map { $0.value(of: "Content-Length") }
        #expect(lengths == ["300000", "300000", nil])
        let missing = URL(fileURLWithPath: directory.path + "/missing")
        let error = await #expect(throws: URLError.self) {
            _ = try await client.upload(for: put, fromFile: missing)
        }
        #expect(error?.code == .fileDoesNotExist)
    }

    @Test func `a download is a file of its own, and there is none after an error`() async throws {
        let body = [UInt8](repeating: 0x61, count: 3_000_000)
        let origin = try lab.origin { request in
            let answer = LabResponse(body: body)
            return request.path == "/cut"
                ? answer.conducting(.closes(afterBodyOctets: 2_000_000)) : answer
        }
        defer { origin.stop() }
        let client = try client()
        let (file, response) = try await client.download(for: request(origin.page()))
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(response.statusCode == 200)
        #expect(try Data(contentsOf: file) == Data(body))
        let rights = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
        #expect((rights as? NSNumber)?.intValue == 0o600)
        let error = await #expect(throws: URLError.self) {
            _ = try await client.download(for: request(origin.page("/cut")))
        }
        #expect(error?.code == .networkConnectionLost)
    }

    @Test func `octets come one by one`() async throws {
        let origin = try lab.origin { _ in .text("line one\nline two\n") }
        defer { origin.stop() }
        let (bytes, response) = try await client().bytes(for: request(origin.page()))
        var text = ""
        for try await byte in bytes { text.unicodeScalars.append(Unicode.Scalar(byte)) }
        #expect(text == "line one\nline two\n")
        #expect(response.statusCode == 200)
    }

    @Test func `a cancelled task ends at once as cancelled`() async throws {
        let origin = try lab.origin { _ in .never }
        defer { origin.stop() }
        let loading = Task { [client = try client(), request = request(try origin.page())] in
            try await client.data(for: request)
        }
        #expect(await eventually { !origin.record.requests.isEmpty })
        loading.cancel()
        let result = await loading.result
        let error = #expect(throws: URLError.self) { _ = try result.get() }
        #expect(error?.code == .cancelled)
    }

    @Test(arguments: ["file:///etc/passwd", "http:///", "http://0x7f000001/", "mailto:a@b.test"])
    func `a URL that is no request is named as one`(text: String) async throws {
        let url = try #require(URL(string: text))
        let error = #expect(throws: URLError.self) { _ = try HTTPRequest(URLRequest(url: url)) }
        #expect(error?.code == .badURL)
    }
}
