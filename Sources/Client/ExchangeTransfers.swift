internal import HTTPDNSExchange
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTransport

// The transfer of one hop
extension ExchangeDriver {
    func transfer(
        _ head: RequestHead, over route: Route, sendsBody: Bool, freshly: Bool, via path: ProxyPath?
    ) {
        var wire: TransportRequest
        do { wire = try self.wire(head, over: route, sendsBody: sendsBody) } catch {
            step { $0.machine.unsendable(error, now: $1) }
            return
        }
        wire.needsFreshConnection = freshly
        wire.via = path
        wire.authorization = authorization(for: wire, head)
        let framing = SentFraming(wire)
        observer.exchange(sends: wire.fields, in: framing, of: head)
        let generation = state.withLock { state in
            let generation = state.beginTransfer()
            // The route to a proxy says nothing of the origin's addresses.
            state.feedback = path == nil ? RouteFeedback(head.url.origin, route) : nil
            return generation
        }
        if sendsBody, case .stream(let source) = request.body {
            guard claim(source) else {
                step { $0.machine.bodyLost(isTaken: true, now: $1) }
                return
            }
            guard !state.withLock({ $0.isBodyTouched }) || source.rewind() else {
                step { $0.machine.bodyLost(now: $1) }
                return
            }
        }
        let listener = TransferListener(
            driver: self, generation: generation, sending: (head, framing))
        let transfer: any RunningTransfer
        if let hop = state.withLock({ $0.hop }) {
            transfer = hop.transfer(wire, by: client.parts.transport, for: listener) {
                self.note($0, of: generation)
            }
        } else {
            transfer = client.parts.transport.start(wire, observer: listener)
        }
        let (isUnwanted, resumes) = state.withLock { state in
            guard state.generation == generation, state.finishedGeneration != generation,
                !state.isOver
            else { return (true, false) }
            state.transfer = transfer
            return (state.isCancelPending, state.isResumePending)
        }
        if isUnwanted { transfer.cancel() } else if resumes { transfer.resume() }
    }

    /// Basic goes to its origin at each hop; a Digest meets its challenge, which the next hop's server
    /// need not know any more.
    private func authorization(
        for wire: TransportRequest, _ head: RequestHead
    ) -> TransportRequest.Authorization? {
        guard let credentials = request.credentials, credentials.origin == head.url.origin,
            !wire.fields.contains("Authorization"),
            let use = state.withLock({ $0.uses(credentials) })
        else { return nil }
        // Without its algorithm the challenge comes again, and is not asked about.
        return try? credentials.authorization(for: wire, use: use)
    }

    /// False while another exchange has it.
    private func claim(_ source: any RequestBodySource) -> Bool {
        guard !state.withLock({ $0.isBodyClaimed }) else { return true }
        let claim = BodyClaims.shared.claim(source)
        guard claim != .taken else { return false }
        state.withLock { state in
            state.isBodyClaimed = true
            state.isBodyTouched = claim == .begun
        }
        return true
    }

    /// The next exchange may have the source; nothing of this one reads from it any more.
    func giveBodyBack() {
        guard case .stream(let source) = request.body else { return }
        let (isClaimed, isTouched) = state.withLock { state in
            defer { state.isBodyClaimed = false }
            return (state.isBodyClaimed, state.isBodyTouched)
        }
        guard isClaimed else { return }
        // What cannot be repeated, and was not sent, keeps what it has read for another try.
        let isOver = isTouched || source.canRewind
        if isOver { source.letGo() }
        BodyClaims.shared.giveBack(source, isBegun: isOver)
    }

    private func wire(
        _ head: RequestHead, over route: Route, sendsBody: Bool
    ) throws(RewriteFault) -> TransportRequest {
        let (head, value) = try withCookies(head)
        let fields = try HostRewriter().fields(of: head, cookieField: value)
        var body = sendsBody ? request.body : .none
        if let watch = request.bodyWatch, case .stream(let source) = body {
            body = .stream(WatchedSource(source, watch))
        }
        let promised = try RequestFraming.promisedLength(fields, of: body)
        if let promised, case .stream(let source) = body {
            body = .stream(MeasuredSource(source, length: promised))
        }
        if RequestFraming.wantsChunks(fields) { body = body.inChunks }
        var wire = TransportRequest(
            origin: head.url.origin, route: route, method: head.method, target: head.url.target,
            fields: fields, body: body,
            verifier: verifier, limits: limits(), version: client.parts.version)
        // A part of a coded body cannot be decoded. Source: Fetch standard, §4.5, step of `Range`.
        wire.wantsPart = fields.contains("Range")
        wire.passesCodings = request.passesCodings
        wire.asksServer = request.asksServer
        wire.decodesContent =
            request.decodesAlways
            || !fields.contains("Accept-Encoding") && !wire.wantsPart && !request.passesCodings
        let isAskedFirst = try RequestFraming.expectsContinue(fields)
        wire.expectsContinue = request.expectsContinue || isAskedFirst && body.isPresent
        return wire
    }

    private func limits() -> TransportLimits {
        var limits = TransportLimits()
        limits.deadline = deadline
        limits.connectMilliseconds = request.limits.connect.wholeMilliseconds
        limits.idleMilliseconds = request.limits.idle.wholeMilliseconds
        limits.maximumBodyOctets = request.limits.maximumBodyOctets
        limits.maximumHeadOctets = request.limits.maximumHeadOctets
        limits.maximumExpansion = request.limits.maximumExpansion
        limits.maximumDecodedOctets = request.limits.maximumDecodedOctets
        return limits
    }

    func cancelTransfer() {
        let transfer = state.withLock { state in
            state.isCancelPending = state.transfer == nil
            return state.transfer
        }
        transfer?.cancel()
    }
}

extension ExchangeDriver.State {
    /// How often the challenge of those was met, this time among them; nil where it is not met.
    fileprivate mutating func uses(_ credentials: OriginCredentials) -> UInt32? {
        guard case .digest = credentials.way else { return 1 }
        guard machine.reportSoFar.hops.count <= 1 else { return nil }
        challengeUses &+= 1
        return challengeUses
    }
}
