public import HTTPDNSExchange

/// An answer that is made here instead of being asked for.
///
/// To a task it is a response like any other: its redirects are followed, its `Set-Cookie` fields
/// are kept, its time-outs come, `HEAD` gets no body, and so no failure in one. A `Content-Length`,
/// and for a file the `Content-Type`, are added where they are missing. The body is what the task
/// gets: no coding is undone.
public struct StubResponse: Sendable {
    /// What stands in the body.
    public enum Body: Sendable, Hashable {
        case none
        case octets([UInt8])
        /// A file, by its path, read as it is delivered.
        case file(String)
    }

    /// 200...599
    public var status: Int
    public var fields: HTTPFields
    public var body: Body
    /// How long the head keeps the task waiting.
    public var latency: Duration = .zero
    /// How fast the body comes; nil for at once.
    public var octetsPerSecond: Int?
    /// Ends in the body, as a connection that breaks.
    public var failure: Failure?

    /// An end before the end.
    public struct Failure: Sendable {
        /// So many octets of the body come first; at most all of them.
        public var afterOctets: Int
        public var error: RuleError

        /// - Parameter afterOctets: 0 for right after the head.
        public init(afterOctets: Int = 0, _ error: RuleError = .network(.networkConnectionLost)) {
            self.afterOctets = afterOctets
            self.error = error
        }
    }

    /// An answer.
    public init(
        status: Int = 200, fields: HTTPFields = HTTPFields(), body: Body = .none
    ) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// Text in UTF-8.
    public static func text(
        _ text: String, type: String = "text/plain; charset=utf-8", status: Int = 200
    ) -> StubResponse {
        StubResponse(status: status, type: type, body: .octets(Array(text.utf8)))
    }

    /// JSON, as written.
    public static func json(_ text: String, status: Int = 200) -> StubResponse {
        StubResponse.text(text, type: "application/json", status: status)
    }

    /// The content of a file, of the type that its name and content tell.
    public static func file(_ path: String, status: Int = 200) -> StubResponse {
        StubResponse(status: status, body: .file(path))
    }

    /// A redirect.
    public static func redirect(to location: String, status: Int = 302) -> StubResponse {
        var stub = StubResponse(status: status)
        try? stub.fields.set("Location", location)
        return stub
    }

    private init(status: Int, type: String, body: Body) {
        self.init(status: status, body: body)
        // A type that cannot stand in a field is left out; what remains is a body without one.
        try? fields.set("Content-Type", type)
    }

    /// The same after some time.
    public func after(_ latency: Duration) -> StubResponse {
        var stub = self
        stub.latency = latency
        return stub
    }

    /// The same with one more field.
    ///
    /// - Throws: `FieldError`.
    public func with(_ name: String, _ value: String) throws(FieldError) -> StubResponse {
        var stub = self
        try stub.fields.append(name, value)
        return stub
    }

    /// The same, its body in such a stream.
    public func throttled(octetsPerSecond: Int) -> StubResponse {
        var stub = self
        stub.octetsPerSecond = octetsPerSecond
        return stub
    }

    /// The same, broken off.
    public func failing(
        afterOctets: Int, _ error: RuleError = .network(.networkConnectionLost)
    ) -> StubResponse {
        var stub = self
        stub.failure = Failure(afterOctets: afterOctets, error)
        return stub
    }
}

/// Where the answers of a stub come from.
public struct Stub: Sendable, CustomStringConvertible {
    package enum Form: Sendable {
        case listed([StubResponse], after: AfterLast)
        case made(String, @Sendable (RuledRequest) async throws -> StubResponse)
    }

    /// What follows when a list of answers has been given.
    public enum AfterLast: String, Sendable, Hashable, CaseIterable {
        /// The last one stays.
        case stay
        /// The first one comes again.
        case begin
        /// The rule no longer answers; the ones behind it are asked.
        case goOn
    }

    package let form: Form

    /// Always the same.
    public init(_ response: StubResponse) { form = .listed([response], after: .stay) }

    /// One after the other, a request each.
    public init(_ responses: [StubResponse], after: AfterLast = .stay) {
        form = .listed(responses, after: after)
    }

    /// As the closure says, which may wait. What it throws is the task's error.
    ///
    /// - Parameter what: says in messages what it answers.
    public init(
        _ what: String = "a closure",
        _ make: @escaping @Sendable (RuledRequest) async throws -> StubResponse
    ) {
        form = .made(what, make)
    }

    /// The answer to the request of that number, counted from 0; nil when there is none.
    package func response(_ ordinal: Int) -> Form? {
        guard case .listed(let responses, let after) = form else { return form }
        guard let last = responses.last else { return nil }
        if ordinal < responses.count { return .listed([responses[ordinal]], after: after) }
        return switch after {
        case .stay: .listed([last], after: after)
        case .begin: .listed([responses[ordinal % responses.count]], after: after)
        case .goOn: nil
        }
    }

    var mayGoOn: Bool {
        if case .listed(_, .goOn) = form { true } else { false }
    }

    var isCounting: Bool {
        guard case .listed(let responses, let after) = form else { return false }
        return responses.count > 1 || after == .goOn
    }

    public var description: String {
        switch form {
        case .made(let what, _): "by \(what)"
        case .listed(let responses, let after):
            responses.map(Stub.text).joined(separator: ", then ")
                + (responses.count > 1
                    ? [.stay: "", .begin: ", and again", .goOn: ", then no more"][after] ?? "" : "")
        }
    }

    private static func text(_ response: StubResponse) -> String {
        var parts = ["\(response.status)"]
        switch response.body {
        case .none: break
        case .octets(let octets): parts.append("\(octets.count) octets")
        case .file(let path): parts.append("from \(RuleText.plain(path))")
        }
        if response.latency > .zero { parts.append("after \(response.latency)") }
        if let rate = response.octetsPerSecond { parts.append("\(rate) octets a second") }
        if let failure = response.failure {
            parts.append("broken off after \(failure.afterOctets) octets (\(failure.error))")
        }
        return parts.joined(separator: ", ")
    }
}
