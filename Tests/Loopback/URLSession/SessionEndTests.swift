import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport
import Testing

/// Challenges, time-outs, cancels, suspensions and what does not fit.
@Suite(.timeLimit(.minutes(1))) struct SessionEndTests {
    let lab: SessionLab

    init() throws { lab = try SessionLab() }

    private func challenging(_ challenge: String) throws -> LabServer {
        try lab.origin { request in
            var answer = LabResponse.text(request.value(of: "Authorization") ?? "who?", status: 401)
            answer.fields.append(LabField("WWW-Authenticate", challenge))
            return answer
        }
    }

    @Test(arguments: [#"Basic realm="x""#, #"Digest realm="x", nonce="y""#, "Bearer"])
    func `a 401 is delivered at once, once, and by nobody else`(challenge: String) async throws {
        let origin = try challenging(challenge)
        defer { origin.stop() }
        let answer = await (try lab.session()).load(try origin.page())
        #expect(answer.status == 401)
        #expect(answer.text == "who?")
        let told = answer.response?.value(forHTTPHeaderField: "WWW-Authenticate") ?? ""
        #expect(told.hasSuffix(challenge))
        #expect(origin.record.requests.count == 1)
    }

    @Test func `a delegate's wrong credential ends with the 401, never with the stock loader`()
        async throws
    {
        let origin = try challenging(#"Basic realm="x""#)
        defer { origin.stop() }
        let recorder = DelegateRecorder()
        let session = try lab.session(delegate: recorder)
        session.dataTask(with: try origin.page()).resume()
        let story = await recorder.ended()
        #expect(story.responses == [401])
        #expect(story.data == Data("Basic dTpw".utf8))
        #expect(story.ends == [nil])
        // A delegate that goes on for ever is asked no more than this.
        #expect(story.challenges == 20)
        #expect(origin.record.requests.count == 21)
    }

    @Test func `user and password in the URL are sent as Basic credentials`() async throws {
        let origin = try challenging("Bearer")
        defer { origin.stop() }
        let text = "https://u:p@\(SessionLab.host):\(origin.port)/"
        let answer = await (try lab.session()).load(try #require(URL(string: text)))
        #expect(answer.text == "Basic dTpw")
    }

    @Test(arguments: ["request", "configuration", "resource"])
    func `time-outs are enforced`(by: String) async throws {
        let origin = try lab.origin { _ in .never }
        defer { origin.stop() }
        let session = try lab.session { configuration in
            if by == "configuration" { configuration.timeoutIntervalForRequest = 0.2 }
            if by == "resource" { configuration.timeoutIntervalForResource = 0.2 }
        }
        var request = URLRequest(url: try origin.page())
        if by == "request" { request.timeoutInterval = 0.2 }
        #expect(await session.load(request).error?.code == .timedOut)
        #expect(URLError.Code.timedOut.rawValue == -1001)
    }

    @Test func `a body that stops coming is a time-out, in a delegate's task too`() async throws {
        let origin = try lab.origin { _ in
            LabResponse(body: [1, 2, 3]).conducting(.stalls(afterBodyOctets: 1))
        }
        defer { origin.stop() }
        // On a machine that is busy with other tests the head itself may take longer than the limit.
        for seconds in [0.5, 2, 8] {
            let recorder = DelegateRecorder()
            let session = try lab.session(delegate: recorder) {
                $0.timeoutIntervalForRequest = seconds
            }
            session.dataTask(with: try origin.page()).resume()
            let story = await recorder.ended()
            #expect(story.ends.first??.code == .timedOut)
            if story.responses == [200] { return }
        }
        Issue.record("no head came")
    }

    @Test func `a cancelled task ends as cancelled, and its connection with it`() async throws {
        let hasGone = Locked(false)
        let server = try ScriptedServer { connection in
            _ = connection.readHead()
            connection.waitForEnd()
            hasGone.withLock { $0 = true }
        }
        let session = try lab.session()
        let url = try #require(URL(string: "http://\(SessionLab.host):\(server.endpoint.port)/"))
        let task = Locked<URLSessionDataTask?>(nil)
        async let answer = session.load(URLRequest(url: url)) { new in task.withLock { $0 = new } }
        #expect(await eventually(withinMilliseconds: 50_000) { server.heads.count == 1 })
        task.withLock { $0 }?.cancel()
        #expect(await answer.error?.code == .cancelled)
        #expect(await eventually(withinMilliseconds: 50_000) { hasGone.withLock { $0 } })
    }

    @Test func `a task cancelled before it is resumed sends nothing`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let answer = await (try lab.session()).load(URLRequest(url: try origin.page())) {
            $0.cancel()
        }
        #expect(answer.error?.code == .cancelled)
        #expect(origin.record.connections == 0)
    }

    @Test func `a task that is resumed again and again is sent once`() async throws {
        let origin = try lab.origin { _ in .text("once").chunked(octets: 1, delayMilliseconds: 10) }
        defer { origin.stop() }
        let recorder = DelegateRecorder()
        let session = try lab.session(delegate: recorder)
        let task = session.dataTask(with: try origin.page())
        for _ in 0..<3 { task.resume() }
        let story = await recorder.ended()
        #expect(story.data == Data("once".utf8))
        #expect(origin.record.requests.count == 1)
        #expect(story.ends.count == 1)
    }

    @Test func `a suspended task is told nothing until it is resumed`() async throws {
        let calls = BlockedCalls()
        let release = ReleaseAtEnd(calls)
        let origin = try lab.origin { _ in
            calls.block()
            return .text("late")
        }
        defer { origin.stop() }
        let recorder = DelegateRecorder()
        let session = try lab.session(delegate: recorder)
        let task = session.dataTask(with: try origin.page())
        task.resume()
        await calls.begun(1)
        task.suspend()
        calls.release()
        // Another task comes and goes meanwhile.
        let other = try lab.session()
        _ = await other.load(try origin.page())
        #expect(!(await eventually(withinMilliseconds: 100) { !recorder.story.responses.isEmpty }))
        task.resume()
        let story = await recorder.ended()
        #expect(story.data == Data("late".utf8))
        #expect(origin.record.requests.count == 2)
        withExtendedLifetime(release) {}
    }

    @Test func `a suspended task can be cancelled`() async throws {
        let origin = try lab.origin { _ in .never }
        defer { origin.stop() }
        let recorder = DelegateRecorder()
        let session = try lab.session(delegate: recorder)
        let task = session.dataTask(with: try origin.page())
        task.resume()
        #expect(await eventually(withinMilliseconds: 50_000) { origin.record.requests.count == 1 })
        task.suspend()
        task.cancel()
        #expect(await recorder.ended().ends.first??.code == .cancelled)
    }

    @Test func `a session can be invalidated with tasks under way`() async throws {
        let origin = try lab.origin { _ in .never }
        defer { origin.stop() }
        let recorder = DelegateRecorder()
        let session = try lab.session(delegate: recorder)
        for _ in 0..<10 { session.dataTask(with: try origin.page()).resume() }
        #expect(await eventually(withinMilliseconds: 50_000) { origin.record.requests.count == 10 })
        session.invalidateAndCancel()
        let story = await recorder.ended(10)
        #expect(story.ends.allSatisfy { $0?.code == .cancelled })
    }

    @Test func `finishing a session lets its tasks end first, whole`() async throws {
        let calls = BlockedCalls()
        let release = ReleaseAtEnd(calls)
        let origin = try lab.origin { _ in
            calls.block()
            return .text("late, and whole")
        }
        defer { origin.stop() }
        let recorder = InvalidationRecorder()
        let session = try lab.session(delegate: recorder)
        for _ in 0..<5 { session.dataTask(with: try origin.page()).resume() }
        session.finishTasksAndInvalidate()
        #expect(recorder.story == [])
        withExtendedLifetime(release) { calls.release() }
        #expect(
            await eventually(withinMilliseconds: 50_000) { recorder.story.last == "invalid nil" })
        #expect(
            recorder.story == Array(repeating: "15 nil", count: 5) + ["invalid nil"])
    }

    @Test func `cancelling a session ends its tasks first, and then says so`() async throws {
        let origin = try lab.origin { _ in .never }
        defer { origin.stop() }
        let recorder = InvalidationRecorder()
        let session = try lab.session(delegate: recorder)
        for _ in 0..<5 { session.dataTask(with: try origin.page()).resume() }
        #expect(await eventually(withinMilliseconds: 50_000) { origin.record.requests.count == 5 })
        session.invalidateAndCancel()
        #expect(
            await eventually(withinMilliseconds: 50_000) { recorder.story.last == "invalid nil" })
        #expect(
            recorder.story == Array(repeating: "0 cancelled", count: 5) + ["invalid nil"])
    }
}

/// In which order tasks and their session end.
private final class InvalidationRecorder: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // Safety: everything that changes is behind a lock.
    private let lines = Locked<[String]>([])
    private let octets = Locked<[Int: Int]>([:])

    var story: [String] { lines.withLock { $0 } }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data
    ) {
        octets.withLock { $0[dataTask.taskIdentifier, default: 0] += data.count }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        let count = octets.withLock { $0[task.taskIdentifier] } ?? 0
        tell("\(count) ", error)
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        tell("invalid ", error)
    }

    private func tell(_ head: String, _ error: (any Error)?) {
        let words =
            (error as? URLError).map { $0.code == .cancelled ? "cancelled" : "\($0.code)" }
            ?? (error == nil ? "nil" : "another error")
        lines.withLock { $0.append(head + words) }
    }
}
