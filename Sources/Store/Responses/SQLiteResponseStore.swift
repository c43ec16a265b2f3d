package import HTTPDNSCaching
internal import HTTPDNSExchange
package import HTTPDNSPlatform

/// How much a store of responses may hold.
package struct ResponseLimits: Sendable, Hashable {
    /// Octets of bodies and heads, and what database and file system need for them.
    package var maximumOctets: Int64
    package var largestBodyOctets: Int64

    package init(maximumOctets: Int64, largestBodyOctets: Int64) {
        self.maximumOctets = maximumOctets
        self.largestBodyOctets = largestBodyOctets
    }
}

/// What a store of responses holds.
package struct ResponseContents: Sendable, Hashable {
    package let responses: Int
    /// As ``ResponseLimits/maximumOctets`` counts.
    package let octets: Int64
}

/// Responses in a directory: heads in an SQLite file, each body in a file of its own.
///
/// - Nothing is opened before the first use, and then on a thread of the store's own; no call waits
///   for it. Bodies are given out on a second thread.
/// - Files are of mode 0600, the directory of the bodies of 0700; names of files say nothing.
/// - Several processes may use one directory. A kill at any moment loses what was not whole,
///   nothing else.
/// - A damaged database is moved aside (`responses.db.corrupt-SECONDS`) and begun anew. When the
///   disk is full, nothing is kept for a while. Both are told to `report`, and no request fails for
///   it.
package final class SQLiteResponseStore: ResponseStore {
    private let mailbox: ConditionLocked<ResponseMailbox>
    private let backlog: Backlog
    private let makeLoop: @Sendable () -> ResponseLoop
    private let lastID = Locked<UInt64>(0)

    /// A store in `directory`; nothing is opened yet.
    ///
    /// - Parameter report: called on the store's thread; must return at once.
    package init(
        directory: String, limits: ResponseLimits, wall: any WallSource = SystemWallClock(),
        boot: any BootSource = SystemBootClock(),
        monotonic: any MonotonicSource = SystemMonotonicClock(),
        report: @escaping @Sendable (StoreEvent) -> Void
    ) {
        let clocks = StoreClocks(wall: wall, boot: boot)
        let backlog = Backlog()
        self.backlog = backlog
        mailbox = ConditionLocked(ResponseMailbox())
        makeLoop = {
            ResponseLoop(
                directory: directory, limits: limits, clocks: clocks, monotonic: monotonic,
                backlog: backlog, report: report)
        }
    }

    // What is whole was kept already; what is not is left to nobody.
    deinit { mailbox.withLockSignalling { $0.stop() } }

    package func find(
        _ key: CacheKey, choosing choose: @escaping @Sendable ([KeptResponse]) -> KeptResponse?,
        _ found: @escaping @Sendable (FoundResponse?) -> Void
    ) {
        if !post(.find(key, choose, found)) { found(nil) }
    }

    package func keep(
        _ response: KeptResponse, hasRoom: @escaping @Sendable () -> Void
    ) -> any BodyKeeping {
        let id = lastID.withLock { last in
            last += 1
            return last
        }
        let isTaken = post(.begin(id, response))
        return FileKeeper(id, isTaken ? self : nil, backlog: backlog, hasRoom: hasRoom)
    }

    package func revise(
        _ key: CacheKey, choosing choose: @escaping @Sendable ([KeptResponse]) -> [KeptResponse],
        _ change: @escaping @Sendable (KeptResponse) -> KeptResponse?
    ) { _ = post(.revise(key, choose, change)) }

    package func update(_ response: KeptResponse) { _ = post(.update(response)) }

    package func remove(_ response: KeptResponse) { _ = post(.remove(response)) }

    package func remove(_ keys: [CacheKey]) {
        if !keys.isEmpty { _ = post(.removeKeys(keys)) }
    }

    package func removeAll() { _ = post(.removeAll) }

    package func flush() async {
        await withCheckedContinuation { continuation in
            guard post(.flush({ continuation.resume() })) else { return continuation.resume() }
        }
    }

    /// What the store holds; nil when it cannot be used now.
    package func contents() async -> ResponseContents? {
        await withCheckedContinuation { continuation in
            guard post(.count({ continuation.resume(returning: $0) })) else {
                return continuation.resume(returning: nil)
            }
        }
    }

    /// Hands an order to the thread, which is started if need be; false when it cannot be taken.
    fileprivate func post(_ order: ResponseOrder) -> Bool {
        let outcome = mailbox.withLockSignalling { $0.add(order) }
        guard outcome == .needsThread else { return outcome == .taken }
        let (mailbox, makeLoop) = (mailbox, makeLoop)
        let isStarted = DetachedThread.start(named: "httpdns-cache") {
            SQLiteResponseStore.serve(mailbox, makeLoop())
        }
        guard !isStarted else { return true }
        // Those that others posted meanwhile must be answered too.
        let lost = mailbox.withLockSignalling { $0.takeBack() }
        for order in lost { order.fail(backlog) }
        return true
    }

    /// Runs on the store's thread.
    private static func serve(
        _ mailbox: ConditionLocked<ResponseMailbox>, _ first: ResponseLoop
    ) {
        var loop = first
        while true {
            let orders = mailbox.waitAndTake { box, _ in
                box.take()
            } until: { _ in
                nil
            }
            for order in orders where !loop.obey(order) { return }
        }
    }
}

/// Takes a body to the store's thread.
private final class FileKeeper: BodyKeeping {
    private let id: UInt64
    /// Nil where the body goes nowhere.
    private let store: SQLiteResponseStore?
    private let backlog: Backlog
    private let hasRoom: @Sendable () -> Void
    private let isOver = Locked(false)

    init(
        _ id: UInt64, _ store: SQLiteResponseStore?, backlog: Backlog,
        hasRoom: @escaping @Sendable () -> Void
    ) {
        self.id = id
        self.store = store
        self.backlog = backlog
        self.hasRoom = hasRoom
    }

    deinit { abandon() }

    func write(_ octets: UnsafeRawBufferPointer) -> Flow {
        guard let store, !isOver.withLock({ $0 }) else { return .more }
        let flow = backlog.add(octets.count, hasRoom)
        if !store.post(.write(id, Array(octets))) { backlog.done(octets.count) }
        return flow
    }

    func finish() { end(.finish(id)) }

    func abandon() { end(.abandon(id)) }

    private func end(_ order: ResponseOrder) {
        let isFirst = isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
        if isFirst { _ = store?.post(order) }
    }
}

/// Octets of bodies that wait to be written, of all responses together: bounded, so that a slow
/// disk holds senders back and does not fill the memory.
final class Backlog: Sendable {
    private struct State {
        var octets = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Locked(State())

    /// - Parameter hasRoom: called after `.pause`, when there is room.
    func add(_ count: Int, _ hasRoom: @escaping @Sendable () -> Void) -> Flow {
        state.withLock { state in
            state.octets += count
            guard state.octets >= Backlog.highWaterOctets else { return .more }
            state.waiting.append(hasRoom)
            return .pause
        }
    }

    func done(_ count: Int) {
        let released = state.withLock { state -> [@Sendable () -> Void] in
            state.octets -= count
            guard state.octets <= Backlog.lowWaterOctets else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for hasRoom in released { hasRoom() }
    }

    /// Because: some ten milliseconds of a disk in order.
    static let highWaterOctets = 4_194_304
    /// Because: a sender that goes on finds room for a while.
    static let lowWaterOctets = 1_048_576
}

extension ResponseOrder {
    /// Answers whoever waits for it.
    fileprivate func fail(_ backlog: Backlog) {
        switch self {
        case .find(_, _, let found): found(nil)
        case .write(_, let octets): backlog.done(octets.count)
        case .flush(let done): done()
        case .count(let tell): tell(nil)
        default: break
        }
    }
}

/// What callers leave for the thread.
private struct ResponseMailbox: Sendable {
    enum Outcome: Sendable {
        case taken
        case needsThread
        case refused
    }

    private var orders: [ResponseOrder] = []
    private var isServed = false

    mutating func add(_ order: ResponseOrder) -> Outcome {
        if orders.count >= ResponseMailbox.maximumOrders {
            switch order {
            // Answered as if nothing were there. What was begun must end, and what is removed must
            // go.
            case .find, .begin: return .refused
            default: break
            }
        }
        orders.append(order)
        defer { isServed = true }
        return isServed ? .taken : .needsThread
    }

    mutating func take() -> [ResponseOrder] {
        defer { orders.removeAll(keepingCapacity: true) }
        return orders
    }

    mutating func takeBack() -> [ResponseOrder] {
        isServed = false
        return take()
    }

    mutating func stop() {
        if isServed { orders.append(.stop) }
    }

    /// Because: a disk that is slower than that many requests is of no help to the next one.
    private static let maximumOrders = 16_384
}
