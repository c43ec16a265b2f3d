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
            capture.post(.answered(SentDraft(draft.withLock { $0.withoutBodies })))
        }
        inner.exchange(received: head, report: report)
    }

    func exchange(received body: UnsafeRawBufferPointer) -> Flow {
        take(body, .response)
        return inner.exchange(received: body)
    }

    func exchange(ended result: Result<ExchangeReport, ExchangeFailure>) {
        capture.end(
            draft.withLock { draft in
                draft.ends(result)
                return draft.spend()
            })
        inner.exchange(ended: result)
    }

    private func take(_ octets: UnsafeRawBufferPointer, _ side: CaptureRecord.Side) {
        guard let piece = draft.withLock({ $0.take(octets, side) }), !capture.take(piece) else {
            return
        }
        draft.withLock { $0[omission: side] = .dropped }
    }

    private func note(_ change: (inout ExchangeFacts) -> Void) {
        draft.withLock { $0.note(change) }
    }
}

extension CaptureDraft {
    fileprivate mutating func note(_ change: (inout ExchangeFacts) -> Void) {
        guard case .exchange(var facts) = facts else { return }
        self.facts = .nothing
        change(&facts)
        self.facts = .exchange(facts)
    }

    fileprivate mutating func ends(_ result: Result<ExchangeReport, ExchangeFailure>) {
        let report =
            switch result {
            case .success(let report): report
            case .failure(let failure): failure.report
            }
        totalMilliseconds = report.totalMilliseconds
        note { facts in
            facts.report = report
            if case .failure(let failure) = result { facts.failure = failure }
        }
    }
}

extension ExchangeWatch: BodyWatch {
    func bodyBegins() { draft.withLock { $0.request.beginAgain() } }

    func bodySends(_ octets: UnsafeRawBufferPointer) { take(octets, .request) }
}
