internal import HTTPDNSStore

/// Sums over records: in all, by host, by resolver and by day.
///
/// In all and by day a record is one request, however often it was redirected. By host and by resolver
/// each of its hops is one, with what it sent, received and took itself.
public struct CaptureStatistics: Sendable, Hashable {
    public private(set) var total = CaptureTally()
    public private(set) var byHost: [String: CaptureTally] = [:]
    /// By the resolver that gave the address, and by those that gave none, for each of which the hop is
    /// a failure; empty text where nobody was asked.
    public private(set) var byResolver: [String: CaptureTally] = [:]
    /// Days in UTC.
    public private(set) var byDay: [CaptureDay: CaptureTally] = [:]

    public init() {}

    /// Counts a record.
    public mutating func add(_ record: CaptureRecord) {
        add(RecordForm.columns(record), record)
    }

    /// Counts the records of a file that are wanted; bodies are not read.
    ///
    /// - Returns: how many records were damaged: those whose hops cannot be read are counted by the
    ///   host and the resolver that stand beside them, the others not at all.
    /// - Throws: ``CaptureFileFault``.
    @discardableResult
    public mutating func add(
        _ file: CaptureFile, _ filter: CaptureFilter = CaptureFilter()
    ) throws(CaptureFileFault) -> Int {
        var sums = self
        var unread = 0
        let damaged = try file.rows(filter, .detail) { row, record in
            if record == nil { unread += 1 }
            sums.add(row, record)
            return true
        }
        self = sums
        return damaged + unread
    }

    private mutating func add(_ row: CaptureRow, _ record: CaptureRecord?) {
        let whole = CaptureTally.Request(row)
        total.add(whole)
        let day = CaptureDay(CaptureTime(microsecondsSince1970: row.startedMicroseconds))
        byDay[day, default: CaptureTally()].add(whole)
        guard let record else {
            byHost[row.host, default: CaptureTally()].add(whole)
            byResolver[row.resolver, default: CaptureTally()].add(whole)
            return
        }
        for (place, hop) in record.hops.enumerated() {
            let request = CaptureTally.Request(record, place)
            byHost[CapturedURL(hop.url).host, default: CaptureTally()].add(request)
            let failed = hop.failedResolvers
            for name in failed { byResolver[name, default: CaptureTally()].add(.unanswered) }
            guard hop.resolution != nil || failed.isEmpty else { continue }
            byResolver[hop.resolution?.resolver ?? "", default: CaptureTally()].add(request)
        }
    }
}

extension CaptureRecord.Hop {
    /// Those that were asked for it and gave no address, each once.
    fileprivate var failedResolvers: Set<String> {
        // What is kept was asked for by another request.
        let before = resolution?.isCached == true ? [] : resolution?.attempts ?? []
        var names = Set((before + resolverFailures).compactMap(\.at))
        if let giver = resolution?.resolver { names.remove(giver) }
        return names
    }
}

/// What was counted of some records.
public struct CaptureTally: Sendable, Hashable {
    public private(set) var requests = 0
    /// Without an answer, or with a status of 400 and more.
    public private(set) var failures = 0
    /// Octets on the wire.
    public private(set) var sentOctets: Int64 = 0
    /// Octets on the wire.
    public private(set) var receivedOctets: Int64 = 0
    /// Addresses came from the resolver's cache.
    public private(set) var lookupCacheHits = 0
    /// The cache of responses answered.
    public private(set) var answerCacheHits = 0
    /// Of those that ended with an answer.
    private var latencies: [Int64] = []

    public init() {}

    /// What is counted: a record, or a hop of one.
    struct Request {
        var isFailed = false
        var sentOctets: Int64 = 0
        var receivedOctets: Int64 = 0
        var isLookupCached = false
        var isAnswerCached = false
        /// From its start to its answer's end; nil without an answer.
        var microseconds: Int64?

        /// One that a resolver had no address for.
        static let unanswered = Request(isFailed: true)

        private init(isFailed: Bool) { self.isFailed = isFailed }

        init(_ row: CaptureRow) {
            isFailed = !row.failure.isEmpty || (row.status ?? 0) >= 400
            sentOctets = row.sentOctets
            receivedOctets = row.receivedOctets
            isLookupCached = row.isLookupCached
            isAnswerCached = row.isAnswerCached
            if row.status != nil { microseconds = row.totalMicroseconds }
        }

        init(_ record: CaptureRecord, _ place: Int) {
            let hop = record.hops[place]
            let isLast = place == record.hops.count - 1
            isFailed = isLast && record.failure != nil || (hop.status ?? 0) >= 400
            sentOctets = hop.sentOctets
            receivedOctets = hop.receivedOctets
            isLookupCached = hop.resolution?.isCached == true
            isAnswerCached = isLast ? record.isAnswerCached : hop.isAnswerCached
            guard hop.status != nil else { return }
            let milliseconds =
                record.hops.count == 1 ? record.totalMilliseconds : hop.milliseconds
            microseconds = milliseconds.flatMap { Int64(exactly: ($0 * 1_000).rounded()) }
        }
    }

    mutating func add(_ request: Request) {
        requests += 1
        if request.isFailed { failures += 1 }
        sentOctets = CaptureRecord.sum(sentOctets, request.sentOctets)
        receivedOctets = CaptureRecord.sum(receivedOctets, request.receivedOctets)
        if request.isLookupCached { lookupCacheHits += 1 }
        if request.isAnswerCached { answerCacheHits += 1 }
        if let time = request.microseconds { latencies.append(time) }
    }

    /// Milliseconds below which that share of the answered requests stayed, by the nearest rank;
    /// nil where none was answered.
    ///
    /// - Parameter share: 0...1; 0.5 is the median.
    public func milliseconds(atShare share: Double) -> Double? {
        guard !latencies.isEmpty, share >= 0, share <= 1 else { return nil }
        let sorted = latencies.sorted()
        let rank = max(1, (share * Double(sorted.count)).rounded(.up))
        return Double(sorted[min(Int(rank), sorted.count) - 1]) / 1_000
    }
}
