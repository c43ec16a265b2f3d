internal import CHTTPDNSCurl
internal import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// Runs all exchanges of one transport on one thread: the only code that touches libcurl handles.
///
/// A turn: take the mail · let libcurl work on what is ready or due · report what ended · end what
/// waited too long · sleep until a socket, mail or the next time limit.
///
/// Rules:
/// 1. Handles are added, removed and freed between libcurl calls only, never inside a callback.
/// 2. Each exchange is told `finished` once, after its handle has left libcurl's hands.
/// 3. Without an exchange for a while (``usualDrowsyMilliseconds``) the thread closes its connections
///    and ends; the next request starts another.
final class Engine {
    private let mailbox: Mailbox
    private let multi: MultiHandle
    private let clock = SystemMonotonicClock()
    private let options: ConnectionOptions
    private var routes: RouteRegistry
    /// Part of each route's key, so that what was made before a change is not found again.
    private var network: UInt64 = 0
    private var transfers: [ObjectIdentifier: ActiveTransfer] = [:]
    private var newcomers: [ActiveTransfer] = []
    /// Empty but while it is read.
    private var mail: [Command] = []
    private var pool = EasyPool()
    private let shared = ActiveTransfer.Shared()
    /// Transfers under way that have to hear what peers say of their streams.
    private var listeners = 0
    private var longUploads = 0
    /// Turns since observers were told.
    private var rounds = 0
    /// No transfer is due before this moment; it may be too early, never too late.
    private var nextDue = Monotonic.distantFuture
    private let drowsyMilliseconds: Int64
    private var idleSince: Monotonic

    private init(
        _ mailbox: Mailbox, _ multi: consuming MultiHandle, _ options: ConnectionOptions,
        drowsyMilliseconds: Int64
    ) {
        self.options = options
        routes = RouteRegistry(lifetimeMilliseconds: options.maximumAge.wholeMilliseconds)
        self.mailbox = mailbox
        self.drowsyMilliseconds = drowsyMilliseconds
        self.multi = multi
        idleSince = clock.now()
    }

    /// The body of the engine's thread.
    static func run(_ mailbox: Mailbox, _ options: ConnectionOptions, drowsyMilliseconds: Int64) {
        if let text = httpdns_curl_open() {
            return Engine.refuseAll(mailbox, .unavailable(String(cString: text)))
        }
        guard let signal = WakeSignal(),
            let multi = MultiHandle(perHost: options.maximumPerHost, wokenBy: signal)
        else {
            return Engine.refuseAll(mailbox, .unexpected("no memory or descriptor for libcurl"))
        }
        mailbox.attach(signal)
        let engine = Engine(mailbox, multi, options, drowsyMilliseconds: drowsyMilliseconds)
        LoopTurn.runLoop { engine.turn($0) }
    }

    /// Ends every exchange that is posted, until there is none left.
    static func refuseAll(_ mailbox: Mailbox, _ failure: TransportFailure) {
        repeat {
            for case .start(_, let observer) in mailbox.take().commands {
                observer.finished(.failure(failure))
            }
        } while !mailbox.sleepIfEmpty()
    }

    private func turn(_ loop: LoopTurn.Loop) {
        while true {
            if readMail() { return endAll(.cancelled) }
            var hasLooked = false
            let acted = multi.act(&hasLooked, isRecordwise: longUploads > 0)
            guard acted == CURLM_OK else { return giveUp(acted) }
            if hasLooked { welcomed() }
            reap()
            let now = clock.now()
            guard let due = expire(now: now) else { return }
            linger(until: due, now, loop)
        }
    }

    /// True when it was the last. Nothing of it is held while the engine sleeps: with it whoever is told
    /// of a transfer would stay.
    private func readMail() -> Bool {
        let isClosed = mailbox.take(into: &mail)
        for command in mail { obey(command) }
        mail.removeAll(keepingCapacity: true)
        return isClosed
    }

    /// libcurl has looked at all that was added.
    private func welcomed() {
        for transfer in newcomers { transfer.hasRun = true }
        newcomers.removeAll(keepingCapacity: true)
    }

    /// Tells observers what came, and waits for more. While a long body comes in, what is there is
    /// read first, so that it is handed on in few large pieces.
    private func linger(until due: Monotonic, _ now: Monotonic, _ loop: LoopTurn.Loop) {
        if shared.stir.isBulk {
            shared.stir.isBulk = false
            multi.look()
            rounds += 1
            if multi.hasWork, rounds < Engine.mostRounds { return }
        }
        rounds = 0
        // The last before the sleep: what its observers wake may bring more mail.
        loop.endTurn()
        guard !multi.hasWork else { return }
        if mailbox.doze() { multi.linger(until: due, now: now) } else { multi.look() }
    }

    /// Because: eight buffers of libcurl's are as much as a reader takes at a time.
    private static let mostRounds = 8

    /// The multi handle is broken: ends all exchanges and this thread; the next begins anew.
    private func giveUp(_ code: CURLMcode) {
        let failure = TransportFailure.unexpected(String(cString: httpdns_curl_multi_text(code)))
        endAll(failure)
        Engine.refuseAll(mailbox, failure)
    }

    private func obey(_ command: Command) {
        switch command {
        case .start(let control, let observer): start(control, observer)
        case .cancel(let control):
            if let transfer = transfers[control.id] { end(transfer, .failure(.cancelled)) }
        case .resume(let control):
            guard let transfer = transfers[control.id], transfer.isBodyPaused else { return }
            transfer.resumeBody()
            applyPauses(transfer)
        case .bodyReady(let control):
            guard let transfer = transfers[control.id], transfer.upload.isPending else { return }
            transfer.resumeUpload()
            applyPauses(transfer)
        case .leaveConnections: network &+= 1
        }
    }

    private func applyPauses(_ transfer: ActiveTransfer) {
        // May call back into the transfer at once, with what libcurl had kept.
        let code = transfer.easy.pause(transfer.pauses)
        if code != CURLE_OK { end(transfer, result(transfer, code)) }
    }

    private func start(_ control: Transfer, _ observer: any TransferObserver) {
        if control.isCancelled { return observer.finished(.failure(.cancelled)) }
        if let obstacle = RequestFields.obstacle(control.request) {
            return observer.finished(.failure(.unavailable(obstacle)))
        }
        guard let easy = handle(for: control.request) else {
            return observer.finished(.failure(.unexpected("no memory for libcurl")))
        }
        let now = clock.now()
        let transfer = ActiveTransfer(
            control, observer: observer, easy: easy, route: routes.take(key(control), now: now),
            shared: shared, now: now)
        transfers[control.id] = transfer
        if transfer.isLongUpload { longUploads += 1 }
        nextDue = min(nextDue, transfer.due().at)
        easy.describe(control.request, over: transfer.route)
        easy.transfer = transfer
        listen(transfer)
        if let refusal = easy.refusal {
            return end(transfer, .failure(.unavailable(refusal)))
        }
        if case .stream(let source) = control.request.body {
            source.whenReadable { [mailbox, weak control] in
                if let control { _ = mailbox.post(.bodyReady(control)) }
            }
        }
        let code = httpdns_curl_multi_add(multi.raw, easy.raw)
        guard code == CURLM_OK else {
            let text = String(cString: httpdns_curl_multi_text(code))
            return end(transfer, .failure(.unexpected(text)))
        }
        newcomers.append(transfer)
    }

    /// What a peer says of a connection's streams is said to one of its transfers, whichever reads it:
    /// all hear while it matters to one of them.
    private func listen(_ transfer: ActiveTransfer) {
        guard transfer.hearing != .none else { return transfer.easy.hear(false) }
        if transfer.hearing == .needed {
            listeners += 1
            if listeners == 1 {
                for other in transfers.values where other.hearing != .none { other.easy.hear(true) }
            }
        }
        transfer.easy.hear(listeners > 0)
    }

    private func key(_ control: Transfer) -> RouteRegistry.Key {
        RouteRegistry.Key(
            addresses: control.request.route.addresses, port: control.request.route.port,
            policy: control.request.origin.scheme == .https
                ? control.request.verifier?.fingerprint : nil,
            network: network, via: control.request.via)
    }

    /// A handle that knows what holds for all requests of that kind; nil when memory is short.
    private func handle(for request: TransportRequest) -> EasyHandle? {
        let kind = TransferKind(request)
        if let kind, let handle = pool.take(kind) {
            handle.forgetErrors()
            return handle
        }
        guard let handle = EasyHandle(kind) else { return nil }
        handle.describe(kindOf: request, options)
        return handle
    }

    /// Reports the exchanges that libcurl has ended.
    private func reap() {
        var code = CURLE_OK
        while let context = httpdns_curl_multi_next_done(multi.raw, &code) {
            let easy = Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
            guard let transfer = easy.transfer else { continue }
            if transfer.isUnfit, beginAnew(transfer) { continue }
            end(transfer, result(transfer, code))
        }
    }

    /// On a connection of its own, since the one that it was given was not fit; false when it has to
    /// end.
    private func beginAnew(_ transfer: ActiveTransfer) -> Bool {
        guard transfer.mayBeginAnew(now: clock.now()) else { return false }
        nextDue = min(nextDue, transfer.due().at)
        httpdns_curl_multi_remove(multi.raw, transfer.easy.raw)
        transfer.easy.demandFreshConnection()
        if transfer.mustBeHTTP11 { transfer.easy.demandHTTP11() }
        guard transfer.easy.refusal == nil,
            httpdns_curl_multi_add(multi.raw, transfer.easy.raw) == CURLM_OK
        else {
            transfer.record(.unexpected("libcurl does not begin a transfer again"))
            return false
        }
        return true
    }

    private func result(
        _ transfer: ActiveTransfer, _ code: CURLcode
    ) -> Result<TransferFacts, TransportFailure> {
        guard !transfer.isPlainSuccess(code) else { return .success(transfer.facts()) }
        let isWhole = transfer.isWhole(despite: code)
        if isWhole { transfer.forgetUpload() }
        if isWhole || code == CURLE_OK { transfer.finishDecoding() }
        let ending = isWhole ? nil : transfer.ending(code, isAlone: transfers.count == 1).failure
        if let failure = transfer.failure ?? ending {
            return .failure(failure)
        }
        return .success(transfer.facts())
    }

    /// Ends what has waited too long; the next moment at which something could be due, or nil when the
    /// thread is to end.
    private func expire(now: Monotonic) -> Monotonic? {
        for transfer in shared.stir.take() {
            transfer.settleTimers(now: now)
            nextDue = min(nextDue, transfer.due().at)
            if transfer.mayEndUntold { attend(transfer, now) }
            if transfer.isDialling { dial(transfer, now) }
        }
        if nextDue <= now { endOverdue(now: now) }
        guard transfers.isEmpty else {
            idleSince = now
            return nextDue
        }
        let drowsy = idleSince.adding(milliseconds: drowsyMilliseconds)
        if drowsy <= now, mailbox.sleepIfEmpty() { return nil }
        return drowsy <= now ? now : drowsy
    }

    /// Looks at all transfers: as often as one of them could be due, not once a turn.
    private func endOverdue(now: Monotonic) {
        nextDue = .distantFuture
        for transfer in Array(transfers.values) {
            transfer.settleTimers(now: now)
            if transfer.attendance.due <= now, look(after: transfer, now) { continue }
            if transfer.diallingDue <= now { transfer.giveUpSilent(now: now) }
            nextDue = min(nextDue, transfer.attendance.due, transfer.diallingDue)
            let due = transfer.due()
            if due.at <= now {
                end(transfer, .failure(.timedOut(phase: due.phase)))
            } else {
                nextDue = min(nextDue, due.at)
            }
        }
    }

    /// A transfer whose connections are being made, or came to nothing, in this turn.
    private func dial(_ transfer: ActiveTransfer, _ now: Monotonic) {
        guard transfers[transfer.control.id] === transfer else { return }
        transfer.goOnDialling(now: now)
        nextDue = min(nextDue, transfer.diallingDue)
    }

    /// A response to a request with a body, over HTTP/2, that libcurl has not ended in this turn.
    private func attend(_ transfer: ActiveTransfer, _ now: Monotonic) {
        guard transfers[transfer.control.id] === transfer else { return }
        if transfer.isWhole, !transfer.isSent { return cut(transfer) }
        if !transfer.attendance.isUnderWay { transfer.attendance.begin(now: now) }
        nextDue = min(nextDue, transfer.attendance.due)
    }

    /// True when it has ended.
    private func look(after transfer: ActiveTransfer, _ now: Monotonic) -> Bool {
        transfer.attendance.goOn(now: now)
        guard transfer.mayEndUntold, !transfer.isBodyPaused else { return false }
        if transfer.isWhole, !transfer.isSent {
            cut(transfer)
            return true
        }
        let code = transfer.nudge()
        if code != CURLE_OK { end(transfer, result(transfer, code)) }
        return code != CURLE_OK
    }

    /// Ends an exchange whose response is whole; the rest of its request is for nobody.
    private func cut(_ transfer: ActiveTransfer) {
        transfer.isCut = true
        transfer.finishDecoding()
        end(transfer, transfer.failure.map { .failure($0) } ?? .success(transfer.facts()))
    }

    private func endAll(_ failure: TransportFailure) {
        for transfer in Array(transfers.values) { end(transfer, .failure(failure)) }
    }

    private func end(
        _ transfer: ActiveTransfer, _ result: Result<TransferFacts, TransportFailure>
    ) {
        guard transfers.removeValue(forKey: transfer.control.id) != nil else { return }
        if transfer.hearing == .needed { listeners -= 1 }
        if transfer.isLongUpload { longUploads -= 1 }
        // Asked of the handle while libcurl still has it.
        let remote = transfer.failedAt(result)
        let passedOver = result.isFailure ? transfer.takePassedOver(but: remote) : []
        let isLost = result.isFailure || transfer.control.isCancelled
        let seen = isLost ? transfer.factsSoFar : nil
        if !transfer.hasRun { newcomers.removeAll { $0 === transfer } }
        httpdns_curl_multi_remove(multi.raw, transfer.easy.raw)
        // What libcurl may still say, when it frees the handle, is for nobody.
        transfer.easy.transfer = nil
        routes.release(
            transfer.route, untold: transfer.hasRun ? [] : transfer.route.removals,
            wereTold: transfer.hasRun)
        transfer.leave()
        if let seen { transfer.observer.brokeOff(seen) }
        guard !transfer.control.isCancelled else {
            return transfer.observer.finished(.failure(.cancelled))
        }
        switch result {
        case .success:
            if transfer.isQuiet { pool.keep(transfer.easy) }
        case .failure:
            if !passedOver.isEmpty { transfer.observer.passedOver(passedOver) }
            if let remote { transfer.observer.failed(at: remote) }
        }
        transfer.observer.finished(result)
    }

    /// How long a thread without work lives on.
    ///
    /// Because: as long as an idle connection may be used again (``EasyHandle``: 70 s).
    static let usualDrowsyMilliseconds: Int64 = 70_000
}

extension Transfer {
    /// Names the exchange while the engine has it.
    fileprivate var id: ObjectIdentifier { ObjectIdentifier(self) }
}

extension Result {
    fileprivate var isFailure: Bool {
        if case .failure = self { true } else { false }
    }
}
