/// How tables of ours begin in a file, and how the files of others are met.
///
/// What is found, and what is done:
/// - no tables at all: ours are made;
/// - our mark and an older version: its tables are dropped, since they only hold what can be had
///   again;
/// - our mark and a newer version, or no mark of ours beside tables of others: the file is left
///   alone.
struct TableSetup: Sendable {
    /// Tells what the file is for; in `application_id`, so that file(1) knows it, too.
    let mark: Int64
    /// Of the form of the tables.
    let version: Int64
    let names: [String]
    /// The statements that make them.
    let making: String

    func open(_ database: Database) throws(DatabaseFault) {
        try database.run(
            "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA secure_delete = ON")
        if try database.snapshot({ () throws(DatabaseFault) in try isCurrent(database) }) != true {
            try database.run("PRAGMA journal_mode = WAL")
            try database.transaction { () throws(DatabaseFault) in
                // Another process may have made the tables while we waited.
                guard try isCurrent(database) == false else { return }
                let dropping = names.map { "DROP TABLE IF EXISTS \($0); " }.joined()
                try database.run(
                    dropping + making
                        + "; PRAGMA application_id = \(mark); PRAGMA user_version = \(version)")
            }
        }
        try database.run(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; "
                + "PRAGMA journal_size_limit = 1048576")
    }

    /// To be asked inside a transaction: its parts must be of one moment.
    private func isCurrent(_ database: Database) throws(DatabaseFault) -> Bool {
        let found = try database.number("PRAGMA user_version") ?? 0
        let mark = try database.number("PRAGMA application_id") ?? 0
        guard mark == self.mark else {
            guard try database.number("SELECT count(*) FROM sqlite_schema") == 0 else {
                throw .foreign("another program's tables are in it")
            }
            return false
        }
        guard found <= version else {
            throw .foreign("a newer version of this library made it (schema \(found))")
        }
        return found == version
    }
}
