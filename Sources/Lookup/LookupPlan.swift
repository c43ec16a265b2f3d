/// In which way the sources of a chain are asked.
public enum LookupStrategy: Sendable, Hashable {
    /// One after the other: the next is asked when one has failed or its time is up. Each question goes
    /// to as few services as possible: to two at once only where one that had failed is tried again, so
    /// that the lookup that does it is no slower than others.
    case ordered
    /// As ordered, but a source that takes longer than usual gets company: the next is asked beside it,
    /// and the first good answer counts. Nil takes the delay from what the source took before.
    case hedged(after: Duration?)
    /// All at once; the first good answer counts.
    case raced
}

/// One source as a lookup sees it, when it begins.
package struct PlannedSource: Sendable, Hashable {
    /// The back-end's label.
    package let label: String
    /// Its answers cannot be forged on the way.
    package var isAuthenticated = true
    /// It is reached over loopback: loopback addresses in its answers are its owner's business.
    package var isLocal = false
    /// For how long it is to be left alone; nil when it may be asked.
    package var restMilliseconds: Int64?
    /// It failed, has rested, and this lookup tries whether it is back.
    package var isOnProbation: Bool
    /// After how long the next source is asked beside it, in a hedged lookup.
    package var hedgeDelayMilliseconds: Int64

    package init(
        label: String, isAuthenticated: Bool = true, isLocal: Bool = false,
        restMilliseconds: Int64? = nil, isOnProbation: Bool = false,
        hedgeDelayMilliseconds: Int64 = PlannedSource.usualHedgeDelayMilliseconds
    ) {
        self.label = label
        self.isAuthenticated = isAuthenticated
        self.isLocal = isLocal
        self.restMilliseconds = restMilliseconds
        self.isOnProbation = isOnProbation
        self.hedgeDelayMilliseconds = hedgeDelayMilliseconds
    }

    /// For a source that has not been measured.
    ///
    /// Because: above the round trip of nearly every network with the handshakes of a first question
    /// (three round trips at 100 ms), and still below what a person notices.
    package static let usualHedgeDelayMilliseconds: Int64 = 300
}

/// How a lookup goes about its sources.
package struct LookupRules: Sendable {
    package var strategy = LookupStrategy.ordered
    /// How long an answer that proves nothing is held back while one that does may still come.
    package var preferenceWindowMilliseconds = LookupRules.usualPreferenceWindowMilliseconds
    /// Which addresses are not believed.
    package var policy = AddressPolicy.off
    /// Sources that this lookup may not ask: told where it fails.
    package var withheld: [LookupAttempt] = []

    package init() {}

    /// Because: a trusted source that is asked at the same time is one or two round trips behind plain
    /// DNS; half a second hears it on a slow mobile network, and delays nothing where it is in time.
    package static let usualPreferenceWindowMilliseconds: Int64 = 500
}
