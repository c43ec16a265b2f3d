internal import Foundation
internal import HTTPDNSClient
internal import HTTPDNSExchange
internal import HTTPDNSNames

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Why a task cannot be answered; it then fails, and is never given to the stock loader.
enum LoadingFault: Error, Sendable {
    case badURL(String)
    /// Foundation and this library read different hosts in the same URL.
    case ambiguousHost(foundation: String, ours: String)
    case badField(FieldError)
    case badMethod(String)
    case unreadableBody
    /// An upload's file is not there, is not a plain file, or may not be read.
    case unreadableFile(String)
    /// The request asks for an answer from the cache or none.
    case cacheOnly
    /// A part of Foundation is not where this library was told it is: another toolchain.
    case missingInternal(String)

    func urlError(_ url: URL?) -> URLError {
        switch self {
        case .badURL(let why): .make(.badURL, url, why)
        case .ambiguousHost(let foundation, let ours):
            .make(
                .badURL, url,
                "Foundation reads the host \"\(foundation)\" in this URL, and \"\(ours)\" is what "
                    + "would be connected to; write the URL so that there is one reading")
        case .badField(let error): .make(.badURL, url, "\(error)")
        case .badMethod(let method): .make(.badURL, url, "\"\(method)\" is not a method")
        case .unreadableBody:
            .make(
                .requestBodyStreamExhausted, url,
                "the upload's body cannot be read on this platform; set httpBody or httpBodyStream")
        case .unreadableFile(let path):
            .make(.fileDoesNotExist, url, "the upload's file \(path) cannot be read")
        case .cacheOnly:
            .make(
                .resourceUnavailable, url,
                "the request may be answered from the cache alone, and nothing kept may answer it")
        case .missingInternal(let what):
            .make(
                .unsupportedURL, url,
                "\(what) is not found in this version of Foundation; HTTPDNS fails the task "
                    + "rather than let it go out unverified")
        }
    }
}

/// Turns a `URLRequest` of a session into a request of ours.
struct RequestReading {
    /// Without its body.
    let request: HTTPRequest
    let body: UploadBody
    /// What nothing kept may answer fails, instead of a 504.
    let failsUncached: Bool
    /// The request's URL, as a response to it shows it.
    let shown: URL?

    init(
        _ task: URLSessionTask, _ original: URLRequest, _ configuration: URLSessionConfiguration,
        cookies: SessionCookies, toASCII: @escaping DomainToASCII
    ) throws(LoadingFault) {
        let reading = try RequestReading.reading(of: original, toASCII)
        shown = reading.url.userinfo == nil ? original.url : reading.shown
        let methodText = original.httpMethod ?? "GET"
        guard let method = HTTPMethod(methodText) else { throw .badMethod(methodText) }
        let caching = CachePolicyReading(original.cachePolicy, or: configuration.requestCachePolicy)
        let fields = caching.changing(
            try RequestReading.fields(of: original, configuration, cookies: cookies))
        // HEAD has none, as in the stock loader. Source: RFC 9110 §9.3.2.
        let given: TaskBody =
            original.httpMethod == "HEAD" ? .none : TaskInternals.body(of: task, original)
        body = try UploadBody(given, original)
        var request = HTTPRequest(method, reading.url, fields: fields)
        request.limits = RequestReading.limits(original, configuration)
        request.cacheMode = caching.mode
        request.decodesAlways = true
        failsUncached = caching.failsUncached
        self.request = request
    }

    /// The URL of a request, where Foundation and this library read the same host in it.
    static func url(
        of request: URLRequest, _ toASCII: @escaping DomainToASCII
    ) throws(LoadingFault) -> HTTPURL {
        try reading(of: request, toASCII).url
    }

    private static func reading(
        of request: URLRequest, _ toASCII: @escaping DomainToASCII
    ) throws(LoadingFault) -> RecentURLs.Reading {
        guard let original = request.url else { throw .badURL("the request has no URL") }
        let text = original.absoluteString
        let reading: RecentURLs.Reading
        if let known = try? RecentURLs.shared.reading(text) {
            if original.host == known.host { return known }
            reading = known
        } else {
            do { reading = .init(try HTTPURL(text, toASCII: toASCII)) } catch {
                throw .badURL("\(error)")
            }
        }
        let theirs = (original.host ?? "").lowercased()
            .trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        guard same(theirs, reading.host, toASCII) else {
            throw .ambiguousHost(foundation: theirs, ours: reading.host)
        }
        return reading
    }

    /// The two readings name one host: equal text, or equal after the canonical forms of either.
    private static func same(
        _ theirs: String, _ ours: String, _ toASCII: DomainToASCII
    ) -> Bool {
        if theirs == ours { return true }
        if let address = try? IPAddress(theirs) { return address.description == ours }
        if let name = try? HostName(theirs) { return name.text == ours }
        guard let ascii = try? toASCII(theirs) else { return false }
        return ascii == ours
    }

    /// The transport frames the message and owns the connection. Source: RFC 9110 §7.6.1, §8.6.
    static let transportFields: Set<String> = [
        "connection", "content-length", "expect", "keep-alive", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]

    private static func fields(
        of request: URLRequest, _ configuration: URLSessionConfiguration, cookies: SessionCookies
    ) throws(LoadingFault) -> HTTPFields {
        var fields = try fields(
            of: request, adding: configuration.httpAdditionalHeaders ?? [:],
            callersCookie: cookies.callersOwn)
        do throws(FieldError) {
            for (name, value) in StockFields.all where !fields.contains(name) {
                try fields.append(name, value)
            }
        } catch { throw .badField(error) }
        return fields
    }

    /// - Parameters:
    ///   - additional: fields of the session; those of the request count before them.
    ///   - callersCookie: the part of a `Cookie` field that the application set itself.
    static func fields(
        of request: URLRequest, adding additional: [AnyHashable: Any] = [:],
        callersCookie: (String) -> String? = { $0 }
    ) throws(LoadingFault) -> HTTPFields {
        var fields = HTTPFields()
        do throws(FieldError) {
            for (name, value) in (request.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }
            )
            where !transportFields.contains(name.lowercased()) {
                if HTTPFields.same(name, "Cookie") {
                    if let own = callersCookie(value) { try fields.append(name, own) }
                } else {
                    try fields.append(name, value)
                }
            }
            for (name, value) in additional {
                guard let name = name as? String, !fields.contains(name),
                    !transportFields.contains(name.lowercased())
                else { continue }
                try fields.append(name, "\(value)")
            }
            if !fields.contains("Accept") { try fields.append("Accept", "*/*") }
            if request.httpMethod == "POST", !fields.contains("Content-Type"),
                request.httpBody?.isEmpty == false || request.httpBodyStream != nil
            {
                // As the stock loader does.
                try fields.append("Content-Type", "application/x-www-form-urlencoded")
            }
        } catch { throw .badField(error) }
        return fields
    }

    /// The body that a request holds itself.
    static func body(of request: URLRequest) throws(LoadingFault) -> RequestBody {
        if let data = request.httpBody { return .bytes([UInt8](data)) }
        guard let stream = request.httpBodyStream else { return .none }
        return try body(.stream(stream), of: request)
    }

    /// The content of a file, read as it is sent.
    static func body(ofFile url: URL, for request: URLRequest) throws(LoadingFault) -> RequestBody {
        try body(.file(url), of: request)
    }

    private static func body(
        _ body: TaskBody, of request: URLRequest
    ) throws(LoadingFault) -> RequestBody {
        try UploadBody(body, request).source(newer: nil, supply: nil).map { .stream($0) } ?? .none
    }

    /// Foundation's default; a request that has it takes the configuration's instead.
    ///
    /// Source: URLRequest.timeoutInterval of swift-corelibs-foundation.
    private static let defaultTimeoutSeconds = 60.0

    /// For a request outside a session: its time-out is the longest silence, and nothing bounds the
    /// whole.
    static func limits(_ request: URLRequest) -> ExchangeLimits {
        var limits = ExchangeLimits()
        limits.total = nil
        limits.takeSilence(seconds: request.timeoutInterval)
        return limits
    }

    private static func limits(
        _ request: URLRequest, _ configuration: URLSessionConfiguration
    ) -> ExchangeLimits {
        var limits = ExchangeLimits()
        let own = request.timeoutInterval
        let seconds =
            own == defaultTimeoutSeconds ? configuration.timeoutIntervalForRequest : own
        limits.takeSilence(seconds: seconds)
        limits.total = Duration.bounded(seconds: configuration.timeoutIntervalForResource)
        return limits
    }
}

extension ExchangeLimits {
    /// Foundation has one time-out for a request: the longest silence, whatever is waited for.
    fileprivate mutating func takeSilence(seconds: Double) {
        let silence = Duration.bounded(seconds: seconds)
        idle = silence
        connect = silence
        resolve = silence
    }
}

extension Duration {
    /// A duration from a number that anybody may have set: not a number, negative and huge ones
    /// included. A year at most, one millisecond at least.
    fileprivate static func bounded(seconds: Double) -> Duration {
        guard seconds.isFinite, seconds < 31_536_000 else { return .seconds(31_536_000) }
        return .milliseconds(Int64(max(seconds * 1_000, 1)))
    }
}
