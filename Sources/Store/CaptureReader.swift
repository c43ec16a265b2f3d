internal import HTTPDNSPlatform

/// Why a capture's file cannot be read.
package enum CaptureReadFault: Error, Sendable, Hashable {
    case missing
    /// No regular file, or no right to read it.
    case unreadable(String)
    /// No SQLite database, or one of another program.
    case foreign(String)
    /// A newer version of this library made it.
    case newer(String)
    case damaged(String)
    /// Another process held it for too long.
    case busy(String)
}

/// Reads a capture's file, and never writes to it, also while another process does. One thread's
/// own.
package final class CaptureReader {
    private var database: ReadDatabase

    /// Opens the file.
    ///
    /// - Throws: ``CaptureReadFault``.
    package init(_ path: String) throws(CaptureReadFault) {
        try CaptureReader.check(path)
        do throws(DatabaseFault) {
            database = try ReadDatabase(path, CaptureReader.checkState)
        } catch {
            throw CaptureReader.fault(error)
        }
    }

    /// Records and octets, by the file's own sums.
    package func contents() throws(CaptureReadFault) -> CaptureContents {
        try settled(CaptureTable.contents)
    }

    /// Gives the rows of a selection in order, oldest first.
    ///
    /// - Parameters:
    ///   - selection: which.
    ///   - depth: how much of each.
    ///   - take: gets each; false: no more.
    /// - Returns: how many rows were left out, because no record of ours looks like that.
    @discardableResult
    package func rows(
        _ selection: CaptureSelection, _ depth: CaptureDepth = .whole,
        _ take: (CaptureRow) -> Bool
    ) throws(CaptureReadFault) -> Int {
        do throws(DatabaseFault) {
            var rest = selection
            var damaged = 0
            while try !give(&rest, depth, &damaged, take) {
                try database.reopen(CaptureReader.checkState)
            }
            return damaged
        } catch { throw CaptureReader.fault(error) }
    }

    /// False when the file has changed meanwhile; then `rest` is what was not given yet.
    private func give(
        _ rest: inout CaptureSelection, _ depth: CaptureDepth, _ damaged: inout Int,
        _ take: (CaptureRow) -> Bool
    ) throws(DatabaseFault) -> Bool {
        do throws(DatabaseFault) {
            let statement = try CaptureReader.statement(rest, depth, prepare)
            while try statement.step() {
                let (number, row) = try CaptureReader.row(statement, depth)
                guard database.isSound else { return false }
                // Pages that lead back to each other would give the same rows for ever.
                guard rest.after.map({ $0 < number }) ?? true else {
                    throw .damaged("its rows are out of order")
                }
                if let row {
                    guard take(row) else { return true }
                } else {
                    damaged += 1
                }
                rest.after = number
                if let last = rest.last { rest.last = last - 1 }
            }
            return database.isSound
        } catch {
            guard database.isSound else { return false }
            guard case .oversized = error else { throw error }
            return try giveSingly(&rest, depth, &damaged, take)
        }
    }

    /// The row of a number; nil when there is none.
    package func row(_ number: Int64) throws(CaptureReadFault) -> CaptureRow? {
        try settled { database throws(DatabaseFault) in
            var selection = CaptureSelection()
            selection.only = number
            switch try CaptureReader.look(selection, .whole, database.prepare) {
            case .nothing: return nil
            case .row(let row): return row
            case .damaged: throw .damaged("record \(number) is not as it was written")
            }
        }
    }

    /// Gives the pieces of a body in order.
    package func pieces(
        of stream: Int64, side: Int64, _ take: ([UInt8]) -> Bool
    ) throws(CaptureReadFault) {
        // Each by itself: what was given stays given.
        var number: Int64 = -1
        while let piece = try piece(of: stream, side: side, after: number) {
            guard take(piece.octets) else { return }
            number = piece.number
        }
    }

    private func piece(
        of stream: Int64, side: Int64, after number: Int64
    ) throws(CaptureReadFault) -> (number: Int64, octets: [UInt8])? {
        try settled { database throws(DatabaseFault) in
            let statement = try database.prepare(
                "SELECT octets, number FROM piece WHERE stream = ?1 AND side = ?2 AND number > ?3 "
                    + "ORDER BY number LIMIT 1")
            try statement.bind(1, stream)
            try statement.bind(2, side)
            try statement.bind(3, number)
            guard try statement.step() else { return nil }
            guard let octets = statement.octets(0, atMost: CaptureReader.largestOctets),
                let next = statement.number(1), next > number
            else { throw .damaged("a piece of a body of another form") }
            return (next, octets)
        }
    }

    private func prepare(_ sql: String) throws(DatabaseFault) -> Statement {
        try database.prepare(sql)
    }

    private func settled<Result>(
        _ body: (Database) throws(DatabaseFault) -> Result
    ) throws(CaptureReadFault) -> Result {
        do throws(DatabaseFault) {
            return try database.settled(CaptureReader.checkState, body)
        } catch { throw CaptureReader.fault(error) }
    }
}

// Opening
extension CaptureReader {
    /// Whether a file begins as a database. It may be one that this process writes.
    package static func isDatabase(_ path: String) -> Bool {
        SmallFile.octets(of: path) > 0 && (try? Database(reading: path, .still)) != nil
    }

    /// What SQLite would wait for, or say in fewer words.
    private static func check(_ path: String) throws(CaptureReadFault) {
        guard PrivateFile.identity(path) != nil else { throw .missing }
        let octets: Int64
        do { octets = try SmallFile.size(path) } catch { throw .unreadable(error.description) }
        guard octets > 0 else { throw .foreign("it is empty") }
    }

    private static func checkState(_ database: Database) throws(DatabaseFault) {
        let state = try database.snapshot { () throws(DatabaseFault) in
            try CaptureTable.state(of: database)
        }
        guard state == .current else { throw .foreign("it holds no capture") }
    }

    private static func fault(_ fault: DatabaseFault) -> CaptureReadFault {
        switch fault {
        case .damaged(let why), .oversized(let why): .damaged(why)
        case .foreign(let why) where why.contains("newer"): .newer(why)
        case .foreign(let why): .foreign(why)
        case .busy(let why): .busy(why)
        case .unusable(let why): .unreadable(why)
        }
    }
}

// Rows
extension CaptureReader {
    private static let columns =
        "id, started, ended, total, kind, method, host, failure, resolver, status, "
        + "sent_octets, received_octets, cached, stream"

    private static func statement(
        _ selection: CaptureSelection, _ depth: CaptureDepth,
        _ prepare: (String) throws(DatabaseFault) -> Statement
    ) throws(DatabaseFault) -> Statement {
        var conditions: [String] = []
        // Of another alphabet the detail may have another spelling: then all are judged.
        if let host = selection.host, host.utf8.allSatisfy({ $0 < 0x80 }) {
            conditions.append(
                "(host = ?1 OR host LIKE ?2 ESCAPE '\\' OR "
                    + "CAST(detail AS TEXT) LIKE ?11 ESCAPE '\\')")
        }
        if selection.method != nil { conditions.append("method = ?3") }
        if selection.statuses != nil { conditions.append("status BETWEEN ?4 AND ?5") }
        if let isFailed = selection.isFailed {
            let failed = "(failure <> '' OR coalesce(status, 0) >= 400)"
            conditions.append(isFailed ? failed : "NOT \(failed)")
        }
        if selection.since != nil { conditions.append("started >= ?6") }
        if selection.until != nil { conditions.append("started < ?7") }
        if selection.kind != nil { conditions.append("kind = ?8") }
        if selection.after != nil { conditions.append("id > ?10") }
        if selection.only != nil { conditions.append("id = ?12") }
        let condition = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
        let what = CaptureReader.columns + depth.columns
        var sql = "SELECT \(what) FROM exchange\(condition) ORDER BY id"
        if selection.last != nil {
            sql =
                "SELECT \(what) FROM exchange WHERE id IN (SELECT id FROM exchange\(condition) "
                + "ORDER BY id DESC LIMIT ?9) ORDER BY id"
        }
        let statement = try prepare(sql)
        try CaptureReader.bind(selection, to: statement)
        return statement
    }

    private static func bind(
        _ selection: CaptureSelection, to statement: Statement
    ) throws(DatabaseFault) {
        if let host = selection.host {
            let pattern = host.reduce(into: "") { text, character in
                if "%_\\".contains(character) { text.append("\\") }
                text.append(character)
            }
            if host.utf8.allSatisfy({ $0 < 0x80 }) {
                try statement.bind(text: 1, host)
                try statement.bind(text: 2, "%." + pattern)
                try statement.bind(text: 11, "%" + pattern + "%")
            }
        }
        if let method = selection.method { try statement.bind(text: 3, method) }
        if let statuses = selection.statuses {
            try statement.bind(4, statuses.lowerBound)
            try statement.bind(5, statuses.upperBound)
        }
        if let since = selection.since { try statement.bind(6, since) }
        if let until = selection.until { try statement.bind(7, until) }
        if let kind = selection.kind { try statement.bind(text: 8, kind) }
        if let last = selection.last { try statement.bind(9, max(0, last)) }
        if let after = selection.after { try statement.bind(10, after) }
        if let only = selection.only { try statement.bind(12, only) }
    }

    /// Nil for a row of another form.
    private static func row(
        _ statement: Statement, _ depth: CaptureDepth
    ) throws(DatabaseFault) -> (number: Int64, row: CaptureRow?) {
        var row = CaptureRow()
        guard let number = statement.number(0) else { throw .damaged("a row without a number") }
        guard let started = statement.number(1),
            let ended = statement.number(2), let kind = statement.text(4, atMost: 64),
            let method = statement.text(5, atMost: 65_536),
            let host = statement.text(6, atMost: 65_536),
            let failure = statement.text(7, atMost: 65_536),
            let resolver = statement.text(8, atMost: 65_536)
        else { return (number, nil) }
        row.number = number
        row.startedMicroseconds = started
        row.endedMicroseconds = ended
        row.totalMicroseconds = statement.number(3)
        (row.kind, row.method, row.host) = (kind, method, host)
        (row.failure, row.resolver) = (failure, resolver)
        row.status = statement.number(9)
        row.sentOctets = max(0, statement.number(10) ?? 0)
        row.receivedOctets = max(0, statement.number(11) ?? 0)
        let cached = statement.number(12) ?? 0
        row.isLookupCached = cached & 1 != 0
        row.isAnswerCached = cached & 2 != 0
        row.stream = statement.number(13) ?? 0
        guard depth != .columns else { return (number, row) }
        row.detail = statement.octets(14, atMost: largestOctets) ?? []
        guard depth == .whole else { return (number, row) }
        row.sent = statement.octets(15, atMost: largestOctets) ?? []
        row.received = statement.octets(16, atMost: largestOctets) ?? []
        return (number, row)
    }

    /// Because: we write 64 KiB at a time; what is much larger was not written by us.
    private static let largestOctets = 16 << 20
}

// Past what SQLite does not read
extension CaptureReader {
    private enum Look {
        case nothing
        case row(CaptureRow)
        case damaged
    }

    /// Gives the rows one by one: a value that is longer than SQLite reads here ends a longer look.
    /// False when the file has changed meanwhile; then `rest` is what was not given yet.
    private func giveSingly(
        _ rest: inout CaptureSelection, _ depth: CaptureDepth, _ damaged: inout Int,
        _ take: (CaptureRow) -> Bool
    ) throws(DatabaseFault) -> Bool {
        if let last = rest.last {
            rest.after = try place(beforeLast: last, of: rest)
            rest.last = nil
        }
        while let number = try next("min(id)", rest.after, ">") {
            guard number > rest.after ?? .min else { throw .damaged("its rows are out of order") }
            let found = try CaptureReader.look(rest.at(number), depth, prepare)
            guard database.isSound else { return false }
            switch found {
            case .nothing: break
            case .row(let row): guard take(row) else { return true }
            case .damaged: damaged += 1
            }
            rest.after = number
        }
        return database.isSound
    }

    /// The number before the last so many of a selection.
    private func place(
        beforeLast count: Int64, of selection: CaptureSelection
    ) throws(DatabaseFault) -> Int64? {
        var found: Int64 = 0
        var first: Int64?
        while found < count, let number = try next("max(id)", first, "<") {
            guard number < first ?? .max, number > selection.after ?? .min else { break }
            let look = try CaptureReader.look(selection.at(number), .columns, prepare)
            if case .nothing = look {} else { found += 1 }
            first = number
        }
        return first.map { max($0, .min + 1) - 1 } ?? selection.after
    }

    private func next(
        _ what: String, _ place: Int64?, _ relation: String
    ) throws(DatabaseFault) -> Int64? {
        let condition = place.map { _ in " WHERE id \(relation) ?1" } ?? ""
        let statement = try database.prepare("SELECT \(what) FROM exchange\(condition)")
        if let place { try statement.bind(1, place) }
        return try statement.step() ? statement.number(0) : nil
    }

    private static func look(
        _ selection: CaptureSelection, _ depth: CaptureDepth,
        _ prepare: (String) throws(DatabaseFault) -> Statement
    ) throws(DatabaseFault) -> Look {
        do throws(DatabaseFault) {
            let statement = try statement(selection, depth, prepare)
            guard try statement.step() else { return .nothing }
            return try CaptureReader.row(statement, depth).row.map { .row($0) } ?? .damaged
        } catch {
            guard case .oversized = error else { throw error }
            return .damaged
        }
    }
}

extension CaptureSelection {
    /// The same of one row alone.
    fileprivate func at(_ number: Int64) -> CaptureSelection {
        var selection = self
        selection.last = nil
        selection.after = nil
        selection.only = number
        return selection
    }
}

extension CaptureDepth {
    /// Behind the others.
    fileprivate var columns: String {
        switch self {
        case .columns: ""
        case .detail: ", detail"
        case .whole: ", detail, sent, received"
        }
    }
}
