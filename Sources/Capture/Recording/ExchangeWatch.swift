internal import HTTPDNSClient
internal import HTTPDNSExchange
internal import HTTPDNSPlatform

/// Stands between an exchange of the client and its observer: notes what passes, and passes it on.
final class ExchangeWatch: ExchangeObserver {
    private let capture: Capture
    private let inner: any ExchangeObserver
    private let draft: Locked<CaptureDraft>

    init(_ capture: Capture, _ draft: CaptureDraft, passingTo inner: any ExchangeObserver) {
        self.capture = capture
        self.inner = inner
        self.draft = Locked(draft)
    }

    /// The request with its body watched.
    func watching(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        switch request.body {
        case .none: break
        case .bytes(let octets):
            // It goes out as it is, perhaps twice: what was given is what is shown.
            octets.withUnsafeBytes { take($0, .request) }
        case .stream: request.bodyWatch = self
        }
        return request
    }

    func exchange(
        offers redirect: RedirectOffer, answer: @escaping @Sendable (RedirectAnswer) -> Void
    ) {
        note { $0.offers(redirect) }
        inner.exchange(offers: redirect, answer: answer)
    }

    func exchange(sends fields: HTTPFields, of head: RequestHead) {
        note { $0.sends(fields, of: head) }
        inner.exchange(sends: fields, of: head)
    }

    func exchange(received head: ResponseHead, report: ExchangeReport) {
        note { $0.answers(head, report) }
        if capture.hasListeners {
            capture.post(.answered(draft.withLock { $0.withoutBodies }))
        }
        inner.exchange(received: head, report: report)
    }

    func exchange(received body: UnsafeRawBufferPointer) -> Flow {
        take(body, .response)
        return inner.exchange(received: body)
    }

    func exchange(ended result: Result<ExchangeReport, ExchangeFailure>) {
        note { facts in
            switch result {
            case .success(let report): facts.report = report
            case .failure(let failure):
                facts.report = failure.report
                facts.failure = failure
            }
        }
        var ended = draft.withLock { $0 }
        if case .exchange(let facts) = ended.facts {
            ended.totalMilliseconds = facts.report.totalMilliseconds
        }
        capture.end(ended)
        inner.exchange(ended: result)
    }

    private func take(_ octets: UnsafeRawBufferPointer, _ side: CaptureRecord.Side) {
        guard let piece = draft.withLock({ $0.take(octets, side) }), !capture.take(piece) else {
            return
        }
        draft.withLock { $0[omission: side] = .dropped }
    }

    private func note(_ change: (inout ExchangeFacts) -> Void) {
        draft.withLock { draft in
            guard case .exchange(var facts) = draft.facts else { return }
            draft.facts = .nothing
            change(&facts)
            draft.facts = .exchange(facts)
        }
    }
}

extension ExchangeWatch: BodyWatch {
    func bodyBegins() { draft.withLock { $0.request.beginAgain() } }

    func bodySends(_ octets: UnsafeRawBufferPointer) { take(octets, .request) }
}
