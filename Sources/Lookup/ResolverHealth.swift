package import HTTPDNSNames

/// How well one source answers, and whether it may be asked now. Does no I/O and reads no clock.
///
///     closed ── 3 failures in a row ──▶ open ── back-off over, one probe ──▶ half-open
///       ▲                                ▲                                    │  │
///       │                                └───── probe failed: longer back-off ┘  │
///       └───────────────── an answer, whenever it comes ─────────────────────────┘
///
/// Rules:
/// 1. Any answer closes the breaker, a late one too: it proves that the source works.
/// 2. A failure while the breaker is open changes nothing: it belongs to a question from before.
/// 3. Half-open, one question goes out; the others rest until it has ended, or for
///    ``probePatienceMilliseconds`` when nothing is heard of it.
/// 4. A failure that is not the source's own (see ``QueryFailure/countsAgainstSource``) counts for
///    nothing; when it ended the probe, the next question is the probe.
/// 5. A probe is heard out though another's answer ended its lookup (``LookupMachine``, rule 11), so
///    what it took is known, and nothing is guessed while the breaker is not closed.
package struct SourceHealth: Sendable, Hashable {
    package enum State: Sendable, Hashable {
        /// It may be asked. Valid: every event.
        case closed
        /// It is left alone until then. Valid: answered, mayAsk.
        case open(until: Monotonic)
        /// One probe is out; another may go at that time. Valid: every event.
        case halfOpen(until: Monotonic)
    }

    package enum Permission: Sendable, Hashable {
        case ask
        /// Ask: the breaker closes or opens again by what comes of it.
        case probe
        case rest(until: Monotonic)
    }

    /// Source: Tencent's HTTPDNS SDK goes to another server after three failures in a row.
    package static let failureLimit = 3
    /// The first back-off. Source: Chromium, `kProbeBackoffPolicy`.
    package static let firstBackOffMilliseconds: Int64 = 1_000
    /// The longest back-off. Source: Chromium, `kProbeBackoffPolicy`.
    package static let longestBackOffMilliseconds: Int64 = 3_600_000
    /// How long nothing is heard of a probe before another may go.
    ///
    /// Because: as long as a caller waits for a lookup in all; a probe that ended unseen (its lookup
    /// was cancelled) must not keep the source out for ever.
    package static let probePatienceMilliseconds: Int64 = 5_000

    package private(set) var state = State.closed
    package private(set) var consecutiveFailures = 0
    /// How long its answers take.
    package private(set) var answerTime = SmoothedTime()
    /// The back-off of the next opening, before jitter.
    private var backOffMilliseconds = SourceHealth.firstBackOffMilliseconds

    package init() {}

    package mutating func answered(inMilliseconds milliseconds: Int64, now: Monotonic) {
        answerTime.add(milliseconds: milliseconds)
        consecutiveFailures = 0
        backOffMilliseconds = SourceHealth.firstBackOffMilliseconds
        state = .closed
    }

    /// Another source's answer came after so long, and this one's will not be heard: it takes that long
    /// at least. A source that has become slower is waited for a little longer each time, so that it is
    /// not missed for ever; one that never answered has no time to be corrected. Nor is that of one
    /// that broke: what is silent is not slow, and lookups would wait for it longer when it is back.
    package mutating func outrun(afterMilliseconds milliseconds: Int64) {
        guard state == .closed, answerTime.milliseconds != nil else { return }
        // Because: that the other one took long, too, says nothing of this one; twice as long is longer.
        answerTime.add(milliseconds: min(milliseconds, 2 * hedgeDelayMilliseconds))
    }

    /// A failure of the source itself.
    ///
    /// - Parameter jitter: 0 up to 1, drawn anew each time, so that many clients do not come back to
    ///   a source at one moment.
    package mutating func failed(now: Monotonic, jitter: Double) {
        switch state {
        case .open: return
        case .closed:
            consecutiveFailures += 1
            guard consecutiveFailures >= SourceHealth.failureLimit else { return }
        case .halfOpen: consecutiveFailures += 1
        }
        state = .open(until: now.adding(milliseconds: jittered(jitter)))
        // The factor 1.5. Source: Chromium, `kProbeBackoffPolicy`.
        backOffMilliseconds = min(
            backOffMilliseconds * 3 / 2, SourceHealth.longestBackOffMilliseconds)
    }

    /// A failure of either kind: one that does not count only gives a probe's permission back.
    package mutating func failed(_ failure: QueryFailure, now: Monotonic, jitter: Double) {
        if failure.countsAgainstSource {
            failed(now: now, jitter: jitter)
        } else {
            abandoned(now: now)
        }
    }

    /// A question ended without telling anything about the source; if it was the probe, the next one
    /// may be.
    package mutating func abandoned(now: Monotonic) {
        if case .halfOpen = state { state = .open(until: now) }
    }

    package mutating func mayAsk(now: Monotonic) -> Permission {
        switch state {
        case .closed: return .ask
        case .open(let until), .halfOpen(let until):
            guard now >= until else { return .rest(until: until) }
            let patience = SourceHealth.probePatienceMilliseconds
            state = .halfOpen(until: now.adding(milliseconds: patience))
            return .probe
        }
    }

    /// Everything is forgotten: on another network the source is another one.
    package mutating func reset() { self = SourceHealth() }

    /// How long to wait for this source before a second one is asked beside it: what nearly every
    /// answer of its keeps, within bounds.
    package var hedgeDelayMilliseconds: Int64 {
        guard let usual = answerTime.upperMilliseconds else {
            return SourceHealth.unknownHedgeMilliseconds
        }
        return min(
            max(usual, SourceHealth.shortestHedgeMilliseconds),
            SourceHealth.longestHedgeMilliseconds)
    }

    /// Because: above a usual first answer with its TLS handshake, below what a person notices.
    static let unknownHedgeMilliseconds: Int64 = 300
    /// Because: less would ask a second source for what is only jitter of the network.
    static let shortestHedgeMilliseconds: Int64 = 50
    /// Because: falling over to the next source must fit in the 2 s that people put up with.
    static let longestHedgeMilliseconds: Int64 = 1_000

    /// 20 % to either side, and never above the longest. Source: Chromium, `kProbeBackoffPolicy`.
    private func jittered(_ jitter: Double) -> Int64 {
        let part = jitter > 0 ? min(jitter, 1) : 0
        let factor = 0.8 + 0.4 * part
        // Rounded by hand, here and below: `rounded()` needs libm, which a core does not link.
        let exact = Double(backOffMilliseconds) * factor + 0.5
        return min(Int64(exact), SourceHealth.longestBackOffMilliseconds)
    }
}

/// A time measured again and again, smoothed, with how far single ones stray from it.
///
/// Source: RFC 6298 §2, with its α of 1/8 and β of 1/4.
package struct SmoothedTime: Sendable, Hashable {
    /// Nil before the first measurement.
    package private(set) var milliseconds: Double?
    /// The mean deviation.
    package private(set) var deviationMilliseconds = 0.0

    package init() {}

    package mutating func add(milliseconds sample: Int64) {
        // Because: a clock that was held (a suspended machine) measures hours; an hour is enough.
        let sample = Double(min(max(sample, 0), 3_600_000))
        guard let smoothed = milliseconds else {
            milliseconds = sample
            deviationMilliseconds = sample / 2
            return
        }
        let stray = (smoothed - sample).magnitude
        deviationMilliseconds += (stray - deviationMilliseconds) / 4
        milliseconds = smoothed + (sample - smoothed) / 8
    }

    /// What nearly every measurement keeps: the smoothed time and four deviations, rounded up.
    package var upperMilliseconds: Int64? {
        milliseconds.map { smoothed in
            let exact = smoothed + 4 * deviationMilliseconds
            // An hour and four times that at most: the conversion cannot trap.
            let whole = Int64(exact)
            return Double(whole) < exact ? whole + 1 : whole
        }
    }
}

extension QueryFailure {
    /// True when the failure tells against the source: it is down, not who it claims to be, or speaks
    /// nonsense. A question that it does not serve, our own limits and faults, and an answer that only
    /// one name gets do not.
    package var countsAgainstSource: Bool {
        switch self {
        case .timedOut, .unreachable, .untrusted, .malformed, .httpStatus, .rejected: true
        case .cancelled, .notCovered, .unsupportedType, .overQuota, .misconfigured,
            .refusedAddresses, .resting, .withheld, .unexpected:
            false
        }
    }
}
