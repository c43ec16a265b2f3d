internal import HTTPDNSStore

/// Sums over records: in all, by host, by resolver and by day.
public struct CaptureStatistics: Sendable, Hashable {
    public private(set) var total = CaptureTally()
    public private(set) var byHost: [String: CaptureTally] = [:]
    /// By the resolver that gave the address; empty text where nobody was asked.
    public private(set) var byResolver: [String: CaptureTally] = [:]
    /// Days in UTC.
    public private(set) var byDay: [CaptureDay: CaptureTally] = [:]

    public init() {}

    /// Counts a record.
    public mutating func add(_ record: CaptureRecord) {
        add(RecordForm.columns(record))
    }

    /// Counts the records of a file that are wanted; bodies are not read.
    ///
    /// - Throws: ``CaptureFileFault``.
    public mutating func add(
        _ file: CaptureFile, _ filter: CaptureFilter = CaptureFilter()
    ) throws(CaptureFileFault) {
        var sums = self
        try file.rows(filter) { sums.add($0) }
        self = sums
    }

    private mutating func add(_ row: CaptureRow) {
        total.add(row)
        byHost[row.host, default: CaptureTally()].add(row)
        byResolver[row.resolver, default: CaptureTally()].add(row)
        let day = CaptureDay(CaptureTime(microsecondsSince1970: row.startedMicroseconds))
        byDay[day, default: CaptureTally()].add(row)
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

    mutating func add(_ row: CaptureRow) {
        requests += 1
        if !row.failure.isEmpty || (row.status ?? 0) >= 400 { failures += 1 }
        sentOctets = CaptureRecord.sum([sentOctets, row.sentOctets])
        receivedOctets = CaptureRecord.sum([receivedOctets, row.receivedOctets])
        if row.isLookupCached { lookupCacheHits += 1 }
        if row.isAnswerCached { answerCacheHits += 1 }
        if row.status != nil, let total = row.totalMicroseconds { latencies.append(total) }
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
