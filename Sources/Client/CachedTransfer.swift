internal import HTTPDNSCaching
internal import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTransport
internal import HTTPDNSTrust

/// A transfer that the cache listens to: keeps what may be kept, answers a 304 with what it
/// confirms.
///
///     asked ── 304 ───────▶ confirmed ── over ─▶ pours what is kept
///       │ └── 5xx ────────▶ excused ──── over ─▶ pours what is kept (stale-if-error)
///       │ ├── 304 of another
///       │ │   variant ────▶ seeking ──── over ─▶ searching ─ found ─▶ pours what is kept
///       │ └── 304 of who
///       │     knows what ─▶ repeating ── over ─▶ asked, without conditions
///       └─── other head ──▶ passing ─── left for where its redirect leads ─▶ finishing: read on
///                                                                            for the cache
///
/// Rules:
/// 1. What the listener is told is one transfer, one thing at a time, and one end.
/// 2. A body is kept only when the transfer has said that it was whole.
/// 3. Keeping holds the sender back while its disk is behind, ``patienceMilliseconds`` at most, and
///    then is given up: no request waits for a disk.
final class CachedTransfer: RunningTransfer, TransferObserver {
    /// What the origin is asked about.
    struct Question: Sendable {
        var found: FoundResponse?
        /// Of other variants, which a 304 may be about.
        var tags: [EntityTag] = []
        var conditions: HTTPFields?
        /// Why nothing kept answered.
        var remark: String?
    }

    enum Phase: Sendable {
        case asked
        case passing((any BodyKeeping)?)
        /// Answered by what is kept; the transfer's own body is read away.
        case answered(KeptAnswer)
        case repeating
        /// Another variant is meant, to be looked for when the transfer is over, and looked for.
        case seeking(Sought)
        case searching
        /// Nobody listens any more.
        case finishing(any BodyKeeping, octets: Int64)
        case pouring(KeptTransfer)
        case over
    }

    struct State {
        var phase = Phase.asked
        var transfer: Transfer?
        /// Tells the transfer from the one before, which may be over before its handle is known.
        var turn = 0
        var isCancelled = false
        /// Nobody wants its body, not even the cache.
        var isLeft = false
        /// It was told to go on before its handle was known.
        var isResumePending = false
        var isHeldByReader = false
        var isHeldByKeeper = false
        var alarm: AlarmID?
        var isProven = false
        var question: Question
        var sentAt: Monotonic
        /// Its redirect's body is short enough to be read on for the cache.
        var mayFinish = false
    }

    let hop: CachedHop
    let wire: TransportRequest
    let listener: any TransferObserver
    let note: @Sendable (CacheProvenance) -> Void
    let state: Locked<State>
    private let transport: Transport

    init(
        _ hop: CachedHop, _ wire: TransportRequest, _ question: Question, transport: Transport,
        listener: any TransferObserver, note: @escaping @Sendable (CacheProvenance) -> Void
    ) {
        self.hop = hop
        self.wire = wire
        self.transport = transport
        self.listener = listener
        self.note = note
        state = Locked(State(question: question, sentAt: hop.cache.monotonic.now()))
    }

    func start() {
        var wire = wire
        let (conditions, turn) = state.withLock { ($0.question.conditions, $0.turn) }
        for field in conditions?.fields ?? [] { try? wire.fields.set(field.name, field.value) }
        if conditions != nil || turn > 0 { listener.sends(wire.fields) }
        let transfer = transport.start(wire, observer: self)
        let (isCancelled, isResumed) = state.withLock { state in
            guard state.turn == turn else { return (false, false) }
            switch state.phase {
            case .over, .pouring, .searching: return (false, false)
            default: state.transfer = transfer
            }
            defer { state.isResumePending = false }
            return (state.isCancelled || state.isLeft, state.isResumePending)
        }
        if isCancelled { transfer.cancel() } else if isResumed { transfer.resume() }
    }

    // MARK: From the driver

    func cancel() {
        let isFollowed = hop.isFollowed
        let (act, lets) = state.withLock { state -> (@Sendable () -> Void, Bool) in
            if case .passing(let keeper?) = state.phase, state.mayFinish, isFollowed {
                // The hop goes on to where the redirect leads; its answer is read on for the cache.
                state.phase = .finishing(keeper, octets: 0)
                let transfer = state.transfer
                state.isResumePending = transfer == nil
                return ({ transfer?.resume() }, true)
            }
            state.isCancelled = true
            if case .pouring(let kept) = state.phase { return ({ kept.cancel() }, false) }
            let transfer = state.transfer
            return ({ transfer?.cancel() }, false)
        }
        act()
        if lets { listener.finished(.failure(.cancelled)) }
    }

    func resume() {
        let act = state.withLock { state -> (@Sendable () -> Void)? in
            if case .pouring(let kept) = state.phase { return { kept.resume() } }
            state.isHeldByReader = false
            return state.goOn()
        }
        act?()
    }

    // MARK: On the transport's thread

    func verified(_ peer: VerifiedPeer?, connection: ConnectionFacts) {
        state.withLock { $0.isProven = peer != nil }
        listener.verified(peer, connection: connection)
    }

    func mayRepeat(after loss: RequestLoss, sentTo remote: Endpoint?) -> Bool {
        listener.mayRepeat(after: loss, sentTo: remote)
    }

    func received(interim head: ResponseHead) { listener.received(interim: head) }

    func failed(at remote: Endpoint) { listener.failed(at: remote) }

    func passedOver(_ addresses: [PassedOver]) { listener.passedOver(addresses) }

    func brokeOff(_ facts: TransferFacts) {
        let isTheirs = state.withLock { state in
            switch state.phase {
            case .asked, .passing: true
            case .answered, .repeating, .seeking, .searching, .finishing, .pouring, .over: false
            }
        }
        if isTheirs { listener.brokeOff(facts) }
    }

    func received(_ head: ResponseHead) {
        let outcome = judge(head)
        state.withLock { $0.phase = outcome.phase }
        if let provenance = outcome.provenance { note(provenance) }
        if let head = outcome.told { listener.received(head) }
        if outcome.leaves { leave() }
    }

    func received(body: UnsafeRawBufferPointer) -> Flow {
        let phase = state.withLock { $0.phase }
        switch phase {
        case .passing(nil): return listener.received(body: body)
        case .passing(let keeper?): return pass(body, to: keeper)
        case .finishing(let keeper, _):
            finishOn(body, keeper)
            return .more
        default: return .more
        }
    }

    private func pass(_ body: UnsafeRawBufferPointer, to keeper: any BodyKeeping) -> Flow {
        // Before they are asked: either may have room again before its word is noted.
        state.withLock { state in
            state.isHeldByKeeper = true
            state.isHeldByReader = true
        }
        let isFull = keeper.write(body) == .pause
        let flow = listener.received(body: body)
        let (isHeld, waits) = state.withLock { state -> (Bool, Bool) in
            if flow == .more { state.isHeldByReader = false }
            if !isFull { state.isHeldByKeeper = false }
            return (state.isHeldByReader || state.isHeldByKeeper, state.isHeldByKeeper)
        }
        if waits { setAlarm() }
        return isHeld ? .pause : .more
    }

    private func finishOn(_ body: UnsafeRawBufferPointer, _ keeper: any BodyKeeping) {
        _ = keeper.write(body)
        let isTooLong = state.withLock { state -> Bool in
            guard case .finishing(_, let octets) = state.phase else { return false }
            let sum = octets + Int64(body.count)
            state.phase = .finishing(keeper, octets: sum)
            return sum > RedirectOffer.mostDrainedOctets
        }
        if isTooLong {
            keeper.abandon()
            hop.release(isOfNoUse: false)
            leave()
        }
    }

    /// Now, or as soon as its handle is known.
    private func leave() {
        let transfer = state.withLock { state in
            state.isLeft = true
            return state.transfer
        }
        transfer?.cancel()
    }

    func finished(_ result: Result<TransferFacts, TransportFailure>) {
        let phase = state.withLock { state in
            defer { state.phase = .over }
            state.transfer = nil
            return state.phase
        }
        dropAlarm()
        switch phase {
        case .asked, .pouring, .searching, .over: listener.finished(result)
        case .passing(let keeper):
            end(keeper, result)
            hop.close()
            listener.finished(result)
        case .finishing(let keeper, _):
            end(keeper, result)
            hop.close()
        case .answered(let answer): pour(answer, after: result)
        case .repeating: askAgain(after: result)
        case .seeking(let sought): seek(sought, after: result)
        }
    }

    private func end(
        _ keeper: (any BodyKeeping)?, _ result: Result<TransferFacts, TransportFailure>
    ) {
        guard let keeper else { return }
        // A change that comes after this look removes what is then kept: see
        // ``ResponseCache/remove(_:)``.
        if case .success = result, !hop.isOutdated {
            keeper.finish()
            hop.settle()
        } else {
            keeper.abandon()
            hop.release(isOfNoUse: false)
        }
    }

    func pour(_ answer: KeptAnswer, after result: Result<TransferFacts, TransportFailure>) {
        var facts = TransferFacts()
        if case .success(let real) = result { facts = real }
        let kept = KeptTransfer(answer, facts: facts, for: listener)
        let isCancelled = state.withLock { state in
            state.phase = .pouring(kept)
            return state.isCancelled
        }
        if isCancelled { kept.cancel() }
        kept.pour()
    }

    func askAgain(after result: Result<TransferFacts, TransportFailure>) {
        guard case .success = result, !state.withLock({ $0.isCancelled }) else {
            if case .success = result { return listener.finished(.failure(.cancelled)) }
            return listener.finished(result)
        }
        state.withLock { state in
            state.phase = .asked
            state.turn += 1
            state.isLeft = false
            state.question = Question(remark: "validator_mismatch")
            state.sentAt = hop.cache.monotonic.now()
        }
        start()
    }

    // MARK: A disk that is behind

    /// From a thread of the store.
    func hasRoom() {
        dropAlarm()
        let act = state.withLock { state -> (@Sendable () -> Void)? in
            state.isHeldByKeeper = false
            return state.goOn()
        }
        act?()
    }

    private func setAlarm() {
        let moment = hop.cache.monotonic.now().adding(
            milliseconds: CachedTransfer.patienceMilliseconds)
        let alarm = hop.cache.alarms.schedule(at: moment) { self.isBehind() }
        let isLate = state.withLock { state -> Bool in
            guard state.isHeldByKeeper, state.alarm == nil else { return true }
            state.alarm = alarm
            return false
        }
        if isLate { hop.cache.alarms.cancel(alarm) }
    }

    private func dropAlarm() {
        let alarm = state.withLock { state in
            defer { state.alarm = nil }
            return state.alarm
        }
        if let alarm { hop.cache.alarms.cancel(alarm) }
    }

    private func isBehind() {
        let keeper = state.withLock { state -> (any BodyKeeping)? in
            state.alarm = nil
            guard state.isHeldByKeeper, case .passing(let keeper?) = state.phase else { return nil }
            state.phase = .passing(nil)
            return keeper
        }
        guard let keeper else { return }
        keeper.abandon()
        hop.release(isOfNoUse: false)
        hasRoom()
    }

    /// Because: longer than any disk in order takes for what may wait, shorter than a person
    /// notices much of.
    static let patienceMilliseconds: Int64 = 1_000
}

extension CachedTransfer.State {
    /// Lets the transfer go on when nobody holds it; what to do then.
    fileprivate mutating func goOn() -> (@Sendable () -> Void)? {
        guard !isHeldByKeeper, !isHeldByReader else { return nil }
        guard let transfer else {
            isResumePending = true
            return nil
        }
        return { transfer.resume() }
    }
}
