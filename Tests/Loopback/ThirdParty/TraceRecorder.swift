import Foundation
import FoundationNetworking
import HTTPDNSPlatform
import TestSupport

/// A delegate of all kinds of tasks, as session managers have one; it writes down what it is told, and
/// what the task says of itself at that moment.
final class TraceRecorder: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate,
    @unchecked Sendable
{
    // Safety: everything that changes is behind `state`.
    private struct State {
        var lines: [String] = []
        var ends = 0
        var isInvalid = false
    }

    /// What the delegate answers.
    struct Answers: Sendable {
        var redirect: @Sendable (URLRequest) -> URLRequest? = { $0 }
        var disposition = URLSession.ResponseDisposition.allow
        var challenge = URLSession.AuthChallengeDisposition.performDefaultHandling
        var credential: URLCredential?
        var onResponse: @Sendable (URLSessionTask) -> Void = { _ in }
    }

    private let state = Locked(State())
    private let answers: Answers
    private let queue: OperationQueue?

    init(_ answers: Answers = Answers(), on queue: OperationQueue? = nil) {
        self.answers = answers
        self.queue = queue
    }

    var lines: [String] { state.withLock { $0.lines } }

    func ended(_ count: Int = 1) async -> [String] {
        _ = await eventually(withinMilliseconds: 30_000) {
            self.state.withLock { $0.ends } >= count
        }
        return lines
    }

    func invalidated() async -> Bool {
        await eventually(withinMilliseconds: 30_000) { self.state.withLock { $0.isInvalid } }
    }

    func note(_ line: String) { state.withLock { $0.lines.append(line) } }

    private func note(_ words: String, _ task: URLSessionTask) {
        let place = queue.map { $0 == OperationQueue.current ? "" : " elsewhere" } ?? ""
        let response = (task.response as? HTTPURLResponse).map { "\($0.statusCode)" } ?? "-"
        note(
            "\(words) [\(TraceRecorder.name(task.state)) \(task.currentRequest?.httpMethod ?? "-") "
                + "\(TraceRecorder.place(task.currentRequest?.url)) \(response)\(place)]")
    }

    static func name(_ state: URLSessionTask.State) -> String {
        switch state {
        case .running: "running"
        case .suspended: "suspended"
        case .canceling: "canceling"
        case .completed: "completed"
        @unknown default: "?"
        }
    }

    static func place(_ url: URL?) -> String {
        guard let url else { return "-" }
        return url.absoluteString.replacingOccurrences(
            of: "//\(url.host ?? "")\(url.port.map { ":\($0)" } ?? "")", with: "//H")
    }

    static func words(_ error: (any Error)?) -> String {
        guard let error = error as NSError? else { return "no error" }
        let url = error.userInfo[NSURLErrorFailingURLErrorKey] as? URL
        return "\(error.domain) \(error.code) \(place(url))"
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        let http = response as? HTTPURLResponse
        note(
            "response \(http?.statusCode ?? 0) \(response.mimeType ?? "-") "
                + "\(response.textEncodingName ?? "-") \(response.expectedContentLength) "
                + "\(response.suggestedFilename ?? "-") \(TraceRecorder.place(response.url))",
            dataTask)
        answers.onResponse(dataTask)
        completionHandler(answers.disposition)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { state in
            // Pieces are the transport's affair.
            if let last = state.lines.last, last.hasPrefix("data "),
                let count = Int(last.dropFirst(5))
            {
                state.lines[state.lines.count - 1] = "data \(count + data.count)"
            } else {
                state.lines.append("data \(data.count)")
            }
        }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask,
        willCacheResponse proposed: CachedURLResponse,
        completionHandler: @escaping (CachedURLResponse?) -> Void
    ) {
        note("caches", dataTask)
        completionHandler(proposed)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask,
        didBecome downloadTask: URLSessionDownloadTask
    ) {
        note("became a download", dataTask)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        note("end \(TraceRecorder.words(error)) \(TraceRecorder.words(task.error))", task)
        state.withLock { $0.ends += 1 }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData new: Int64,
        totalBytesSent total: Int64, totalBytesExpectedToSend expected: Int64
    ) {
        state.withLock { state in
            if state.lines.last?.hasPrefix("sent ") == true { state.lines.removeLast() }
            state.lines.append("sent \(total) of \(expected)")
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        let fields = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
            .map { "\($0.key)=\($0.value)" }.joined(separator: ",")
        note(
            "redirect \(response.statusCode) \(request.httpMethod ?? "-") "
                + "\(TraceRecorder.place(request.url)) {\(fields)} "
                + "body \(request.httpBody?.count ?? -1) \(request.httpBodyStream != nil)", task)
        completionHandler(answers.redirect(request))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping (InputStream?) -> Void
    ) {
        note("needs a stream", task)
        completionHandler(InputStream(data: Data("streamed".utf8)))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let space = challenge.protectionSpace
        note(
            "challenge \(space.authenticationMethod) \(space.realm ?? "-") "
                + "\(space.protocol ?? "-") \(challenge.previousFailureCount) "
                + "\((challenge.failureResponse as? HTTPURLResponse)?.statusCode ?? 0) "
                + "\(challenge.proposedCredential?.user ?? "-")", task)
        completionHandler(answers.challenge, answers.credential)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        let data = try? Data(contentsOf: location)
        note("file \(data?.count ?? -1)", downloadTask)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData new: Int64,
        totalBytesWritten total: Int64, totalBytesExpectedToWrite expected: Int64
    ) {
        state.withLock { state in
            if state.lines.last?.hasPrefix("written ") == true { state.lines.removeLast() }
            state.lines.append("written \(total) of \(expected)")
        }
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        note("invalid \(TraceRecorder.words(error))")
        state.withLock { $0.isInvalid = true }
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        note("background")
    }
}
