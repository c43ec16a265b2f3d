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

/// What a download's completion handler was given, read while its file was there.
struct Downloaded: Sendable {
    let file: URL?
    let data: Data?
    let response: HTTPURLResponse?
    let error: URLError?
}

extension URLSession {
    /// A download task in the completion-handler style; `take` gets the file within the handler.
    func download(
        _ request: URLRequest, take: @escaping @Sendable (URL) -> Void = { _ in }
    ) async -> Downloaded {
        await withCheckedContinuation { continuation in
            downloadTask(with: request) { file, response, error in
                let data = file.flatMap { try? Data(contentsOf: $0) }
                if let file { take(file) }
                continuation.resume(
                    returning: Downloaded(
                        file: file, data: data, response: response as? HTTPURLResponse,
                        error: error as? URLError))
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
    }

    private struct State {
        var story = Story()
        var waiters: [(count: Int, waiter: CheckedContinuation<Story, Never>)] = []
    }

    private let state = Locked(State())
    /// Nil follows; otherwise what is followed instead.
    private let onRedirect: (@Sendable (URLRequest) -> URLRequest?)?
    private let onPiece: @Sendable () -> Void
    private let answer: URLSession.AuthChallengeDisposition
    private let disposition: URLSession.ResponseDisposition

    init(
        challenge: URLSession.AuthChallengeDisposition = .useCredential,
        disposition: URLSession.ResponseDisposition = .allow,
        onPiece: @escaping @Sendable () -> Void = {},
        onRedirect: (@Sendable (URLRequest) -> URLRequest?)? = nil
    ) {
        answer = challenge
        self.disposition = disposition
        self.onPiece = onPiece
        self.onRedirect = onRedirect
    }

    var story: Story { state.withLock { $0.story } }

    /// Waits for the end of `count` tasks.
    func ended(_ count: Int = 1) async -> Story {
        await withCheckedContinuation { waiter in
            let story: Story? = state.withLock { state in
                guard state.story.ends.count < count else { return state.story }
                state.waiters.append((count, waiter))
                return nil
            }
            if let story { waiter.resume(returning: story) }
        }
    }

    private func ended(with error: URLError?) {
        let (story, met) = state.withLock { state in
            state.story.ends.append(error)
            let count = state.story.ends.count
            defer { state.waiters.removeAll { $0.count <= count } }
            return (state.story, state.waiters.filter { $0.count <= count }.map(\.waiter))
        }
        for waiter in met { waiter.resume(returning: story) }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        state.withLock { $0.story.responses.append(status) }
        completionHandler(disposition)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock {
            $0.story.data += data
            $0.story.pieces += 1
        }
        onPiece()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        ended(with: error as? URLError)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        let url = request.url?.path ?? ""
        state.withLock { $0.story.redirects.append("\(response.statusCode) \(url)") }
        guard let onRedirect else { return completionHandler(request) }
        completionHandler(onRedirect(request))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        state.withLock { $0.story.challenges += 1 }
        completionHandler(
            answer, URLCredential(user: "u", password: "p", persistence: .none))
    }
}

extension Data {
    /// Octets whose pattern shows when a piece is missing or out of place; quick to make.
    static func pattern(_ count: Int) -> Data {
        // A prime length: no buffer size is a multiple of it.
        let piece = Data((0..<251).map { UInt8($0) })
        var data = Data(capacity: count + piece.count)
        while data.count < count { data.append(piece) }
        return data.prefix(count)
    }
}
