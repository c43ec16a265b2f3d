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
        draft.withLock { $0.exchange?.offers(redirect) }
        inner.exchange(offers: redirect, answer: answer)
    }

    func exchange(sends fields: HTTPFields, in framing: SentFraming, of head: RequestHead) {
        draft.withLock { $0.exchange?.sends(fields, in: framing, of: head) }
        inner.exchange(sends: fields, in: framing, of: head)
    }

    func exchange(interim head: ResponseHead) { inner.exchange(interim: head) }

    func exchange(received head: ResponseHead, report: ExchangeReport) {
        // Else the report of the end will do, and whoever goes on with this one need not copy it.
        let isTold = capture.hasListeners
        let draft = draft.withLock { draft -> CaptureDraft? in
            draft.exchange?.answers(head)
            guard isTold else { return nil }
            draft.exchange?.report = report
            return draft
        }
        if let draft { capture.post(.answered(SentDraft(onTheWay: draft))) }
        inner.exchange(received: head, report: report)
    }

    func exchange(received body: UnsafeRawBufferPointer) -> Flow {
        take(body, .response)
        return inner.exchange(received: body)
    }

    func exchange(ended result: Result<ExchangeReport, ExchangeFailure>) {
        capture.end(draft) { $0.ends(result) }
        inner.exchange(ended: result)
    }

    private func take(_ octets: UnsafeRawBufferPointer, _ side: CaptureRecord.Side) {
        guard let piece = draft.withLock({ $0.take(octets, side) }), !capture.take(piece) else {
            return
        }
        draft.withLock { $0[omission: side] = .dropped }
    }

}

extension CaptureDraft {
    fileprivate mutating func ends(_ result: Result<ExchangeReport, ExchangeFailure>) {
        let report: ExchangeReport
        switch result {
        case .success(let whole): report = whole
        case .failure(let failure):
            report = failure.report
            exchange?.failure = failure
        }
        totalMilliseconds = report.totalMilliseconds
        exchange?.report = report
    }
}

extension ExchangeWatch: BodyWatch {
    func bodyBegins() { draft.withLock { $0.request.beginAgain() } }

    func bodySends(_ octets: UnsafeRawBufferPointer) { take(octets, .request) }
}
