internal import HTTPDNSPlatform

/// A database that is read and left as it was, with nothing new beside it. One thread's own.
///
/// SQLite's usual way makes a log and an index of it beside whatever it reads, and who only reads
/// cannot take them away. So a file that nobody has open, by what lies beside it, is read as one that
/// nobody writes, and looked at again after each step: once it has changed, a writer has come, what
/// was read last counts for nothing, and the file is opened anew.
struct ReadDatabase {
    private let path: String
    private var database: Database
    /// How the files looked when they were opened as ones that nobody writes; nil: they are shared.
    private var state: State?
    private let identity: PrivateFile.Identity?
    private var timesOpened: Int

    /// What is read, as it was at one time.
    private struct State: Equatable {
        var file: SmallFile.Stamp?
        /// Nil also where the log is not read.
        var log: SmallFile.Stamp?
    }

    /// - Parameters:
    ///   - timesOpened: how often it was opened before, as one file with one reader.
    ///   - check: looks at what was opened.
    init(
        _ path: String, timesOpened: Int = 0, _ check: (Database) throws(DatabaseFault) -> Void
    ) throws(DatabaseFault) {
        self.path = path
        identity = PrivateFile.identity(path)
        self.timesOpened = timesOpened
        while true {
            self.timesOpened += 1
            let mayBeStill = self.timesOpened <= ReadDatabase.maximumTimesStill
            let way = ReadDatabase.way(to: path, mayBeStill)
            state = mayBeStill ? ReadDatabase.state(of: path, way) : nil
            do throws(DatabaseFault) {
                database = try ReadDatabase.opened(path, way, check)
                return
            } catch {
                if ReadDatabase.isUnshareable(path, way, error) {
                    state = mayBeStill ? ReadDatabase.state(of: path, .alone) : nil
                    database = try ReadDatabase.opened(path, .alone, check)
                    return
                }
                guard let state, state != ReadDatabase.state(of: path, way) else { throw error }
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
        guard let state else { return true }
        let now = State(
            file: SmallFile.stamp(path),
            log: state.log == nil ? nil : SmallFile.stamp(path + "-wal"))
        return now == state || PrivateFile.identity(path) != identity
    }

    /// A statement on the database as it is open now.
    func prepare(_ sql: String) throws(DatabaseFault) -> Statement { try database.prepare(sql) }

    mutating func reopen(
        _ check: (Database) throws(DatabaseFault) -> Void
    ) throws(DatabaseFault) {
        self = try ReadDatabase(path, timesOpened: timesOpened, check)
    }

    /// How the file can be read, by what lies beside it.
    private static func way(to path: String, _ mayBeStill: Bool) -> Database.Reading {
        guard mayBeStill else { return .shared }
        guard hasLog(path) else { return .still }
        // An index beside the log is of somebody who has it open, or who was killed.
        return PrivateFile.identity(path + "-shm") == nil ? .alone : .shared
    }

    private static func state(of path: String, _ way: Database.Reading) -> State? {
        switch way {
        case .shared: nil
        case .still: State(file: SmallFile.stamp(path), log: nil)
        case .alone: State(file: SmallFile.stamp(path), log: SmallFile.stamp(path + "-wal"))
        }
    }

    /// On a medium that cannot be written nobody has it open: this process neither, which would lose
    /// its locks with a connection that has none.
    private static func isUnshareable(
        _ path: String, _ way: Database.Reading, _ fault: DatabaseFault
    ) -> Bool {
        guard case .shared = way, case .unusable = fault else { return false }
        return !SmallFile.isWritable(path + "-shm")
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
    private static func hasLog(_ path: String) -> Bool { SmallFile.octets(of: path + "-wal") > 0 }

    /// Because: a writer that comes and goes more often is shared with as one that stays.
    private static let maximumTimesStill = 3
}
