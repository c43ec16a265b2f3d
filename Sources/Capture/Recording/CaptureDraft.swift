internal import HTTPDNSClient
internal import HTTPDNSExchange

/// What a watch knows of a request, before its secrets are taken out: never leaves the process.
struct CaptureDraft: Sendable {
    enum Facts: Sendable {
        /// While they are being changed.
        case nothing
        case exchange(ExchangeFacts)
        case record(CaptureRecord)
    }

    let id: Int64
    let startedAt: CaptureTime
    var facts: Facts
    var request: BodyKeeper
    var response: BodyKeeper
    var requestOmission: CaptureRecord.Omission?
    var responseOmission: CaptureRecord.Omission?
    var totalMilliseconds: Double?

    init(id: Int64, startedAt: CaptureTime, facts: Facts, limits: CaptureLimits) {
        self.id = id
        self.startedAt = startedAt
        self.facts = facts
        request = BodyKeeper(limits)
        response = BodyKeeper(limits)
    }

    var octets: Int { request.held.count + response.held.count }

    subscript(side: CaptureRecord.Side) -> BodyKeeper {
        get { side == .request ? request : response }
        set { if side == .request { request = newValue } else { response = newValue } }
    }

    subscript(omission side: CaptureRecord.Side) -> CaptureRecord.Omission? {
        get { side == .request ? requestOmission : responseOmission }
        set {
            if side == .request { requestOmission = newValue } else { responseOmission = newValue }
        }
    }

    /// Without its bodies: for events on the way.
    var withoutBodies: CaptureDraft {
        var draft = self
        draft.request = BodyKeeper(CaptureLimits())
        draft.response = BodyKeeper(CaptureLimits())
        return draft
    }

    /// Parts of its bodies were handed on before it ended.
    var hasPieces: Bool { request.handedOn > 0 || response.handedOn > 0 }

    var hasFailed: Bool {
        switch facts {
        case .nothing: false
        case .exchange(let facts): facts.failure != nil
        case .record(let record): record.failure != nil
        }
    }

    /// How a body is to be read for secrets.
    func form(of side: CaptureRecord.Side) -> BodyForm {
        switch facts {
        case .nothing: BodyForm.opaque
        case .exchange(let facts): facts.form(of: side)
        case .record(let record):
            BodyForm(
                fields: (side == .request
                    ? record.hops.first?.requestFields : record.hops.last?.responseFields) ?? [],
                isDecoded: false)
        }
    }
}

/// A draft on its way to the capture's thread: handed over in one piece, however much is in it.
final class SentDraft: Sendable {
    let draft: CaptureDraft
    /// Of bodies, unredacted.
    let octets: Int

    init(_ draft: consuming CaptureDraft) {
        octets = draft.octets
        self.draft = draft
    }
}

extension CaptureDraft {
    /// What a watch holds once it has handed its draft over: what comes late goes nowhere.
    static let spent: CaptureDraft = {
        var limits = CaptureLimits()
        limits.maximumBodyOctets = 0
        return CaptureDraft(
            id: 0, startedAt: CaptureTime(microsecondsSince1970: 0), facts: .nothing, limits: limits
        )
    }()

    /// Hands over all of it.
    mutating func spend() -> CaptureDraft { exchange(&self, with: CaptureDraft.spent) }
}

/// What the observer of an exchange has heard.
struct ExchangeFacts: Sendable {
    let origin: RequestOrigin
    /// As the application gave it; with each redirect that was followed another.
    var heads: [RequestHead]
    /// As they went out, hop by hop; nil, or not there, where nothing went out.
    var sent: [HTTPFields?] = []
    /// What redirected, hop by hop.
    var redirects: [ResponseHead] = []
    /// The head that the caller got.
    var answer: ResponseHead?
    /// A redirect on which the caller has not spoken.
    var offer: RedirectOffer?
    var report = ExchangeReport()
    var failure: ExchangeFailure?
    private let decodesAlways: Bool

    init(_ request: HTTPRequest) {
        decodesAlways = request.decodesAlways
        origin = request.origin ?? RequestOrigin("client")
        heads = [request.head]
    }

    mutating func offers(_ offer: RedirectOffer) {
        follows(to: self.offer?.step.head)
        self.offer = offer
    }

    mutating func sends(_ fields: HTTPFields, of head: RequestHead) {
        follows(to: head)
        while sent.count < heads.count { sent.append(nil) }
        sent[heads.count - 1] = fields
    }

    mutating func answers(_ head: ResponseHead, _ report: ExchangeReport) {
        // The caller may want the redirect itself.
        if offer?.response == head { offer = nil } else { follows(to: offer?.step.head) }
        answer = head
        self.report = report
    }

    /// What comes now is of the next hop: the redirect before it was followed.
    private mutating func follows(to head: RequestHead?) {
        guard let offer, let head else { return }
        redirects.append(offer.response)
        heads.append(head)
        self.offer = nil
    }

    func form(of side: CaptureRecord.Side) -> BodyForm {
        switch side {
        case .request:
            return BodyForm(
                (sent.first ?? nil) ?? heads.first?.fields ?? HTTPFields(), isDecoded: false)
        case .response:
            let asked = (sent.last ?? nil) ?? heads.last?.fields
            let response = answer ?? offer?.response
            let wantsPart = asked?.contains("Range") == true
            // Who asks for a coding, or for a part, gets the body as it comes: see `decodesAlways`.
            let isDecoded =
                decodesAlways
                ? !(wantsPart && response?.status == 206)
                : asked?.contains("Accept-Encoding") != true && !wantsPart
            return BodyForm(response?.fields ?? HTTPFields(), isDecoded: isDecoded)
        }
    }
}
