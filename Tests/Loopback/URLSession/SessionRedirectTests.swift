import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSURLSession
import TestSupport
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

    @Test func `a delegate cannot lead from https to http`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let recorder = DelegateRecorder(onRedirect: { request in
            var request = request
            request.url = request.url.flatMap { URL(string: "http://evil.invalid" + $0.path) }
            return request
        })
        try lab.session(delegate: recorder).dataTask(with: try origin.page("/3")).resume()
        let story = await recorder.ended()
        #expect(story.ends.first??.code == .appTransportSecurityRequiresSecureConnection)
        #expect(story.responses.isEmpty)
        #expect(origin.record.requests.count == 1)
    }

    @Test func `a delegate's other URL, method, fields and body are taken`() async throws {
        let origin = try lab.origin { request in
            request.path == "/r"
                ? .redirect(to: "/offered")
                : .text(
                    "\(request.method) \(request.path) \(request.value(of: "X-New") ?? "") "
                        + request.text)
        }
        defer { origin.stop() }
        let recorder = DelegateRecorder(onRedirect: { request in
            var request = request
            request.url = request.url?.deletingLastPathComponent().appendingPathComponent("own")
            request.httpMethod = "PUT"
            request.httpBody = Data("body".utf8)
            request.setValue("7", forHTTPHeaderField: "X-New")
            return request
        })
        try lab.session(delegate: recorder).dataTask(with: try origin.page("/r")).resume()
        let story = await recorder.ended()
        #expect(story.data == Data("PUT /own 7 body".utf8))
        #expect(story.responses == [200])
        #expect(story.ends == [nil])
        #expect(origin.record.requests.map(\.path) == ["/r", "/own"])
    }

    @Test func `what belongs to an origin goes to another only where the delegate sets it anew`()
        async throws
    {
        let other = try lab.lab.origin(["other.example.test"]) { request in
            .text(request.value(of: "Authorization") ?? "nothing")
        }
        defer { other.stop() }
        let origin = try lab.origin { _ in .redirect(to: "/next") }
        defer { origin.stop() }
        let url = other.url(host: "other.example.test")
        let httpdns = try lab.lab.httpdns([
            SessionLab.host: [LabAddress.ipv4], "other.example.test": [LabAddress.ipv4],
        ])
        for token in [nil, "Bearer new"] {
            let recorder = DelegateRecorder(onRedirect: { request in
                var request = request
                request.url = URL(string: url)
                if let token { request.setValue(token, forHTTPHeaderField: "Authorization") }
                return request
            })
            let session = try lab.session(httpdns, delegate: recorder)
            var request = URLRequest(url: try origin.page())
            request.setValue("Bearer old", forHTTPHeaderField: "Authorization")
            session.dataTask(with: request).resume()
            #expect(await recorder.ended().data == Data((token ?? "nothing").utf8))
        }
    }

    @Test func `a delegate that leads in circles is stopped`() async throws {
        let origin = try lab.origin { _ in .redirect(to: "/next") }
        defer { origin.stop() }
        let recorder = DelegateRecorder(onRedirect: { request in
            var request = request
            request.setValue("1", forHTTPHeaderField: "X-Round")
            request.url = request.url?.deletingLastPathComponent().appendingPathComponent("own")
            return request
        })
        try lab.session(delegate: recorder).dataTask(with: try origin.page("/r")).resume()
        let story = await recorder.ended()
        #expect(story.ends.first??.code == .httpTooManyRedirects)
        #expect(story.redirects.count == 20)
    }

    @Test func `a response that the delegate refuses cancels the task, unread`() async throws {
        let origin = try lab.origin { _ in LabResponse(body: Array(Data.pattern(3_000_000))) }
        defer { origin.stop() }
        let recorder = DelegateRecorder(disposition: .cancel)
        let session = try lab.session(delegate: recorder)
        let task = session.dataTask(with: try origin.page())
        task.resume()
        let story = await recorder.ended()
        #expect(story.ends.first??.code == .cancelled)
        #expect(story.data.isEmpty)
        #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
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
        #expect(await eventually(withinMilliseconds: 50_000) { task.state == .completed })
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
