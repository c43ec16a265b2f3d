internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// Tables in a file of their own. Owned by one thread.
protocol StoredTable: AnyObject {
    /// Which file it is.
    var identity: PrivateFile.Identity { get }
    /// The file is given up: what is in it and beside it stays as it is.
    func abandon()
}

/// Keeps a table's file usable. Confined to the thread that owns the table.
///
/// Rules:
/// 1. The file is opened with the first use, and again after it was moved, replaced or in trouble.
/// 2. A damaged file is moved aside and the use tried once more with a new one; after a third time
///    the file is given up. So is one that is somebody else's.
/// 3. Any other trouble makes it rest.
struct FileCare<Table: StoredTable> {
    let path: String
    let clocks: StoreClocks
    let monotonic: any MonotonicSource
    let report: @Sendable (StoreEvent) -> Void
    /// Opens the file at a path.
    let open: (String) throws(DatabaseFault) -> Table

    private var table: Table?
    /// How often the file was opened.
    private(set) var openings = 0
    private var restUntil = Monotonic.zero
    private var isQuiet = false
    private var hasGivenUp = false
    private var timesSetAside = 0
    /// The file that was about to be opened.
    private var opening: PrivateFile.Identity?

    init(
        path: String, clocks: StoreClocks, monotonic: any MonotonicSource,
        report: @escaping @Sendable (StoreEvent) -> Void,
        open: @escaping (String) throws(DatabaseFault) -> Table
    ) {
        self.path = path
        self.clocks = clocks
        self.monotonic = monotonic
        self.report = report
        self.open = open
    }

    /// Runs `body` on the table; nil when that is not possible now.
    @discardableResult
    mutating func attempt<Result>(
        _ body: (Table) throws(DatabaseFault) -> Result
    ) -> Result? {
        guard !hasGivenUp, restUntil <= monotonic.now() else { return nil }
        // The first try may meet damage, the second a file that another process has just replaced; and
        // one that another has open says "locked" at once while it is closed or begins its log.
        for turn in 0..<3 {
            do throws(DatabaseFault) {
                let result = try body(try opened())
                if isQuiet { report(.recovered(path: path)) }
                isQuiet = false
                return result
            } catch {
                if case .busy = error, turn < 2 {
                    table = nil
                    continue
                }
                guard mayTryAgain(after: error) else { return nil }
            }
        }
        return nil
    }

    mutating func close() { table = nil }

    private mutating func mayTryAgain(after fault: DatabaseFault) -> Bool {
        switch fault {
        case .damaged(let why):
            setAside(because: why)
            return !hasGivenUp
        case .foreign(let why):
            hasGivenUp = true
            table = nil
            report(.foreign(path: path, because: why))
        case .busy(let why), .oversized(let why), .unusable(let why): rest(because: why)
        }
        return false
    }

    private mutating func opened() throws(DatabaseFault) -> Table {
        if let table, PrivateFile.identity(path) == table.identity { return table }
        table = nil
        opening = PrivateFile.identity(path)
        let opened = try open(path)
        openings += 1
        table = opened
        return opened
    }

    private mutating func rest(because why: String) {
        table = nil
        restUntil = monotonic.now().adding(milliseconds: fileRestMilliseconds)
        if !isQuiet { report(.quiet(path: path, because: why)) }
        isQuiet = true
    }

    private mutating func setAside(because why: String) {
        let damaged = table?.identity ?? opening
        table?.abandon()
        table = nil
        // Gone or replaced by another process meanwhile: there is nothing of ours to move.
        guard let damaged, PrivateFile.identity(path) == damaged else { return }
        timesSetAside += 1
        guard timesSetAside <= maximumTimesSetAside else {
            hasGivenUp = true
            report(.quiet(path: path, because: "\(why), for the third time"))
            return
        }
        var newPath = "\(path).corrupt-\(clocks.now().wallSeconds)"
        if PrivateFile.identity(newPath) != nil { newPath += "-\(timesSetAside)" }
        let isMoved = PrivateFile.setAside(
            path, damaged, as: newPath, suffixes: ["-wal", "-shm"])
        if isMoved { report(.setAside(path: path, newPath: newPath, because: why)) }
    }
}

/// Because: a full disk is not empty again a second later, and a minute without a store costs
/// nothing but questions.
private let fileRestMilliseconds: Int64 = 60_000
/// Because: a file that is damaged three times lies on a disk that damages files.
private let maximumTimesSetAside = 3
