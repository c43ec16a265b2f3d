import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport
import Testing

/// Responses reach the three styles of data task whole.
@Suite(.timeLimit(.minutes(2))) struct DeliveryTests {
    let lab: SessionLab

    init() throws { lab = try SessionLab() }

    private static let large = Data.pattern(5_000_000)

    private func origin() throws -> LabServer {
        try lab.origin { request in
            switch request.path {
            case "/large": LabResponse(body: Array(DeliveryTests.large))
            case "/pieces":
                LabResponse.text("one-two-three").chunked(octets: 4, delayMilliseconds: 5)
            case "/empty": LabResponse(status: 200)
            case "/204": LabResponse(status: 204)
            default: .text("hello \(request.path)")
            }
        }
    }

    @Test func `completion handlers get whole bodies`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let session = try lab.session()
        #expect(await session.load(try origin.page("/pieces")).text == "one-two-three")
        let large = await session.load(try origin.page("/large"))
        #expect(large.data == DeliveryTests.large)
        #expect(large.response?.expectedContentLength == 5_000_000)
        let plain = await session.load(try origin.page("/a?b=c"))
        #expect(plain.text == "hello /a")
        #expect(plain.response?.url == (try origin.page("/a?b=c")))
        #expect(plain.response?.value(forHTTPHeaderField: "content-type") != nil)
    }

    @Test func `async calls get whole bodies`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let session = try lab.session()
        let (pieces, _) = try await session.data(from: try origin.page("/pieces"))
        #expect(pieces == Data("one-two-three".utf8))
        let (large, response) = try await session.data(for: URLRequest(url: origin.page("/large")))
        #expect(large == DeliveryTests.large)
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
    }

    @Test(arguments: ["/large", "/pieces"])
    func `delegates get the response, then pieces, then the end`(path: String) async throws {
        let origin = try origin()
        defer { origin.stop() }
        let recorder = DelegateRecorder()
        let session = try lab.session(delegate: recorder)
        session.dataTask(with: try origin.page(path)).resume()
        let story = await recorder.ended()
        #expect(story.responses == [200])
        #expect(
            story.data == (path == "/large" ? DeliveryTests.large : Data("one-two-three".utf8)))
        // Small ones that are there before the delegate is told become one, on a busy machine all.
        #expect(story.pieces > (path == "/large" ? 1 : 0))
        #expect(story.ends == [nil])
    }

    @Test func `a task's own delegate is told of redirects, its caller gets the body`()
        async throws
    {
        let origin = try lab.origin {
            $0.path == "/r"
                ? .redirect(to: "/large") : LabResponse(body: Array(DeliveryTests.large))
        }
        defer { origin.stop() }
        let session = try lab.session()
        let recorder = DelegateRecorder()
        let (data, _) = try await session.data(
            for: URLRequest(url: try origin.page("/r")), delegate: recorder)
        #expect(data == DeliveryTests.large)
        #expect(recorder.story.redirects == ["302 /large"])
    }

    @Test func `a slow delegate holds the sender back`() async throws {
        let sent = Locked(0)
        let piece = [UInt8](repeating: 0x61, count: 65_536)
        let server = try ScriptedServer { connection in
            _ = connection.readHead()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(1_024 * piece.count)\r\n\r\n")
            for _ in 0..<1_024 {
                guard connection.send(piece) else { return }
                sent.withLock { $0 += piece.count }
            }
        }
        let calls = BlockedCalls()
        let release = ReleaseAtEnd(calls)
        let recorder = DelegateRecorder(onPiece: { calls.block() })
        let session = try lab.session(delegate: recorder)
        let url = "http://\(SessionLab.host):\(server.endpoint.port)/"
        session.dataTask(with: try #require(URL(string: url))).resume()
        await calls.begun(1)
        let isHeld = await eventually(withinMilliseconds: 300) {
            sent.withLock { $0 } > 32 * 1_024 * 1_024
        }
        #expect(!isHeld)
        calls.release()
        let story = await recorder.ended()
        #expect(story.data.count == 1_024 * piece.count)
        #expect(story.ends == [nil])
        withExtendedLifetime(release) {}
    }

    @Test func `HEAD, 204 and an empty 200 end without a body`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let session = try lab.session()
        var head = URLRequest(url: try origin.page("/x"))
        head.httpMethod = "HEAD"
        let answer = await session.load(head)
        #expect(answer.status == 200)
        #expect(answer.data ?? Data() == Data())
        #expect(answer.response?.expectedContentLength == 8)
        for path in ["/204", "/empty"] {
            let answer = await session.load(try origin.page(path))
            #expect(answer.error == nil)
            #expect(answer.status == (path == "/204" ? 204 : 200))
            #expect(answer.text.isEmpty)
        }
        let (data, _) = try await session.data(from: try origin.page("/empty"))
        #expect(data.isEmpty)
    }

    @Test func `fields that repeat are joined, and their names have any case`() async throws {
        let origin = try lab.origin { _ in
            LabResponse(
                fields: [LabField("x-tag", "a"), LabField("X-Tag", "b")], body: Array("x".utf8))
        }
        defer { origin.stop() }
        let answer = await (try lab.session()).load(try origin.page())
        #expect(answer.response?.value(forHTTPHeaderField: "X-TAG") == "a, b")
    }

    @Test func `HTTP 2 is spoken where the origin does`() async throws {
        let nginx = try await NginxOrigin(
            try lab.lab.root.leaf([.dns(SessionLab.host)], commonName: "Lab origin"))
        do {
            let session = try lab.session()
            let url = "https://\(SessionLab.host):\(nginx.endpoint.port)/a"
            let answer = await session.load(try #require(URL(string: url)))
            #expect(answer.text == "hello \(SessionLab.host)")
            #expect(
                try await nginx.log() == [
                    "HTTP/2.0 GET /a \(SessionLab.host) \(SessionLab.host) 200"
                ])
        } catch { Issue.record(error) }
        try await nginx.stop()
    }
}
