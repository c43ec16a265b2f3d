internal import HTTPDNSClient
internal import HTTPDNSExchange
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// A plain request that is being carried out. Confined to the proxy's thread.
final class ExchangeTurn {
    let origin: OriginExchange
    let pipe: RequestBodyPipe?
    let expectsContinue: Bool
    var isRequestWhole: Bool
    var isBodyFull = false
    /// The head of the response has gone to the client.
    var hasResponded = false
    var framing = ResponseText.Framing.none
    var sendsBody = true
    var keepsAlive = true
    /// Octets of the body that the client was written since it last took all.
    var unacknowledged = 0

    init(origin: OriginExchange, pipe: RequestBodyPipe?, expectsContinue: Bool, isWhole: Bool) {
        self.origin = origin
        self.pipe = pipe
        self.expectsContinue = expectsContinue
        isRequestWhole = isWhole
    }
}

extension ClientConnection {
    func beginExchange(_ asked: ForwardRequest, hasBody: Bool, _ now: Monotonic) {
        record.kind = .exchange
        record.target = asked.url.description
        record.host = asked.url.origin.host
        var pipe: RequestBodyPipe?
        switch asked.body {
        case .none: break
        case .length(let length): pipe = RequestBodyPipe(length: length, turn: turn, desk: desk)
        case .chunked: pipe = RequestBodyPipe(length: nil, turn: turn, desk: desk)
        }
        var request = HTTPRequest(
            asked.method, asked.url, fields: asked.fields,
            body: pipe.map { .stream($0) } ?? .none)
        request.followsRedirects = false
        request.usesCookies = false
        request.passesCodings = true
        request.expectsContinue = asked.expectsContinue
        request.asksServer = asked.asksServer
        request.proxies = ProxyPolicy.none
        request.origin = RequestOrigin("proxy")
        request.tap = desk.settings.capture
        request.limits.total = nil
        request.limits.idle = desk.settings.limits.idle
        let origin = OriginExchange(turn: turn, desk: desk)
        phase = .exchanging(
            ExchangeTurn(
                origin: origin, pipe: pipe, expectsContinue: asked.expectsContinue,
                isWhole: !hasBody))
        deadline = now.adding(desk.settings.limits.idle)
        origin.start(request)
    }

    /// A message of the transport about the request at hand.
    func told(_ message: ProxyMessage, _ now: Monotonic) {
        switch (message, phase) {
        case (.routed(let result), .routing(let target)): routed(result, target, now)
        case (_, .exchanging(let turn)): toldOfExchange(message, turn, now)
        default: break
        }
        advance(now)
    }

    private func toldOfExchange(
        _ message: ProxyMessage, _ turn: ExchangeTurn, _ now: Monotonic
    ) {
        deadline = now.adding(desk.settings.limits.idle)
        switch message {
        case .routed: break
        case .bodyWanted:
            if turn.expectsContinue, !turn.isRequestWhole, !turn.hasResponded,
                !client.write(ResponseText.goOn)
            {
                abort()
            }
        case .bodyDrained: turn.isBodyFull = false
        case .hinted(let head): hint(head, turn)
        case .responded(let head, let report): respond(head, report, turn)
        case .body(let octets): pass(octets, turn)
        case .ended(.success(let report)): end(report, turn, now)
        case .ended(.failure(let failure)):
            note(failure.report)
            breakOff(turn, turn.origin.localRefusal ?? Refusal(failure), now)
        }
    }

    /// An interim response goes on to who knows what it is. `100 (Continue)` is the proxy's own affair:
    /// see `bodyWanted`. Source: RFC 9110 §15.2.
    private func hint(_ head: ResponseHead, _ turn: ExchangeTurn) {
        guard !asked.isOld, !turn.hasResponded, head.status != 100 else { return }
        let fields = ForwardedFields.response(
            head.fields, version: head.version, via: desk.rules.via)
        if !client.write(ResponseText.interim(head.status, fields)) { abort() }
    }

    private func respond(_ head: ResponseHead, _ report: ExchangeReport, _ turn: ExchangeTurn) {
        turn.hasResponded = true
        record.status = head.status
        record.openedMilliseconds = milliseconds()
        note(report)
        turn.sendsBody = !asked.isHead && ![204, 304].contains(head.status)
        turn.framing = framing(head, turn)
        turn.keepsAlive = asked.keepsAlive && turn.isRequestWhole && turn.framing != .close
        let fields = ForwardedFields.response(
            head.fields, version: head.version, via: desk.rules.via)
        let text = ResponseText.head(
            head.status, fields, turn.framing,
            ResponseText.Ending(keepsAlive: turn.keepsAlive, isOld: asked.isOld))
        if !client.write(text) { abort() }
    }

    private func framing(_ head: ResponseHead, _ turn: ExchangeTurn) -> ResponseText.Framing {
        let lengths = Set(head.fields.all("Content-Length"))
        // Of a coded transfer it says nothing. Source: RFC 9112 §6.3.
        if lengths.count == 1, let length = lengths.first, head.status != 204,
            !head.fields.contains("Transfer-Encoding"), UInt64(length) != nil
        {
            return .length(length)
        }
        guard turn.sendsBody else { return .none }
        return asked.isOld ? .close : .chunked
    }

    private func pass(_ octets: [UInt8], _ turn: ExchangeTurn) {
        guard turn.hasResponded, turn.sendsBody else { return turn.origin.drained(octets.count) }
        record.octetsDown += Int64(octets.count)
        turn.unacknowledged += octets.count
        guard client.write(turn.framing == .chunked ? ResponseText.chunk(octets) : octets) else {
            return abort()
        }
        acknowledge(turn)
    }

    /// The transport goes on once the client has taken what there was.
    func acknowledge(_ turn: ExchangeTurn) {
        guard client.unsentCount == 0, turn.unacknowledged > 0 else { return }
        let octets = turn.unacknowledged
        turn.unacknowledged = 0
        turn.origin.drained(octets)
    }

    private func end(_ report: ExchangeReport, _ turn: ExchangeTurn, _ now: Monotonic) {
        note(report)
        if turn.framing == .chunked, !client.write(ResponseText.lastChunk) { return abort() }
        // Of a request that is not whole the rest would be read as another one.
        endTurn(keepsAlive: turn.keepsAlive && turn.isRequestWhole, now)
    }

    /// The exchange failed, or is given up: told as a page where nothing was told yet, else by the end
    /// of the connection in the middle of the body.
    func breakOff(_ turn: ExchangeTurn, _ refusal: Refusal, _ now: Monotonic) {
        turn.origin.cancel()
        turn.pipe?.finish(.failed("the exchange has ended"))
        guard turn.hasResponded else {
            return refuse(turn.isRequestWhole ? refusal : refusal.ending(), now)
        }
        endRecord(refusal.reason, refusal.text)
        // Who reads up to the end of the connection would take an end for that of the body.
        guard turn.framing != .close else { return over(resetting: true) }
        linger(now)
    }

    private func note(_ report: ExchangeReport) {
        guard let hop = report.hops.last else { return }
        record.remote = hop.remote ?? record.remote
        if let resolution = hop.resolution {
            record.resolver = resolution.source.resolver
            record.addresses = resolution.addresses
            record.resolveMilliseconds = hop.resolveMilliseconds
        }
        record.attempts = hop.attempts.compactMap { attempt in
            attempt.address.map {
                ForwardProxyRecord.Attempt(
                    endpoint: Endpoint(address: $0, port: hop.url.origin.port),
                    label: attempt.label, message: attempt.message)
            }
        }
    }
}
