public import HTTPDNSLookup
internal import HTTPDNSNames
package import HTTPDNSPlatform

/// Answers in an SQLite file, so that a program that starts again need not ask again.
///
/// - Nothing is opened before the first use, and then on a thread of the store's own; no call waits
///   for it.
/// - The file and what belongs to it are readable by their owner alone: names that were asked for tell
///   a lot about a person. A missing directory is made, for the owner alone.
/// - Several processes may use one file. A kill at any moment loses what was kept in the last tenth
///   of a second, nothing else.
/// - A damaged file is moved aside (`NAME.corrupt-SECONDS`) and begun anew. When the disk is full or
///   the file may not be written, the store is quiet for a minute. Both are told to `report`, and no
///   lookup fails for it.
public final class SQLiteAnswerStore: AnswerStore {
    private let mailbox: ConditionLocked<StoreMailbox>
    private let clocks: StoreClocks
    private let makeLoop: @Sendable () -> StoreLoop

    /// A store in the file at `path`; nothing is opened yet.
    ///
    /// - Parameters:
    ///   - path: the file; beside it stand `-wal` and `-shm` while it is in use.
    ///   - limits: what it may hold; the answers that end first go first.
    ///   - report: called on the store's thread; must return at once.
    public convenience init(
        path: String, limits: StoreLimits = StoreLimits(),
        report: @escaping @Sendable (StoreEvent) -> Void = { _ in }
    ) {
        self.init(
            path: path, limits: limits, wall: SystemWallClock(), boot: SystemBootClock(),
            report: report)
    }

    /// With clocks of the caller's.
    package init(
        path: String, limits: StoreLimits, wall: any WallSource, boot: any BootSource,
        monotonic: any MonotonicSource = SystemMonotonicClock(),
        report: @escaping @Sendable (StoreEvent) -> Void
    ) {
        let clocks = StoreClocks(wall: wall, boot: boot)
        self.clocks = clocks
        mailbox = ConditionLocked(StoreMailbox())
        makeLoop = {
            StoreLoop(
                path: path, limits: limits, clocks: clocks, monotonic: monotonic, report: report)
        }
    }

    // What was kept before is still written, by the thread alone.
    deinit { mailbox.withLockSignalling { $0.stop() } }

    public func find(
        _ question: Question, scope: String, _ found: @escaping @Sendable (StoredAnswer?) -> Void
    ) {
        guard let key = StoredForm.key(question, scope: scope),
            post(.find(key: key, question, found))
        else { return found(nil) }
    }

    public func keep(_ testimony: Testimony, scope: String, lifeSeconds: UInt32) {
        guard let key = StoredForm.key(testimony.question, scope: scope) else { return }
        let now = clocks.now()
        let life = StoredLife(
            keptWallSeconds: now.wallSeconds, keptBootMilliseconds: now.bootMilliseconds,
            bootID: now.bootID, lifeSeconds: lifeSeconds)
        _ = post(.keep(key: key, testimony, life))
    }

    public func forget(_ question: Question, scope: String) {
        guard let key = StoredForm.key(question, scope: scope) else { return }
        _ = post(.forget(key: key))
    }

    public func removeAll() { _ = post(.removeAll) }

    public func flush() async {
        await withCheckedContinuation { continuation in
            guard post(.flush({ continuation.resume() })) else { return continuation.resume() }
        }
    }

    /// What the store holds; nil when it cannot be used now.
    public func contents() async -> StoreContents? {
        await withCheckedContinuation { continuation in
            guard post(.count({ continuation.resume(returning: $0) })) else {
                return continuation.resume(returning: nil)
            }
        }
    }

    /// Hands an order to the thread, which is started if need be; false when it cannot be taken.
    private func post(_ order: StoreOrder) -> Bool {
        let outcome = mailbox.withLockSignalling { $0.add(order) }
        guard outcome == .needsThread else { return outcome == .taken }
        let (mailbox, makeLoop) = (mailbox, makeLoop)
        let isStarted = DetachedThread.start(named: "httpdns-store") {
            SQLiteAnswerStore.serve(mailbox, makeLoop())
        }
        guard !isStarted else { return true }
        // Those that others posted meanwhile must be answered too.
        let lost = mailbox.withLockSignalling { $0.takeBack() }
        for order in lost { order.fail() }
        return true
    }

    /// Runs on the store's thread.
    private static func serve(_ mailbox: ConditionLocked<StoreMailbox>, _ first: StoreLoop) {
        var loop = first
        while true {
            let commitAt = loop.commitAt
            let orders = mailbox.waitAndTake { box, now in
                let taken = box.take()
                guard taken.isEmpty, let commitAt, commitAt <= now else { return taken }
                return [.commit]
            } until: { _ in
                commitAt
            }
            for order in orders where !loop.obey(order) { return }
        }
    }
}

extension StoreOrder {
    /// Answers whoever waits for it.
    fileprivate func fail() {
        switch self {
        case .find(_, _, let found): found(nil)
        case .flush(let done): done()
        case .count(let tell): tell(nil)
        case .keep, .forget, .removeAll, .commit, .stop: break
        }
    }
}

/// What callers leave for the thread.
private struct StoreMailbox: Sendable {
    enum Outcome: Sendable {
        case taken
        case needsThread
        case refused
    }

    private var orders: [StoreOrder] = []
    private var isServed = false

    mutating func add(_ order: StoreOrder) -> Outcome {
        if orders.count >= StoreMailbox.maximumOrders {
            switch order {
            case .find, .keep, .forget: return .refused
            case .removeAll, .flush, .count, .commit, .stop: break
            }
        }
        orders.append(order)
        defer { isServed = true }
        return isServed ? .taken : .needsThread
    }

    mutating func take() -> [StoreOrder] {
        defer { orders.removeAll(keepingCapacity: true) }
        return orders
    }

    mutating func takeBack() -> [StoreOrder] {
        isServed = false
        return take()
    }

    mutating func stop() {
        if isServed { orders.append(.stop) }
    }

    /// Because: a disk that is slower than that many lookups is of no help to the next one.
    private static let maximumOrders = 4_096
}
