internal import HTTPDNSStore

/// Puts records into a capture's file. The capture's thread's own.
final class CaptureFileSink {
    private let archive: CaptureArchive
    private var writer = DetailWriter()
    private var waiting = 0
    /// Octets that wait for the next commit.
    private var waitingOctets = 0
    /// Octets of the pieces of each record under way.
    private var pieceOctets: [Int64: Int64] = [:]
    /// Those with pieces that wait for the next commit.
    private var waitingStreams: Set<Int64> = []
    /// Records under way of which pieces were lost: their bodies have a hole.
    private var broken: Set<Int64> = []
    /// Records that were lost here.
    private(set) var lost: Int64 = 0
    private var lostSinceCommit: Int64 = 0
    /// Records that were lost before they came here; noted in the file.
    var dropped: Int64 = 0 {
        didSet { if dropped > oldValue { archive.noteDropped(dropped - oldValue) } }
    }

    init(
        _ path: String, _ limits: CaptureLimits,
        _ report: @escaping @Sendable (CaptureTrouble) -> Void
    ) {
        let room = CaptureRoom(
            records: Int64(limits.maximumRecords), octets: Int64(limits.maximumOctets),
            ageMicroseconds: limits.maximumAge.map { CaptureFileSink.microseconds($0) })
        archive = CaptureArchive(path: path, room: room) { event in
            switch event {
            case .setAside(let newPath, let why):
                report(.setAside(path: path, newPath: newPath, because: why))
            case .foreign(let why): report(.foreign(path: path, because: why))
            case .quiet(let why): report(.quiet(path: path, because: why))
            case .recovered: report(.recovered(path: path))
            }
        }
    }

    func newStream() -> Int64 { archive.newStream() }

    func add(_ octets: [UInt8], stream: Int64, _ side: CaptureRecord.Side, number: Int64) {
        guard !octets.isEmpty else { return }
        archive.add(
            CapturePieceRow(
                stream: stream, side: Int64(side.rawValue), number: number, octets: octets))
        pieceOctets[stream, default: 0] += Int64(octets.count)
        waitingStreams.insert(stream)
        waitingOctets += octets.count
        if waitingOctets > CaptureFileSink.mostWaitingOctets { flush() }
    }

    func add(_ record: CaptureRecord, stream: Int64) {
        var (record, stream) = (record, stream)
        if broken.contains(stream) {
            abandon(stream)
            stream = 0
            record.requestBody.losePieces()
            record.responseBody.losePieces()
        }
        var row = RecordForm.row(record, &writer)
        row.stream = stream
        row.pieceOctets = pieceOctets.removeValue(forKey: stream) ?? 0
        archive.add(row)
        waiting += 1
        waitingOctets += row.detail.count + row.sent.count + row.received.count
        if waitingOctets > CaptureFileSink.mostWaitingOctets { flush() }
    }

    /// No record will name these pieces.
    func abandon(_ stream: Int64) {
        pieceOctets[stream] = nil
        broken.remove(stream)
        archive.abandon(stream)
    }

    /// Writes what waits; how many records were lost since the last time.
    func commit() -> Int64 {
        flush()
        defer { lostSinceCommit = 0 }
        return lostSinceCommit
    }

    func clear() {
        archive.removeAll()
        broken.formUnion(pieceOctets.keys)
        pieceOctets = [:]
        waitingStreams = []
        waiting = 0
        waitingOctets = 0
    }

    private func flush() {
        if archive.commit() == nil {
            broken.formUnion(waitingStreams)
            lost += Int64(waiting)
            lostSinceCommit += Int64(waiting)
        }
        waitingStreams = []
        waiting = 0
        waitingOctets = 0
    }

    private static func microseconds(_ duration: Duration) -> Int64 {
        let (seconds, _) = duration.components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .max : scaled
    }

    /// Because: a transaction of that size is written at the speed of the disk, and more in memory
    /// is of no use.
    private static let mostWaitingOctets = 4 << 20
}

extension CaptureRecord.Body {
    /// Of what stands in pieces only the beginning is left.
    fileprivate mutating func losePieces() {
        guard keptOctets != Int64(octets.count) else { return }
        keptOctets = Int64(octets.count)
        omission = .dropped
    }
}
