/// What happened to one request, from its start to the end of its body: plain values, with its
/// secrets taken out.
///
/// It is made by a ``Capture``, read from a ``CaptureFile`` or from a HAR file, and can be made by
/// hand for a loader of the application's own; see ``Capture/add(_:)``.
public struct CaptureRecord: Sendable, Hashable, Identifiable {
    /// Counts from 1: in a file its rows, live what this ``Capture`` has begun.
    public var id: Int64 = 0
    /// What became of the request.
    public var kind: Kind
    public var startedAt: CaptureTime
    /// Who sent it.
    public var initiator: Initiator
    /// The rule that decided or changed something, by its name.
    public var rule: String?
    /// Why it was passed, blocked or answered without a server, for people.
    public var reason: String?
    /// The request, and one more for each redirect that was followed; never empty.
    public var hops: [Hop]
    /// What was sent, as the application gave it.
    public var requestBody = Body()
    /// What was received, decoded.
    public var responseBody = Body()
    /// From the start to the end; nil while it is under way, and where nobody knows.
    public var totalMilliseconds: Double?
    /// Why it failed; nil when it did not.
    public var failure: Failure?

    /// A record with one hop.
    public init(
        _ kind: Kind = .exchange, _ hop: Hop, startedAt: CaptureTime,
        initiator: Initiator = Initiator("application")
    ) {
        self.init(kind, [hop], startedAt: startedAt, initiator: initiator)
    }

    init(_ kind: Kind, _ hops: [Hop], startedAt: CaptureTime, initiator: Initiator) {
        self.kind = kind
        self.startedAt = startedAt
        self.initiator = initiator
        self.hops = hops
    }

    /// What became of a request.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// It was resolved, sent and answered by this library.
        case exchange
        /// It was left to the system's loader, which tells nothing more.
        case passed
        /// A rule answered it.
        case stubbed
        /// A rule refused it.
        case blocked
        /// What was kept answered it.
        case cached
        /// A connection through the proxy whose content nobody here could read.
        case tunnel
    }

    /// Who sent a request.
    public struct Initiator: Sendable, Hashable {
        /// A session by its `sessionDescription`, `client`, `proxy`, or what the application says.
        public var name: String
        /// The number of the task in its session.
        public var task: Int?

        public init(_ name: String, task: Int? = nil) {
            self.name = name
            self.task = task
        }
    }

    /// Why a request failed.
    public struct Failure: Sendable, Hashable {
        /// A bounded label: `cannot_connect`, `wrong_name`, `cancelled` …
        public var label: String
        /// The whole message.
        public var message: String

        public init(label: String, message: String) {
            self.label = label
            self.message = message
        }
    }

    /// A header field, as it was written.
    public struct Field: Sendable, Hashable {
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }
}

// A hop is large: what is asked once a record looks at it where it lies. `hops.last?.status` copies it.
extension CaptureRecord {
    /// The URL that was asked for.
    public var url: String { hops.isEmpty ? "" : hops[0].url }
    /// The method that was asked with.
    public var method: String { hops.isEmpty ? "" : hops[0].method }
    /// The host that was asked for, lower case; empty where the URL has none.
    public var host: String { CapturedURL(url).host }
    /// The status of the answer that the application got, 100...999; nil when none came.
    public var status: Int? { hops.isEmpty ? nil : hops[hops.count - 1].status }
    /// True when a hop, or what a rule mapped to one, is for that host or for a name under it.
    ///
    /// - Parameter host: in lower case.
    func concerns(_ host: String) -> Bool {
        hops.contains { hop in
            CapturedURL(hop.url).isOf(host)
                || hop.mappedFrom.map { CapturedURL($0).isOf(host) } ?? false
        }
    }
    /// Octets on the wire, all hops: heads and bodies.
    public var sentOctets: Int64 {
        hops.indices.reduce(0) { CaptureRecord.sum($0, hops[$1].sentOctets) }
    }
    /// Octets on the wire, all hops: heads and bodies.
    public var receivedOctets: Int64 {
        hops.indices.reduce(0) { CaptureRecord.sum($0, hops[$1].receivedOctets) }
    }
    /// It ended without an answer, or with a status of 400 or more.
    public var isFailed: Bool { failure != nil || (status ?? 0) >= 400 }
    /// The addresses came from the resolver's cache.
    public var isLookupCached: Bool {
        !hops.isEmpty && hops[hops.count - 1].resolution?.isCached == true
    }
    /// The cache of responses answered, without the server or with its word that nothing has
    /// changed.
    public var isAnswerCached: Bool {
        kind == .cached || (!hops.isEmpty && hops[hops.count - 1].isAnswerCached)
    }
    /// Who gave the address that was connected to.
    public var resolver: String? {
        hops.isEmpty ? nil : hops[hops.count - 1].resolution?.resolver
    }
}

extension CaptureRecord.Hop {
    /// The cache of responses answered it.
    ///
    /// Source: `CacheProvenance`.
    var isAnswerCached: Bool {
        guard let cache else { return false }
        return cache == "hit" || cache == "stale" || cache == "validated"
    }

    /// What it took, its resolution included; nil where nobody knows.
    var milliseconds: Double? { timings.total.map { (resolveMilliseconds ?? 0) + $0 } }
}

extension CaptureRecord {
    /// Stops at the end of the scale: what a file says may be anything.
    static func sum(_ sum: Int64, _ count: Int64) -> Int64 {
        let (next, overflow) = sum.addingReportingOverflow(max(0, count))
        return overflow ? .max : next
    }
}
