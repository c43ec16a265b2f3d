public import HTTPDNSLookup
public import HTTPDNSNames
public import HTTPDNSTrust

/// What happened to one request, hop by hop: for people, logs and captures.
public struct ExchangeReport: Sendable, Hashable {
    /// The first request and each redirect that was followed, in order.
    public package(set) var hops: [Hop] = []
    /// Milliseconds from the start of the exchange to its end.
    public internal(set) var totalMilliseconds: Double = 0

    package init(totalMilliseconds: Double = 0) { self.totalMilliseconds = totalMilliseconds }

    /// One request of the chain.
    public struct Hop: Sendable, Hashable {
        /// The logical URL; it never holds the address.
        public let url: HTTPURL
        /// The URL that was asked for, where a rule of the application sent the request elsewhere.
        public package(set) var mappedFrom: HTTPURL?
        /// Where the addresses came from; nil when resolution failed.
        public internal(set) var resolution: ResolvedHost?
        /// Why nobody gave addresses, the last time that anybody was asked; ``systemFallback`` was
        /// before that.
        public internal(set) var resolutionFailure: ResolutionFailure?
        /// Milliseconds that resolution took.
        public internal(set) var resolveMilliseconds: Double = 0
        /// The address really connected to.
        public internal(set) var remote: Endpoint?
        /// What the peer proved; nil for plain `http`.
        public internal(set) var peer: VerifiedPeer?
        public internal(set) var isReusedConnection = false
        public internal(set) var tlsVersion: String?
        /// The connection went on with the TLS session of an earlier one, whose certificate was
        /// judged anew.
        public internal(set) var isResumedSession = false
        /// 100...999; nil when no response came.
        public package(set) var status: Int?
        public package(set) var version: HTTPVersion?
        /// The words beside the status, in HTTP/1.
        package var reason: String?
        /// This machine's end of the connection; nil without one.
        package internal(set) var localPort: Port?
        /// From the start of the hop's transfer; nil for what did not happen.
        public package(set) var timings = Timings()
        /// Addresses that were tried in vain, and why, in order.
        /// So are requests that were lost and sent again.
        public internal(set) var attempts: [RouteAttempt] = []
        /// The host was looked up a second time, past what was kept, because no address of the
        /// first answer could be reached.
        public internal(set) var wasRefreshed = false
        /// Why a redirect that names where to go on was handed over instead; nil for every other
        /// answer.
        public package(set) var notFollowed: RedirectDecision.DeliverReason?
        /// The answer whose redirect was refused: nobody else is told of it.
        package var refusedRedirect: ResponseHead?
        /// Why the system was asked after all, where it was.
        public internal(set) var systemFallback: ResolutionFailure?

        /// The addresses are not of the first source of the chain, or the system was asked after it.
        public var isFallback: Bool { systemFallback != nil || (resolution?.step ?? 1) > 1 }

        /// Why, in a bounded label, safe in metrics and JSON: of the first source that gave nothing,
        /// where that is known; `earlier_source` where it is not, for a kept answer say. Nil without a
        /// fall-back.
        public var fallbackLabel: String? {
            guard isFallback else { return nil }
            return systemFallback?.label ?? resolution?.attempts.first?.reason.label
                ?? "earlier_source"
        }

        /// The rules that acted on it, in order; empty without rules.
        public package(set) var appliedRules: [AppliedRule] = []
        /// Their names.
        public var rules: [String] { appliedRules.map(\.name) }
        /// Who answered.
        public package(set) var answerer = Answerer.network
        /// What the cache of responses had to do with it; nil without a cache, and past it.
        public internal(set) var cache: CacheProvenance?

        /// The proxy that the connection went through; ``remote`` is its address then.
        public let proxy: Proxy?

        /// The request went to an address that the resolver gave; false when a proxy was given the
        /// name.
        public var isRewritten: Bool { proxy?.target != .name }

        init(url: HTTPURL, proxy: Proxy? = nil) {
            self.url = url
            self.proxy = proxy
        }

        /// Notes the rules that acted, and the URL before they did.
        package mutating func note(_ rules: [AppliedRule], asked: HTTPURL) {
            appliedRules = rules
            mappedFrom = asked == url ? nil : asked
        }

        /// A hop that no connection was needed for.
        package init(_ url: HTTPURL, answeredBy answerer: Answerer, status: Int? = nil) {
            self.init(url: url)
            self.answerer = answerer
            self.status = status
        }
    }

    /// Who answered a hop.
    public enum Answerer: String, Sendable, Hashable, CaseIterable {
        /// The origin, over a connection.
        case network
        /// A stub of the application's rules.
        case stub
        /// An exchange that was recorded before.
        case replay
        /// Nobody: a rule refused the request.
        case nobody
    }

    /// True for the URL of a hop, fragments aside.
    func visited(_ url: HTTPURL) -> Bool {
        hops.contains { $0.url.isSame(as: url) }
    }

    /// One report of an exchange that went on in another: hops in order, times added.
    package func followed(by other: ExchangeReport) -> ExchangeReport {
        var joined = self
        joined.hops += other.hops
        joined.totalMilliseconds += other.totalMilliseconds
        return joined
    }

    /// The same with the rules that acted on its one hop.
    ///
    /// - Parameter asked: the URL before they did.
    package func noting(_ rules: [AppliedRule], asked: HTTPURL) -> ExchangeReport {
        guard !rules.isEmpty, !hops.isEmpty else { return self }
        var report = self
        report.hops[0].note(rules, asked: asked)
        return report
    }

    /// The report of one hop that was answered without a connection.
    package init(answered hop: Hop, totalMilliseconds: Double) {
        hops = [hop]
        self.totalMilliseconds = totalMilliseconds
    }

    /// Milliseconds from the start of a hop's transfer; of several that were lost, the last one's.
    public struct Timings: Sendable, Hashable {
        /// TCP is connected; nil, here and below, for what did not happen.
        public internal(set) var connected: Double?
        /// TLS is done, and the peer has proved itself.
        public internal(set) var secured: Double?
        /// The first octet of the response.
        public package(set) var firstByte: Double?
        /// The last octet, or when it broke off.
        public package(set) var total: Double?
        /// Octets on the wire, heads and bodies.
        public internal(set) var sentOctets: Int64 = 0
        public internal(set) var receivedOctets: Int64 = 0

        init() {}

        init(_ facts: TransferFacts) {
            connected = facts.connectedMilliseconds
            secured = facts.securedMilliseconds
            firstByte = facts.firstByteMilliseconds
            total = facts.totalMilliseconds
            sentOctets = facts.sentOctets
            receivedOctets = facts.receivedOctets
        }
    }
}

/// A rule of the application that acted on a request.
public struct AppliedRule: Sendable, Hashable {
    public let name: String
    /// What it did, in order, as files of rules call it: `setHeaders`, `stub` …
    public let actions: [String]

    package init(_ name: String, actions: [String]) {
        self.name = name
        self.actions = actions
    }
}

/// One address, or one connection, that did not lead to the response.
public struct RouteAttempt: Sendable, Hashable {
    /// Nil when the transport could not say which of the route's addresses it was.
    public let address: IPAddress?
    /// A bounded label: `wrong_name`, `cannot_connect`, `stale_connection`, `misdirected` …
    public let label: String
    /// The whole message.
    public let message: String

    /// The origin sent the request of `hop` away from its connection.
    static func misdirected(_ hop: ExchangeReport.Hop) -> RouteAttempt {
        RouteAttempt(
            address: hop.remote?.address, label: "misdirected",
            message:
                "\(hop.url): the server says that it is not the one for this host on that "
                + "connection (421); the request goes out once more on a fresh one")
    }

    /// One for each address that came to nothing: where the transport names none, all of the route when
    /// none could be connected to.
    static func all(
        _ failure: TransportFailure, _ url: HTTPURL, at remote: IPAddress?, of route: [IPAddress]
    ) -> [RouteAttempt] {
        let message = ExchangeFailure(.init(failure), url: url, report: ExchangeReport())
            .description
        var addresses: [IPAddress?] = [remote]
        if remote == nil, !route.isEmpty, failure.label == "cannot_connect" || route.count == 1 {
            addresses = route
        }
        return addresses.map {
            RouteAttempt(address: $0, label: failure.label, message: message)
        }
    }
}

extension RouteAttempt {
    /// One that could not be connected to, before another was tried.
    init(_ passedOver: PassedOver) {
        self.init(
            address: passedOver.address, label: passedOver.failure.label,
            message: passedOver.wasSilent
                ? "nothing came back; the next address was tried"
                : "the connection was refused or broken off; the next address was tried")
    }
}

/// Why a request failed. The facts of every attempt are in ``report``.
public struct ExchangeFailure: Error, Sendable, Hashable {
    public let cause: Cause
    /// The logical URL of the hop that failed.
    public let url: HTTPURL
    /// What happened up to the failure.
    public internal(set) var report: ExchangeReport

    package init(_ cause: Cause, url: HTTPURL, report: ExchangeReport) {
        self.cause = cause
        self.url = url
        self.report = report
    }

    /// What went wrong.
    public enum Cause: Sendable, Hashable {
        /// The host has no address we know of.
        case notResolved(ResolutionFailure)
        /// No peer proved that it is the origin; no octet of the request was sent.
        case untrusted(TrustFailure)
        /// The TLS handshake failed before a certificate could be judged; nothing was sent.
        case handshakeFailed(String)
        /// No address could be connected to; nothing was sent.
        case cannotConnect(String)
        /// `waitingFor`: `connect`, `response`, `idle` or `total`.
        case timedOut(waitingFor: String)
        /// The connection broke; with a response head the body is short.
        case connectionLost(String, hadResponse: Bool)
        case malformedResponse(String)
        case headTooLarge
        case bodyTooLarge
        /// A coded body grows further than allowed when it is decoded: a decompression bomb.
        case bodyExpandsTooFar(String)
        case bodySourceFailed(String)
        /// The body must be sent again, for a redirect, a second attempt, or because another
        /// exchange has read from it; and it cannot be read twice.
        case bodyNotReplayable(to: HTTPURL)
        case redirectRefused(RedirectFault)
        /// A rule of the application ended it; nothing was sent.
        case refusedByRule(RuleRefusal)
        /// The request itself cannot be sent.
        case unsendable(RewriteFault)
        case cancelled
        /// Something this machine lacks: the text says what.
        case unavailable(String)
        /// A fault of ours: a bug to report.
        case unexpected(String)

        init(_ failure: TransportFailure) {
            self =
                switch failure {
                case .cannotConnect(let why): .cannotConnect(why)
                case .untrusted(let trust): .untrusted(trust)
                case .handshakeFailed(let why): .handshakeFailed(why)
                case .timedOut(let phase): .timedOut(waitingFor: phase.rawValue)
                case .connectionLost(let why, let hadResponse):
                    .connectionLost(why, hadResponse: hadResponse)
                case .requestLost(_, let why): .connectionLost(why, hadResponse: false)
                case .malformedResponse(let why): .malformedResponse(why)
                case .headTooLarge: .headTooLarge
                case .bodyTooLarge: .bodyTooLarge
                case .bodyExpandsTooFar(let how): .bodyExpandsTooFar(how)
                case .bodySourceFailed(let why): .bodySourceFailed(why)
                case .cancelled: .cancelled
                case .unavailable(let why): .unavailable(why)
                case .unexpected(let why): .unexpected(why)
                }
        }

        /// How much it tells among the failures of several addresses: a peer that did not prove its
        /// name before one that broke the handshake, and that before an address that was merely
        /// dead.
        var rank: Int {
            switch self {
            case .untrusted: 2
            case .handshakeFailed: 1
            default: 0
            }
        }
    }

    /// A bounded label, safe in metrics and JSON.
    public var label: String {
        switch cause {
        case .notResolved(let failure): failure.label
        case .untrusted(let failure): failure.label
        case .handshakeFailed: "handshake_failed"
        case .cannotConnect: "cannot_connect"
        case .timedOut: "timed_out"
        case .connectionLost: "connection_lost"
        case .malformedResponse: "malformed_response"
        case .headTooLarge: "head_too_large"
        case .bodyTooLarge: "body_too_large"
        case .bodyExpandsTooFar: "body_expands_too_far"
        case .bodySourceFailed: "body_source_failed"
        case .bodyNotReplayable: "body_not_replayable"
        case .redirectRefused: "redirect_refused"
        case .refusedByRule(let refusal): refusal.kind.rawValue
        case .unsendable: "unsendable"
        case .cancelled: "cancelled"
        case .unavailable: "unavailable"
        case .unexpected: "unexpected"
        }
    }
}

extension ExchangeFailure: CustomStringConvertible {
    public var description: String {
        let route = report.hops.last.flatMap(route)
        if case .untrusted(let failure) = cause {
            return "\(url): \(failure.message(route: route))"
        }
        return "\(url): \(ExchangeFailure.text(cause))\(route.map { "\n(\($0))" } ?? "")"
    }

    /// Which address it happened at, and who gave it.
    private func route(_ hop: ExchangeReport.Hop) -> String? {
        if let proxy = hop.proxy { return "through the proxy \(proxy)" }
        guard let resolution = hop.resolution, resolution.source.transport != .literal else {
            return nil
        }
        let giver = resolution.source.resolver
        let blamed = hop.attempts.last { $0.label == label && $0.address != nil }
        if label != "cannot_connect", let address = blamed?.address ?? hop.remote?.address {
            return "connected to \(address), an address given by \(giver)"
        }
        let tried = resolution.addresses.map(\.description).joined(separator: ", ")
        return "tried \(tried), given by \(giver)"
    }

    private static func text(_ cause: Cause) -> String {
        switch cause {
        case .notResolved(let failure): failure.description
        case .untrusted(let failure): failure.description
        case .handshakeFailed(let why): "the TLS handshake failed: \(why)"
        case .cannotConnect(let why): "no address could be connected to: \(why)"
        case .timedOut(let phase): "timed out (\(phase))"
        case .connectionLost(let why, let hadResponse):
            hadResponse
                ? "the connection broke in the middle of the body: \(why)"
                : "the connection broke before a response came: \(why)"
        case .malformedResponse(let why): "the response breaks HTTP: \(why)"
        case .headTooLarge: "the response's header section is larger than allowed"
        case .bodyTooLarge: "the response's body is larger than allowed"
        case .bodyExpandsTooFar(let how): "the response's body expands too far: \(how)"
        case .bodySourceFailed(let why): "the request's body could not be read: \(why)"
        case .bodyNotReplayable(let url):
            "\(url) must be sent the body from its beginning, but the body is a stream that was "
                + "read already; make a new body for each request, or one that can be repeated"
        case .redirectRefused(let fault): fault.description
        case .refusedByRule(let refusal): refusal.description
        case .unsendable(let fault): fault.description
        case .cancelled: "cancelled"
        case .unavailable(let why): why
        case .unexpected(let why): "an internal fault, please report it: \(why)"
        }
    }
}
