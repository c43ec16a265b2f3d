import Foundation
import FoundationNetworking
import HTTPDNSDigest
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport

/// Origins that want user `u` and password `p`, and a delegate that answers challenges.
enum ChallengeLab {
    static let user = "u"
    static let password = "p:ä"

    /// Asks by the schemes of `path`: `/basic`, `/digest`, `/both`, `/newer` (Digest by an algorithm of
    /// its own, and Basic); whoever proves the password gets
    /// "welcome", everybody else "who?".
    static func answer(_ request: LabRequest) -> LabResponse {
        guard !isWelcome(request) else {
            return .text("welcome \(request.method) \(request.body.count)")
        }
        var answer = LabResponse.text("who?", status: 401)
        let scheme = request.path.split(separator: "/").first ?? ""
        if ["basic", "both", "newer"].contains(scheme) {
            answer.fields.append(LabField("WWW-Authenticate", #"Basic realm="the \"lab\"""#))
        }
        if ["digest", "both", "newer"].contains(scheme) {
            let challenge =
                #"Digest realm="lab", qop="auth", nonce="n0nce", algorithm="#
                + (scheme == "newer" ? "SHA-1024" : "MD5")
            answer.fields.append(LabField("WWW-Authenticate", challenge))
        }
        return answer
    }

    private static func isWelcome(_ request: LabRequest) -> Bool {
        guard let sent = request.value(of: "Authorization") else { return false }
        let basic = Data("\(user):\(password)".utf8).base64EncodedString()
        if sent == "Basic " + basic { return true }
        guard sent.hasPrefix("Digest ") else { return false }
        let facts = parameters(sent.dropFirst(7))
        guard facts["uri"] == request.target, facts["username"] == user,
            let nonce = facts["nonce"], let count = facts["nc"], let own = facts["cnonce"],
            let first = try? Digest.md5Hex("\(user):lab:\(password)".utf8),
            let second = try? Digest.md5Hex("\(request.method):\(request.target)".utf8),
            let whole = try? Digest.md5Hex(
                "\(first):\(nonce):\(count):\(own):auth:\(second)".utf8)
        else { return false }
        return facts["response"] == whole
    }

    private static func parameters(_ text: Substring) -> [String: String] {
        var facts: [String: String] = [:]
        for part in text.split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { continue }
            facts[pair[0].trimmingCharacters(in: .whitespaces)] =
                pair[1].trimmingCharacters(in: CharacterSet(charactersIn: "\" "))
        }
        return facts
    }

    static func credential(_ password: String = password) -> URLCredential {
        URLCredential(user: user, password: password, persistence: .forSession)
    }
}

/// What a delegate was asked.
struct AskedChallenge: Sendable, Equatable {
    var method: String
    var realm: String?
    var host: String
    var port: Int
    var failures: Int
    var status: Int?
    var hasProposal: Bool
}

/// Answers challenges as a test says, and gives streams; keeps what it was told.
final class ChallengeDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // Safety: everything that changes is behind `state`.
    typealias Answer = (URLSession.AuthChallengeDisposition, URLCredential?)

    private struct State {
        var asked: [AskedChallenge] = []
        var streams = 0
        var sent: [(new: Int64, total: Int64, expected: Int64)] = []
        var isOnQueue: [Bool] = []
        var received = 0
        var ends: [URLError?] = []
    }

    private let state = Locked(State())
    private let onChallenge: @Sendable (AskedChallenge, URLCredential?) -> Answer
    private let onStream: @Sendable () -> InputStream?

    init(
        onChallenge: @escaping @Sendable (AskedChallenge, URLCredential?) -> Answer = { _, _ in
            (.performDefaultHandling, nil)
        },
        onStream: @escaping @Sendable () -> InputStream? = { nil }
    ) {
        self.onStream = onStream
        self.onChallenge = onChallenge
    }

    var asked: [AskedChallenge] { state.withLock { $0.asked } }
    var received: Int { state.withLock { $0.received } }
    var ends: [URLError?] { state.withLock { $0.ends } }
    var streams: Int { state.withLock { $0.streams } }
    var sent: [(new: Int64, total: Int64, expected: Int64)] { state.withLock { $0.sent } }
    var wasOnQueue: Bool { state.withLock { !$0.isOnQueue.contains(false) } }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        noteQueue(session)
        let space = challenge.protectionSpace
        let asked = AskedChallenge(
            method: space.authenticationMethod, realm: space.realm, host: space.host,
            port: space.port, failures: challenge.previousFailureCount,
            status: (challenge.failureResponse as? HTTPURLResponse)?.statusCode,
            hasProposal: challenge.proposedCredential != nil)
        state.withLock { $0.asked.append(asked) }
        let (disposition, credential) = onChallenge(asked, challenge.proposedCredential)
        completionHandler(disposition, credential)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping (InputStream?) -> Void
    ) {
        noteQueue(session)
        state.withLock { $0.streams += 1 }
        completionHandler(onStream())
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData new: Int64,
        totalBytesSent total: Int64, totalBytesExpectedToSend expected: Int64
    ) {
        noteQueue(session)
        state.withLock { $0.sent.append((new, total, expected)) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { $0.received += data.count }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        state.withLock { $0.ends.append(error as? URLError) }
    }

    private func noteQueue(_ session: URLSession) {
        let isOnQueue = OperationQueue.current === session.delegateQueue
        state.withLock { $0.isOnQueue.append(isOnQueue) }
    }
}

/// A delegate of a session, not of its tasks.
final class PlainSessionDelegate: NSObject, URLSessionDelegate, Sendable {
    private let count = Locked(0)
    var challenges: Int { count.withLock { $0 } }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        count.withLock { $0 += 1 }
        completionHandler(.useCredential, ChallengeLab.credential())
    }
}
