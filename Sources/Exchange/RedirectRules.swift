public import HTTPDNSNames

/// Decides what an answer with a redirect status leads to. Pure; it follows nothing.
///
/// Rules:
/// 1. `Location` is read relative to the logical URL of the request, never to an address.
/// 2. 301 and 302 turn POST into GET, 303 turns all but HEAD into GET, 307 and 308 keep the method
///    and the body. Source: RFC 9110 §15.4; Fetch §4.4 "HTTP-redirect fetch".
/// 3. On another origin `Authorization`, `Cookie`, `Proxy-Authorization` and `Referer` stay behind: the
///    next host may be anyone's. Source: RFC 9110 §15.4, §10.1.3; Fetch §4.4.
/// 4. From `https` to `http` is refused unless allowed.
/// 5. 300 and 304, and a 3xx whose `Location` is missing, empty (it would lead to itself) or unreadable,
///    are delivered.
public struct RedirectRules: Sendable, Hashable {
    /// How many redirects one request follows; one more is refused.
    ///
    /// Source: Fetch §4.4 "if request's redirect count is 20"; it is Foundation's number as well.
    public var maximumHops = 20
    /// Follow from `https` to `http`.
    public var allowsDowngrade = false
    /// Redirects that led to the request these rules are for: they count.
    package var followed = 0
    /// The URLs that were asked for on the way there.
    package var visited: [HTTPURL] = []

    public init() {}

    /// What to do with `response`.
    ///
    /// - Parameters:
    ///   - response: the answer to `request`.
    ///   - request: the hop that was answered.
    ///   - hasBody: true when the request carried a body of at least one octet.
    ///   - hops: redirects followed before this one.
    ///   - toASCII: for a host that is not ASCII.
    ///   - wasVisited: whether a URL was asked for before; tells a circle from a long way.
    /// - Returns: whether to follow, and with which request; to deliver the answer; or to fail.
    public func decide(
        _ response: ResponseHead, to request: RequestHead, hasBody: Bool, hops: Int,
        toASCII: DomainToASCII = HTTPURL.refusingUnicode,
        wasVisited: (HTTPURL) -> Bool = { _ in false }
    ) -> RedirectDecision {
        guard let status = RedirectStatus(rawValue: response.status) else {
            return .deliver(.notARedirect)
        }
        let locations = response.fields.texts("Location")
        guard let location = locations.first, !location.isEmpty else {
            return .deliver(.noLocation)
        }
        guard locations.allSatisfy({ $0 == location }) else {
            return .deliver(.severalLocations)
        }
        let url: HTTPURL
        do { url = try request.url.resolving(reference: location, toASCII: toASCII) } catch {
            return .deliver(.unreadableLocation(error))
        }
        guard hops + followed < maximumHops else {
            return .refuse(
                wasVisited(url) || visited.contains { $0.isSame(as: url) }
                    ? .circle(at: url, within: maximumHops) : .tooMany(maximumHops))
        }
        if request.url.origin.scheme == .https, url.origin.scheme == .http, !allowsDowngrade {
            return .refuse(.downgrade(to: url))
        }
        return .follow(step(status, request, to: url, hasBody: hasBody))
    }

    private func step(
        _ status: RedirectStatus, _ request: RequestHead, to url: HTTPURL, hasBody: Bool
    ) -> RedirectStep {
        let method = status.method(after: request.method)
        let keepsBody = hasBody && method == request.method && !status.dropsBody
        let changesOrigin = url.origin != request.url.origin
        var dropped = ["Host"]
        if changesOrigin { dropped += RedirectRules.originFields }
        if !keepsBody { dropped += RedirectRules.contentFields }
        var fields = request.fields
        dropped = dropped.filter { request.fields.contains($0) }
        for name in dropped { fields.remove(name) }
        return RedirectStep(
            head: RequestHead(method: method, url: url, fields: fields), keepsBody: keepsBody,
            changesOrigin: changesOrigin, droppedFields: dropped)
    }

    /// What was meant for the first origin alone. Source: RFC 9110 §15.4, §17.9; Fetch §4.4.
    package static let originFields = [
        "Authorization", "Cookie", "Proxy-Authorization", "Referer",
    ]

    /// What describes a body that is no longer sent.
    ///
    /// Source: RFC 9110 §15.4 (content-specific fields), Fetch §2.2.2 "request-body-header name";
    /// `Expect`, `Trailer`, `Transfer-Encoding`: RFC 9110 §10.1.1, §6.6.2, RFC 9112 §6.1.
    private static let contentFields = [
        "Content-Encoding", "Content-Language", "Content-Location", "Content-Type",
        "Content-Length", "Content-Range", "Digest", "Content-Digest", "Repr-Digest",
        "Last-Modified", "Expect", "Trailer", "Transfer-Encoding",
    ]
}

/// What follows from an answer.
public enum RedirectDecision: Sendable, Hashable {
    /// Send this next, through resolution and verification like a first request.
    case follow(RedirectStep)
    /// The answer itself is the result.
    case deliver(DeliverReason)
    /// The exchange fails.
    case refuse(RedirectFault)

    /// Why an answer is handed over as it is.
    public enum DeliverReason: Sendable, Hashable {
        /// No redirect status, or one that is not followed (300, 304, 305, 306).
        case notARedirect
        case noLocation
        case severalLocations
        case unreadableLocation(URLFault)

        /// It names where to go on, and nobody goes there.
        package var isRefusal: Bool {
            switch self {
            case .notARedirect, .noLocation: false
            case .severalLocations, .unreadableLocation: true
            }
        }

        /// A bounded label, safe in metrics and JSON.
        public var label: String {
            switch self {
            case .notARedirect: "not_a_redirect"
            case .noLocation: "no_location"
            case .severalLocations: "several_locations"
            case .unreadableLocation: "unreadable_location"
            }
        }
    }
}

extension RedirectDecision.DeliverReason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notARedirect: "its status is not that of a redirect that is followed"
        case .noLocation: "it has no Location"
        case .severalLocations: "it has several Locations, which differ"
        case .unreadableLocation(let fault): "its Location is not gone to: \(fault)"
        }
    }
}

/// The next request of a chain of redirects.
public struct RedirectStep: Sendable, Hashable {
    /// Its jar cookies are still to be chosen, after the answer's `Set-Cookie` fields were stored.
    public let head: RequestHead
    /// Send the same body again from its first octet; otherwise none.
    public let keepsBody: Bool
    /// Scheme, host or port differ.
    public let changesOrigin: Bool
    /// The fields of the request that were left out.
    public let droppedFields: [String]
}

/// Why a redirect is not followed and the exchange fails.
public enum RedirectFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// As many as are allowed were followed, and there is another.
    case tooMany(Int)
    /// The same, and it leads to a URL that was asked for before.
    case circle(at: HTTPURL, within: Int)
    case downgrade(to: HTTPURL)

    public var description: String {
        switch self {
        case .tooMany(let maximum):
            maximum == 0
                ? "the server redirects, and the limit is 0 redirects"
                : "the server redirects once more, and the limit is \(maximum) redirects"
        case .circle(let url, let maximum):
            "the server redirects in a circle: \(url) came twice within the limit of \(maximum) "
                + "redirects"
        case .downgrade(let url):
            RedirectFault.downgradeText(to: url) + "; RedirectRules.allowsDowngrade permits it"
        }
    }
}

extension RedirectFault {
    /// Without what permits it, which an application and a tool call by different names.
    package static func downgradeText(to url: HTTPURL) -> String {
        "the server redirects from https to \(url), where nobody proves who answers"
    }
}

/// The statuses that are followed. Source: RFC 9110 §15.4; Fetch §2.2.3 "redirect status".
private enum RedirectStatus: Int {
    case movedPermanently = 301
    case found = 302
    case seeOther = 303
    case temporaryRedirect = 307
    case permanentRedirect = 308

    func method(after method: HTTPMethod) -> HTTPMethod {
        switch self {
        case .movedPermanently, .found: method == .post ? .get : method
        case .seeOther: method == .head ? .head : .get
        case .temporaryRedirect, .permanentRedirect: method
        }
    }

    var dropsBody: Bool { self == .seeOther }
}

extension HTTPURL {
    /// What is asked for is the same: fragment and userinfo aside.
    func isSame(as other: HTTPURL) -> Bool { origin == other.origin && target == other.target }
}
