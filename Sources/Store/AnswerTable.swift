internal import HTTPDNSPlatform

/// One answer as the file holds it.
struct StoredRow: Sendable, Hashable {
    let key: [UInt8]
    let life: StoredLife
    let value: [UInt8]

    /// What the limits count: a row's own fields, and what the database needs for it.
    var octets: Int64 { Int64(key.count + value.count) + 128 }

    var checksum: Int64 {
        var numbers: [UInt8] = []
        for number in [
            life.keptWallSeconds, life.keptBootMilliseconds, Int64(life.lifeSeconds),
        ] {
            for shift in stride(from: 56, through: 0, by: -8) {
                numbers.append(UInt8(truncatingIfNeeded: number >> Int64(shift)))
            }
        }
        return StoredForm.checksum(key, numbers, Array(life.bootID.utf8), value)
    }
}

/// The table of answers in its file; ``TableSetup`` says how other files are met. Owned by the
/// store's thread.
final class AnswerTable: StoredTable {
    let identity: PrivateFile.Identity
    private let database: Database
    private let select: Statement
    private let insert: Statement
    private let delete: Statement

    init(_ path: String) throws(DatabaseFault) {
        do { identity = try PrivateFile.prepare(path) } catch { throw .unusable("\(error)") }
        database = try Database(path)
        do throws(DatabaseFault) {
            try AnswerTable.setup.open(database)
            select = try database.prepare(
                "SELECT key, kept, kept_boot, boot, life, value, checksum FROM answer "
                    + "WHERE key = ?1")
            insert = try database.prepare(
                "INSERT OR REPLACE INTO answer(key, kept, kept_boot, boot, life, value, checksum, "
                    + "ends, octets) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")
            delete = try database.prepare("DELETE FROM answer WHERE key = ?1")
        } catch {
            if case .damaged = error { database.abandon() }
            throw error
        }
    }

    /// The file is given up: what is in it and beside it stays as it is.
    func abandon() { database.abandon() }

    /// The row of a key.
    ///
    /// - Throws: ``DatabaseFault/damaged(_:)`` also when the row is not what was written.
    func find(_ key: [UInt8]) throws(DatabaseFault) -> StoredRow? {
        defer { select.reset() }
        try select.bind(1, key)
        guard try select.step() else { return nil }
        guard let stored = select.octets(0, atMost: StoredForm.maximumKeyOctets), stored == key,
            let kept = select.number(1), let keptBoot = select.number(2),
            let boot = select.octets(3, atMost: 64),
            let life = select.number(4).flatMap({ UInt32(exactly: $0) }),
            let value = select.octets(5, atMost: Self.maximumValueOctets)
        else { throw .damaged("a row of another form") }
        let row = StoredRow(
            key: key,
            life: StoredLife(
                keptWallSeconds: kept, keptBootMilliseconds: keptBoot,
                bootID: String(decoding: boot, as: UTF8.self), lifeSeconds: life),
            value: value)
        guard row.checksum == select.number(6) else { throw .damaged("a wrong checksum") }
        return row
    }

    /// Writes rows in one transaction.
    func save(_ rows: [StoredRow]) throws(DatabaseFault) {
        try database.transaction { () throws(DatabaseFault) in
            for row in rows { try save(row) }
        }
    }

    func remove(_ key: [UInt8]) throws(DatabaseFault) {
        defer { delete.reset() }
        try delete.bind(1, key)
        _ = try delete.step()
    }

    /// Removes all rows, and their traces from file and log.
    func removeAll() throws(DatabaseFault) {
        try database.run("DELETE FROM answer")
        // Another process may be reading: the log is then emptied with its next checkpoint.
        try? database.run("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Answers and their octets, by the index alone.
    func contents() throws(DatabaseFault) -> (answers: Int64, octets: Int64) {
        let statement = try database.prepare("SELECT count(*), sum(octets) FROM answer")
        guard try statement.step() else { return (0, 0) }
        return (statement.number(0) ?? 0, statement.number(1) ?? 0)
    }

    /// Removes what nobody can use: too old even as stale answers, or kept in the future.
    func removeUseless(at now: StoredLife.Moment) throws(DatabaseFault) {
        let statement = try database.prepare(
            "DELETE FROM answer WHERE CASE WHEN boot = ?1 "
                + "THEN kept_boot > ?2 OR kept_boot / 1000 + life < ?2 / 1000 - ?4 "
                + "ELSE kept > ?3 OR ends < ?3 - ?4 END")
        try statement.bind(1, Array(now.bootID.utf8))
        try statement.bind(2, now.bootMilliseconds)
        try statement.bind(3, now.wallSeconds)
        try statement.bind(4, Int64(Self.maximumStaleSeconds))
        _ = try statement.step()
    }

    /// Removes answers until a sixteenth of both limits is free: those that end first, and among
    /// them those kept first.
    func shrink(to limits: StoreLimits) throws(DatabaseFault) {
        let room = { (limit: Int64) in limit - limit / 16 }
        var (answers, octets) = try contents()
        let excess = answers > limits.answers || octets > limits.octets
        guard excess else { return }
        let oldest = try database.prepare("SELECT key, octets FROM answer ORDER BY ends, kept")
        var doomed: [[UInt8]] = []
        while answers > room(limits.answers) || octets > room(limits.octets),
            try oldest.step()
        {
            guard let key = oldest.octets(0, atMost: StoredForm.maximumKeyOctets) else {
                throw .damaged("a key of another form")
            }
            doomed.append(key)
            answers -= 1
            octets -= oldest.number(1) ?? 0
        }
        oldest.reset()
        try database.transaction { () throws(DatabaseFault) in
            for key in doomed { try remove(key) }
        }
    }

    /// Source: RFC 8767 §5: stale answers are of use for one to three days.
    static let maximumStaleSeconds: UInt32 = 259_200
    /// Because: a DNS message of 65,535 octets, and names and numbers beside it.
    private static let maximumValueOctets = 70_000
}

extension StoreLimits {
    fileprivate var answers: Int64 { Int64(max(maximumAnswers, 1)) }
    fileprivate var octets: Int64 { Int64(max(maximumOctets, 4_096)) }
}

extension AnswerTable {
    private func save(_ row: StoredRow) throws(DatabaseFault) {
        defer { insert.reset() }
        try insert.bind(1, row.key)
        try insert.bind(2, row.life.keptWallSeconds)
        try insert.bind(3, row.life.keptBootMilliseconds)
        try insert.bind(4, Array(row.life.bootID.utf8))
        try insert.bind(5, Int64(row.life.lifeSeconds))
        try insert.bind(6, row.value)
        try insert.bind(7, row.checksum)
        try insert.bind(8, row.life.endWallSeconds)
        try insert.bind(9, row.octets)
        _ = try insert.step()
    }

    private static let setup = TableSetup(
        // Because: "HDNS".
        mark: 0x4844_4E53,
        // Because: the first form of the table.
        version: 1, names: ["answer"],
        making: """
            CREATE TABLE answer(
                key BLOB NOT NULL PRIMARY KEY, kept INTEGER NOT NULL, kept_boot INTEGER NOT NULL,
                boot BLOB NOT NULL, life INTEGER NOT NULL, value BLOB NOT NULL,
                checksum INTEGER NOT NULL, ends INTEGER NOT NULL, octets INTEGER NOT NULL
            ) WITHOUT ROWID;
            CREATE INDEX answer_by_end ON answer(ends, kept, octets)
            """)
}
