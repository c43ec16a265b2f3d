import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport
import Testing

/// Delegates are told on the queue that the session was given: HTTP libraries bring their own.
@Suite(.timeLimit(.minutes(1))) struct SessionQueueTests {
    let lab: SessionLab

    init() throws { lab = try SessionLab() }

    enum Kind: CaseIterable {
        case serialOverDispatch
        case concurrentOverDispatch
        case concurrent
        case serial

        // An operation queue does not hold the queue below it.
        private static let root = DispatchQueue(label: "library.root")
        private static let shared = DispatchQueue(label: "library.shared", attributes: .concurrent)

        var queue: OperationQueue {
            let queue = OperationQueue()
            switch self {
            case .serialOverDispatch:
                queue.maxConcurrentOperationCount = 1
                queue.underlyingQueue = Kind.root
            case .concurrentOverDispatch:
                queue.underlyingQueue = Kind.shared
            case .concurrent: queue.maxConcurrentOperationCount = 4
            case .serial: queue.maxConcurrentOperationCount = 1
            }
            return queue
        }
    }

    @Test(arguments: Kind.allCases)
    func `a delegate is asked and told on its queue, of any kind, and gets all of it`(
        kind: Kind
    ) async throws {
        let body = Data.pattern(1_000_000)
        let origin = try lab.origin { request in
            request.path == "/r" ? .redirect(to: "/body") : LabResponse(body: Array(body))
        }
        defer { origin.stop() }
        let queue = kind.queue
        let delegate = QueueRecorder(queue)
        let configuration = URLSessionConfiguration.ephemeral
        try lab.lab.httpdns().install(into: configuration)
        let session = URLSession(
            configuration: configuration, delegate: delegate, delegateQueue: queue)
        // What comes in the meantime waits, and the sender with it.
        queue.isSuspended = true
        session.dataTask(with: try origin.page("/r")).resume()
        #expect(await eventually(withinMilliseconds: 60_000) { origin.record.requests.count == 1 })
        queue.isSuspended = false
        // Where several are told at a time, the end may be heard before the last piece.
        #expect(
            await eventually(withinMilliseconds: 60_000) {
                delegate.story.ends == 1 && delegate.story.octets == body.count
            })
        #expect(delegate.story.told > 3 && delegate.story.elsewhere == 0)
        session.finishTasksAndInvalidate()
        #expect(await eventually(withinMilliseconds: 60_000) { delegate.story.isInvalid })
        #expect(delegate.story.elsewhere == 0)
    }
}

/// Counts what it is told on its queue, and elsewhere.
private final class QueueRecorder: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // Safety: what changes is behind `state`.
    struct Story {
        var told = 0
        var elsewhere = 0
        var octets = 0
        var ends = 0
        var isInvalid = false
    }

    private let state = Locked(Story())
    private let queue: OperationQueue

    init(_ queue: OperationQueue) { self.queue = queue }

    var story: Story { state.withLock { $0 } }

    private func note(_ change: (inout Story) -> Void = { _ in }) {
        let isHere = OperationQueue.current === queue
        state.withLock { story in
            story.told += 1
            if !isHere { story.elsewhere += 1 }
            change(&story)
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        note()
        completionHandler(request)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        note()
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note { $0.octets += data.count }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        note { $0.ends += 1 }
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        note { $0.isInvalid = true }
    }
}
