internal import HTTPDNSNames
internal import HTTPDNSStore

/// A capture's file, for reading: nothing in it is ever changed and nothing is left beside it, also
/// while a ``Capture`` writes it.
///
/// One thread's own.
public final class CaptureFile {
    /// Its path.
    public let path: String
    private let reader: CaptureReader

    /// Opens a file that a ``Capture`` has written.
    ///
    /// - Throws: ``CaptureFileFault``, which says what to do.
    public init(_ path: String) throws(CaptureFileFault) {
        self.path = path
        do { reader = try CaptureReader(path) } catch {
            throw CaptureFileFault(path, error)
        }
    }

    /// What the file says of itself.
    ///
    /// - Throws: ``CaptureFileFault``.
    public func contents() throws(CaptureFileFault) -> Contents {
        do {
            let contents = try reader.contents()
            return Contents(
                records: contents.records, octets: contents.octets, dropped: contents.dropped)
        } catch { throw CaptureFileFault(path, error) }
    }

    /// The records that are wanted, oldest first.
    ///
    /// - Parameters:
    ///   - filter: which.
    ///   - take: gets each; false: no more.
    /// - Returns: how many records were damaged, and left out.
    /// - Throws: ``CaptureFileFault``.
    @discardableResult
    public func read(
        _ filter: CaptureFilter = CaptureFilter(), _ take: (CaptureRecord) -> Bool
    ) throws(CaptureFileFault) -> Int {
        var unread = 0
        let damaged = try rows(filter, .whole) { row, record in
            guard let record else {
                unread += 1
                return true
            }
            return take(self.filled(record, row))
        }
        return damaged + unread
    }

    /// The record of a number; nil when there is none.
    ///
    /// - Throws: ``CaptureFileFault``, also when it is there, and damaged.
    public func record(_ number: Int64) throws(CaptureFileFault) -> CaptureRecord? {
        do {
            guard let row = try reader.row(number) else { return nil }
            guard let record = RecordForm.record(row) else {
                throw CaptureReadFault.damaged("record \(number) is not as it was written")
            }
            return filled(record, row)
        } catch let fault as CaptureReadFault {
            throw CaptureFileFault(path, fault)
        } catch { throw CaptureFileFault(path, .damaged("\(error)")) }
    }

    /// Gives all that was kept of a body, in pieces, in order.
    ///
    /// - Parameters:
    ///   - number: the record's.
    ///   - side: which body.
    ///   - take: gets each piece; false: no more.
    /// - Throws: ``CaptureFileFault``.
    public func body(
        of number: Int64, _ side: CaptureRecord.Side, _ take: ([UInt8]) -> Bool
    ) throws(CaptureFileFault) {
        do {
            guard let row = try reader.row(number) else { return }
            let whole = side == .request ? row.sent : row.received
            guard whole.isEmpty else {
                _ = take(whole)
                return
            }
            guard row.stream != 0 else { return }
            try reader.pieces(of: row.stream, side: Int64(side.rawValue), take)
        } catch { throw CaptureFileFault(path, error) }
    }

    /// All that was kept of a body, in memory; at most so many octets.
    ///
    /// - Throws: ``CaptureFileFault``.
    public func body(
        of number: Int64, _ side: CaptureRecord.Side, upTo limit: Int = 64 << 20
    ) throws(CaptureFileFault) -> [UInt8] {
        var octets: [UInt8] = []
        try body(of: number, side) { piece in
            octets += piece.prefix(limit - octets.count)
            return octets.count < limit
        }
        return octets
    }

    /// The rows that are wanted, each with its record as far as that was read; without one where the
    /// detail is damaged.
    ///
    /// - Returns: how many rows were left out, because no record of ours looks like that.
    @discardableResult
    func rows(
        _ filter: CaptureFilter, _ depth: CaptureDepth,
        _ take: (CaptureRow, CaptureRecord?) -> Bool
    ) throws(CaptureFileFault) -> Int {
        var selection = filter.selection
        do {
            if filter.host != nil, let last = filter.last {
                // Whose a record is says its detail: SQLite cannot count those.
                var numbers: [Int64] = []
                selection.last = nil
                try reader.rows(selection, .detail) { row in
                    if filter.isOfHost(row, RecordForm.record(row)) { numbers.append(row.number) }
                    return true
                }
                selection.after = numbers.suffix(max(0, last)).first.map { max($0, .min + 1) - 1 }
            }
            return try reader.rows(selection, depth) { row in
                let record = RecordForm.record(row)
                return filter.isOfHost(row, record) ? take(row, record) : true
            }
        } catch { throw CaptureFileFault(path, error) }
    }

    /// With the beginnings of bodies that are too long for a row.
    private func filled(_ record: CaptureRecord, _ row: CaptureRow) -> CaptureRecord {
        var record = record
        guard row.stream != 0 else { return record }
        for side in CaptureRecord.Side.allCases {
            let body = side == .request ? record.requestBody : record.responseBody
            guard body.octets.isEmpty, body.keptOctets > 0 else { continue }
            var octets: [UInt8] = []
            let most = CaptureRecord.Body.maximumInlineOctets
            try? reader.pieces(of: row.stream, side: Int64(side.rawValue)) { piece in
                octets += piece.prefix(most - octets.count)
                return octets.count < most
            }
            if side == .request {
                record.requestBody.octets = octets
            } else {
                record.responseBody.octets = octets
            }
        }
        return record
    }

    /// What a capture's file says of itself.
    public struct Contents: Sendable, Hashable {
        /// How many records are in it.
        public let records: Int64
        /// As ``CaptureLimits/maximumOctets`` counts.
        public let octets: Int64
        /// Records that were lost on the way into it.
        public let dropped: Int64
    }
}

/// Which records of a file are wanted: all that fit everything that is set.
public struct CaptureFilter: Sendable, Hashable {
    /// That host, or names under it, in any hop: the first request's, a redirect's, and that of a URL
    /// that a rule mapped elsewhere.
    public var host: String?
    public var method: String?
    public var statuses: ClosedRange<Int>?
    /// Only those that failed (no answer, or a status of 400 and more), or only the others.
    public var isFailed: Bool?
    /// From then on.
    public var since: CaptureTime?
    /// Before then.
    public var until: CaptureTime?
    public var kind: CaptureRecord.Kind?
    /// The last so many of what else fits.
    public var last: Int?

    public init() {}

    var selection: CaptureSelection {
        var selection = CaptureSelection()
        selection.host = host?.lowercased()
        selection.method = method?.uppercased()
        selection.statuses = statuses.map { Int64($0.lowerBound)...Int64($0.upperBound) }
        selection.isFailed = isFailed
        selection.since = since?.microsecondsSince1970
        selection.until = until?.microsecondsSince1970
        selection.kind = kind?.rawValue
        selection.last = last.map { Int64(max(0, $0)) }
        return selection
    }

    /// - Parameter record: of that row; nil: it is damaged.
    fileprivate func isOfHost(_ row: CaptureRow, _ record: CaptureRecord?) -> Bool {
        guard let host = host?.lowercased() else { return true }
        return record?.concerns(host) ?? (row.host == host || row.host.hasSuffix("." + host))
    }

    /// True for what fits, ``last`` apart: for records that are not in a file.
    public func fits(_ record: CaptureRecord) -> Bool {
        if let host = host?.lowercased(), !record.concerns(host) { return false }
        if let method, record.method != method.uppercased() { return false }
        if let statuses, !(record.status.map { statuses.contains($0) } ?? false) { return false }
        if let isFailed, record.isFailed != isFailed { return false }
        if let since, record.startedAt < since { return false }
        if let until, record.startedAt >= until { return false }
        return kind.map { $0 == record.kind } ?? true
    }
}

/// Why a capture's file cannot be read: what is wrong, and what to do.
public struct CaptureFileFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of trouble.
    public enum Code: String, Sendable, Hashable {
        case missing
        case unreadable
        /// It is none, or another program's.
        case foreign
        /// A newer version of this library made it.
        case newer
        case damaged
        case busy
    }

    public let path: String
    public let code: Code
    /// The reason in words.
    public let reason: String

    init(_ path: String, _ fault: CaptureReadFault) {
        self.path = path
        (code, reason) =
            switch fault {
            case .missing: (.missing, "there is no such file")
            case .unreadable(let why): (.unreadable, why)
            case .foreign(let why): (.foreign, why)
            case .newer(let why): (.newer, why)
            case .damaged(let why): (.damaged, why)
            case .busy(let why): (.busy, why)
            }
    }

    public var description: String {
        switch code {
        case .missing: "\(path): \(reason)"
        case .unreadable: "\(path) cannot be read: \(reason)"
        case .foreign: "\(path) is no capture: \(reason)"
        case .newer: "\(path): \(reason); read it with that version"
        case .damaged:
            "\(path) is damaged: \(reason); \"sqlite3 \(path) .recover\" may save what is left"
        case .busy: "\(path) is held by another process: \(reason); try again"
        }
    }
}
