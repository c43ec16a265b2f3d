import Foundation
import FoundationNetworking
import HTTPDNSPlatform

/// Who was told what: every task once.
final class SessionLedger: Sendable {
    private struct State {
        var begun: [Int: SoakedTask] = [:]
        var ends: [Int: Int] = [:]
        var words: [String: Int] = [:]
        var faults: [String] = []
        var lastEnd = Date()
    }

    private let state = Locked(State())

    var faults: [String] { state.withLock { $0.faults } }
    var told: Int { state.withLock { $0.ends.count } }
    var lastEnd: Date { state.withLock { $0.lastEnd } }
    var words: String {
        state.withLock { $0.words }.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            .joined(separator: ", ")
    }

    /// Some of those that wait still.
    var untold: [SoakedTask] { state.withLock { Array($0.begun.values.prefix(12)) } }

    func began(_ task: SoakedTask) { state.withLock { $0.begun[task.number] = task } }

    func fault(_ text: String) {
        state.withLock { if $0.faults.count < 20 { $0.faults.append(text) } }
    }

    /// - Parameter body: what came, where the task says that it succeeded.
    func ended(_ task: SoakedTask, _ error: (any Error)?, body: Data?) {
        let code = error.map { ($0 as? URLError)?.errorCode ?? 0 }
        let count = state.withLock { state in
            state.ends[task.number, default: 0] += 1
            state.begun[task.number] = nil
            state.words[code.map { "\($0)" } ?? "whole", default: 0] += 1
            state.lastEnd = Date()
            return state.ends[task.number] ?? 0
        }
        if count > 1 { fault("\(task) was told its end \(count) times") }
        if !task.mayEnd(with: code) {
            fault(
                "\(task) ended with \(code.map(String.init) ?? "success"): \(String(describing: error))"
            )
        }
        guard error == nil else { return }
        let expected: Data =
            task.fault == .missing ? Data("not there".utf8) : .pattern(task.fault.octets)
        if body != expected { fault("\(task) got \(body?.count ?? -1) octets") }
    }
}

/// The delegate of all delegate tasks.
final class SoakDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate,
    @unchecked Sendable
{
    // Safety: everything that changes is behind `state`.
    private struct State {
        var tasks: [Int: SoakedTask] = [:]
        var bodies: [Int: Data] = [:]
        var responses: [Int: Int] = [:]
    }

    private let ledger: SessionLedger
    private let state = Locked(State())

    init(_ ledger: SessionLedger) { self.ledger = ledger }

    func expect(_ task: SoakedTask, as identifier: Int) {
        state.withLock { $0.tasks[identifier] = task }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        let count = state.withLock { state in
            state.responses[dataTask.taskIdentifier, default: 0] += 1
            return state.responses[dataTask.taskIdentifier] ?? 0
        }
        if count > 1 { ledger.fault("a second response") }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { $0.bodies[dataTask.taskIdentifier, default: Data()] += data }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        guard let data = try? Data(contentsOf: location) else {
            return ledger.fault("a download without its file")
        }
        state.withLock { $0.bodies[downloadTask.taskIdentifier] = data }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping (InputStream?) -> Void
    ) {
        completionHandler(InputStream(data: SoakOrigin.upload))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(
            .useCredential, URLCredential(user: "u", password: "p", persistence: .none))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        let (soaked, body) = state.withLock { state in
            state.responses[task.taskIdentifier] = nil
            return (
                state.tasks[task.taskIdentifier],
                state.bodies.removeValue(forKey: task.taskIdentifier)
            )
        }
        guard let soaked else { return ledger.fault("the end of a task that nobody made") }
        ledger.ended(soaked, error, body: body)
    }
}
