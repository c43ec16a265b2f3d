import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport
import Testing

/// What HTTP libraries, image loaders and API clients read from tasks, requests and errors, as the
/// stock loader has it.
@Suite(.timeLimit(.minutes(1))) struct ClientAssumptionTests {
    let lab: SessionLab

    init() throws { lab = try SessionLab() }

    /// The redirecting path is `/r`.
    private func redirecting() throws -> LabServer {
        try lab.origin { request in
            request.path == "/r" ? .redirect(to: "/there") : .text("there")
        }
    }

    @Test func `a failed task keeps its error, in every style`() async throws {
        let origin = try lab.origin { _ in
            LabResponse(body: Array("abc".utf8)).conducting(.closes(afterBodyOctets: 1))
        }
        defer { origin.stop() }
        let request = URLRequest(url: try origin.page())
        let tasks = TaskKeeper()
        let handled = await (try lab.session()).load(request) { tasks.keep($0) }
        #expect(handled.error?.code == .networkConnectionLost)

        let recorder = DelegateRecorder()
        tasks.resume(try lab.session(delegate: recorder).dataTask(with: request))
        #expect(await recorder.ended().ends.map { $0?.code } == [.networkConnectionLost])

        let files = DownloadRecorder()
        tasks.resume(try lab.session(delegate: files).downloadTask(with: request))
        #expect(await files.ended().ends.map { $0?.code } == [.networkConnectionLost])
        #expect(
            tasks.kept.map { ($0.error as? URLError)?.code }
                == Array(repeating: .networkConnectionLost, count: 3))
    }

    @Test func `an error tells its URL as text, too`() async throws {
        let origin = try lab.origin { _ in LabResponse().conducting(.closesUnanswered) }
        defer { origin.stop() }
        let page = try origin.page("/a?b=c")
        let answer = await (try lab.session()).load(page)
        #expect(answer.error?.failingURL == page)
        let text = answer.error?.userInfo["NSErrorFailingURLStringKey"] as? String
        #expect(text == page.absoluteString)
    }

    @Test(arguments: [true, false])
    func `what a redirect led to is the task's current request`(isAsked: Bool) async throws {
        let origin = try redirecting()
        defer { origin.stop() }
        let tasks = TaskKeeper()
        let delegate = isAsked ? DelegateRecorder() : nil
        var request = URLRequest(url: try origin.page("/r"))
        request.httpMethod = "POST"
        request.httpBody = Data("body".utf8)
        request.setValue("7", forHTTPHeaderField: "X-Own")
        let answer = await (try lab.session(delegate: delegate)).load(request) { tasks.keep($0) }
        #expect(answer.text == "there")
        let task = try #require(tasks.kept.first)
        #expect(task.originalRequest == request)
        #expect(task.currentRequest?.url == (try origin.page("/there")))
        #expect(task.currentRequest?.httpMethod == "GET")
        #expect(task.currentRequest?.httpBody == nil)
        #expect(task.currentRequest?.allHTTPHeaderFields == ["X-Own": "7"])
    }

    @Test func `a redirect that was refused changes no request, another one is taken`() async throws
    {
        let origin = try redirecting()
        defer { origin.stop() }
        let own = try origin.page("/own")
        for chosen in [nil, URLRequest(url: own)] {
            let tasks = TaskKeeper()
            let delegate = DelegateRecorder(onRedirect: { _ in chosen })
            let request = URLRequest(url: try origin.page("/r"))
            let answer = await (try lab.session(delegate: delegate)).load(request) {
                tasks.keep($0)
            }
            #expect(answer.status == (chosen == nil ? 302 : 200))
            #expect(tasks.kept.first?.currentRequest?.url == (chosen ?? request).url)
        }
    }

    @Test func `a delegate is shown its own request led elsewhere, and the rest goes along`()
        async throws
    {
        let origin = try redirecting()
        defer { origin.stop() }
        let shown = Locked([URLRequest]())
        let delegate = DelegateRecorder(onRedirect: { request in
            shown.withLock { $0.append(request) }
            var request = request
            request.setValue("8", forHTTPHeaderField: "X-New")
            return request
        })
        let session = try lab.session(delegate: delegate) {
            $0.httpAdditionalHeaders = ["X-Session": "9", "User-Agent": "client/1"]
        }
        var request = URLRequest(url: try origin.page("/r"))
        request.timeoutInterval = 33
        request.cachePolicy = .reloadIgnoringLocalCacheData
        request.httpShouldHandleCookies = false
        request.setValue("7", forHTTPHeaderField: "X-Own")
        #expect(await session.load(request).text == "there")
        let offered = try #require(shown.withLock { $0.first })
        #expect(offered.timeoutInterval == 33)
        #expect(offered.cachePolicy == .reloadIgnoringLocalCacheData)
        #expect(!offered.httpShouldHandleCookies)
        #expect(offered.allHTTPHeaderFields == ["X-Own": "7"])
        let sent = try #require(origin.record.requests.last)
        #expect(sent.path == "/there")
        for (name, value) in [
            "X-Own": "7", "X-New": "8", "X-Session": "9", "User-Agent": "client/1", "Accept": "*/*",
        ] { #expect(sent.values(of: name) == [value], "\(name)") }
    }

    @Test func `what a delegate was not shown goes to another origin only where it may`()
        async throws
    {
        let other = try lab.lab.origin(["other.example.test"])
        defer { other.stop() }
        let origin = try redirecting()
        defer { origin.stop() }
        let httpdns = try lab.lab.httpdns([
            SessionLab.host: [origin.address], "other.example.test": [other.address],
        ])
        let elsewhere = try #require(URL(string: other.url(host: "other.example.test")))
        let delegate = DelegateRecorder(onRedirect: { _ in URLRequest(url: elsewhere) })
        let session = try lab.session(httpdns, delegate: delegate) {
            $0.httpAdditionalHeaders = ["X-Session": "9", "Authorization": "Bearer secret"]
        }
        _ = await session.load(try origin.page("/r"))
        #expect(origin.record.requests.first?.value(of: "Authorization") == "Bearer secret")
        let sent = try #require(other.record.requests.first)
        #expect(sent.value(of: "X-Session") == "9")
        #expect(sent.value(of: "Authorization") == nil)
    }

    @Test func `the application's name and language are said, unless it says otherwise`()
        async throws
    {
        let origin = try lab.origin()
        defer { origin.stop() }
        _ = await (try lab.session()).load(try origin.page())
        var request = URLRequest(url: try origin.page())
        request.setValue("client/1", forHTTPHeaderField: "user-agent")
        request.setValue("cy", forHTTPHeaderField: "Accept-Language")
        _ = await (try lab.session()).load(request)
        let session = try lab.session { $0.httpAdditionalHeaders = ["User-Agent": "session/1"] }
        _ = await session.load(try origin.page())
        let name = "\(ProcessInfo.processInfo.processName) (unknown version) curl/"
        let agents = origin.record.requests.map { $0.values(of: "User-Agent") }
        #expect(agents.first?.count == 1)
        #expect(agents.first?.first?.hasPrefix(name) == true)
        #expect(agents.dropFirst() == [["client/1"], ["session/1"]])
        let languages = origin.record.requests.map { $0.values(of: "Accept-Language") }
        #expect(languages.map(\.count) == [1, 1, 1])
        #expect(languages[1] == ["cy"])
    }

    @Test(arguments: [
        (#"Bearer realm="api""#, true), (#"Digest realm="r", nonce="n""#, true),
        (#"Basic realm="r""#, false), (#"Bearer realm="x", basic realm="r""#, false),
        (#"Bearer error="a, Basic realm=b""#, false), (#"Negotiate"#, true),
    ])
    func `a challenge is delivered as it came, where Foundation leaves it alone`(
        challenge: String, isUntouched: Bool
    ) async throws {
        let origin = try lab.origin { _ in
            var answer = LabResponse.text("who are you", status: 401)
            answer.fields.append(LabField("WWW-Authenticate", challenge))
            return answer
        }
        defer { origin.stop() }
        let answer = await (try lab.session()).load(try origin.page())
        #expect(answer.status == 401)
        #expect(answer.text == "who are you")
        let delivered = answer.response?.value(forHTTPHeaderField: "WWW-Authenticate")
        #expect(delivered == (isUntouched ? challenge : ", " + challenge))
        #expect(origin.record.requests.count == 1)
    }

    @Test func `an upload's own body counts before what its request holds`() async throws {
        let origin = try lab.origin { .text($0.text) }
        defer { origin.stop() }
        var request = URLRequest(url: try origin.page())
        request.httpMethod = "PUT"
        request.httpBody = Data("the request's".utf8)
        let session = try lab.session()
        #expect(await session.upload(request, from: Data("the task's".utf8)).text == "the task's")
        #expect(await session.load(request).text == "the request's")
    }

    @Test(arguments: [true, false])
    func `a streamed upload that nobody gives a stream sends its request's own, or fails at once`(
        hasDelegate: Bool
    ) async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let session = try lab.session(delegate: hasDelegate ? DelegateRecorder() : nil)
        var request = URLRequest(url: try origin.page())
        request.httpMethod = "POST"
        let empty = session.uploadTask(withStreamedRequest: request)
        empty.resume()
        #expect(await eventually(withinMilliseconds: 60_000) { empty.state == .completed })
        #expect((empty.error as? URLError)?.code == .requestBodyStreamExhausted)
        #expect(origin.record.requests.isEmpty)

        request.httpBodyStream = InputStream(data: Data("the request's".utf8))
        let full = session.uploadTask(withStreamedRequest: request)
        full.resume()
        #expect(await eventually(withinMilliseconds: 60_000) { full.state == .completed })
        #expect(origin.record.requests.map(\.text) == ["the request's"])
    }

    @Test func `a handler's download tells the session's delegate nothing of its progress`()
        async throws
    {
        let origin = try lab.origin()
        defer { origin.stop() }
        let recorder = DownloadRecorder()
        let session = try lab.session(delegate: recorder)
        let request = URLRequest(url: try origin.page())
        #expect(await session.download(request).data == Data("hello /".utf8))
        let (file, _) = try await session.download(for: request)
        try FileManager.default.removeItem(at: file)
        // What is told afterwards is told behind all of that.
        session.downloadTask(with: request).resume()
        #expect(await recorder.ended().order == ["written", "file", "end"])
    }

    /// `hello` in the coding `deflate`.
    private static let packed: [UInt8] = [
        0x78, 0x9C, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0, 0x06, 0x2C, 0x02, 0x15,
    ]

    /// HTTP libraries set `Accept-Encoding` of every session they make.
    @Test(arguments: ["br;q=1.0, gzip;q=0.9, deflate;q=0.8", "deflate", "identity"])
    func `a coded body is undone, whoever asked for its coding`(accepted: String) async throws {
        let origin = try lab.origin { _ in
            LabResponse(
                fields: [LabField("Content-Encoding", "deflate")],
                body: ClientAssumptionTests.packed)
        }
        defer { origin.stop() }
        let session = try lab.session { $0.httpAdditionalHeaders = ["Accept-Encoding": accepted] }
        let page = try origin.page()
        #expect(await session.load(page).text == "hello")
        #expect(await session.download(URLRequest(url: page)).data == Data("hello".utf8))
        var request = URLRequest(url: page)
        request.setValue(accepted, forHTTPHeaderField: "accept-encoding")
        let (data, response) = try await (try lab.session()).data(for: request)
        #expect(data == Data("hello".utf8))
        #expect(
            (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Encoding") != nil)
        let client = try lab.lab.httpdns().client
        #expect(try await client.data(for: request).0 == Data("hello".utf8))
        #expect(
            origin.record.requests.map { $0.values(of: "Accept-Encoding") }
                == Array(repeating: [accepted], count: 4))
    }

    @Test(arguments: [nil, "gzip, deflate"])
    func `a part of a coded body comes as it is, the whole in its place is undone`(
        accepted: String?
    ) async throws {
        let origin = try lab.origin { request in
            LabResponse(
                status: request.path == "/part" ? 206 : 200,
                fields: [LabField("Content-Encoding", "deflate")],
                body: ClientAssumptionTests.packed)
        }
        defer { origin.stop() }
        let session = try lab.session()
        for (path, body) in [
            ("/part", ClientAssumptionTests.packed), ("/whole", Array("hello".utf8)),
        ] {
            var request = URLRequest(url: try origin.page(path))
            request.setValue("bytes=0-12", forHTTPHeaderField: "Range")
            request.setValue(accepted, forHTTPHeaderField: "Accept-Encoding")
            #expect(await session.load(request).data == Data(body))
        }
        #expect(
            origin.record.requests.map { $0.value(of: "Accept-Encoding") } == [accepted, accepted])
    }

    @Test(arguments: ["", "?", "/a%20b/../c?q='x'", "/a#part"])
    func `a response has the URL that was asked for, letter by letter`(rest: String) async throws {
        let origin = try lab.origin { _ in .text("here") }
        defer { origin.stop() }
        let root = try origin.page().absoluteString.dropLast()
        let page = try #require(URL(string: root + rest))
        let answer = await (try lab.session()).load(page)
        #expect(answer.text == "here")
        #expect(answer.response?.url == page)
    }

    @Test func `a class in front of ours answers first, and ours the rest`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let session = try lab.session()
        let configuration = session.configuration
        configuration.protocolClasses =
            [MockProtocol.self] + (configuration.protocolClasses ?? [])
        #expect(await session.load(try origin.page("/mock")).text == "mocked")
        #expect(await session.load(try origin.page("/real")).text == "hello /real")
        #expect(origin.record.requests.map(\.path) == ["/real"])
    }
}

/// Keeps tasks beyond their end.
private final class TaskKeeper: Sendable {
    private let tasks = Locked([URLSessionTask]())

    var kept: [URLSessionTask] { tasks.withLock { $0 } }

    func keep(_ task: URLSessionTask) { tasks.withLock { $0.append(task) } }

    func resume(_ task: URLSessionTask) {
        keep(task)
        task.resume()
    }
}

/// As applications write them for their tests.
private final class MockProtocol: URLProtocol {
    override static func canInit(with request: URLRequest) -> Bool {
        request.url?.path == "/mock"
    }

    override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url,
            let response = HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data("mocked".utf8))
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}
