internal import HTTPDNSCaching
internal import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTransport

/// One hop's dealings with the cache: looks before it is sent, and stands behind the transfer when
/// it is.
///
///     consult ──▶ kept ─────────────▶ KeptTransfer
///        │ └────▶ refused (504) ────▶ KeptTransfer
///        └──────▶ sent ─▶ CachedTransfer ─ failed ─▶ fallBack ─▶ KeptTransfer
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
        var onError: CacheProvenance?
        /// Why nothing kept answered.
        var remark: String?
        var course = Course.open
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
    private let state = Locked(State())

    init(cache: ResponseCache, mode: CacheMode, url: HTTPURL, policy: [UInt8]) {
        self.cache = cache
        self.mode = mode
        self.url = url
        self.policy = url.origin.scheme == .https ? policy : []
    }

    /// - Parameter hasBody: a request with one is not answered, whatever its method.
    func consult(
        _ request: CacheRequest, hasBody: Bool, _ tell: @escaping @Sendable (Finding) -> Void
    ) {
        let rules = rules(at: cache.now())
        if rules.isUnproven(request), mode != .none, let key = request.key {
            // Of a time when the application said otherwise.
            cache.store.remove([key])
            return tell(weigh(nil, request, rules))
        }
        guard rules.looks(request), !hasBody, let key = request.key else {
            return tell(
                rules.isOffline(request)
                    ? .kept(.refusal(of: url, remark: StorageRules.Refusal.method.rawValue))
                    : .toSend(fallsBack: false))
        }
        cache.store.find(key) { variants in
            rules.choose(variants, for: request)
        } _: { found in
            tell(self.weigh(found, request, rules))
        }
    }

    func rules(at now: CacheMoment) -> ReuseRules {
        ReuseRules(
            mode: mode, policy: policy, now: now, keepsPlainHTTP: cache.settings.keepsPlainHTTP)
    }

    private func weigh(
        _ found: FoundResponse?, _ request: CacheRequest, _ rules: ReuseRules
    ) -> Finding {
        switch rules.decide(request, found?.response) {
        case .answer(let provenance):
            guard let found else { return .toSend(fallsBack: false) }
            return .kept(answer(found, provenance, to: request))
        case .refuse(let remark):
            return .kept(.refusal(of: url, remark: remark))
        case .send(let remark):
            state.withLock { $0.remark = remark }
            return .toSend(fallsBack: false)
        case .validate(let conditions, let onError):
            state.withLock { state in
                state.found = found
                state.conditions = conditions
                state.onError = onError
            }
            return .toSend(fallsBack: onError != nil)
        }
    }

    private func answer(
        _ found: FoundResponse, _ provenance: CacheProvenance, to request: CacheRequest
    ) -> KeptAnswer {
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
    func stop() { state.withLock { $0.course = .stopped } }

    /// What may stand in for the network; once.
    func fallBack() -> KeptAnswer? {
        let (found, provenance) = state.withLock { state in
            defer { state.onError = nil }
            return (state.found, state.onError)
        }
        guard let found, let provenance else { return nil }
        let head = KeptFields.delivered(
            found.response, for: url, ageSeconds: provenance.ageSeconds)
        return answer(found, head, provenance)
    }

    /// Sends the request with the conditions that were decided on.
    func transfer(
        _ wire: TransportRequest, by transport: Transport, for listener: any TransferObserver,
        note: @escaping @Sendable (CacheProvenance) -> Void
    ) -> any RunningTransfer {
        let question = state.withLock {
            CachedTransfer.Question(
                found: $0.found, conditions: $0.conditions, remark: $0.remark)
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

/// A kept response that is about to be delivered.
struct KeptAnswer: Sendable {
    let head: ResponseHead
    /// Nil: there is none to deliver.
    let body: (any KeptBody)?
    let provenance: CacheProvenance
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
