package import HTTPDNSClient
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// Records what requests do: into a file, into memory, to a callback, to listeners.
///
/// Give one to ``HTTPDNSConfiguration/capture``, or to an installation of a session; several
/// clients and sessions may share one. Secrets are taken out before anything is written or told
/// (``CaptureRedaction``). No request ever waits for it: what it cannot keep up with is dropped and
/// counted (``counts``).
///
///     let capture = Capture(CaptureConfiguration(path: "traffic.sqlite"))
///     configuration.capture = capture
///     capture.isEnabled = false      // live: requests that begin from now on are not recorded
///
/// `httpdns capture show traffic.sqlite` reads the file, also while it is written.
public final class Capture: Sendable {
    let limits: CaptureLimits
    private let mailbox: ConditionLocked<CaptureMailbox>
    private let state: Locked<State>
    private let listeners: CaptureListeners
    private let ring: CaptureRing
    /// Nobody but the ring and listeners wants records.
    private let isRingOnly: Bool
    private let makeWriter: @Sendable () -> CaptureWriter
    private let wall = SystemWallClock()
    private let clock = SystemMonotonicClock()

    private struct State: Sendable {
        var isEnabled: Bool
        var lastID: Int64 = 0
    }

    /// Opens nothing yet: the file is made, on a thread of the capture's own, with the first
    /// record.
    public init(_ configuration: CaptureConfiguration = CaptureConfiguration()) {
        limits = configuration.limits
        let mailbox = ConditionLocked(CaptureMailbox(configuration.limits))
        let listeners = CaptureListeners()
        let ring = CaptureRing(configuration.ringRecords, configuration.redaction)
        self.mailbox = mailbox
        self.listeners = listeners
        self.ring = ring
        isRingOnly =
            ring.isWanted && configuration.path == nil && configuration.onRecord == nil
        state = Locked(State(isEnabled: configuration.isEnabled))
        makeWriter = {
            CaptureWriter(configuration, mailbox: mailbox, listeners: listeners, ring: ring)
        }
    }

    // What was recorded is still written, by the thread alone.
    deinit {
        let isServed = mailbox.withLockSignalling { $0.stop() }
        if !isServed { listeners.finish() }
    }

    /// Whether requests that begin now are recorded; those under way go on as they began.
    public var isEnabled: Bool {
        get { state.withLock { $0.isEnabled } }
        set { state.withLock { $0.isEnabled = newValue } }
    }

    /// As setting ``isEnabled``.
    public func start() { isEnabled = true }

    /// As setting ``isEnabled`` to false.
    public func stop() { isEnabled = false }

    /// What happens from now on, as it happens, within a tenth of a second.
    ///
    /// - Parameter count: how many events wait for a slow listener; of more, the oldest are lost
    ///   and counted in ``CaptureCounts/missedEvents``.
    /// - Returns: ends when the capture is let go.
    public func events(holding count: Int = 1_024) -> AsyncStream<CaptureEvent> {
        listeners.listen(holding: max(1, count))
    }

    /// The last records that ended, oldest first; as many as ``CaptureConfiguration/ringRecords``.
    /// Those that nobody asked for yet are read now, on the caller's thread: some microseconds each.
    public var recent: [CaptureRecord] { ring.records }

    /// Forgets what was recorded, in the file too.
    public func clear() {
        if isRingOnly { ring.clear(.all) }
        post(.clear)
    }

    /// Returns when all that has ended by now is in the file, in ``recent`` and told.
    public func flush() async {
        await withCheckedContinuation { continuation in
            post(.flush { continuation.resume() })
        }
    }

    /// Ends the recording for good, and returns when the file is whole in one piece, without the
    /// log beside it, unless somebody else uses it. What ends later is told to listeners, and is
    /// not in the file.
    public func close() async {
        isEnabled = false
        await withCheckedContinuation { continuation in
            post(.close { continuation.resume() })
        }
    }

    /// What was recorded and dropped so far.
    public var counts: CaptureCounts {
        var counts = mailbox.withLockSignalling { $0.counts }
        counts.records += ring.directRecords
        counts.missedEvents = listeners.missed
        return counts
    }

    /// Records what is over already: of a loader of the application's own, say. Its secrets are
    /// taken out as everywhere.
    ///
    /// Nothing happens while ``isEnabled`` is false.
    public func add(_ record: CaptureRecord) {
        guard let id = nextID() else { return }
        var draft = CaptureDraft(
            id: id, startedAt: record.startedAt, given: record, limits: limits)
        for side in CaptureRecord.Side.allCases {
            let body = side == .request ? record.requestBody : record.responseBody
            let piece = body.octets.withUnsafeBytes { draft.take($0, side) }
            if let piece, !take(piece) { draft[omission: side] = .dropped }
            draft[side].count(Int(clamping: body.totalOctets - Int64(body.octets.count)))
            if draft[omission: side] == nil { draft[omission: side] = body.omission }
        }
        draft.totalMilliseconds = record.totalMilliseconds
        end(Locked(draft)) { _ in }
    }

    /// Begins to record a request that somebody else than the client answers; nil while
    /// ``isEnabled`` is false. See ``CaptureWatch``.
    ///
    /// - Parameter record: what is known of it; its bodies are not read.
    public func begin(_ record: CaptureRecord) -> CaptureWatch? {
        guard let id = nextID() else { return nil }
        let draft = CaptureDraft(
            id: id, startedAt: record.startedAt, given: record, limits: limits)
        if hasListeners { post(.began(SentDraft(onTheWay: draft))) }
        return CaptureWatch(self, draft, begun: milliseconds())
    }

    /// Now, for ``CaptureRecord/startedAt``.
    public static var now: CaptureTime {
        CaptureTime(microsecondsSince1970: SystemWallClock().microsecondsSince1970())
    }
}

// What watches need
extension Capture {
    var hasListeners: Bool { listeners.isListenedTo }

    /// Nil while nothing is recorded.
    func nextID() -> Int64? {
        state.withLock { state in
            guard state.isEnabled else { return nil }
            state.lastID += 1
            return state.lastID
        }
    }

    func milliseconds() -> Double { Double(clock.now().nanoseconds) / 1_000_000 }

    /// False when there is no room for it.
    func take(_ piece: CapturePiece) -> Bool {
        let isTaken = post(.piece(piece)) == .taken
        if !isTaken {
            mailbox.withLock({ $0.counts.droppedBodies += 1 }, signallingIf: { _ in false })
        }
        return isTaken
    }

    /// Hands over what is over now; the second time nothing happens.
    func end(_ place: Locked<CaptureDraft>, _ change: (inout CaptureDraft) -> Void) {
        let ended = place.withLock { draft -> (id: Int64, octets: Int, hasPieces: Bool)? in
            guard !draft.isOver else { return nil }
            change(&draft)
            draft.isOver = true
            return (draft.id, draft.octets, draft.hasPieces)
        }
        guard let ended else { return }
        if isRingOnly, !ended.hasPieces, !hasListeners {
            return ring.add(SentDraft(place, octets: ended.octets))
        }
        var outcome = post(.ended(SentDraft(place, octets: ended.octets)))
        if outcome == .bodiesRefused {
            place.withLock { $0.dropBodies() }
            outcome = post(.ended(SentDraft(place, octets: 0)))
        }
        if outcome == .refused, ended.hasPieces { post(.abandoned(ended.id)) }
    }

    /// Hands a message to the thread, which is started if need be.
    @discardableResult
    func post(_ message: CaptureMessage) -> CaptureMailbox.Outcome {
        let outcome = mailbox.withLock({ $0.add(message) }, signallingIf: { $0.wakes })
        if outcome == .refused, message.isEventOnTheWay { listeners.missed(1) }
        guard outcome == .needsThread else { return outcome }
        let makeWriter = makeWriter
        let isStarted = DetachedThread.start(named: "httpdns-capture") { makeWriter().serve() }
        guard !isStarted else { return .taken }
        let lost = mailbox.withLockSignalling { box in
            let lost = box.takeBack()
            for case .ended in lost { box.counts.droppedRecords += 1 }
            return lost
        }
        for case .flush(let done) in lost { done() }
        for case .close(let done) in lost { done() }
        return .taken
    }
}

extension Capture: ExchangeTap {
    package func tap(
        _ request: HTTPRequest, observer: any ExchangeObserver
    ) -> (request: HTTPRequest, observer: any ExchangeObserver)? {
        guard let id = nextID() else { return nil }
        let draft = CaptureDraft(
            id: id, startedAt: Capture.now, exchange: ExchangeFacts(request), limits: limits)
        if hasListeners { post(.began(SentDraft(onTheWay: draft))) }
        let watch = ExchangeWatch(self, draft, passingTo: observer)
        return (watch.watching(request), watch)
    }
}

extension CaptureDraft {
    /// What is held of the bodies is given up; their sizes stay.
    mutating func dropBodies() {
        for side in CaptureRecord.Side.allCases where !self[side].held.isEmpty {
            self[side].drop()
            self[omission: side] = .dropped
        }
    }
}
