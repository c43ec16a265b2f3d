internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// What the store's thread is told.
enum StoreOrder: Sendable {
    case find(key: [UInt8], Question, @Sendable (StoredAnswer?) -> Void)
    case keep(key: [UInt8], Testimony, StoredLife)
    case forget(key: [UInt8])
    case removeAll
    case flush(@Sendable () -> Void)
    case count(@Sendable (StoreContents?) -> Void)
    /// The moment of the last ``StoreLoop/commitAt`` has come.
    case commit
    case stop
}

/// What the store's thread does. All of it is confined to one thread.
///
/// Rules:
/// 1. The file is opened with the first order, and again after it was moved, replaced or in trouble.
/// 2. What is to be kept waits a moment, so that one transaction takes many; whoever asks meanwhile
///    finds it there.
/// 3. A damaged file is moved aside and the order is tried once more with a new one; after a third
///    time the store gives up. Any other trouble makes it rest.
struct StoreLoop {
    let path: String
    let limits: StoreLimits
    let clocks: StoreClocks
    let monotonic: any MonotonicSource
    let report: @Sendable (StoreEvent) -> Void

    private var table: AnswerTable?
    private var waiting: [[UInt8]: Waiting] = [:]
    /// When what waits is to be written.
    private(set) var commitAt: Monotonic?
    private var restUntil = Monotonic.zero
    private var isQuiet = false
    private var hasGivenUp = false
    private var timesSetAside = 0
    /// The file that was about to be opened.
    private var opening: PrivateFile.Identity?
    private var growth = Growth()

    private struct Waiting {
        let testimony: Testimony
        let life: StoredLife
    }

    /// What was written since the rows were counted, which costs a walk over the index.
    private struct Growth {
        /// The file was just opened: nothing is known of what is in it.
        var isUnknown = true
        var answers = 0
        var octets = 0

        func mayExceed(_ limits: StoreLimits) -> Bool {
            // A sixteenth of both limits is free after each count; another process may write too.
            isUnknown || answers > limits.maximumAnswers / 32
                || octets > limits.maximumOctets / 32
        }
    }

    init(
        path: String, limits: StoreLimits, clocks: StoreClocks, monotonic: any MonotonicSource,
        report: @escaping @Sendable (StoreEvent) -> Void
    ) {
        self.path = path
        self.limits = limits
        self.clocks = clocks
        self.monotonic = monotonic
        self.report = report
    }

    /// False after the last order.
    mutating func obey(_ order: StoreOrder) -> Bool {
        switch order {
        case .find(let key, let question, let found): found(find(key, question))
        case .keep(let key, let testimony, let life):
            waiting[key] = Waiting(testimony: testimony, life: life)
            if waiting.count >= Self.maximumWaiting {
                commit()
            } else if commitAt == nil {
                commitAt = monotonic.now().adding(milliseconds: Self.gatherMilliseconds)
            }
        case .forget(let key):
            waiting[key] = nil
            attempt { table throws(DatabaseFault) in try table.remove(key) }
        case .removeAll:
            waiting.removeAll()
            commitAt = nil
            attempt { table throws(DatabaseFault) in try table.removeAll() }
        case .commit: commit()
        case .flush(let done):
            commit()
            done()
        case .count(let tell):
            commit()
            let counts = attempt { table throws(DatabaseFault) in try table.contents() }
            tell(
                counts.map {
                    StoreContents(
                        answers: Int(clamping: $0.answers), octets: Int(clamping: $0.octets))
                })
        case .stop:
            commit()
            table = nil
            return false
        }
        return true
    }

    /// Because: as much as one transaction writes in a few milliseconds.
    private static let maximumWaiting = 256
    /// Because: long enough to gather the answers of one page, short enough that a kill loses little.
    private static let gatherMilliseconds: Int64 = 100
    /// Because: a full disk is not empty again a second later, and a minute without a store costs
    /// nothing but questions.
    private static let restMilliseconds: Int64 = 60_000
    /// Because: a file that is damaged three times lies on a disk that damages files.
    private static let maximumTimesSetAside = 3
}

extension StoreLoop {
    private mutating func find(_ key: [UInt8], _ question: Question) -> StoredAnswer? {
        let now = clocks.now()
        if let fresh = waiting[key] {
            return answer(fresh.testimony, fresh.life, now)
        }
        let row = attempt { table throws(DatabaseFault) -> (StoredRow, Testimony)? in
            guard let row = try table.find(key) else { return nil }
            guard let testimony = StoredForm.read(row.value, for: question) else {
                throw .damaged("an answer of another form")
            }
            return (row, testimony)
        }
        guard let (row, testimony) = row ?? nil else { return nil }
        let found = answer(testimony, row.life, now)
        if found == nil {
            attempt { table throws(DatabaseFault) in try table.remove(key) }
        }
        return found
    }

    /// Nil when it is of no use any more, or of no known age.
    private func answer(
        _ testimony: Testimony, _ life: StoredLife, _ now: StoredLife.Moment
    ) -> StoredAnswer? {
        guard let left = life.left(at: now), left.secondsOver <= AnswerTable.maximumStaleSeconds
        else { return nil }
        return StoredAnswer(
            testimony: testimony, secondsLeft: left.secondsLeft, secondsOver: left.secondsOver)
    }

    private mutating func commit() {
        commitAt = nil
        guard !waiting.isEmpty else { return }
        let rows = waiting.compactMap { key, fresh -> StoredRow? in
            StoredForm.value(fresh.testimony).map {
                StoredRow(key: key, life: fresh.life, value: $0)
            }
        }
        waiting.removeAll(keepingCapacity: true)
        guard !rows.isEmpty else { return }
        growth.answers += rows.count
        growth.octets += rows.reduce(0) { $0 + Int(clamping: $1.octets) }
        let (isFirst, isDue) = (growth.isUnknown, growth.mayExceed(limits))
        let now = clocks.now()
        let isDone: Void? = attempt { [limits] table throws(DatabaseFault) in
            try table.save(rows)
            if isFirst { try table.removeUseless(at: now) }
            if isDue { try table.shrink(to: limits) }
        }
        if isDone != nil, isDue {
            growth = Growth()
            growth.isUnknown = false
        }
    }

    /// Runs `body` on the table; nil when that is not possible now.
    @discardableResult
    private mutating func attempt<Result>(
        _ body: (AnswerTable) throws(DatabaseFault) -> Result
    ) -> Result? {
        guard !hasGivenUp, restUntil <= monotonic.now() else { return nil }
        // The first try may meet damage, the second a file that another process has just replaced.
        for _ in 0..<3 {
            do throws(DatabaseFault) {
                let result = try body(try opened())
                if isQuiet { report(.recovered(path: path)) }
                isQuiet = false
                return result
            } catch {
                guard mayTryAgain(after: error) else { return nil }
            }
        }
        return nil
    }

    private mutating func mayTryAgain(after fault: DatabaseFault) -> Bool {
        switch fault {
        case .damaged(let why):
            setAside(because: why)
            return !hasGivenUp
        case .foreign(let why):
            hasGivenUp = true
            table = nil
            report(.foreign(path: path, because: why))
        case .busy(let why), .unusable(let why): rest(because: why)
        }
        return false
    }

    private mutating func opened() throws(DatabaseFault) -> AnswerTable {
        if let table, PrivateFile.identity(path) == table.identity { return table }
        table = nil
        opening = PrivateFile.identity(path)
        let opened = try AnswerTable(path)
        growth = Growth()
        table = opened
        return opened
    }

    private mutating func rest(because why: String) {
        table = nil
        restUntil = monotonic.now().adding(milliseconds: Self.restMilliseconds)
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
        guard timesSetAside <= Self.maximumTimesSetAside else {
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
