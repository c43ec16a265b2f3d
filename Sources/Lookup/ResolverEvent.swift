public import HTTPDNSNames
public import HTTPDNSWire

/// One thing that happened in a resolver, for logs, counters and tests.
///
///     began ─┬─ served(from: cache | stale | held)
///            ├─ joined
///            └─ asked → answered | failed → failedOver → asked …
///     began … ended: once each for every lookup
///
/// Sources are named by their label.
public enum ResolverEvent: Sendable, Hashable {
    /// A caller asks.
    case began(Subject)
    /// An equal question was in flight already: the caller waits for that one.
    case joined(Subject)
    /// Answered without asking.
    case served(Subject, from: Store)
    /// A question went out to a source.
    case asked(Subject, source: String)
    /// A source answered, whatever it said.
    case answered(Subject, source: String, milliseconds: Int64)
    /// A source gave no usable answer.
    case failed(Subject, source: String, QueryFailure)
    /// The next source is asked in place of one that gave nothing usable.
    case failedOver(Subject, from: String, to: String)
    /// A caller has what it asked for, or its failure; milliseconds since it asked.
    case ended(Subject, Ending, milliseconds: Int64)

    /// An answer was asked for anew behind a caller who was served already.
    case refreshed(Subject)
    case refreshFailed(Subject)
    /// An answer was asked for before anybody needed it.
    case prefetched(Subject)
    /// A failure is held: the question is not sent again for so long.
    case failureHeld(Subject, milliseconds: Int64)
    /// So many answers gave way to newer ones.
    case evicted(count: Int)

    /// A source failed too often, and is left alone for so long.
    case broke(source: String, milliseconds: Int64)
    /// One question goes out to see whether a source is back.
    case probed(source: String)
    /// A source that had been left alone answers again.
    case restored(source: String)
    /// A question was not sent, since the source's quota is used up.
    case overQuota(source: String, retryAfterMilliseconds: Int64)
    /// A source answered with addresses that cannot be right; see ``AddressPolicy``.
    case addressesRefused(Subject, source: String, [IPAddress])
    /// A plain answer differs from an authenticated one.
    case disagreed(Disagreement)

    case networkChanged
    /// What keeps answers on disk failed; the text says how. Lookups go on without it.
    case storeFailed(String)

    /// What a lookup is about.
    public struct Subject: Sendable, Hashable, CustomStringConvertible {
        public let name: HostName
        public let type: RecordType

        public init(_ question: Question) {
            name = question.name
            type = question.type
        }

        public var description: String { "\(name) \(type.name)" }
    }

    /// Where an answer stood ready; the raw value is the spelling in metrics.
    public enum Store: String, Sendable, Hashable, CaseIterable {
        case cache
        /// On disk, from before this process.
        case disk
        /// Its time is over, and it was used since nobody answered. Source: RFC 8767.
        case stale
        /// A failure that was held.
        case held
    }

    /// How a lookup ended; the raw value is the spelling in metrics.
    public enum Ending: String, Sendable, Hashable, CaseIterable {
        case records
        case noData = "no_data"
        case noSuchName = "no_such_name"
        case serverFailure = "server_failure"
        case timedOut = "timed_out"
        case cancelled
        case noSource = "no_source"
        /// Every source failed.
        case exhausted

        public init(_ answer: LookupAnswer) {
            switch answer.outcome {
            case .records: self = .records
            case .noData: self = .noData
            case .noSuchName: self = .noSuchName
            case .serverFailure: self = .serverFailure
            }
        }

        public init(_ failure: LookupFailure) {
            switch failure {
            case .exhausted: self = .exhausted
            case .timedOut: self = .timedOut
            case .noSource: self = .noSource
            case .cancelled: self = .cancelled
            }
        }
    }
}
