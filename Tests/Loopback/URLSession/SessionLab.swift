import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import Testing

/// Sessions that go through HTTPDNS to origins of a ``ClientLab``.
struct SessionLab {
    static let host = "shop.example.test"
    let lab: ClientLab

    init() throws { lab = try ClientLab() }

    func origin(
        _ handler: @escaping @Sendable (LabRequest) -> LabResponse = { .text("hello \($0.path)") }
    ) throws -> LabServer {
        try lab.origin([SessionLab.host], handler)
    }

    func session(
        _ httpdns: HTTPDNS? = nil, delegate: (any URLSessionDelegate)? = nil,
        configure: (URLSessionConfiguration) -> Void = { _ in }
    ) throws -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configure(configuration)
        try (httpdns ?? lab.httpdns()).install(into: configuration)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }
}

extension LabServer {
    func page(_ path: String = "/", host: String = SessionLab.host) throws -> URL {
        try #require(URL(string: url(host: host, path: path)))
    }
}

/// What a completion handler was given.
struct Loaded: Sendable {
    let data: Data?
    let response: HTTPURLResponse?
    let error: URLError?

    init(_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) {
        self.data = data
        self.response = response as? HTTPURLResponse
        self.error = error as? URLError
    }

    var text: String { String(decoding: data ?? Data(), as: UTF8.self) }
    var status: Int? { response?.statusCode }
    /// The failure below a `URLError`.
    var cause: ExchangeFailure? { error?.userInfo[NSUnderlyingErrorKey] as? ExchangeFailure }
}

extension URLSession {
    /// A data task in the completion-handler style; `control` gets the task before it is resumed.
    func load(
        _ request: URLRequest, control: (URLSessionDataTask) -> Void = { _ in }
    ) async -> Loaded {
        await withCheckedContinuation { continuation in
            let task = dataTask(with: request) { data, response, error in
                continuation.resume(returning: Loaded(data, response, error))
            }
            control(task)
            task.resume()
        }
    }

    func load(_ url: URL) async -> Loaded { await load(URLRequest(url: url)) }

    func upload(_ request: URLRequest, from data: Data) async -> Loaded {
        await withCheckedContinuation { continuation in
            uploadTask(with: request, from: data) { data, response, error in
                continuation.resume(returning: Loaded(data, response, error))
            }.resume()
        }
    }

    func upload(_ request: URLRequest, fromFile file: URL) async -> Loaded {
        await withCheckedContinuation { continuation in
            uploadTask(with: request, fromFile: file) { data, response, error in
                continuation.resume(returning: Loaded(data, response, error))
            }.resume()
        }
    }
}

/// A session delegate that keeps what it is told.
final class DelegateRecorder: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // Safety: everything that changes is behind `state`.
    struct Story: Sendable {
        var responses: [Int] = []
        var data = Data()
        var pieces = 0
        var redirects: [String] = []
        var challenges = 0
        var ends: [URLError?] = []
        var downloads = 0
    }

    private let state = Locked(Story())
    /// Nil follows; otherwise what is followed instead.
    private let onRedirect: (@Sendable (URLRequest) -> URLRequest?)?
    private let onPiece: @Sendable () -> Void

    init(
        onPiece: @escaping @Sendable () -> Void = {},
        onRedirect: (@Sendable (URLRequest) -> URLRequest?)? = nil
    ) {
        self.onPiece = onPiece
        self.onRedirect = onRedirect
    }

    var story: Story { state.withLock { $0 } }

    /// Waits for the end of `count` tasks.
    func ended(_ count: Int = 1) async -> Story {
        while story.ends.count < count { await Task.yield() }
        return story
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        state.withLock { $0.responses.append(status) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock {
            $0.data += data
            $0.pieces += 1
        }
        onPiece()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        let error = error as? URLError
        state.withLock { $0.ends.append(error) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        let url = request.url?.path ?? ""
        state.withLock { $0.redirects.append("\(response.statusCode) \(url)") }
        guard let onRedirect else { return completionHandler(request) }
        completionHandler(onRedirect(request))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        state.withLock { $0.challenges += 1 }
        completionHandler(
            .useCredential, URLCredential(user: "u", password: "p", persistence: .none))
    }
}
