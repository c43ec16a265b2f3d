import Foundation
import FoundationNetworking
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import Testing

/// An authority, origins under it, and sessions under rules that trust it and take addresses from a
/// table.
struct RuleLab {
    let root: TestAuthority

    init() throws { root = try TestAuthority() }

    func origin(
        _ names: [String] = ["shop.example.test"], at address: IPAddress = LabAddress.ipv4,
        port: HTTPDNSNames.Port? = nil, security: LabSecurity? = nil,
        _ handler: @escaping @Sendable (LabRequest) -> LabResponse = { .text("real \($0.path)") }
    ) throws -> LabServer {
        let leaf = try root.leaf(names.map { .dns($0) })
        let server = try LabServer(
            address: address, port: port, security: security ?? .tls(leaf), handler: handler)
        try server.start()
        return server
    }

    func configuration(
        _ table: [String: [IPAddress]] = ["shop.example.test": [LabAddress.ipv4]]
    ) throws -> HTTPDNSConfiguration {
        var entries: [HostName: [IPAddress]] = [:]
        for (name, addresses) in table { entries[try HostName(name)] = addresses }
        var configuration = HTTPDNSConfiguration()
        configuration.resolvers = []
        configuration.overrides = entries
        configuration.trust = TrustPolicy(roots: .pem(root.certificatePEM))
        return configuration
    }

    func httpdns(
        _ table: [String: [IPAddress]] = ["shop.example.test": [LabAddress.ipv4]]
    ) throws -> HTTPDNS {
        try HTTPDNS(configuration(table))
    }

    func session(
        _ rules: LiveRules, _ httpdns: HTTPDNS? = nil, delegate: (any URLSessionDelegate)? = nil,
        configure: (URLSessionConfiguration) -> Void = { _ in }
    ) throws -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configure(configuration)
        return try (httpdns ?? self.httpdns()).session(
            configuration: configuration, delegate: delegate, rules: rules)
    }
}

/// What a task ended with.
struct RuledAnswer: Sendable {
    let data: Data?
    let response: HTTPURLResponse?
    let error: (any Error)?

    var text: String { String(decoding: data ?? Data(), as: UTF8.self) }
    var status: Int? { response?.statusCode }
    var code: URLError.Code? { (error as? URLError)?.code }
    var message: String { (error as? URLError)?.localizedDescription ?? "" }
    /// The failure below a `URLError`.
    var cause: ExchangeFailure? {
        (error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? ExchangeFailure
    }
}

extension URLSession {
    /// A data task in the completion-handler style; `control` gets the task before it is resumed.
    func answer(
        _ request: URLRequest, control: (URLSessionDataTask) -> Void = { _ in }
    ) async -> RuledAnswer {
        await withCheckedContinuation { continuation in
            let task = dataTask(with: request) { data, response, error in
                continuation.resume(
                    returning: RuledAnswer(
                        data: data, response: response as? HTTPURLResponse, error: error))
            }
            control(task)
            task.resume()
        }
    }

    func answer(_ url: String) async throws -> RuledAnswer {
        await answer(URLRequest(url: try #require(URL(string: url))))
    }

    func uploadAnswer(_ request: URLRequest, from data: Data) async -> RuledAnswer {
        await withCheckedContinuation { continuation in
            uploadTask(with: request, from: data) { data, response, error in
                continuation.resume(
                    returning: RuledAnswer(
                        data: data, response: response as? HTTPURLResponse, error: error))
            }.resume()
        }
    }

    /// A download in the completion-handler style, its file read while it was there.
    func downloadAnswer(_ request: URLRequest) async -> RuledAnswer {
        await withCheckedContinuation { continuation in
            downloadTask(with: request) { file, response, error in
                let data = file.flatMap { try? Data(contentsOf: $0) }
                continuation.resume(
                    returning: RuledAnswer(
                        data: data, response: response as? HTTPURLResponse, error: error))
            }.resume()
        }
    }
}

/// A session delegate that keeps what it is told.
final class RuledDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate,
    @unchecked Sendable
{
    // Safety: everything that changes is behind `state`.
    struct Story: Sendable {
        var statuses: [Int] = []
        var data = Data()
        var pieces = 0
        var redirects: [String] = []
        var redirected: [URLRequest] = []
        var sent: Int64 = 0
        var file: Data?
        var ends: [(any Error)?] = []
    }

    private struct State {
        var story = Story()
        var waiters: [CheckedContinuation<Story, Never>] = []
    }

    private let state = Locked(State())
    private let follows: Bool
    private let onPiece: @Sendable (URLSessionTask) -> Void

    init(follows: Bool = true, onPiece: @escaping @Sendable (URLSessionTask) -> Void = { _ in }) {
        self.follows = follows
        self.onPiece = onPiece
    }

    var story: Story { state.withLock { $0.story } }

    func ended() async -> Story {
        await withCheckedContinuation { waiter in
            let story: Story? = state.withLock { state in
                guard state.story.ends.isEmpty else { return state.story }
                state.waiters.append(waiter)
                return nil
            }
            if let story { waiter.resume(returning: story) }
        }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        state.withLock { $0.story.statuses.append(status) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock {
            $0.story.data += data
            $0.story.pieces += 1
        }
        onPiece(dataTask)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        let data = try? Data(contentsOf: location)
        state.withLock { $0.story.file = data }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64, totalBytesExpectedToSend: Int64
    ) {
        state.withLock { $0.story.sent = totalBytesSent }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        let url = request.url?.absoluteString ?? ""
        state.withLock {
            $0.story.redirects.append("\(response.statusCode) \(url)")
            $0.story.redirected.append(request)
        }
        completionHandler(follows ? request : nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        let (story, waiters) = state.withLock { state in
            state.story.ends.append(error)
            defer { state.waiters = [] }
            return (state.story, state.waiters)
        }
        for waiter in waiters { waiter.resume(returning: story) }
    }
}
