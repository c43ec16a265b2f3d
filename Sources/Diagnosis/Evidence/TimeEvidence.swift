public import HTTPDNSLookup
public import HTTPDNSNames

/// What time somebody says it is.
public struct TimeEvidence: Sendable, Hashable {
    /// The label of the source, or the URL of the page.
    public let teller: String
    public let form: TimeForm
    /// Whether the teller proved who it is, and is believed: a trusted source over TLS, or the name
    /// under test itself. Anybody on the way can make the others say anything.
    public let isProven: Bool
    public let time: WallTime
    /// How far this machine's clock was ahead of it in that moment, in seconds; behind is negative.
    public let skewSeconds: Int64
    public let seen: Sighting

    /// - Parameter now: this machine's time when the run began.
    public init(
        teller: String, form: TimeForm, isProven: Bool, time: WallTime, now: WallTime,
        seen: Sighting = .atOnce
    ) {
        self.teller = teller
        self.form = form
        self.isProven = isProven
        self.time = time
        self.seen = seen
        let moment = now.secondsSince1970.addingReportingOverflow(seen.atMilliseconds / 1_000)
        let skew = moment.partialValue.subtractingReportingOverflow(time.secondsSince1970)
        // No server says a time that far away; one that does says nothing.
        skewSeconds = moment.overflow || skew.overflow ? 0 : skew.partialValue
    }
}
