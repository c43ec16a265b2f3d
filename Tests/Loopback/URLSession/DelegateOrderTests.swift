import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport
import Testing

/// In which order a delegate is told, and what the task says of itself at each step.
@Suite(.timeLimit(.minutes(1))) struct DelegateOrderTests {
    let lab: SessionLab

    init() throws { lab = try SessionLab() }

    @Test func `what is sent is told before the response, and the task agrees at each step`()
        async throws
    {
        let body = Data.pattern(400_000)
        let origin = try lab.origin {
            $0.path == "/moved" ? .redirect(to: "/", status: 307) : LabResponse(body: $0.body)
        }
        defer { origin.stop() }
        for path in ["/", "/moved"] {
            let delegate = StepRecorder()
            let session = try lab.session(delegate: delegate)
            var request = URLRequest(url: try origin.page(path))
            request.httpMethod = "POST"
            let task = session.uploadTask(with: request, from: body)
            task.resume()
            let steps = await delegate.ended()
            let kinds = steps.map(\.kind)
            let response = try #require(kinds.firstIndex(of: .response))
            #expect(kinds[..<response].contains(.sent))
            #expect(!kinds[response...].contains(.sent))
            #expect(kinds.last == .end)
            #expect(kinds.filter { $0 == .response }.count == 1)
            #expect(kinds.filter { $0 == .redirect }.count == (path == "/" ? 0 : 1))
            let count = Int64(body.count)
            #expect(steps[response].status == 200)
            #expect(steps[response].sent == count)
            #expect(steps[response].expectedToReceive == count)
            #expect(steps.last?.received == count)
            // What it is handed is counted by then.
            #expect(steps.allSatisfy { $0.received >= $0.handed })
            #expect(steps.last?.handed == count)
            #expect(task.currentRequest?.url == (try origin.page("/")))
            #expect(task.originalRequest?.url == (try origin.page(path)))
            #expect(task.error == nil)
        }
    }

    private func numbers(of session: URLSession) async -> [Int] {
        await withCheckedContinuation { waiter in
            session.getAllTasks { waiter.resume(returning: $0.map(\.taskIdentifier)) }
        }
    }

    @Test func `a session knows its tasks while they run, and forgets them`() async throws {
        let origin = try lab.origin { $0.path == "/never" ? .never : .text("hello") }
        defer { origin.stop() }
        let session = try lab.session()
        #expect(await session.load(try origin.page()).text == "hello")
        let running = session.dataTask(with: try origin.page("/never")) { _, _, _ in }
        running.resume()
        #expect(await eventually(withinMilliseconds: 50_000) { origin.record.requests.count == 2 })
        #expect(await numbers(of: session) == [running.taskIdentifier])
        running.cancel()
        let isForgotten = await eventually(withinMilliseconds: 50_000) {
            await self.numbers(of: session).isEmpty
        }
        #expect(isForgotten)
        #expect(running.state == .completed)
        #expect((running.error as? URLError)?.code == .cancelled)
    }
}

/// What a delegate was told, and what the task said of itself then.
private final class StepRecorder: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // Safety: everything that changes is behind `steps`.
    enum Kind: Sendable { case redirect, sent, response, data, end }

    struct Step: Sendable {
        let kind: Kind
        let status: Int?
        let sent: Int64
        let received: Int64
        let expectedToReceive: Int64
        /// Octets that the delegate has got, those of this step among them.
        let handed: Int64

        init(_ kind: Kind, _ task: URLSessionTask, handed: Int64) {
            self.kind = kind
            self.handed = handed
            status = (task.response as? HTTPURLResponse)?.statusCode
            sent = task.countOfBytesSent
            received = task.countOfBytesReceived
            expectedToReceive = task.countOfBytesExpectedToReceive
        }
    }

    private let steps = Locked<[Step]>([])

    func ended() async -> [Step] {
        _ = await eventually(withinMilliseconds: 50_000) {
            self.steps.withLock { $0.last?.kind == .end }
        }
        return steps.withLock { $0 }
    }

    private func note(_ kind: Kind, _ task: URLSessionTask, octets: Int = 0) {
        let handed = steps.withLock { $0.last?.handed ?? 0 } + Int64(octets)
        let step = Step(kind, task, handed: handed)
        steps.withLock { $0.append(step) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData new: Int64,
        totalBytesSent total: Int64, totalBytesExpectedToSend expected: Int64
    ) {
        note(.sent, task)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        note(.redirect, task)
        completionHandler(request)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        note(.response, dataTask)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note(.data, dataTask, octets: data.count)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        note(.end, task)
    }
}
