import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct SessionUploadTests {
    let lab: SessionLab
    private let body = Data.pattern(400_000)

    init() throws { lab = try SessionLab() }

    private func post(_ origin: LabServer, _ path: String = "/") throws -> URLRequest {
        var request = URLRequest(url: try origin.page(path))
        request.httpMethod = "POST"
        return request
    }

    private func echo() throws -> LabServer {
        try lab.origin {
            $0.path == "/moved" ? .redirect(to: "/", status: 307) : LabResponse(body: $0.body)
        }
    }

    @Test func `httpBody arrives whole, in every style`() async throws {
        let origin = try echo()
        defer { origin.stop() }
        var request = try post(origin)
        request.httpBody = body
        #expect(await (try lab.session()).load(request).data == body)
        let (data, _) = try await lab.session().data(for: request)
        #expect(data == body)
        let recorder = DelegateRecorder()
        try lab.session(delegate: recorder).dataTask(with: request).resume()
        #expect(await recorder.ended().data == body)
        let types = origin.record.requests.map { $0.value(of: "Content-Type") }
        #expect(types.allSatisfy { $0 == "application/x-www-form-urlencoded" })
    }

    @Test func `httpBodyStream arrives whole, with and without a length`() async throws {
        let origin = try echo()
        defer { origin.stop() }
        let session = try lab.session()
        for length in [nil, "\(body.count)"] {
            var request = try post(origin)
            request.httpBodyStream = InputStream(data: body)
            if let length { request.setValue(length, forHTTPHeaderField: "Content-Length") }
            #expect(await session.load(request).data == body)
            let arrived = try #require(origin.record.requests.last)
            #expect(arrived.value(of: "Content-Length") == length)
        }
    }

    @Test func `upload tasks send data and files whole, also again after a redirect`()
        async throws
    {
        let origin = try echo()
        defer { origin.stop() }
        let session = try lab.session()
        let directory = try TemporaryDirectory()
        let file = URL(fileURLWithPath: directory.path + "/body")
        try body.write(to: file)
        for path in ["/", "/moved"] {
            let request = try post(origin, path)
            #expect(await session.upload(request, from: body).data == body)
            let answer = await session.upload(request, fromFile: file)
            #expect(answer.data == body, "\(path): \(String(describing: answer.error))")
        }
        let (data, _) = try await session.upload(for: try post(origin), from: body)
        #expect(data == body)
        #expect(origin.record.requests.allSatisfy { Data($0.body) == body })
    }

    @Test func `a file that is not there fails the task`() async throws {
        let origin = try echo()
        defer { origin.stop() }
        let answer = await (try lab.session()).upload(
            try post(origin), fromFile: URL(fileURLWithPath: "/nowhere/body"))
        #expect(answer.error != nil)
        #expect(origin.record.requests.isEmpty)
    }

    @Test func `a streamed upload asks the delegate, and again after a redirect`() async throws {
        let origin = try echo()
        defer { origin.stop() }
        let body = body
        for path in ["/", "/moved"] {
            let delegate = ChallengeDelegate(onStream: { InputStream(data: body) })
            let session = try lab.session(delegate: delegate)
            session.uploadTask(withStreamedRequest: try post(origin, path)).resume()
            #expect(await eventually(withinMilliseconds: 50_000) { delegate.ends == [nil] })
            #expect(delegate.received == body.count)
            #expect(delegate.streams == (path == "/" ? 1 : 2))
            #expect(delegate.wasOnQueue)
        }
        #expect(origin.record.requests.allSatisfy { Data($0.body) == body })
    }

    @Test func `a streamed upload without a stream fails, never with an empty body`()
        async throws
    {
        let origin = try echo()
        defer { origin.stop() }
        let recorder = DelegateRecorder()
        let session = try lab.session(delegate: recorder)
        session.uploadTask(withStreamedRequest: try post(origin)).resume()
        let story = await recorder.ended()
        #expect(story.ends.first??.code == .requestBodyStreamExhausted)
        #expect(origin.record.requests.isEmpty)
    }

    @Test func `a stream is read once: after a redirect nobody goes on from its middle`()
        async throws
    {
        let origin = try echo()
        defer { origin.stop() }
        let recorder = DelegateRecorder()
        let session = try lab.session(delegate: recorder)
        var request = try post(origin, "/moved")
        request.httpBodyStream = InputStream(data: body)
        session.uploadTask(withStreamedRequest: request).resume()
        #expect(await recorder.ended().ends.first??.code == .requestBodyStreamExhausted)
        #expect(origin.record.requests.map(\.path) == ["/moved"])
    }

    @Test func `progress is told on the delegate's queue and adds up, files say their length`()
        async throws
    {
        let origin = try echo()
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        let file = URL(fileURLWithPath: directory.path + "/body")
        try body.write(to: file)
        let delegate = ChallengeDelegate()
        let session = try lab.session(delegate: delegate)
        let request = try post(origin)
        let count = Int64(body.count)
        #expect(await session.upload(request, fromFile: file).data == body)
        #expect(origin.record.requests.last?.value(of: "Content-Length") == "\(count)")
        #expect(delegate.sent.reduce(0) { $0 + $1.new } == count)
        #expect(delegate.sent.last?.total == count)
        #expect(delegate.sent.allSatisfy { $0.expected == count })
        #expect(delegate.wasOnQueue)
        let task = Locked<URLSessionTask?>(nil)
        var posting = request
        posting.httpBody = body
        _ = await session.load(posting) { made in task.withLock { $0 = made } }
        let made = try #require(task.withLock { $0 })
        #expect(made.countOfBytesSent == count)
        #expect(made.countOfBytesExpectedToSend == count)
        #expect(made.countOfBytesReceived == count)
        #expect(made.progress.fractionCompleted == 1)
        #expect(delegate.sent.reduce(0) { $0 + $1.new } == 2 * count)
    }

    @Test func `a directory and a file that may not be read are no bodies`() async throws {
        let origin = try echo()
        defer { origin.stop() }
        let answer = await (try lab.session()).upload(
            try post(origin), fromFile: URL(fileURLWithPath: "/tmp"))
        #expect(answer.error?.code == .fileDoesNotExist)
        #expect(origin.record.connections == 0)
    }

    @Test func `additional fields are sent, and the request's own win`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let session = try lab.session {
            $0.httpAdditionalHeaders = [
                "X-App": "7", "Accept": "text/html", "Authorization": "Bearer t",
            ]
        }
        var request = URLRequest(url: try origin.page())
        request.setValue("text/plain", forHTTPHeaderField: "Accept")
        _ = await session.load(request)
        let arrived = try #require(origin.record.requests.first)
        #expect(arrived.values(of: "X-App") == ["7"])
        #expect(arrived.values(of: "Accept") == ["text/plain"])
        #expect(arrived.values(of: "Authorization") == ["Bearer t"])
        #expect(arrived.values(of: "Host") == ["\(SessionLab.host):\(origin.port)"])
    }

    @Test func `a field that would begin another is not sent`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        var request = URLRequest(url: try origin.page())
        request.setValue("a\r\nX-Evil: 1", forHTTPHeaderField: "X-A")
        let answer = await (try lab.session()).load(request)
        #expect(answer.error?.code == .badURL || answer.status == 200)
        for name in ["X-A", "X-Evil"] {
            #expect(origin.record.requests.allSatisfy { $0.value(of: name) == nil })
        }
    }
}
