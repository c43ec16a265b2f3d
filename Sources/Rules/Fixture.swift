public import HTTPDNSExchange
internal import HTTPDNSNames

/// An exchange that took place: what was asked, and what was answered.
public struct Fixture: Sendable, Hashable {
    public var method: HTTPMethod
    public var url: HTTPURL
    /// Nil: not known, so that any body fits.
    public var requestBody: [UInt8]?
    /// 100...999
    public var status: Int
    public var fields: HTTPFields
    /// As it was delivered, after decoding.
    public var body: [UInt8]

    /// A recorded exchange.
    public init(
        _ method: HTTPMethod = .get, _ url: HTTPURL, requestBody: [UInt8]? = nil, status: Int = 200,
        fields: HTTPFields = HTTPFields(), body: [UInt8] = []
    ) {
        self.method = method
        self.url = url
        self.requestBody = requestBody
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// The answer as a stub plays it. Fields that spoke of the octets on the wire stay behind: the
    /// body is decoded. What has no body tells what another answer would have: that stays.
    package var stub: StubResponse {
        var fields = fields
        let isBodiless = method == .head || status == 304
        let ofBody = isBodiless ? [] : ["Content-Encoding", "Content-Length"]
        for name in ofBody + ["Transfer-Encoding", "Connection"] { fields.remove(name) }
        return StubResponse(
            status: status, fields: fields, body: isBodiless ? .none : .octets(body))
    }

    /// Whether the request is one that such an answer is for. Source: RFC 9110 §15.3.7, §15.4.5.
    func answers(_ request: RuledRequest) -> Bool {
        switch status {
        case 206: request.fields.contains("Range")
        case 304:
            request.fields.contains("If-None-Match")
                || request.fields.contains("If-Modified-Since")
        default: true
        }
    }
}

/// Recorded exchanges to answer from.
///
/// A request fits an exchange of its method and URL (the fragment aside), and of its body where
/// both are known. Where the URL was recorded without its secrets, a request fits whose URL is the
/// same without its own. A 304 fits a request with a condition, and a part (206) one with a range.
/// Of several that fit, each answers once, in the order they were recorded, and the last one answers
/// the rest.
public struct FixtureLibrary: Sendable {
    /// Where they are from, in messages.
    public let label: String
    public let fixtures: [Fixture]
    /// What of the file is not among them, and why: `1 damaged record`; empty where all of it is.
    public let leftOut: [String]
    private let places: [Key: [Int]]
    /// What a URL becomes when it is recorded; nil: it stays as it is.
    private let recorded: (@Sendable (String) -> String)?
    /// Those whose URL was recorded without its secrets.
    private let redacted: [Key: [Int]]
    /// What was recorded and cannot be told again, and why.
    private let untold: [Key: String]

    /// An exchange of a recording that cannot be told again.
    package struct Untold: Sendable, Hashable {
        package let method: HTTPMethod
        package let url: HTTPURL
        package let why: String

        package init(_ method: HTTPMethod, _ url: HTTPURL, because why: String) {
            self.method = method
            self.url = url
            self.why = why
        }
    }

    package struct Key: Sendable, Hashable {
        let method: HTTPMethod
        let line: String

        init(_ method: HTTPMethod, _ line: String) {
            self.method = method
            self.line = line
        }

        init(_ method: HTTPMethod, _ url: HTTPURL) { self.init(method, Key.line(url)) }

        static func line(_ url: HTTPURL) -> String { url.origin.description + url.target }
    }

    /// Takes exchanges in the order they took place.
    public init(_ fixtures: [Fixture], label: String = "recorded exchanges") {
        self.init(
            fixtures, label: label, leftOut: ([], []), recordedAs: nil, isRedacted: { _ in false })
    }

    /// The same of a recording that leaves secrets out.
    ///
    /// - Parameters:
    ///   - leftOut: what of the recording is not among them, and why: in words, and one by one.
    ///   - recorded: what the URL of a request becomes in such a recording; called on any thread.
    ///   - isRedacted: whether something was left out of a recorded URL.
    package init(
        _ fixtures: [Fixture], label: String, leftOut: (words: [String], untold: [Untold]),
        recordedAs recorded: (@Sendable (String) -> String)?, isRedacted: (String) -> Bool
    ) {
        self.label = label
        self.leftOut = leftOut.words
        self.fixtures = fixtures
        self.recorded = recorded
        places = Dictionary(
            grouping: fixtures.indices, by: { Key(fixtures[$0].method, fixtures[$0].url) })
        redacted = places.filter { isRedacted($0.key.line) }
        untold = Dictionary(
            leftOut.untold.map { (Key($0.method, $0.url), $0.why) },
            uniquingKeysWith: { first, _ in first })
    }

    /// What the request is counted under: that of the exchanges it fits.
    func key(of request: RuledRequest) -> Key {
        let key = Key(request.method, request.url)
        guard places[key] == nil, !redacted.isEmpty, let recorded else { return key }
        let other = Key(request.method, recorded(key.line))
        return redacted[other] == nil ? key : other
    }

    /// The exchange that answers, when so many of its key were answered before.
    func answer(to request: RuledRequest, of key: Key, before count: Int) -> Fixture? {
        let fitting = fitting(request, key).filter { fixtures[$0].answers(request) }
        guard !fitting.isEmpty else { return nil }
        return fixtures[fitting[min(count, fitting.count - 1)]]
    }

    private func fitting(_ request: RuledRequest, _ key: Key) -> [Int] {
        (places[key] ?? []).filter { place in
            guard let recorded = fixtures[place].requestBody, let body = request.body else {
                return true
            }
            return recorded == body
        }
    }

    /// Why a request that was recorded is not answered all the same; nil for one that was not.
    func obstacle(to request: RuledRequest, of key: Key) -> String? {
        if let place = fitting(request, key).first {
            return switch fixtures[place].status {
            case 206: "it was answered with a part (206), which is for a request with Range"
            default:
                "it was answered with 304, which is for a request with If-None-Match or "
                    + "If-Modified-Since"
            }
        }
        if let why = untold[key] { return why }
        guard !untold.isEmpty, let recorded else { return nil }
        return untold[Key(request.method, recorded(Key.line(request.url)))]
    }

    /// The recorded exchanges that come nearest, and why they do not fit, at most three.
    func nearest(to request: RuledRequest) -> [String] {
        var seen: Set<Key> = []
        let ranked = fixtures.compactMap { fixture -> (Int, String)? in
            guard seen.insert(Key(fixture.method, fixture.url)).inserted else { return nil }
            var differences: [String] = []
            if fixture.url.origin != request.url.origin { differences.append("origin") }
            if fixture.url.path != request.url.path { differences.append("path") }
            if fixture.method != request.method { differences.append("method") }
            if fixture.url.target != request.url.target, fixture.url.path == request.url.path {
                differences.append("query")
            }
            if differences.isEmpty { differences.append("body") }
            let weight = differences.reduce(0) { $0 + (FixtureLibrary.weights[$1] ?? 1) }
            let line = RuleText.plain(
                "\(fixture.method) \(fixture.url.origin)\(fixture.url.target)")
            return (weight, "\(line) (differs: \(differences.joined(separator: ", ")))")
        }
        return ranked.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.prefix(3).map(\.1)
    }

    /// Because: another host is farther away than another path, and that than another query.
    private static let weights = ["origin": 4, "path": 3, "method": 2, "query": 1, "body": 1]
}

/// Takes exchanges as they end.
public struct FixtureRecorder: Sendable {
    /// Where they go, in messages.
    public let label: String
    /// Called when a response has come to its end, on any thread; must return at once.
    public let keep: @Sendable (Fixture) -> Void
    /// A longer body is not kept, and nothing can be answered from that exchange.
    public let maximumBodyOctets: Int
    /// Called in the place of ``keep`` for such an exchange, without its body, with its length.
    package let leaveOut: (@Sendable (Fixture, Int64) -> Void)?
    private let settle: (@Sendable (Settling) async -> RuleFault?)?

    package enum Settling: Sendable {
        case flush, close
    }

    /// - Parameters:
    ///   - maximumBodyOctets: an exchange with a longer body is not kept; at most
    ///     ``mostBodyOctets``.
    ///   - keep: called on any thread.
    public init(
        _ label: String, maximumBodyOctets: Int = FixtureRecorder.usualBodyOctets,
        keep: @escaping @Sendable (Fixture) -> Void
    ) {
        self.label = label
        self.maximumBodyOctets = FixtureRecorder.clamped(maximumBodyOctets)
        self.keep = keep
        leaveOut = nil
        settle = nil
    }

    /// One that keeps later than it is told.
    ///
    /// - Parameters:
    ///   - leaveOut: called in the place of `keep` where the body is longer than that.
    ///   - settle: returns when all is kept; what was lost since it was last asked.
    package init(
        _ label: String, maximumBodyOctets: Int, keep: @escaping @Sendable (Fixture) -> Void,
        leaveOut: @escaping @Sendable (Fixture, Int64) -> Void,
        settle: @escaping @Sendable (Settling) async -> RuleFault?
    ) {
        self.label = label
        self.maximumBodyOctets = FixtureRecorder.clamped(maximumBodyOctets)
        self.keep = keep
        self.leaveOut = leaveOut
        self.settle = settle
    }

    private static func clamped(_ octets: Int) -> Int { min(max(octets, 0), mostBodyOctets) }

    /// What a recording keeps of a body where nothing else is said; 16 MiB.
    ///
    /// Because: recordings are test data in memory, and pages and pictures fit.
    public static let usualBodyOctets = 16_777_216
    /// What a recording can keep of a body; 64 MiB.
    ///
    /// Because: a body is held in memory while it is recorded, and when it is read again.
    public static let mostBodyOctets = 67_108_864

    /// Returns when what was kept by now is where it goes.
    ///
    /// - Throws: ``RuleFault``: what could not be kept since this was last asked.
    public func flush() async throws(RuleFault) {
        if let fault = await settle?(.flush) { throw fault }
    }

    /// The same, for good: what comes later is not kept. A file is then whole in one piece. A
    /// program calls it before it ends; without it, what was kept is written soon after the last one
    /// who has the recorder lets it go.
    ///
    /// - Throws: ``RuleFault``: what could not be kept since this was last asked.
    public func close() async throws(RuleFault) {
        if let fault = await settle?(.close) { throw fault }
    }
}
