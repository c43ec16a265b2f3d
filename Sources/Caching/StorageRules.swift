package import HTTPDNSExchange
internal import HTTPDNSNames

/// Decides whether a response is kept. Source: RFC 9111 §3.
///
/// Rules:
/// 1. Only answers to `GET`. `POST` never, `HEAD` confirms what is kept.
/// 2. Only what came from an origin that proved itself; plain `http` where the application says so.
/// 3. Nothing that request or response forbid (`no-store`); `must-understand` takes that back where
///    the status is known. `private` is no bar: this cache is private.
/// 4. Only whole answers: no 206, no 304, none whose end only the end of the connection tells.
/// 5. With an explicit lifetime any final status; without one those that RFC 9110 §15.1 lists, or
///    `public` or `private`. 421 is about a connection, not a resource.
/// 6. `Vary: *` answers nobody else.
/// 7. No coded content that nobody decodes: that of a request for a range, which an origin may
///    answer whole.
package enum StorageRules {
    /// Why a response is not kept: a bounded label.
    package enum Refusal: String, Error, Sendable, Hashable {
        case method
        case bypassed
        case unproven
        case noStore = "no_store"
        case notUnderstood = "not_understood"
        case partial
        case unframed
        case undecoded
        case status
        case vary = "vary_star"
        case tooLarge = "too_large"
        case credentials
        case policyChanged = "policy_changed"
        /// Something was changed by another request since it was asked.
        case outdated
    }

    /// How the response came.
    package struct Circumstances: Sendable, Hashable {
        package var mode: CacheMode
        /// Names the policy under which the origin proved itself; nil for plain `http`.
        package var policy: [UInt8]?
        package var keepsPlainHTTP: Bool
        /// The transport answered a challenge: the fields do not show as whom.
        package var usesCredentials: Bool
        package var largestBodyOctets: Int64

        package init(
            mode: CacheMode, policy: [UInt8]?, keepsPlainHTTP: Bool, usesCredentials: Bool,
            largestBodyOctets: Int64
        ) {
            self.mode = mode
            self.policy = policy
            self.keepsPlainHTTP = keepsPlainHTTP
            self.usesCredentials = usesCredentials
            self.largestBodyOctets = largestBodyOctets
        }
    }

    /// The variant that the response is.
    ///
    /// - Throws: ``Refusal``, the first rule that is broken.
    package static func check(
        _ head: ResponseHead, to request: CacheRequest, _ circumstances: Circumstances
    ) throws(Refusal) -> Variant {
        guard request.method == .get else { throw .method }
        guard circumstances.mode != .none else { throw .bypassed }
        guard request.url.origin.scheme == .http || circumstances.policy != nil else {
            throw .unproven
        }
        guard request.url.origin.scheme == .https || circumstances.keepsPlainHTTP else {
            throw .unproven
        }
        guard !circumstances.usesCredentials else { throw .credentials }
        let directives = CacheDirectives(ofResponse: head.fields)
        try checkStatus(head, directives)
        guard !request.directives.noStore else { throw .noStore }
        try checkDirectives(directives, status: head.status)
        guard !isUndecoded(head, to: request) else { throw .undecoded }
        try checkFraming(head, circumstances)
        guard let variant = Variant(request, answeredWith: head.fields) else { throw .vary }
        return variant
    }

    /// A later head says that what is kept of its resource must not be.
    ///
    /// - Parameter status: of what is kept.
    package static func forbids(_ fields: HTTPFields, status: Int) -> Bool {
        let directives = CacheDirectives(ofResponse: fields)
        do throws(Refusal) { try checkDirectives(directives, status: status) } catch { return true }
        return false
    }

    private static func checkDirectives(
        _ directives: CacheDirectives, status: Int
    ) throws(Refusal) {
        guard !directives.has("must-understand") else {
            guard understood.contains(status) else { throw .notUnderstood }
            return
        }
        guard !directives.noStore else { throw .noStore }
    }

    private static func checkStatus(
        _ head: ResponseHead, _ directives: CacheDirectives
    ) throws(Refusal) {
        guard head.status != 206, !head.fields.contains("Content-Range") else { throw .partial }
        guard (200...599).contains(head.status), !ofConditions.contains(head.status),
            head.status != 421
        else { throw .status }
        let isExplicit = directives.has("max-age") || head.fields.contains("Expires")
        let isNamed = directives.has("public") || directives.has("private")
        guard isExplicit || isNamed || Freshness.heuristicStatuses.contains(head.status) else {
            throw .status
        }
    }

    /// They speak of the conditions, the range or the expectation of one request, which the next one for
    /// the URL does not have. Source: RFC 9110 §15.4.5, §15.5.13, §15.5.17, §15.5.18.
    private static let ofConditions: Set<Int> = [304, 412, 416, 417]

    /// The transport decodes nothing of a request for a range, and the next one for the whole takes
    /// what is kept for decoded.
    private static func isUndecoded(_ head: ResponseHead, to request: CacheRequest) -> Bool {
        guard request.isDecoded, request.fields.contains("Range") else { return false }
        return head.fields.all("Content-Encoding").contains { value in
            FieldList.items(value).contains { $0.lowercased() != "identity" }
        }
    }

    /// A body that ends with its connection may have been cut off. Source: RFC 9112 §8.
    private static func checkFraming(
        _ head: ResponseHead, _ circumstances: Circumstances
    ) throws(Refusal) {
        let codings = head.fields.all("Transfer-Encoding").flatMap { FieldList.items($0) }
        let length = head.fields.first("Content-Length").flatMap { Int64($0) }
        let isFramed =
            head.version == .http2 || head.status == 204 || length != nil
            || codings.contains { $0.lowercased() == "chunked" }
        guard isFramed else { throw .unframed }
        if let length, length > circumstances.largestBodyOctets { throw .tooLarge }
    }

    /// Those that ``RedirectRules`` and callers know what to do with. Source: RFC 9111 §5.2.2.3.
    private static let understood: Set<Int> = [
        200, 203, 204, 300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 410, 414, 500, 501,
        502,
        503, 504,
    ]
}
