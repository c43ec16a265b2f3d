internal import HTTPDNSPlatform

/// A database that is read and left as it was, with nothing new beside it. One thread's own.
///
/// SQLite's usual way makes a log and an index of it beside whatever it reads, and who only reads
/// cannot take them away. So a file without a log is read as one that nobody writes, and looked at
/// again after each step: once it has changed, a writer has come, what was read last counts for
/// nothing, and the file is opened anew.
struct ReadDatabase {
    private let path: String
    private var database: Database
    /// How the file looked when it was opened as one that nobody writes; nil: it has a log.
    private var stamp: SmallFile.Stamp?
    private let identity: PrivateFile.Identity?
    private var timesOpened = 0

    /// - Parameter check: looks at what was opened.
    init(
        _ path: String, _ check: (Database) throws(DatabaseFault) -> Void
    ) throws(DatabaseFault) {
        self.path = path
        identity = PrivateFile.identity(path)
        while true {
            timesOpened += 1
            stamp =
                timesOpened <= ReadDatabase.maximumTimesStill && !ReadDatabase.hasLog(path)
                ? SmallFile.stamp(path) : nil
            do throws(DatabaseFault) {
                database = try ReadDatabase.open(path, isStill: stamp != nil, check)
                return
            } catch {
                guard let stamp, stamp != SmallFile.stamp(path) else { throw error }
            }
        }
    }

    /// Does something with the database, again if the file has changed meanwhile.
    mutating func settled<Result>(
        _ check: (Database) throws(DatabaseFault) -> Void,
        _ body: (Database) throws(DatabaseFault) -> Result
    ) throws(DatabaseFault) -> Result {
        while true {
            do throws(DatabaseFault) {
                let result = try body(database)
                if isSound { return result }
            } catch {
                if isSound { throw error }
            }
            try reopen(check)
        }
    }

    /// Whether what was read up to now was of one state of the file. One that has been replaced or
    /// removed is still there for whoever has it open.
    var isSound: Bool {
        guard let stamp else { return true }
        return SmallFile.stamp(path) == stamp || PrivateFile.identity(path) != identity
    }

    /// A statement on the database as it is open now.
    func prepare(_ sql: String) throws(DatabaseFault) -> Statement { try database.prepare(sql) }

    mutating func reopen(
        _ check: (Database) throws(DatabaseFault) -> Void
    ) throws(DatabaseFault) {
        let times = timesOpened
        var other = try ReadDatabase(path, check)
        other.timesOpened += times
        self = other
    }

    private static func open(
        _ path: String, isStill: Bool, _ check: (Database) throws(DatabaseFault) -> Void
    ) throws(DatabaseFault) -> Database {
        guard !isStill else { return try opened(path, .still, check) }
        // An index beside the log is of somebody who has it open, or who was killed.
        guard PrivateFile.identity(path + "-shm") != nil else {
            return try opened(path, hasLog(path) ? .alone : .shared, check)
        }
        do throws(DatabaseFault) { return try opened(path, .shared, check) } catch {
            // On a medium that cannot be written nobody has it open.
            guard case .unusable = error else { throw error }
            return try opened(path, .alone, check)
        }
    }

    private static func opened(
        _ path: String, _ reading: Database.Reading,
        _ check: (Database) throws(DatabaseFault) -> Void
    ) throws(DatabaseFault) -> Database {
        let database = try Database(reading: path, reading)
        try database.run(
            "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA query_only = ON")
        try check(database)
        return database
    }

    /// An empty one says nothing.
    private static func hasLog(_ path: String) -> Bool {
        !((try? SmallFile.beginning(path + "-wal", octets: 1).isEmpty) ?? true)
    }

    /// Because: a writer that comes and goes more often is shared with as one that stays.
    private static let maximumTimesStill = 3
}
