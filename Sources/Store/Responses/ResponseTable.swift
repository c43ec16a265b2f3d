internal import HTTPDNSCaching
internal import HTTPDNSPlatform

/// One kept response as the file holds it. Rows that are read have a name of ours, and sizes that
/// can be added.
struct ResponseRow: Sendable, Hashable {
    var number: Int64 = 0
    var key: [UInt8]
    var variant: [UInt8]
    var head: [UInt8]
    /// The name of its file; empty where it has no body.
    var body: [UInt8]
    var bodyOctets: Int64
    var bodySum: Int64
    /// The boot in which its file was written, or last read whole: a machine that loses its power
    /// may lose what was written to files before.
    var boot: [UInt8]

    /// What the limit counts: the body, the row's own fields, and what database and file system
    /// need.
    var size: Int64 {
        bodyOctets + Int64(key.count + variant.count + head.count)
            + (body.isEmpty ? 256 : 4_096)
    }

    /// It can be read back.
    var fits: Bool {
        key.count <= CacheKey.maximumOctets && variant.count <= ResponseTable.maximumHeadOctets
            && head.count <= ResponseTable.maximumHeadOctets
            && boot.count <= ResponseTable.maximumNameOctets
    }

    var checksum: Int64 {
        var numbers: [UInt8] = []
        for number in [bodyOctets, bodySum] {
            for shift in stride(from: 56, through: 0, by: -8) {
                numbers.append(UInt8(truncatingIfNeeded: number >> Int64(shift)))
            }
        }
        return StoredForm.checksum(key, variant, head, body, numbers, boot)
    }
}

/// The table of kept responses in its file; ``TableSetup`` says how other files are met. Owned by
/// the store's thread.
final class ResponseTable: StoredTable {
    let identity: PrivateFile.Identity
    private let database: Database

    init(_ path: String) throws(DatabaseFault) {
        do { identity = try PrivateFile.prepare(path) } catch { throw .unusable("\(error)") }
        database = try Database(path)
        do throws(DatabaseFault) { try ResponseTable.setup.open(database) } catch {
            if case .damaged = error { database.abandon() }
            throw error
        }
    }

    func abandon() { database.abandon() }

    /// All variants under a key, the newest last.
    func find(_ key: [UInt8]) throws(DatabaseFault) -> [ResponseRow] {
        let statement = try database.prepare(
            "SELECT \(Self.columns) FROM response WHERE key = ?1 ORDER BY number")
        try statement.bind(1, key)
        return try rows(of: statement)
    }

    /// The names of all files of bodies.
    func bodies() throws(DatabaseFault) -> Set<String> {
        let statement = try database.prepare("SELECT body FROM response WHERE body != x''")
        var names: Set<String> = []
        while try statement.step() {
            guard let name = statement.octets(0, atMost: Self.maximumNameOctets),
                PrivateDirectory.isName(name)
            else {
                throw .damaged("a name of another form")
            }
            names.insert(String(decoding: name, as: UTF8.self))
        }
        return names
    }

    func isKept(body: String) throws(DatabaseFault) -> Bool {
        let statement = try database.prepare("SELECT 1 FROM response WHERE body = ?1")
        try statement.bind(1, Array(body.utf8))
        return try statement.step()
    }

    /// Adds a response in the place of its own variant's, and of the least used where there are too
    /// many.
    ///
    /// - Returns: the bodies that are of no use any more.
    func add(_ row: ResponseRow, limit: Int64) throws(DatabaseFault) -> [[UInt8]] {
        var doomed: [[UInt8]] = []
        try database.transaction { () throws(DatabaseFault) in
            var others = try find(row.key)
            for old in others where old.variant == row.variant {
                doomed.append(try remove(old))
            }
            others.removeAll { $0.variant == row.variant }
            for old in others.prefix(max(0, others.count - Self.maximumVariants + 1)) {
                doomed.append(try remove(old))
            }
            let tick = try nextTick()
            let insert = try database.prepare(
                "INSERT INTO response(key, variant, head, body, octets, sum, boot, checksum, size, "
                    + "used) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")
            try bind(row, to: insert)
            try insert.bind(9, row.size)
            try insert.bind(10, tick)
            _ = try insert.step()
            try count(row.size)
            doomed += try shrink(to: limit)
        }
        return doomed.filter { !$0.isEmpty }
    }

    /// Changes a row that is still there; one that has grown too large for that goes.
    ///
    /// - Returns: the bodies that are of no use any more.
    func update(
        _ number: Int64, limit: Int64, _ change: (inout ResponseRow) -> Void
    ) throws(DatabaseFault) -> [[UInt8]] {
        var doomed: [[UInt8]] = []
        try database.transaction { () throws(DatabaseFault) in
            let found = try database.prepare(
                "SELECT \(Self.columns) FROM response WHERE number = ?1")
            try found.bind(1, number)
            guard let old = try rows(of: found).first else { return }
            var row = old
            change(&row)
            guard row.fits, row.size <= limit else {
                doomed.append(try remove(old))
                return
            }
            let update = try database.prepare(
                "UPDATE response SET key = ?1, variant = ?2, head = ?3, body = ?4, octets = ?5, "
                    + "sum = ?6, boot = ?7, checksum = ?8, size = ?9 WHERE number = ?10")
            try bind(row, to: update)
            try update.bind(9, row.size)
            try update.bind(10, number)
            _ = try update.step()
            try count(row.size - old.size)
            doomed += try shrink(to: limit)
        }
        return doomed.filter { !$0.isEmpty }
    }

    /// Notes that rows were used, in this order.
    func touch(_ numbers: [Int64]) throws(DatabaseFault) {
        try database.transaction { () throws(DatabaseFault) in
            for number in numbers {
                let tick = try nextTick()
                let update = try database.prepare(
                    "UPDATE response SET used = ?1 WHERE number = ?2")
                try update.bind(1, tick)
                try update.bind(2, number)
                _ = try update.step()
            }
        }
    }

    /// - Returns: the bodies that are of no use any more.
    func remove(number: Int64) throws(DatabaseFault) -> [[UInt8]] {
        try remove(where: "number = ?1") { statement throws(DatabaseFault) in
            try statement.bind(1, number)
        }
    }

    func remove(key: [UInt8]) throws(DatabaseFault) -> [[UInt8]] {
        try remove(where: "key = ?1") { statement throws(DatabaseFault) in
            try statement.bind(1, key)
        }
    }

    func removeAll() throws(DatabaseFault) -> [[UInt8]] {
        let doomed = try remove(where: "1") { _ throws(DatabaseFault) in }
        // Another process may be reading: the log is then emptied with its next checkpoint.
        try? database.run("PRAGMA wal_checkpoint(TRUNCATE)")
        return doomed
    }

    /// Responses and what the limit counts of them.
    func contents() throws(DatabaseFault) -> (responses: Int64, octets: Int64) {
        (
            try database.number("SELECT count(*) FROM response") ?? 0,
            try database.number("SELECT octets FROM total") ?? 0
        )
    }

    /// Removes the least used until the limit is kept.
    func shrink(to limit: Int64) throws(DatabaseFault) -> [[UInt8]] {
        var total = try database.number("SELECT octets FROM total") ?? 0
        guard total > limit else { return [] }
        let oldest = try database.prepare(
            "SELECT \(Self.columns) FROM response ORDER BY used LIMIT 64")
        var doomed: [[UInt8]] = []
        while total > limit {
            let rows = try rows(of: oldest)
            oldest.reset()
            guard !rows.isEmpty else { break }
            for row in rows where total > limit {
                doomed.append(try remove(row))
                total -= row.size
            }
        }
        return doomed
    }

    private static let columns = "number, key, variant, head, body, octets, sum, boot, checksum"
    /// Because: what one page of a client asks for in several forms is few; a server that varies by
    /// a cookie would fill the cache with one URL.
    static let maximumVariants = 16
    /// Because: the largest head that is taken, and its moments.
    static let maximumHeadOctets = 1_048_576
    /// Because: a pebibyte is more than a disk has, and 8,000 of them can be added.
    static let mostBodyOctets: Int64 = 1 << 50
    /// Because: a file's name has 32, a boot's 36.
    static let maximumNameOctets = 64
}

extension ResponseTable {
    private func rows(of statement: Statement) throws(DatabaseFault) -> [ResponseRow] {
        var rows: [ResponseRow] = []
        while try statement.step() {
            guard let number = statement.number(0),
                let key = statement.octets(1, atMost: CacheKey.maximumOctets),
                let variant = statement.octets(2, atMost: Self.maximumHeadOctets),
                let head = statement.octets(3, atMost: Self.maximumHeadOctets),
                let body = statement.octets(4, atMost: Self.maximumNameOctets),
                let octets = statement.number(5), let sum = statement.number(6),
                let boot = statement.octets(7, atMost: Self.maximumNameOctets),
                (0...Self.mostBodyOctets).contains(octets),
                body.isEmpty || PrivateDirectory.isName(body)
            else { throw .damaged("a response of another form") }
            let row = ResponseRow(
                number: number, key: key, variant: variant, head: head, body: body,
                bodyOctets: octets, bodySum: sum, boot: boot)
            guard row.checksum == statement.number(8) else { throw .damaged("a wrong checksum") }
            rows.append(row)
        }
        return rows
    }

    private func bind(_ row: ResponseRow, to statement: Statement) throws(DatabaseFault) {
        try statement.bind(1, row.key)
        try statement.bind(2, row.variant)
        try statement.bind(3, row.head)
        try statement.bind(4, row.body)
        try statement.bind(5, row.bodyOctets)
        try statement.bind(6, row.bodySum)
        try statement.bind(7, row.boot)
        try statement.bind(8, row.checksum)
    }

    private func remove(
        where condition: String, _ bind: (Statement) throws(DatabaseFault) -> Void
    ) throws(DatabaseFault) -> [[UInt8]] {
        var doomed: [[UInt8]] = []
        try database.transaction { () throws(DatabaseFault) in
            let found = try database.prepare(
                "SELECT \(Self.columns) FROM response WHERE \(condition)")
            try bind(found)
            for row in try rows(of: found) { doomed.append(try remove(row)) }
        }
        return doomed.filter { !$0.isEmpty }
    }

    /// Within a transaction; returns the name of its body.
    private func remove(_ row: ResponseRow) throws(DatabaseFault) -> [UInt8] {
        let delete = try database.prepare("DELETE FROM response WHERE number = ?1")
        try delete.bind(1, row.number)
        _ = try delete.step()
        try count(0 - row.size)
        return row.body
    }

    private func count(_ octets: Int64) throws(DatabaseFault) {
        let statement = try database.prepare("UPDATE total SET octets = octets + ?1")
        try statement.bind(1, octets)
        _ = try statement.step()
    }

    private func nextTick() throws(DatabaseFault) -> Int64 {
        try database.run("UPDATE total SET tick = tick + 1")
        return try database.number("SELECT tick FROM total") ?? 0
    }

    private static let setup = TableSetup(
        // Because: "HDNR".
        mark: 0x4844_4E52,
        // Because: the first form of the tables.
        version: 1, names: ["response", "total"],
        making: """
            CREATE TABLE response(
                number INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL,
                variant BLOB NOT NULL, head BLOB NOT NULL, body BLOB NOT NULL,
                octets INTEGER NOT NULL, sum INTEGER NOT NULL, boot BLOB NOT NULL,
                checksum INTEGER NOT NULL, size INTEGER NOT NULL, used INTEGER NOT NULL
            );
            CREATE INDEX response_by_key ON response(key);
            CREATE INDEX response_by_use ON response(used);
            CREATE INDEX response_by_body ON response(body);
            CREATE TABLE total(octets INTEGER NOT NULL, tick INTEGER NOT NULL);
            INSERT INTO total VALUES(0, 0)
            """)
}
