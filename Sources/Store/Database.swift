internal import CHTTPDNSSQLite
internal import HTTPDNSPlatform

/// Why the database did not do what it was told.
enum DatabaseFault: Error, Sendable, Hashable {
    /// What stands in the file is not what we wrote.
    case damaged(String)
    /// Somebody else's file, or a newer version's.
    case foreign(String)
    /// Another process held it for too long.
    case busy(String)
    /// A value is longer than any of ours: whoever reads past its row may read on.
    case oversized(String)
    /// No room, no right, no memory.
    case unusable(String)
}

/// One connection to one file. Owned by one thread, which alone may touch it and its statements.
final class Database {
    private let raw: OpaquePointer
    /// Thousands of steps that a statement may still take; nil: as many as it takes.
    private var budget: Budget?

    /// Opens a file that is there already.
    convenience init(_ path: String) throws(DatabaseFault) {
        // A relative name is given a directory, so that none of SQLite's special names is meant.
        try self.init(
            name: path.hasPrefix("/") ? path : "./" + path,
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX)
    }

    /// How a file is read that is never written to.
    enum Reading {
        /// With the log and the index of it that its writer keeps beside it.
        case shared
        /// Nobody writes it meanwhile, and it has no log: nothing beside it is looked at or made.
        case still
        /// It has a log, and nobody writes it: the index of it is made in memory.
        case alone
    }

    /// Opens a file that is there already, and never writes to it.
    convenience init(reading path: String, _ reading: Reading) throws(DatabaseFault) {
        let options =
            switch reading {
            case .shared: ""
            case .still: "?immutable=1"
            // Source: sqlite.org/wal.html §8, "Use of WAL Without Shared-Memory": in exclusive mode no
            // index is shared; without locks, as a file that is only read cannot be locked so.
            case .alone: "?vfs=unix-none"
            }
        try self.init(
            name: "file:" + Database.uriPath(path) + options,
            SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX)
        boundReading(of: path)
        try checkBeginning()
        guard case .alone = reading else { return }
        abandon()
        try run("PRAGMA locking_mode = EXCLUSIVE")
    }

    private init(name: String, _ flags: Int32) throws(DatabaseFault) {
        var opened: OpaquePointer?
        let status = sqlite3_open_v2(name, &opened, flags, nil)
        guard let opened else { throw .unusable("out of memory") }
        raw = opened
        guard status == SQLITE_OK else { throw fault(status) }
        sqlite3_busy_timeout(raw, Self.busyMilliseconds)
        httpdns_sqlite_distrust(raw)
    }

    /// Says what SQLite would say in fewer words, and in its first look alone.
    ///
    /// Through SQLite, as all that reads a database: another descriptor of ours on the file would, when
    /// it is closed, give back the locks of whoever in this process writes it.
    /// Source: sqlite.org/howtocorrupt.html §2.2.
    private func checkBeginning() throws(DatabaseFault) {
        var beginning = [UInt8](repeating: 0, count: Self.beginning.count)
        let status = httpdns_sqlite_beginning(raw, &beginning, Int32(beginning.count))
        guard status == SQLITE_OK else { throw fault(status) }
        guard beginning == Self.beginning else { throw .foreign("it is no SQLite database") }
    }

    /// A file of a stranger may lead in circles, or make values that are longer than itself.
    private func boundReading(of path: String) {
        sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, Self.maximumValueOctets)
        let octets = SmallFile.octets(of: path) + SmallFile.octets(of: path + "-wal")
        let budget = Budget(max(Self.leastThousands, octets / Self.octetsAThousand))
        self.budget = budget
        sqlite3_progress_handler(
            raw, 1_000, countSteps, Unmanaged.passUnretained(budget).toOpaque())
    }

    /// The path as it stands in a URI. Source: sqlite.org/uri.html §3.1.
    private static func uriPath(_ path: String) -> String {
        let rooted = path.hasPrefix("/") ? path : "./" + path
        return rooted.utf8.reduce(into: "") { text, octet in
            switch octet {
            // An octet of a name in another alphabet is no character of its own.
            case 0x25, 0x3F, 0x23, 0x80...0xFF: text += "%" + String(octet, radix: 16)
            default: text.unicodeScalars.append(Unicode.Scalar(octet))
            }
        }
    }

    /// The number of the row that was inserted last.
    var lastRow: Int64 { sqlite3_last_insert_rowid(raw) }

    // Statements that still live keep the connection until they go. Source: sqlite3_close_v2.
    deinit { sqlite3_close_v2(raw) }

    /// The file is given up: what is in it and beside it stays as it is.
    func abandon() { httpdns_sqlite_leave_log(raw) }

    /// Runs statements without parameters or results.
    func run(_ sql: String) throws(DatabaseFault) {
        let status = sqlite3_exec(raw, sql, nil, nil, nil)
        guard status == SQLITE_OK else { throw fault(status) }
    }

    /// The first column of the first row, as a number; nil without a row.
    func number(_ sql: String) throws(DatabaseFault) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.number(0) : nil
    }

    /// Compiles a statement of ours. That it does not compile means that the tables are not ours.
    func prepare(_ sql: String) throws(DatabaseFault) -> Statement {
        var compiled: OpaquePointer?
        let status = sqlite3_prepare_v2(raw, sql, -1, &compiled, nil)
        budget?.renew()
        guard status == SQLITE_OK, let compiled else {
            throw status == SQLITE_ERROR ? .damaged(word(status)) : fault(status)
        }
        return Statement(compiled, of: self)
    }

    /// Runs `body` in one transaction: all of it is kept, or nothing.
    func transaction(_ body: () throws(DatabaseFault) -> Void) throws(DatabaseFault) {
        try run("BEGIN IMMEDIATE")
        do throws(DatabaseFault) {
            try body()
            try run("COMMIT")
        } catch {
            // When the fault has ended the transaction already, this fails, as it may.
            try? run("ROLLBACK")
            throw error
        }
    }

    /// Reads what belongs together: as it was at one moment.
    func snapshot<Result>(
        _ body: () throws(DatabaseFault) -> Result
    ) throws(DatabaseFault) -> Result {
        try run("BEGIN")
        do throws(DatabaseFault) {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            try? run("ROLLBACK")
            throw error
        }
    }

    fileprivate func fault(_ status: Int32) -> DatabaseFault {
        switch status & 0xFF {
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_SCHEMA, SQLITE_CONSTRAINT,
            SQLITE_MISMATCH:
            .damaged(word(status))
        case SQLITE_BUSY, SQLITE_LOCKED: .busy(word(status))
        case SQLITE_TOOBIG: .oversized(word(status))
        case SQLITE_INTERRUPT: .damaged("it takes more steps to read than its size explains")
        default: .unusable(word(status))
        }
    }

    private func word(_ status: Int32) -> String {
        guard let text = sqlite3_errstr(status) else { return "SQLite error \(status)" }
        return String(cString: text)
    }

    /// Source: SQLite, "Database File Format" §1.3.
    private static let beginning = Array("SQLite format 3\0".utf8)
    /// How long a statement waits for another process's transaction.
    ///
    /// Because: a transaction of ours takes milliseconds; only a process that was stopped in the middle
    /// of one holds it for longer.
    private static let busyMilliseconds: Int32 = 2_000
    /// Because: the largest value that we write is a record's detail of 16 MiB.
    private static let maximumValueOctets: Int32 = 64 << 20
    /// Because: twenty million steps are a second, and a small file takes some thousands.
    private static let leastThousands: Int64 = 20_000
    /// Because: a row has two hundred octets at least, and is read in some forty steps.
    private static let octetsAThousand: Int64 = 1_000
}

/// Thousands of steps, counted down. Its database's thread's own.
private final class Budget {
    private let thousands: Int64
    private var left: Int64

    init(_ thousands: Int64) {
        self.thousands = thousands
        left = thousands
    }

    func renew() { left = thousands }

    /// False when there are no more.
    func take() -> Bool {
        left -= 1
        return left > 0
    }
}

/// Called by SQLite, on the thread that steps, every thousand steps; 1 ends the statement.
private func countSteps(_ budget: UnsafeMutableRawPointer?) -> Int32 {
    guard let budget else { return 0 }
    return Unmanaged<Budget>.fromOpaque(budget).takeUnretainedValue().take() ? 0 : 1
}

/// A compiled statement, used again and again.
final class Statement {
    private let raw: OpaquePointer
    private let database: Database

    fileprivate init(_ raw: OpaquePointer, of database: Database) {
        self.raw = raw
        self.database = database
    }

    deinit { sqlite3_finalize(raw) }

    /// Ready for another run: no row, no parameters.
    func reset() {
        sqlite3_reset(raw)
        sqlite3_clear_bindings(raw)
    }

    func bind(_ index: Int32, _ octets: [UInt8]) throws(DatabaseFault) {
        let status = octets.withUnsafeBufferPointer {
            httpdns_sqlite_bind_octets(raw, index, $0.baseAddress, Int32(clamping: $0.count))
        }
        guard status == SQLITE_OK else { throw database.fault(status) }
    }

    func bind(text index: Int32, _ text: String) throws(DatabaseFault) {
        var text = text
        let status = text.withUTF8 { octets in
            octets.withMemoryRebound(to: CChar.self) { characters in
                guard let start = characters.baseAddress else {
                    return httpdns_sqlite_bind_text(raw, index, "", 0)
                }
                return httpdns_sqlite_bind_text(
                    raw, index, start, Int32(clamping: characters.count))
            }
        }
        guard status == SQLITE_OK else { throw database.fault(status) }
    }

    func bind(_ index: Int32, _ number: Int64) throws(DatabaseFault) {
        let status = sqlite3_bind_int64(raw, index, number)
        guard status == SQLITE_OK else { throw database.fault(status) }
    }

    /// True when there is a row to read.
    func step() throws(DatabaseFault) -> Bool {
        switch sqlite3_step(raw) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let status: throw database.fault(status)
        }
    }

    /// Nil when the column holds something else, or more octets than that.
    func octets(_ column: Int32, atMost limit: Int) -> [UInt8]? {
        guard sqlite3_column_type(raw, column) == SQLITE_BLOB else { return nil }
        let count = Int(sqlite3_column_bytes(raw, column))
        guard count <= limit else { return nil }
        guard count > 0 else { return [] }
        guard let start = sqlite3_column_blob(raw, column) else { return nil }
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Nil when the column holds something else, or more octets than that.
    func text(_ column: Int32, atMost limit: Int) -> String? {
        guard sqlite3_column_type(raw, column) == SQLITE_TEXT,
            let start = sqlite3_column_text(raw, column)
        else { return nil }
        let count = Int(sqlite3_column_bytes(raw, column))
        guard count <= limit else { return nil }
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// Nil when the column holds something else.
    func number(_ column: Int32) -> Int64? {
        guard sqlite3_column_type(raw, column) == SQLITE_INTEGER else { return nil }
        return sqlite3_column_int64(raw, column)
    }
}
