internal import CHTTPDNSCurl
internal import HTTPDNSCoding
internal import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// One exchange while the engine runs it: what libcurl's callbacks say, turned into what the observer
/// is told. Lives and dies on the engine's thread.
///
///     connecting ── gate ──▶ cleared ── head ──▶ body ──▶ ended
///
/// Rules:
/// 1. Nothing is read from the body source and nothing is believed of a response before the gate
///    (``clear(_:)``) has let the request out.
/// 2. The first failure recorded is the one reported; libcurl's code is only asked without one.
/// 3. A cancelled exchange tells its observer nothing but the end.
final class ActiveTransfer {
    let control: Transfer
    let observer: any TransferObserver
    let route: RouteRegistry.Lines
    let easy: EasyHandle
    /// Set once libcurl has seen ``route``.
    var hasRun = false
    /// Among those of ``stir``.
    fileprivate(set) var isNoted = false
    let stir: Stir
    let goAways: GoAways
    let sockets: KeptSockets
    private(set) var failure: TransportFailure?
    var timers: TransferTimers
    var upload: Upload
    private(set) var isBodyPaused = false
    var head: HeadReader
    var isCleared = false
    /// Nothing is read before the body was asked for: what may be read then.
    var withheld: Int64?
    var attendance = Attendance()
    /// Ended by us, with its response whole.
    var isCut = false
    let isLongUpload: Bool
    let hasBody: Bool
    let hearing: TransportRequest.Hearing
    /// The connection that the request was let out on.
    var passage: Passage?
    /// Of connections that libcurl makes for this transfer, since the gate was passed last.
    var openedSockets: [Int32] = []
    var dialling = Dialling()
    /// The connection made last has come to its TLS handshake.
    var isSecuring = false
    /// The gate was closed, since the connection is not fit for a request.
    var isUnfit = false
    var freshStarts = 0
    /// The peer wants no HTTP/2. Source: RFC 9113 §7, HTTP_1_1_REQUIRED.
    var mustBeHTTP11 = false
    /// libcurl makes another connection for a request that was let out already.
    var isMovingOn = false
    var refusals = RefusalLog()
    var farewell: (any PeerFarewell)?
    private(set) var bodyOctets: Int64 = 0
    /// The body is decoded on its way to the observer; nil when it is not coded.
    private(set) var decoding: BodyDecoding?
    /// 417: libcurl sends the request once more, without its `Expect`.
    var isExpectationRefused = false
    /// Made for a connection of its own, whose verifier may speak on any thread.
    var verdict: Locked<TrustFailure?>?

    struct Passage {
        let remote: Endpoint
        let wasKept: Bool
        let isResumed: Bool
        let isOverHTTP2: Bool
        /// What the peer says of the streams of that connection, where it matters.
        let word: GoAways.Word?
    }

    init(
        _ control: Transfer, observer: any TransferObserver, easy: EasyHandle,
        route: RouteRegistry.Lines, shared: Shared, now: Monotonic
    ) {
        self.control = control
        self.observer = observer
        self.easy = easy
        self.route = route
        stir = shared.stir
        goAways = shared.goAways
        sockets = shared.sockets
        let request = control.request
        isLongUpload = request.isLongUpload
        hasBody = request.body.isThere
        hearing = request.hearing
        timers = TransferTimers(request.limits, now: now)
        upload = Upload(request.body)
        head = HeadReader(request)
    }

    /// What all transfers of an engine note things in.
    struct Shared {
        let stir = Stir()
        let goAways = GoAways()
        let sockets = KeptSockets()
    }

    var request: TransportRequest { control.request }

    /// The pauses that hold at this moment, as libcurl counts them.
    var pauses: Int32 {
        (isBodyPaused ? Int32(CURLPAUSE_RECV) : 0) | (upload.isPending ? Int32(CURLPAUSE_SEND) : 0)
    }

    /// Nothing of it is left over: all was sent, and nothing waits.
    var isQuiet: Bool {
        upload.isComplete && !isBodyPaused && !upload.isPending && !isCut && !mustBeHTTP11
    }

    func resumeBody() {
        isBodyPaused = false
        heard()
    }

    func resumeUpload() {
        upload.isPending = false
        heard()
    }

    /// Something moved: the engine is to look at the timers when this turn of it ends.
    func heard() {
        timers.heard()
        stir.note(self)
    }

    /// The moment after which the exchange has waited too long, and for what.
    func due() -> (at: Monotonic, phase: TransportFailure.Phase) {
        let wait: TransferTimers.Wait
        if !isCleared {
            wait = .connection
        } else if isBodyPaused || upload.isPending {
            wait = .ourselves
        } else {
            wait = head.isComplete || !upload.isComplete ? .octets : .response
        }
        return timers.due(wait)
    }

    /// Counts what was heard since the last call as heard at `now`.
    func settleTimers(now: Monotonic) {
        isNoted = false
        timers.settle(now: now, isWaitingForUs: isBodyPaused || upload.isPending)
    }

    /// A transfer of which nothing is to be said but that it went well: most.
    func isPlainSuccess(_ code: CURLcode) -> Bool {
        code == CURLE_OK && failure == nil && isCleared && head.isComplete && !mayBeCut
            && decoding == nil
    }

    /// Called when libcurl holds the response for whole.
    func finishDecoding() {
        if let fault = decoding?.finish() { record(fault) }
    }
}

// What libcurl's callbacks ask. All run on the engine's thread, inside a libcurl call.
extension ActiveTransfer {
    func read(log line: UnsafeRawBufferPointer) {
        if ExcessLog.tells(line), !head.isCarriedByHTTP2 { return easy.giveUpConnection() }
        guard let last = refusals.read(line), let ssl = httpdns_curl_get_ssl(easy.raw),
            let connection = request.verifier?.farewell(ssl: ssl)
        else { return }
        goAways.note(lastStream: last, on: connection)
    }

    /// Has no stream on a connection any more.
    func leave() {
        if let word = passage?.word { goAways.leave(word) }
        passage = nil
    }

    /// False ends the exchange.
    func received(headLine line: UnsafeRawBufferPointer) -> Bool {
        heard()
        guard !control.isCancelled, isCleared else { return false }
        let url = HTTPURL(origin: request.origin, target: request.target)
        do {
            switch try head.read(line: line) {
            case .more: break
            case .interim(let status, let version, let fields):
                observer.received(
                    interim: ResponseHead(
                        url: url, status: status, version: version, fields: fields))
            case .final(let status, let version, let fields):
                var final = ResponseHead(
                    url: url, status: status, version: version, fields: fields)
                final.reason = head.reason
                received(final)
            }
            return true
        } catch {
            record(error)
            return false
        }
    }

    private func received(_ final: ResponseHead) {
        attendToEnd()
        // Source: RFC 9110 §10.1.1, §15.5.18.
        if final.status == 417, request.expectsContinue, !upload.hasBegun, final.version != .http2 {
            isExpectationRefused = true
            head = HeadReader(request)
            return
        }
        let isPart = final.status == 206 && request.wantsPart
        decoding = request.decodesContent && !isPart ? BodyDecoding(final.fields) : nil
        observer.received(final)
    }

    /// libcurl keeps a connection behind whose response more has come, and says it in its log alone.
    private func attendToEnd() {
        guard !head.isOverHTTP2 else { return }
        if head.isInDoubt {
            easy.giveUpConnection()
        } else if head.endsUnheard {
            easy.hear(true)
        }
    }

    enum BodyReply {
        case taken
        /// Not taken: libcurl keeps it and offers it again.
        case pause
        case end
    }

    func received(body: UnsafeRawBufferPointer) -> BodyReply {
        heard()
        guard !control.isCancelled, isCleared else { return .end }
        if isBodyPaused { return .pause }
        if isExpectationRefused { return .taken }
        guard head.isComplete else {
            record(.malformedResponse("a body came without a final response head"))
            return .end
        }
        guard !body.isEmpty else { return .taken }
        if head.isEmptyByRule, !head.isOverHTTP2 { easy.giveUpConnection() }
        guard let decoding else { return deliver(body) == .end ? .end : .taken }
        do throws(CodingFault) { return try decoding.take(body, deliver: deliver) } catch {
            record(BodyDecoding.failure(error))
            return .end
        }
    }

    /// `pause` when it was taken, and no more is wanted for now.
    private func deliver(_ body: UnsafeRawBufferPointer) -> BodyReply {
        bodyOctets += Int64(body.count)
        if body.count >= ActiveTransfer.bulkOctets { stir.isBulk = true }
        if let limit = request.limits.maximumBodyOctets, bodyOctets > limit {
            record(.bodyTooLarge)
            return .end
        }
        if bodyOctets > ActiveTransfer.freeExpansionOctets, let excess = excess() {
            record(.bodyExpandsTooFar(excess))
            return .end
        }
        if observer.received(body: body) == .pause { isBodyPaused = true }
        if control.isCancelled { return .end }
        return isBodyPaused ? .pause : .taken
    }

    /// What is too much of a body that is decoded; nil while it is not. The attack: some kilobytes that
    /// become gigabytes in the memory of whoever collects them.
    private func excess() -> String? {
        guard let wire = decoding?.wireOctets else { return nil }
        let limits = request.limits
        if bodyOctets > limits.maximumDecodedOctets {
            return "more than \(limits.maximumDecodedOctets) octets"
        }
        let factor = Int64(limits.maximumExpansion)
        let (most, isHuge) = wire.multipliedReportingOverflow(by: max(1, factor))
        guard !isHuge, bodyOctets > most else { return nil }
        return "\(bodyOctets) octets out of \(wire)"
    }

    /// Because: libcurl hands on so much at most, and only of what is longer.
    private static let bulkOctets = 16_384

    /// Because: what small machines have in memory anyway; below it no ratio is judged.
    private static let freeExpansionOctets: Int64 = 16 * 1_024 * 1_024

    /// The octets put into `buffer`, or one of libcurl's signals.
    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        readsAgain()
        guard !control.isCancelled, isCleared else { return httpdns_curl_abort_read }
        switch upload.read(into: buffer) {
        case .filled(let count):
            heard()
            return count
        case .end: return 0
        case .pending: return httpdns_curl_pause_read
        case .failed(let text):
            record(.bodySourceFailed(text))
            return httpdns_curl_abort_read
        }
    }

    func rewind(to position: Int64) -> Bool {
        upload.rewind(to: position)
    }

    func record(_ failure: TransportFailure) {
        if self.failure == nil { self.failure = failure }
    }

    /// What became of the rest of the request matters no more.
    func forgetUpload() {
        if case .bodySourceFailed = failure { failure = nil }
    }
}

/// The transfers of which something was heard in this turn of the engine: no others' timers changed.
final class Stir {
    private var transfers: [ActiveTransfer] = []
    /// A body comes in long pieces.
    var isBulk = false

    func note(_ transfer: ActiveTransfer) {
        guard !transfer.isNoted else { return }
        transfer.isNoted = true
        transfers.append(transfer)
    }

    func take() -> [ActiveTransfer] {
        defer { transfers.removeAll(keepingCapacity: true) }
        return transfers
    }
}
