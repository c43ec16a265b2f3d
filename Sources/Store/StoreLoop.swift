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
/// 1. The file is opened with the first order; ``FileCare`` says what becomes of it in trouble.
/// 2. What is to be kept waits a moment, so that one transaction takes many; whoever asks meanwhile
///    finds it there.
struct StoreLoop {
    let limits: StoreLimits
    let clocks: StoreClocks
    let monotonic: any MonotonicSource

    private var care: FileCare<AnswerTable>
    private var waiting: [[UInt8]: Waiting] = [:]
    /// When what waits is to be written.
    private(set) var commitAt: Monotonic?
    private var growth = Growth()
    /// The opening that the growth is counted from.
    private var countedOpening = 0

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
        self.limits = limits
        self.clocks = clocks
        self.monotonic = monotonic
        care = FileCare(path: path, clocks: clocks, monotonic: monotonic, report: report) {
            (path) throws(DatabaseFault) in try AnswerTable(path)
        }
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
            care.attempt { table throws(DatabaseFault) in try table.remove(key) }
        case .removeAll:
            waiting.removeAll()
            commitAt = nil
            care.attempt { table throws(DatabaseFault) in try table.removeAll() }
        case .commit: commit()
        case .flush(let done):
            commit()
            done()
        case .count(let tell):
            commit()
            let counts = care.attempt { table throws(DatabaseFault) in try table.contents() }
            tell(
                counts.map {
                    StoreContents(
                        answers: Int(clamping: $0.answers), octets: Int(clamping: $0.octets))
                })
        case .stop:
            commit()
            care.close()
            return false
        }
        return true
    }

    /// Because: as much as one transaction writes in a few milliseconds.
    private static let maximumWaiting = 256
    /// Because: long enough to gather the answers of one page, short enough that a kill loses
    /// little.
    private static let gatherMilliseconds: Int64 = 100
}

extension StoreLoop {
    private mutating func find(_ key: [UInt8], _ question: Question) -> StoredAnswer? {
        let now = clocks.now()
        if let fresh = waiting[key] {
            return answer(fresh.testimony, fresh.life, now)
        }
        let row = care.attempt { table throws(DatabaseFault) -> (StoredRow, Testimony)? in
            guard let row = try table.find(key) else { return nil }
            guard let testimony = StoredForm.read(row.value, for: question) else {
                throw .damaged("an answer of another form")
            }
            return (row, testimony)
        }
        guard let (row, testimony) = row ?? nil else { return nil }
        let found = answer(testimony, row.life, now)
        if found == nil {
            care.attempt { table throws(DatabaseFault) in try table.remove(key) }
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
        if countedOpening != care.openings { growth = Growth() }
        growth.answers += rows.count
        growth.octets += rows.reduce(0) { $0 + Int(clamping: $1.octets) }
        let (isFirst, isDue) = (growth.isUnknown, growth.mayExceed(limits))
        let now = clocks.now()
        let isDone: Void? = care.attempt { [limits] table throws(DatabaseFault) in
            try table.save(rows)
            if isFirst { try table.removeUseless(at: now) }
            if isDue { try table.shrink(to: limits) }
        }
        if countedOpening != care.openings { growth = Growth() }
        countedOpening = care.openings
        if isDone != nil, isDue {
            growth = Growth()
            growth.isUnknown = false
        }
    }
}
