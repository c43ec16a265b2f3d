import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport
import Testing

/// What a client does with a session, and where ours may be told apart from the stock loader's.
struct ClientScenario: Sendable, CustomTestStringConvertible {
    let name: String
    var answers = TraceRecorder.Answers()
    var hasDelegate = true
    /// Its requests reach the server in one order only.
    var isOrdered = true
    /// Whether the server sees a request of it is chance.
    var isCutShort = false
    var configure: @Sendable (URLSessionConfiguration) -> Void = { _ in }
    /// Lines that only the stock loader's trace has, and those that only ours has.
    var differs: (stock: [String], ours: [String]) = ([], [])
    var act: @Sendable (ClientSide) async throws -> Void

    var testDescription: String { name }

    /// - Parameter reason: for whoever reads the list.
    func differing(
        because reason: String, stock: [String] = [], ours: [String] = []
    ) -> ClientScenario {
        var scenario = self
        scenario.differs = (stock, ours)
        return scenario
    }
}

/// One of the two sessions, and the server that it talks to.
struct ClientSide: Sendable {
    let session: URLSession
    let recorder: TraceRecorder
    let base: URL

    func request(
        _ path: String, _ method: String = "GET", _ change: (inout URLRequest) -> Void = { _ in }
    ) -> URLRequest {
        var request = URLRequest(url: URL(string: path, relativeTo: base)?.absoluteURL ?? base)
        request.httpMethod = method
        change(&request)
        return request
    }

    func data(_ request: URLRequest) async {
        session.dataTask(with: request).resume()
        _ = await recorder.ended()
    }

    func handler(_ request: URLRequest) async {
        let loaded = await session.load(request)
        let fields = (loaded.response?.allHeaderFields ?? [:]).map { "\($0.key)=\($0.value)" }
            .filter { !$0.hasPrefix("Date=") }.sorted().joined(separator: ",")
        recorder.note(
            "handler \(loaded.data?.count ?? -1) \(loaded.status ?? 0) "
                + "\(TraceRecorder.words(loaded.error)) {\(fields)}")
    }

    func download(_ request: URLRequest) async {
        session.downloadTask(with: request).resume()
        _ = await recorder.ended()
    }
}

/// The stock loader and ours, before the same server: over plain HTTP, since the first cannot be given
/// a root.
struct TwoSessions {
    let lab: SessionLab

    init() throws { lab = try SessionLab() }

    /// What a client and its server see, of the stock loader and of ours.
    func traces(of scenario: ClientScenario) async throws -> (stock: [String], ours: [String]) {
        (
            stock: try await trace(of: scenario, isOurs: false),
            ours: try await trace(of: scenario, isOurs: true)
        )
    }

    private func trace(of scenario: ClientScenario, isOurs: Bool) async throws -> [String] {
        let origin = try lab.lab.origin(
            [SessionLab.host], security: .plain, ThirdPartyServer.answer)
        defer { origin.stop() }
        let configuration = URLSessionConfiguration.ephemeral
        scenario.configure(configuration)
        if isOurs { try lab.lab.httpdns().install(into: configuration) }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let recorder = TraceRecorder(scenario.answers, on: queue)
        let session = URLSession(
            configuration: configuration, delegate: scenario.hasDelegate ? recorder : nil,
            delegateQueue: queue)
        defer { session.invalidateAndCancel() }
        // Of the hosts file: the stock loader asks nobody else for it.
        let host = isOurs ? SessionLab.host : "localhost"
        let base = try origin.page("/", host: host)
        do {
            try await scenario.act(
                ClientSide(session: session, recorder: recorder, base: base))
        } catch { recorder.note("threw \(TraceRecorder.words(error))") }
        let requests =
            scenario.isOrdered
            ? origin.record.requests : origin.record.requests.sorted { $0.target < $1.target }
        guard !scenario.isCutShort else { return recorder.lines }
        return recorder.lines + requests.flatMap { TwoSessions.seen($0, at: base) }
    }

    /// What the server saw, but for what differs in all requests: the stock loader says
    /// `Connection: keep-alive`, names the same codings in another order, and gives each method but
    /// GET and HEAD a length.
    private static func seen(_ request: LabRequest, at base: URL) -> [String] {
        let host = "\(base.host ?? ""):\(base.port ?? 80)"
        let fields = request.fields.map {
            "    \($0.name): \($0.value.replacingOccurrences(of: host, with: "H"))"
        }
        return ["server \(request.method) \(request.target) \(request.body.count)"]
            + fields.sorted().filter { line in
                !["Connection: keep-alive", "Content-Length: 0"].contains(line.dropFirst(4))
                    && !line.hasPrefix("    Accept-Encoding:")
            }
    }
}

/// Answers by path.
enum ThirdPartyServer {
    static func answer(_ request: LabRequest) -> LabResponse {
        if let status = Int(request.path.dropFirst("/status/".count)),
            request.path.hasPrefix("/status/")
        {
            return .text([204, 304].contains(status) ? "" : "s\(status)", status: status)
        }
        if let status = Int(request.path.dropFirst("/to-there/".count)),
            request.path.hasPrefix("/to-there/")
        {
            return .redirect(to: "/there", status: status)
        }
        return plain(request) ?? failing(request) ?? asking(request)
            ?? .text("hello \(request.method) \(request.target) \(request.body.count)")
    }

    private static func plain(_ request: LabRequest) -> LabResponse? {
        var text = LabResponse.text("in pieces")
        switch request.path {
        case "/json": return .json("{\"a\":1}")
        case "/large":
            return LabResponse(
                fields: [LabField("Content-Type", "application/octet-stream")],
                body: Array(repeating: 7, count: 1_000_000))
        case "/chunked":
            text.framing = .chunked
            text.pieceOctets = 2
            return text
        case "/until-close":
            text.framing = .untilClose
            return text
        case "/slow":
            text.delayMilliseconds = 300
            return text
        case "/empty": return LabResponse()
        case "/latin": return .text("x", type: "text/html; charset=iso-8859-1")
        case "/named":
            return LabResponse(
                fields: [
                    LabField("Content-Disposition", "attachment; filename=\"x y.bin\""),
                    LabField("Content-Type", "application/pdf"),
                ], body: [1, 2, 3])
        case "/fields":
            return LabResponse(
                fields: [
                    LabField("X-A", "1"), LabField("X-A", "2"), LabField("x-lower", "v"),
                    LabField("ETag", "\"e\""),
                ], body: [65])
        case "/deflate":
            return LabResponse(
                fields: [LabField("Content-Encoding", "deflate")],
                body: [
                    0x78, 0x9C, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0, 0x06, 0x2C, 0x02, 0x15,
                ])
        case "/cookies":
            return LabResponse(
                fields: [
                    LabField("Set-Cookie", "a=1; Path=/"),
                    LabField("Set-Cookie", "b=2; Path=/; HttpOnly"),
                ], body: [65])
        default: return nil
        }
    }

    private static func failing(_ request: LabRequest) -> LabResponse? {
        let body = LabResponse(body: Array("abcdef".utf8))
        switch request.path {
        case "/cut": return body.conducting(.closes(afterBodyOctets: 3))
        case "/stalls": return body.conducting(.stalls(afterBodyOctets: 3))
        case "/never": return body.conducting(.neverAnswers)
        case "/gone": return body.conducting(.closesUnanswered)
        default: return nil
        }
    }

    private static func asking(_ request: LabRequest) -> LabResponse? {
        let challenge: String
        switch request.path {
        case "/relative":
            return LabResponse(status: 302, fields: [LabField("Location", "there?x=1#f")])
        case "/nowhere": return LabResponse(status: 302)
        case "/with-cookie":
            return LabResponse(
                status: 302,
                fields: [LabField("Location", "/there"), LabField("Set-Cookie", "hop=1; Path=/")])
        case "/basic":
            guard request.value(of: "Authorization") != "Basic dTpw" else { return .text("in") }
            challenge = "Basic realm=\"r\""
        case "/bearer": challenge = "Bearer realm=\"r\""
        case "/unexplained": return LabResponse(status: 401, body: Array("no".utf8))
        default: return nil
        }
        return LabResponse(
            status: 401, fields: [LabField("WWW-Authenticate", challenge)],
            body: Array("no".utf8))
    }
}
