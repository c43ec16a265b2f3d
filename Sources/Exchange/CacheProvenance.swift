/// What the cache of responses had to do with the answer to one request.
public struct CacheProvenance: Sendable, Hashable {
    /// Where the answer came from.
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// Kept, and fresh; nothing was sent.
        case hit
        /// Kept; the origin was asked and said that it still holds.
        case validated
        /// Kept, and no longer fresh: the mode, the request or the origin allows that.
        case stale
        /// From the origin.
        case missed
        /// A 504 of our own: nothing kept may answer, and nothing was to be sent.
        case unsatisfied
    }

    public let outcome: Outcome
    /// Seconds since the origin made or last confirmed the answer; nil where it is not a kept one.
    /// Source: RFC 9111 §4.2.3.
    public let ageSeconds: Int64?
    /// Why nothing kept was used, or why what came is not kept: a bounded label such as `no_store`.
    public let remark: String?

    package init(_ outcome: Outcome, ageSeconds: Int64? = nil, remark: String? = nil) {
        self.outcome = outcome
        self.ageSeconds = ageSeconds
        self.remark = remark
    }
}
