internal import HTTPDNSLookup
internal import HTTPDNSPlatform

/// The one thread that asks plain DNS servers. It starts with the first question and sleeps until a
/// socket, a timer or a new order wakes it.
///
/// Questions beyond the number of sockets it may hold open wait their turn, within their deadlines.
public final class DatagramEngine: Sendable {
    /// The engine of the process.
    public static let shared = DatagramEngine()

    private let mailbox = Locked(Mailbox())
    private let maximumQuestions: Int
    private let seen = Locked(DatagramStatistics())

    /// An engine of its own: for tests, and for programs that must be able to end it.
    public convenience init() {
        self.init(maximumQuestions: Self.defaultMaximumQuestions)
    }

    /// - Parameter maximumQuestions: how many sockets may be open at a time; at least one a question.
    package init(maximumQuestions: Int) { self.maximumQuestions = maximumQuestions }

    deinit { stop() }

    /// Ends the thread. Questions in flight fail as cancelled; later ones are refused.
    public func stop() {
        let poll = mailbox.withLock { box -> EventPoll? in
            defer { box.phase = .stopped }
            guard case .running(let poll) = box.phase else { return nil }
            return poll
        }
        poll?.wake()
    }

    /// What it has seen so far.
    public var statistics: DatagramStatistics { seen.withLock { $0 } }

    /// Runs one question to its end on the engine's thread. Cancelling the task settles it at once.
    func run(
        _ query: DatagramQuery, plan: DatagramPlan, watch: EvidenceWatch?,
        observer: ReplyObserver? = nil
    ) async -> Result<Testimony, QueryFailure> {
        let id = mailbox.withLock { $0.nextID() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let question = DatagramQuestion(
                    id: id, query: query, plan: plan, watch: watch, observer: observer
                ) {
                    continuation.resume(returning: $0)
                }
                if let refusal = post(.ask(question)) { question.deliver(.failure(refusal)) }
                // The handler below may have run before the question was posted.
                if Task.isCancelled { _ = post(.cancel(id)) }
            }
        } onCancel: {
            _ = post(.cancel(id))
        }
    }

    /// Starts one question; `deliver` is called once, on the engine's thread or, when it is refused, on
    /// the caller's.
    func start(
        _ query: DatagramQuery, plan: DatagramPlan, watch: EvidenceWatch?,
        deliver: @escaping @Sendable (Result<Testimony, QueryFailure>) -> Void
    ) -> DatagramQuestion.ID {
        let id = mailbox.withLock { $0.nextID() }
        let question = DatagramQuestion(
            id: id, query: query, plan: plan, watch: watch, deliver: deliver)
        if let refusal = post(.ask(question)) { deliver(.failure(refusal)) }
        return id
    }

    /// Settles a question as cancelled; one that is settled already is ignored.
    func cancel(_ id: DatagramQuestion.ID) { _ = post(.cancel(id)) }

    /// Hands an order to the thread, which is started if need be.
    private func post(_ order: DatagramOrder) -> QueryFailure? {
        enum Outcome {
            case waken(EventPoll)
            case refused(QueryFailure)
            case pending
        }
        let outcome = mailbox.withLock { box -> Outcome in
            switch box.phase {
            case .stopped: return .refused(.misconfigured("the DNS engine was stopped"))
            case .running(let poll):
                box.orders.append(order)
                // Awake, it looks at the orders before it sleeps.
                guard box.isAsleep else { return .pending }
                box.isAsleep = false
                return .waken(poll)
            case .idle:
                guard case .ask = order else { return .pending }
                guard let poll = EventPoll(), start(poll) else {
                    return .refused(.unreachable("no descriptor or thread left for the DNS engine"))
                }
                box.phase = .running(poll)
                box.orders.append(order)
                return .waken(poll)
            }
        }
        switch outcome {
        case .waken(let poll): poll.wake()
        case .refused(let failure): return failure
        case .pending: break
        }
        return nil
    }

    /// Called with the mailbox locked: the thread's first act is to take that lock, later.
    private func start(_ poll: EventPoll) -> Bool {
        let (mailbox, seen) = (mailbox, seen)
        let maximum = maximumQuestions
        return DetachedThread.start(named: "httpdns-dns") {
            var loop = DatagramLoop(poll: poll, maximumQuestions: maximum)
            loop.run(
                DatagramLoop.Door(
                    take: { mailbox.withLock { $0.take() } },
                    maySleep: { mailbox.withLock { $0.maySleep() } },
                    awake: { mailbox.withLock { $0.isAsleep = false } },
                    publish: { statistics in seen.withLock { $0 = statistics } }))
        }
    }

    /// Half of what the process may open, 4...4,096.
    ///
    /// Because: the other half is the application's. Debian's default limit of 1,024 leaves 512.
    /// Silent servers do not change that: see `DatagramLoop`.
    private static var defaultMaximumQuestions: Int { min(max(descriptorLimit() / 2, 4), 4_096) }
}

/// What callers leave for the thread.
private struct Mailbox: Sendable {
    enum Phase: Sendable {
        case idle
        case running(EventPoll)
        case stopped
    }

    var phase = Phase.idle
    var orders: [DatagramOrder] = []
    /// The thread waits, or is about to: it has to be woken.
    var isAsleep = false
    private var lastID: UInt64 = 0

    mutating func nextID() -> DatagramQuestion.ID {
        lastID &+= 1
        return DatagramQuestion.ID(number: lastID)
    }

    mutating func maySleep() -> Bool {
        if case .stopped = phase { return false }
        isAsleep = orders.isEmpty
        return isAsleep
    }

    mutating func take() -> DatagramLoop.Orders {
        defer { orders.removeAll(keepingCapacity: true) }
        if case .stopped = phase { return .init(orders: orders, isLast: true) }
        return .init(orders: orders, isLast: false)
    }
}
