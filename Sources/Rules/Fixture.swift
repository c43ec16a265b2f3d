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
    /// body is decoded.
    package var stub: StubResponse {
        var fields = fields
        for name in ["Content-Encoding", "Content-Length", "Transfer-Encoding", "Connection"] {
            fields.remove(name)
        }
        return StubResponse(status: status, fields: fields, body: .octets(body))
    }
}

/// Recorded exchanges to answer from.
///
/// A request fits an exchange of its method and URL (the fragment aside), and of its body where
/// both are known. Where the URL was recorded without its secrets, a request fits whose URL is the
/// same without its own. Of several that fit, each answers once, in the order they were recorded,
/// and the last one answers the rest.
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
            fixtures, label: label, leftOut: [], recordedAs: nil, isRedacted: { _ in false })
    }

    /// The same of a recording that leaves secrets out.
    ///
    /// - Parameters:
    ///   - leftOut: what of the recording is not among them, and why.
    ///   - recorded: what the URL of a request becomes in such a recording; called on any thread.
    ///   - isRedacted: whether something was left out of a recorded URL.
    package init(
        _ fixtures: [Fixture], label: String, leftOut: [String],
        recordedAs recorded: (@Sendable (String) -> String)?, isRedacted: (String) -> Bool
    ) {
        self.label = label
        self.leftOut = leftOut
        self.fixtures = fixtures
        self.recorded = recorded
        places = Dictionary(
            grouping: fixtures.indices, by: { Key(fixtures[$0].method, fixtures[$0].url) })
        redacted = places.filter { isRedacted($0.key.line) }
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
        let fitting = (places[key] ?? []).filter { place in
            guard let recorded = fixtures[place].requestBody, let body = request.body else {
                return true
            }
            return recorded == body
        }
        guard !fitting.isEmpty else { return nil }
        return fixtures[fitting[min(count, fitting.count - 1)]]
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
    private let settle: (@Sendable (Settling) async -> RuleFault?)?

    package enum Settling: Sendable {
        case flush, close
    }

    /// - Parameter keep: called on any thread.
    public init(_ label: String, keep: @escaping @Sendable (Fixture) -> Void) {
        self.label = label
        self.keep = keep
        settle = nil
    }

    /// One that keeps later than it is told.
    ///
    /// - Parameter settle: returns when all is kept; what was lost since it was last asked.
    package init(
        _ label: String, keep: @escaping @Sendable (Fixture) -> Void,
        settle: @escaping @Sendable (Settling) async -> RuleFault?
    ) {
        self.label = label
        self.keep = keep
        self.settle = settle
    }

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
