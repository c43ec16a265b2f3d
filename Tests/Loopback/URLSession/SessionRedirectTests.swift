import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSURLSession
import Testing

@Suite(.timeLimit(.minutes(1))) struct SessionRedirectTests {
    let lab: SessionLab

    init() throws { lab = try SessionLab() }

    private func origin() throws -> LabServer {
        try lab.origin { request in
            guard let number = Int(request.path.dropFirst()), number > 0 else {
                return .text("there, by \(request.method)")
            }
            var answer = LabResponse.text("moved \(number)", status: 302)
            answer.fields.append(LabField("Location", "/\(number - 1)"))
            return answer
        }
    }

    @Test func `without a delegate redirects are followed to the end`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let answer = await (try lab.session()).load(try origin.page("/3"))
        #expect(answer.text == "there, by GET")
        #expect(answer.response?.url == (try origin.page("/0")))
    }

    @Test func `a delegate is asked at each hop and may follow`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let recorder = DelegateRecorder()
        try lab.session(delegate: recorder).dataTask(with: try origin.page("/3")).resume()
        let story = await recorder.ended()
        #expect(story.redirects == ["302 /2", "302 /1", "302 /0"])
        #expect(story.responses == [200])
        #expect(story.data == Data("there, by GET".utf8))
    }

    @Test func `a delegate that refuses gets the redirect with its body`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let recorder = DelegateRecorder(onRedirect: { $0.url?.path == "/1" ? nil : $0 })
        try lab.session(delegate: recorder).dataTask(with: try origin.page("/3")).resume()
        let story = await recorder.ended()
        #expect(story.responses == [302])
        #expect(story.data == Data("moved 2".utf8))
        #expect(story.ends == [nil])
        #expect(origin.record.requests.map(\.path) == ["/3", "/2"])
    }

    @Test func `a refused redirect of a delegate's task with a large body is whole`() async throws {
        let large = Data(repeating: 0x61, count: 3_000_000)
        let origin = try lab.origin { _ in
            var answer = LabResponse(status: 302, body: Array(large))
            answer.fields.append(LabField("Location", "/next"))
            return answer
        }
        defer { origin.stop() }
        let recorder = DelegateRecorder(onRedirect: { _ in nil })
        try lab.session(delegate: recorder).dataTask(with: try origin.page()).resume()
        let story = await recorder.ended()
        #expect(story.responses == [302])
        #expect(story.data == large)
    }

    @Test func `a delegate cannot send the request elsewhere`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let recorder = DelegateRecorder(onRedirect: { request in
            var request = request
            request.url = request.url.flatMap { URL(string: "http://evil.invalid" + $0.path) }
            return request
        })
        try lab.session(delegate: recorder).dataTask(with: try origin.page("/3")).resume()
        let story = await recorder.ended()
        #expect(story.responses == [302])
        #expect(origin.record.requests.count == 1)
    }

    @Test func `a delegate that answers twice is heard once`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let delegate = TwiceDelegate()
        let recorder = DelegateRecorder()
        let session = try lab.session(delegate: recorder)
        let task = session.dataTask(with: try origin.page("/3"))
        task.delegate = delegate
        task.resume()
        while task.state != .completed { await Task.yield() }
        #expect(origin.record.requests.map(\.path) == ["/3", "/2", "/1", "/0"])
    }

    @Test func `too many redirects and a downgrade are errors with their own codes`() async throws {
        let plain = try lab.lab.origin(security: .plain)
        defer { plain.stop() }
        let origin = try lab.origin { request in
            request.path == "/circle"
                ? .redirect(to: "/circle") : .redirect(to: plain.url(host: SessionLab.host))
        }
        defer { origin.stop() }
        let session = try lab.session()
        #expect(
            await session.load(try origin.page("/circle")).error?.code == .httpTooManyRedirects)
        let downgraded = await session.load(try origin.page("/down"))
        #expect(downgraded.error?.code == .appTransportSecurityRequiresSecureConnection)
        #expect(plain.record.connections == 0)
    }
}

/// Says twice that a redirect is to be followed.
private final class TwiceDelegate: NSObject, URLSessionTaskDelegate, Sendable {
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(request)
        completionHandler(nil)
    }
}
