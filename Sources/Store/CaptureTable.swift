internal import HTTPDNSPlatform

/// The tables of a capture in their file. Owned by one thread.
///
/// Rule for files of other versions: no tables at all: ours are made. Our mark and an older
/// version: the file is moved aside, for it may be all that is left of something. Our mark and a
/// newer version, or no mark of ours beside tables of others: the file is left alone.
final class CaptureTable {
    let identity: PrivateFile.Identity
    private let database: Database
    private let insert: Statement
    private let insertPiece: Statement

    init(_ path: String) throws(DatabaseFault) {
        do { identity = try PrivateFile.prepare(path) } catch { throw .unusable("\(error)") }
        database = try Database(path)
        do throws(DatabaseFault) {
            try CaptureTable.open(database)
            insert = try database.prepare(
                "INSERT INTO exchange(started, ended, total, kind, method, host, failure, "
                    + "resolver, status, sent_octets, received_octets, cached, stream, octets, "
                    + "detail, sent, received) "
                    + "VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17)")
            insertPiece = try database.prepare(
                "INSERT OR REPLACE INTO piece(stream, side, number, octets) VALUES(?1, ?2, ?3, ?4)")
        } catch {
            if case .damaged = error { database.abandon() }
            throw error
        }
    }

    /// The file is given up: what is in it and beside it stays as it is.
    func abandon() { database.abandon() }

    /// Writes in one transaction; the numbers of the rows.
    func save(
        _ rows: [CaptureRow], _ pieces: [CapturePieceRow], dropped: Int64
    ) throws(DatabaseFault) -> [Int64] {
        var numbers: [Int64] = []
        try database.transaction { () throws(DatabaseFault) in
            numbers = []
            for piece in pieces { try save(piece) }
            for row in rows { numbers.append(try save(row)) }
            let grown =
                rows.reduce(0) { $0 + $1.octets - $1.pieceOctets }
                + pieces.reduce(0) { $0 + Int64($1.octets.count) }
            try add(records: Int64(rows.count), octets: grown, dropped: dropped)
        }
        return numbers
    }

    func contents() throws(DatabaseFault) -> CaptureContents {
        try CaptureTable.contents(of: database)
    }

    static func contents(of database: Database) throws(DatabaseFault) -> CaptureContents {
        let statement = try database.prepare("SELECT records, octets, dropped FROM sum")
        guard try statement.step() else { throw .damaged("no row of sums") }
        return CaptureContents(
            records: max(0, statement.number(0) ?? 0), octets: max(0, statement.number(1) ?? 0),
            dropped: max(0, statement.number(2) ?? 0))
    }

    /// Removes the oldest until a sixteenth of both limits is free, and what is too old.
    ///
    /// The order of the numbers is that of the ends, whatever the clock was set to: what ended in the
    /// future, as it seems, goes with what came after it.
    func shrink(to room: CaptureRoom, now: Int64) throws(DatabaseFault) {
        try database.transaction { () throws(DatabaseFault) in
            var (records, octets) = try { () throws(DatabaseFault) in
                let contents = try contents()
                return (contents.records, contents.octets)
            }()
            let isFull = records > room.records || octets > room.octets
            let spare = { (limit: Int64) in isFull ? limit - limit / 16 : limit }
            let oldest = room.ageMicroseconds.map { now - $0 } ?? .min
            let statement = try database.prepare(
                "SELECT id, octets, ended, stream FROM exchange ORDER BY id")
            var last: Int64?
            var streams: [Int64] = []
            let before = (records, octets)
            // Rows of the future whose turn it is only if one behind them goes.
            var waiting = (records: Int64(0), octets: Int64(0), streams: [Int64]())
            while try statement.step() {
                let ended = statement.number(2) ?? 0
                let isTooMuch = records > spare(room.records) || octets > spare(room.octets)
                guard isTooMuch || ended < oldest || ended > now else { break }
                // What a row says of itself may be anything.
                waiting.records += 1
                let left = octets - waiting.octets
                waiting.octets += min(left, max(0, statement.number(1) ?? 0))
                if let stream = statement.number(3), stream != 0 { waiting.streams.append(stream) }
                guard isTooMuch || ended < oldest else { continue }
                last = statement.number(0)
                records -= waiting.records
                octets -= min(octets, waiting.octets)
                streams += waiting.streams
                waiting = (0, 0, [])
            }
            statement.reset()
            guard let last else { return }
            try remove(upTo: last, streams)
            try add(records: records - before.0, octets: octets - before.1, dropped: 0)
        }
    }

    /// Removes pieces whose record never came: of processes that were killed.
    func removeOrphans(olderThan stream: Int64) throws(DatabaseFault) {
        try database.transaction { () throws(DatabaseFault) in
            let condition =
                "stream < \(stream) AND NOT EXISTS "
                + "(SELECT 1 FROM exchange WHERE exchange.stream = piece.stream)"
            let octets = try database.number(
                "SELECT coalesce(sum(length(octets)), 0) FROM piece WHERE " + condition)
            guard let octets, octets > 0 else { return }
            try database.run("DELETE FROM piece WHERE " + condition)
            try add(records: 0, octets: 0 - octets, dropped: 0)
        }
    }

    /// Removes the pieces of these streams, which no row names.
    func remove(streams: [Int64]) throws(DatabaseFault) {
        try database.transaction { () throws(DatabaseFault) in
            var octets: Int64 = 0
            for stream in streams {
                let condition = "FROM piece WHERE stream = \(stream)"
                octets +=
                    try database.number("SELECT coalesce(sum(length(octets)), 0) " + condition) ?? 0
                try database.run("DELETE " + condition)
            }
            try add(records: 0, octets: 0 - octets, dropped: 0)
        }
    }

    /// Removes all rows, and their traces from file and log.
    func removeAll() throws(DatabaseFault) {
        try database.transaction { () throws(DatabaseFault) in
            try database.run(
                "DELETE FROM exchange; DELETE FROM piece; "
                    + "UPDATE sum SET records = 0, octets = 0, dropped = 0")
        }
        // Another process may be reading: the log is then emptied with its next checkpoint.
        try? database.run("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
    }
}

// Rows
extension CaptureTable {
    private func save(_ row: CaptureRow) throws(DatabaseFault) -> Int64 {
        defer { insert.reset() }
        try insert.bind(1, row.startedMicroseconds)
        try insert.bind(2, row.endedMicroseconds)
        if let total = row.totalMicroseconds { try insert.bind(3, total) }
        try insert.bind(text: 4, row.kind)
        try insert.bind(text: 5, row.method)
        try insert.bind(text: 6, row.host)
        try insert.bind(text: 7, row.failure)
        try insert.bind(text: 8, row.resolver)
        if let status = row.status { try insert.bind(9, status) }
        try insert.bind(10, row.sentOctets)
        try insert.bind(11, row.receivedOctets)
        try insert.bind(12, (row.isLookupCached ? 1 : 0) | (row.isAnswerCached ? 2 : 0))
        try insert.bind(13, row.stream)
        try insert.bind(14, row.octets)
        try insert.bind(15, row.detail)
        if !row.sent.isEmpty { try insert.bind(16, row.sent) }
        if !row.received.isEmpty { try insert.bind(17, row.received) }
        _ = try insert.step()
        return database.lastRow
    }

    private func save(_ piece: CapturePieceRow) throws(DatabaseFault) {
        defer { insertPiece.reset() }
        try insertPiece.bind(1, piece.stream)
        try insertPiece.bind(2, piece.side)
        try insertPiece.bind(3, piece.number)
        try insertPiece.bind(4, piece.octets)
        _ = try insertPiece.step()
    }

    private func add(records: Int64, octets: Int64, dropped: Int64) throws(DatabaseFault) {
        let statement = try database.prepare(
            "UPDATE sum SET records = records + ?1, octets = octets + ?2, dropped = dropped + ?3")
        try statement.bind(1, records)
        try statement.bind(2, octets)
        try statement.bind(3, dropped)
        _ = try statement.step()
    }

    private func remove(upTo last: Int64, _ streams: [Int64]) throws(DatabaseFault) {
        let rows = try database.prepare("DELETE FROM exchange WHERE id <= ?1")
        try rows.bind(1, last)
        _ = try rows.step()
        let pieces = try database.prepare("DELETE FROM piece WHERE stream = ?1")
        for stream in streams {
            try pieces.bind(1, stream)
            _ = try pieces.step()
            pieces.reset()
        }
    }
}

// The file
extension CaptureTable {
    private static func open(_ database: Database) throws(DatabaseFault) {
        try database.run(
            "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA secure_delete = ON")
        if try database.snapshot({ () throws(DatabaseFault) in try state(of: database) })
            != .current
        {
            try database.run(
                "PRAGMA page_size = \(freshPageOctets); PRAGMA journal_mode = WAL")
            try database.transaction { () throws(DatabaseFault) in
                // Another process may have made the tables while we waited.
                if try state(of: database) != .current { try database.run(tables) }
            }
        }
        let pageOctets = try database.number("PRAGMA page_size") ?? freshPageOctets
        try database.run(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; "
                + "PRAGMA journal_size_limit = \(logOctets); "
                + "PRAGMA wal_autocheckpoint = \(max(1, logOctets / max(1, pageOctets)))")
    }

    /// How long the log beside the file grows before it is written back.
    ///
    /// Because: what SQLite does by itself, with its thousand pages of 4,096 octets.
    private static let logOctets: Int64 = 4_194_304

    /// Of a file that is made: what it has is what stays.
    ///
    /// Because: several records fit into one page, and a transaction writes each page once.
    private static let freshPageOctets: Int64 = 16_384

    enum State {
        /// No tables at all.
        case fresh
        case current
    }

    /// To be asked inside a transaction: its parts must be of one moment.
    static func state(of database: Database) throws(DatabaseFault) -> State {
        let found = try database.number("PRAGMA user_version") ?? 0
        let mark = try database.number("PRAGMA application_id") ?? 0
        let count = try database.number("SELECT count(*) FROM sqlite_schema") ?? 0
        guard mark == applicationMark else {
            guard count == 0 else {
                throw .foreign("another program's tables are in it")
            }
            return .fresh
        }
        guard found <= version else {
            throw .foreign(
                "a newer version of this library made it (schema \(found), known here is "
                    + "\(version))")
        }
        guard found == version else { throw .damaged("a capture of schema \(found)") }
        return .current
    }

    /// Because: "HDNC", so that file(1) and we know the file again.
    private static let applicationMark: Int64 = 0x4844_4E43
    /// Because: the first form of the tables.
    static let version: Int64 = 1

    private static let tables = """
        CREATE TABLE exchange(
            id INTEGER PRIMARY KEY AUTOINCREMENT, started INTEGER NOT NULL,
            ended INTEGER NOT NULL, total INTEGER, kind TEXT NOT NULL, method TEXT NOT NULL,
            host TEXT NOT NULL, failure TEXT NOT NULL, resolver TEXT NOT NULL, status INTEGER,
            sent_octets INTEGER NOT NULL, received_octets INTEGER NOT NULL,
            cached INTEGER NOT NULL, stream INTEGER NOT NULL, octets INTEGER NOT NULL,
            detail BLOB NOT NULL, sent BLOB, received BLOB
        );
        CREATE INDEX exchange_by_stream ON exchange(stream) WHERE stream <> 0;
        CREATE TABLE piece(
            stream INTEGER NOT NULL, side INTEGER NOT NULL, number INTEGER NOT NULL,
            octets BLOB NOT NULL, PRIMARY KEY(stream, side, number)
        ) WITHOUT ROWID;
        CREATE TABLE sum(records INTEGER NOT NULL, octets INTEGER NOT NULL,
            dropped INTEGER NOT NULL);
        INSERT INTO sum VALUES(0, 0, 0);
        PRAGMA application_id = \(applicationMark);
        PRAGMA user_version = \(version);
        """
}
