internal import HTTPDNSCaching
internal import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTransport

/// One hop's dealings with the cache: looks before it is sent, and stands behind the transfer when
/// it is.
///
///     consult ──▶ kept ─────────────▶ KeptTransfer
///      ▲ │ └────▶ refused (504) ────▶ KeptTransfer
///      │ └──────▶ sent ─▶ CachedTransfer ─ failed ─▶ fallBack ─▶ KeptTransfer
///      └─ waited for an equal request (``JoinTable``)
final class CachedHop: Sendable {
    /// What became of looking.
    enum Finding: Sendable {
        case kept(KeptAnswer)
        /// `fallsBack`: what is kept may answer when the network fails.
        case toSend(fallsBack: Bool)
    }

    private struct State {
        var found: FoundResponse?
        var conditions: HTTPFields?
        /// Of other variants that the origin may say are meant.
        var tags: [EntityTag] = []
        var onError: CacheProvenance?
        /// What answers in the place of the network has no body.
        var isHead = false
        /// Why nothing kept answered.
        var remark: String?
        var course = Course.open
        /// Among equal requests, while others may wait for this one, or this one for another.
        var place: JoinPlace?
        /// Nil where nothing can be kept, or can be any more.
        var ticket: ChangeTicket?
    }

    private enum Course {
        case open
        /// Its redirect leads on.
        case followed
        /// The whole exchange is given up.
        case stopped
    }

    let cache: ResponseCache
    let mode: CacheMode
    let url: HTTPURL
    /// Names the policy of this exchange; empty for plain `http`.
    let policy: [UInt8]
    private let state: Locked<State>

    /// - Parameter ticket: taken before anything that the request says was read.
    init(
        cache: ResponseCache, mode: CacheMode, url: HTTPURL, policy: [UInt8],
        ticket: ChangeTicket?
    ) {
        self.cache = cache
        self.mode = mode
        self.url = url
        self.policy = url.origin.scheme == .https ? policy : []
        state = Locked(State(ticket: ticket))
    }

    /// - Parameters:
    ///   - hasBody: a request with one is not answered, whatever its method.
    ///   - patience: the longest that it waits for an equal request.
    func consult(
        _ request: CacheRequest, hasBody: Bool, patienceMilliseconds patience: Int64,
        _ tell: @escaping @Sendable (Finding) -> Void
    ) {
        let rules = rules(at: cache.now())
        if rules.isUnproven(request), mode != .none, let key = request.key {
            // Of a time when the application said otherwise.
            cache.store.remove([key])
            return tell(weigh(nil, [], request, rules))
        }
        guard rules.looks(request), !hasBody, let key = request.key else {
            return tell(
                rules.isOffline(request)
                    ? .kept(.refusal(of: url, remark: StorageRules.Refusal.method.rawValue))
                    : .toSend(fallsBack: false))
        }
        if rules.joins(request), !isOutdated { join(key, request) }
        look(key, request, rules) { finding in
            guard let place = self.place else { return tell(finding) }
            guard case .toSend = finding else {
                self.leave()
                return tell(finding)
            }
            place.wait(atMostMilliseconds: patience) { word in
                switch word {
                case .lead: tell(finding)
                case .goAlone:
                    self.leave()
                    tell(finding)
                case .lookAgain:
                    self.leave()
                    self.look(key, request, self.rules(at: self.cache.now())) { tell($0.joined) }
                }
            }
        }
    }

    private func join(_ key: CacheKey, _ request: CacheRequest) {
        let place = cache.joined.enter(
            JoinTable.Key(key, policy: policy, fields: request.fields))
        let isLate = state.withLock { state in
            if state.course != .stopped { state.place = place }
            return state.course == .stopped
        }
        if isLate { place?.leave() }
    }

    private func look(
        _ key: CacheKey, _ request: CacheRequest, _ rules: ReuseRules,
        _ tell: @escaping @Sendable (Finding) -> Void
    ) {
        let tags = Locked<[EntityTag]>([])
        cache.store.find(key) { variants in
            let chosen = rules.choose(variants, for: request)
            tags.withLock { $0 = rules.otherTags(variants, besides: chosen, for: request) }
            return chosen
        } _: { found in
            tell(self.weigh(found, tags.withLock { $0 }, request, rules))
        }
    }

    func rules(at now: CacheMoment) -> ReuseRules {
        ReuseRules(
            mode: mode, policy: policy, now: now, keepsPlainHTTP: cache.settings.keepsPlainHTTP)
    }

    private func weigh(
        _ found: FoundResponse?, _ tags: [EntityTag], _ request: CacheRequest,
        _ rules: ReuseRules
    ) -> Finding {
        // It may have been weighed before, and waited since.
        state.withLock { state in
            (state.found, state.conditions, state.tags) = (nil, nil, [])
            (state.onError, state.remark) = (nil, nil)
        }
        switch rules.decide(request, found?.response, others: tags) {
        case .answer(let provenance):
            guard let found else { return .toSend(fallsBack: false) }
            return .kept(answer(found, provenance, to: request))
        case .refuse(let remark):
            return .kept(.refusal(of: url, remark: remark))
        case .send(let remark, let onError):
            state.withLock { state in
                state.remark = remark
                state.found = onError == nil ? nil : found
                state.onError = onError
                state.isHead = request.method == .head
            }
            return .toSend(fallsBack: onError != nil)
        case .validate(let conditions, let onError):
            state.withLock { state in
                state.found = found
                state.conditions = conditions
                state.tags = tags
                state.onError = onError
            }
            return .toSend(fallsBack: onError != nil)
        }
    }

    private func answer(
        _ found: FoundResponse, _ provenance: CacheProvenance, to request: CacheRequest
    ) -> KeptAnswer {
        // Looked at with conditions of its own only where nothing may be sent.
        guard !request.hasAlready(found.response) else {
            let head = KeptFields.notModified(
                found.response, for: url, ageSeconds: provenance.ageSeconds)
            return KeptAnswer(head: head, body: nil, provenance: provenance)
        }
        let head = KeptFields.delivered(
            found.response, for: url, ageSeconds: provenance.ageSeconds)
        guard request.method != .head else {
            return KeptAnswer(head: head, body: nil, provenance: provenance)
        }
        return answer(found, head, provenance)
    }

    /// The head given, with the body that is kept.
    func answer(
        _ found: FoundResponse, _ head: ResponseHead, _ provenance: CacheProvenance
    ) -> KeptAnswer {
        KeptAnswer(head: head, body: found.body, provenance: provenance) { [store = cache.store] in
            store.remove(found.response)
        }
    }

    /// Its answer may be read on for the cache when the exchange leaves it.
    var isFollowed: Bool { state.withLock { $0.course == .followed } }

    /// The exchange goes on to where its redirect leads.
    func follow() {
        state.withLock { state in
            if state.course == .open { state.course = .followed }
        }
    }

    /// Nobody waits for the exchange any more.
    func stop() {
        state.withLock { $0.course = .stopped }
        leave()
    }

    /// The exchange is over: nothing more will be kept of this hop, unless it is read on.
    func end() {
        let isFollowed = state.withLock { state in
            // One that has not joined its equals yet does not do so any more.
            if state.course == .open { state.course = .stopped }
            return state.course == .followed
        }
        guard !isFollowed else { return }
        release(isOfNoUse: false)
        close()
    }

    /// Nothing more is kept of this hop.
    func close() {
        // Let go of without the lock.
        _ = state.withLock { state in
            defer { state.ticket = nil }
            return state.ticket
        }
    }

    var ticket: ChangeTicket? { state.withLock { $0.ticket } }

    /// What may stand in for the network; once.
    func fallBack() -> KeptAnswer? {
        let (found, provenance, isHead) = state.withLock { state in
            defer { state.onError = nil }
            return (state.found, state.onError, state.isHead)
        }
        guard let found, let provenance else { return nil }
        release(isOfNoUse: false)
        let head = KeptFields.delivered(
            found.response, for: url, ageSeconds: provenance.ageSeconds)
        guard !isHead else { return KeptAnswer(head: head, body: nil, provenance: provenance) }
        return answer(found, head, provenance)
    }

    private var place: JoinPlace? { state.withLock { $0.place } }

    /// Nobody waits for this request, and it waits for nobody.
    private func leave() {
        state.withLock { state in
            defer { state.place = nil }
            return state.place
        }?.leave()
    }

    /// Something was changed since the request was made: its answer may be of a time before, and is
    /// not to be kept, nor to change what is.
    var isOutdated: Bool { ticket?.isOutdated ?? true }

    /// What came is kept, or confirmed: equal requests that wait may look again.
    func settle() {
        place?.settle()
        leave()
    }

    /// Equal requests that wait go on by themselves.
    ///
    /// - Parameter isOfNoUse: what came is an answer, and one that they cannot use.
    func release(isOfNoUse: Bool) {
        place?.release(isOfNoUse: isOfNoUse)
        leave()
    }

    /// Sends the request with the conditions that were decided on.
    func transfer(
        _ wire: TransportRequest, by transport: Transport, for listener: any TransferObserver,
        note: @escaping @Sendable (CacheProvenance) -> Void
    ) -> any RunningTransfer {
        let question = state.withLock {
            CachedTransfer.Question(
                found: $0.found, tags: $0.tags, conditions: $0.conditions, remark: $0.remark)
        }
        let transfer = CachedTransfer(
            self, wire, question, transport: transport, listener: listener, note: note)
        transfer.start()
        return transfer
    }
}

/// A transfer, or what takes its place. All calls are legal at any moment, from any thread.
protocol RunningTransfer: AnyObject, Sendable {
    func cancel()
    func resume()
}

extension Transfer: RunningTransfer {}

extension CachedHop.Finding {
    /// Found after waiting for an equal request.
    fileprivate var joined: CachedHop.Finding {
        guard case .kept(var answer) = self, answer.provenance.outcome == .hit else { return self }
        answer.provenance = CacheProvenance(
            .hit, ageSeconds: answer.provenance.ageSeconds, remark: "joined")
        return .kept(answer)
    }
}

/// A kept response that is about to be delivered.
struct KeptAnswer: Sendable {
    let head: ResponseHead
    /// Nil: there is none to deliver.
    let body: (any KeptBody)?
    var provenance: CacheProvenance
    /// The body turned out to be broken.
    var forget: @Sendable () -> Void = {}

    /// A 504 of our own. Source: RFC 9111 §5.2.1.7.
    static func refusal(of url: HTTPURL, remark: String?) -> KeptAnswer {
        var fields = HTTPFields()
        try? fields.append("Content-Length", "0")
        return KeptAnswer(
            head: ResponseHead(url: url, status: 504, version: .http11, fields: fields), body: nil,
            provenance: CacheProvenance(.unsatisfied, remark: remark))
    }
}

/// Delivers a kept response as if it came from a transfer.
final class KeptTransfer: RunningTransfer {
    private struct State {
        var isPouring = false
        var isCancelled = false
    }

    private let answer: KeptAnswer
    private let facts: TransferFacts
    private let listener: any TransferObserver
    private let state = Locked(State())

    /// - Parameter facts: what the network took, where it was asked.
    init(
        _ answer: KeptAnswer, facts: TransferFacts = TransferFacts(),
        for listener: any TransferObserver
    ) {
        self.answer = answer
        self.facts = facts
        self.listener = listener
    }

    func deliver() {
        listener.received(answer.head)
        pour()
    }

    /// The body alone, then the end.
    func pour() {
        let isCancelled = state.withLock { state in
            state.isPouring = true
            return state.isCancelled
        }
        guard !isCancelled else { return listener.finished(.failure(.cancelled)) }
        guard let body = answer.body else { return listener.finished(.success(facts)) }
        let (listener, facts, forget) = (listener, facts, answer.forget)
        body.pour { octets in
            listener.received(body: octets)
        } _: { end in
            switch end {
            case .whole: listener.finished(.success(facts))
            case .broken(let why):
                forget()
                listener.finished(
                    .failure(.connectionLost("of the kept body, \(why)", hadResponse: true)))
            case .cancelled: listener.finished(.failure(.cancelled))
            }
        }
    }

    func cancel() {
        let isPouring = state.withLock { state in
            state.isCancelled = true
            return state.isPouring
        }
        if isPouring { answer.body?.cancel() }
    }

    func resume() { answer.body?.resume() }
}
