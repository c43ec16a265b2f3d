import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport
import Testing

/// Whatever an application answers, or does not, its task ends.
@Suite(.timeLimit(.minutes(2))) struct UnansweredTests {
    let lab: SessionLab
    private let body = Data.pattern(40_000)

    init() throws { lab = try SessionLab() }

    private func origin(_ security: LabSecurity? = nil) throws -> LabServer {
        try lab.lab.origin([SessionLab.host], security: security) { request in
            switch request.path {
            case "/307", "/308":
                .redirect(to: "/there", status: Int(request.path.dropFirst()) ?? 0)
            case "/basic/": ChallengeLab.answer(request)
            default: LabResponse(body: request.body)
            }
        }
    }

    private func post(_ url: URL) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        // Nothing else ends it within the time of this suite.
        request.timeoutInterval = 600
        return request
    }

    // MARK: A redirect that the delegate changes

    @Test(arguments: ["/307", "/308"], [false, true])
    func `a stream that nobody gives again fails a changed redirect as it fails any`(
        path: String, isAsked: Bool
    ) async throws {
        let origin = try origin()
        defer { origin.stop() }
        let delegate = SilentDelegate(streams: isAsked ? [body] : [])
        let session = try lab.session(delegate: delegate)
        var request = post(try origin.page(path))
        if isAsked {
            session.uploadTask(withStreamedRequest: request).resume()
        } else {
            request.httpBodyStream = InputStream(data: body)
            session.dataTask(with: request).resume()
        }
        let end = await delegate.ended()
        #expect(end?.code == .requestBodyStreamExhausted)
        #expect((end?.userInfo[NSUnderlyingErrorKey] as? ExchangeFailure) != nil)
        #expect(delegate.responses == [])
        #expect(origin.record.requests.map(\.path) == [path])
    }

    @Test(arguments: ["/307", "/308"])
    func `a body that can be sent again goes along with a changed redirect`(
        path: String
    ) async throws {
        // Over HTTP/1.1 the redirect's answer is read away, which keeps the connection.
        for security in [nil, LabSecurity.plain] {
            let origin = try origin(security)
            defer { origin.stop() }
            let delegate = SilentDelegate(streams: [body, body])
            let session = try lab.session(delegate: delegate)
            let url = try #require(URL(string: origin.url(host: SessionLab.host, path: path)))
            let request = post(url)
            session.uploadTask(with: request, from: body).resume()
            #expect(await delegate.ended() == nil)
            session.uploadTask(withStreamedRequest: request).resume()
            #expect(await delegate.ended(2) == nil)
            #expect(delegate.responses == [200, 200])
            #expect(origin.record.requests.map(\.path) == [path, "/there", path, "/there"])
            #expect(origin.record.requests.allSatisfy { Data($0.body) == body })
        }
    }

    // MARK: Handlers that are let go

    @Test(arguments: SilentDelegate.Question.allCases)
    func `a handler that is let go without an answer ends the task`(
        question: SilentDelegate.Question
    ) async throws {
        let origin = try origin()
        defer { origin.stop() }
        let delegate = SilentDelegate(streams: [body, body], dropping: question)
        let session = try lab.session(delegate: delegate)
        let path = question == .challenge ? "/basic/" : "/307"
        session.uploadTask(withStreamedRequest: post(try origin.page(path))).resume()
        let end = await delegate.ended()
        #expect(end?.code == (question == .stream ? .requestBodyStreamExhausted : .cancelled))
        #expect(delegate.dropped == 1)
    }

    @Test func `tasks that are suspended and cancelled while they are redirected all end`()
        async throws
    {
        let origin = try lab.origin { request in
            let number = Int(request.path.dropFirst()) ?? 0
            return number > 0 ? .redirect(to: "/\(number - 1)") : .text("there")
        }
        defer { origin.stop() }
        let delegate = SilentDelegate(streams: [])
        let session = try lab.session(delegate: delegate)
        let count = 300
        for _ in 0..<count {
            let task = session.dataTask(with: try origin.page("/6"))
            task.resume()
            let pauses = (0..<2).map { _ in Int.random(in: 0..<4_000) }
            Task {
                for _ in 0..<pauses[0] { await Task.yield() }
                task.suspend()
                for _ in 0..<pauses[1] { await Task.yield() }
                task.cancel()
            }
        }
        _ = await delegate.ended(count)
        #expect(delegate.ends.count == count)
        #expect(delegate.ends.allSatisfy { $0 == nil || $0?.code == .cancelled })
        #expect(await session.load(try origin.page("/0")).text == "there")
    }
}

/// Changes redirects, gives streams as long as it has any, and may drop the handler of one kind of
/// question.
final class SilentDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // Safety: everything that changes is behind `state`.
    enum Question: CaseIterable, Sendable { case redirect, challenge, response, stream }

    private struct State {
        var streams: [Data]
        var responses: [Int] = []
        var dropped = 0
        var ends: [URLError?] = []
    }

    private let state: Locked<State>
    private let silent: Question?

    init(streams: [Data], dropping silent: Question? = nil) {
        state = Locked(State(streams: streams))
        self.silent = silent
    }

    var responses: [Int] { state.withLock { $0.responses } }
    var dropped: Int { state.withLock { $0.dropped } }
    var ends: [URLError?] { state.withLock { $0.ends } }

    /// The end of the task of that number.
    func ended(_ number: Int = 1) async -> URLError? {
        let isOver = await eventually(withinMilliseconds: 100_000) {
            self.state.withLock { $0.ends.count >= number }
        }
        guard isOver else { return URLError(.timedOut) }
        return state.withLock { $0.ends[number - 1] }
    }

    private func drops(_ question: Question) -> Bool {
        guard silent == question else { return false }
        state.withLock { $0.dropped += 1 }
        return true
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        if drops(.redirect) { return }
        var request = request
        request.setValue("7", forHTTPHeaderField: "X-New")
        completionHandler(request)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        if drops(.challenge) { return }
        completionHandler(.performDefaultHandling, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping (InputStream?) -> Void
    ) {
        if drops(.stream) { return }
        let next = state.withLock { $0.streams.isEmpty ? nil : $0.streams.removeFirst() }
        completionHandler(next.map { InputStream(data: $0) })
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        state.withLock { $0.responses.append((response as? HTTPURLResponse)?.statusCode ?? 0) }
        if drops(.response) { return }
        completionHandler(.allow)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        state.withLock { $0.ends.append(error as? URLError) }
    }
}
