internal import HTTPDNSCaching
internal import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTransport

// What the cache does for one exchange.
extension ExchangeDriver {
    func consult(_ head: RequestHead) {
        guard let cache = client.parts.cache else {
            // Nothing is to be sent, and nothing is kept.
            return deliver(.refusal(of: head.url, remark: "no_cache"))
        }
        let mode = mode(of: head, usually: cache.mode)
        if mode == .onlyIfCached, usesCredentials(head) {
            return deliver(
                .refusal(of: head.url, remark: StorageRules.Refusal.credentials.rawValue))
        }
        // Before the cookies are read: whose they are may change at any moment.
        let ticket = mode == .none ? nil : ticket(for: head, from: cache)
        guard let (cookied, value) = try? withCookies(head),
            let fields = try? HostRewriter().fields(of: cookied, cookieField: value)
        else {
            guard begin(nil) else { return }
            return step { $0.machine.notKept(fallsBack: false, now: $1) }
        }
        let policy = head.url.origin.scheme == .https ? cache.policy(of: verifier) : []
        let hop = CachedHop(
            cache: cache, mode: mode, url: head.url, policy: policy, ticket: ticket)
        guard begin(hop) else { return }
        let asked = CacheRequest(
            method: head.method, url: head.url, fields: fields,
            decodesAlways: request.decodesAlways, passesCodings: request.passesCodings,
            digest: cache.digest)
        let hasBody = state.withLock { $0.machine.sendsBody }
        let patience = request.limits.idle.wholeMilliseconds
        hop.consult(asked, hasBody: hasBody, patienceMilliseconds: patience) { finding in
            switch finding {
            case .kept(let answer): self.deliver(answer)
            case .toSend(let fallsBack):
                self.step { $0.machine.notKept(fallsBack: fallsBack, now: $1) }
            }
        }
    }

    /// Nil for what is never kept and confirms nothing.
    private func ticket(for head: RequestHead, from cache: ResponseCache) -> ChangeTicket? {
        guard let era, head.method == .get || head.method == .head else { return nil }
        return CacheKey(head.url).map { cache.changes.ticket(for: $0, since: era) }
    }

    /// The one before goes without the lock: others may be told that they need not wait for it.
    ///
    /// - Returns: false when the exchange is over: nothing is to be looked for any more.
    private func begin(_ hop: CachedHop?) -> Bool {
        let (last, isOver) = state.withLock { state -> (CachedHop?, Bool) in
            guard !state.isOver else { return (nil, true) }
            defer { state.hop = hop }
            return (state.hop, false)
        }
        last?.end()
        return !isOver
    }

    /// What the fields do not show, credentials and a body, is no part of what is kept: such
    /// requests go past the cache, and still make what is kept out of date.
    private func mode(of head: RequestHead, usually usual: CacheMode) -> CacheMode {
        let mode = request.cacheMode ?? usual
        let isSafe = Freshening.isSafe(head.method)
        let showsAll =
            !usesCredentials(head) && !(isSafe && state.withLock { $0.machine.sendsBody })
        return showsAll || mode == .onlyIfCached ? mode : .none
    }

    /// Nobody sees in its fields as whom it is sent.
    private func usesCredentials(_ head: RequestHead) -> Bool {
        request.credentials?.origin == head.url.origin
    }

    func fallBack() {
        guard let answer = state.withLock({ $0.hop })?.fallBack() else {
            return step {
                $0.machine.stopped(because: .unexpected("nothing to fall back on"), now: $1)
            }
        }
        deliver(answer)
    }

    /// Lets a kept response answer in the place of a transfer.
    private func deliver(_ answer: KeptAnswer) {
        let made = state.withLock { state -> KeptTransfer? in
            guard !state.isOver, state.machine.isKept() else { return nil }
            state.machine.note(answer.provenance)
            let generation = state.beginTransfer()
            let kept = KeptTransfer(
                answer, for: TransferListener(driver: self, generation: generation))
            state.transfer = kept
            return kept
        }
        made?.deliver()
    }

    func note(_ provenance: CacheProvenance, of generation: UInt64) {
        told(generation) { state in
            state.machine.note(provenance)
            return []
        }
    }
}

extension ExchangeDriver.State {
    /// Returns the number of the transfer that begins; a cancel that came since the last one ended
    /// is for it, and stays noted.
    mutating func beginTransfer() -> UInt64 {
        generation &+= 1
        isResumePending = false
        isHeldBack = false
        transfer = nil
        feedback = nil
        return generation
    }
}
