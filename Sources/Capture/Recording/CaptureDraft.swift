internal import HTTPDNSClient
internal import HTTPDNSExchange
internal import HTTPDNSPlatform

/// What a watch knows of a request, before its secrets are taken out: never leaves the process.
struct CaptureDraft: Sendable {
    let id: Int64
    let startedAt: CaptureTime
    /// Of a request of the client; nil: somebody else answered it, and ``given`` is known of it.
    var exchange: ExchangeFacts?
    private(set) var given: CaptureRecord?
    var request: BodyKeeper
    var response: BodyKeeper
    var requestOmission: CaptureRecord.Omission?
    var responseOmission: CaptureRecord.Omission?
    var totalMilliseconds: Double?

    /// Nothing changes any more.
    var isOver = false

    init(
        id: Int64, startedAt: CaptureTime, exchange: ExchangeFacts? = nil,
        given: CaptureRecord? = nil, limits: CaptureLimits
    ) {
        self.id = id
        self.startedAt = startedAt
        self.exchange = exchange
        self.given = given
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

    var hasFailed: Bool { exchange?.failure != nil || given?.failure != nil }

    /// How a body is to be read for secrets.
    func form(of side: CaptureRecord.Side) -> BodyForm {
        if let exchange { return exchange.form(of: side) }
        guard let given else { return BodyForm.opaque }
        let fields =
            side == .request ? given.hops.first?.requestFields : given.hops.last?.responseFields
        return BodyForm(fields: fields ?? [], isDecoded: false)
    }

    mutating func change(_ change: (inout CaptureRecord) -> Void) {
        guard !isOver, var record = given else { return }
        // Not two references to its arrays while it changes.
        given = nil
        change(&record)
        given = record
    }
}

/// A draft on its way to the capture's thread: handed over where it lies, however much is in it.
struct SentDraft: Sendable {
    private let place: Locked<CaptureDraft>
    /// Of bodies, unredacted.
    let octets: Int

    /// One that nobody changes any more.
    init(_ place: Locked<CaptureDraft>, octets: Int) {
        self.place = place
        self.octets = octets
    }

    /// One as it is now, without its bodies: for events on the way.
    init(onTheWay draft: CaptureDraft) {
        self.init(Locked(draft.withoutBodies), octets: 0)
    }

    /// Names it while it lives.
    var id: ObjectIdentifier { place.id }

    /// All of it, read where it lies: a copy would cost as much as half of the reading.
    func read<Result: Sendable>(_ body: (CaptureDraft) -> Result) -> Result {
        place.withLock { body($0) }
    }
}

/// What the observer of an exchange has heard.
struct ExchangeFacts: Sendable {
    /// One request of the chain, and what redirected on from it or was its answer.
    struct Leg: Sendable {
        /// As the application gave it.
        let head: RequestHead
        /// As they went out, but for what the transport wrote; nil where nothing went out.
        var sent: HTTPFields?
        var framing: SentFraming?
        var answer: ResponseHead?
    }

    let origin: RequestOrigin
    private let decodesAlways: Bool
    private let passesCodings: Bool
    /// Those that were redirected, in order.
    private var earlier: [Leg] = []
    private var last: Leg
    /// A redirect on which the caller has not spoken.
    private var offer: RedirectOffer?
    var report = ExchangeReport()
    var failure: ExchangeFailure?

    init(_ request: HTTPRequest) {
        decodesAlways = request.decodesAlways
        passesCodings = request.passesCodings
        origin = request.origin ?? RequestOrigin("client")
        last = Leg(head: request.head)
    }

    mutating func offers(_ offer: RedirectOffer) {
        follows(to: self.offer?.step.head)
        self.offer = offer
    }

    mutating func sends(_ fields: HTTPFields, in framing: SentFraming, of head: RequestHead) {
        follows(to: head)
        last.sent = fields
        last.framing = framing
    }

    mutating func answers(_ head: ResponseHead) {
        // The caller may want the redirect itself.
        if offer?.response == head { offer = nil } else { follows(to: offer?.step.head) }
        last.answer = head
    }

    /// What comes now is of the next hop: the redirect before it was followed.
    private mutating func follows(to head: RequestHead?) {
        guard let offer, let head else { return }
        last.answer = offer.response
        earlier.append(last)
        last = Leg(head: head)
        self.offer = nil
    }

    /// What is known of the hop at that place; nil: nothing.
    func leg(_ place: Int) -> Leg? {
        guard place >= earlier.count else { return earlier[place] }
        switch place - earlier.count {
        case 0:
            var leg = last
            if leg.answer == nil { leg.answer = offer?.response }
            return leg
        // It is being asked about.
        case 1: return offer.map { Leg(head: $0.step.head) }
        default: return nil
        }
    }

    func form(of side: CaptureRecord.Side) -> BodyForm {
        switch side {
        case .request:
            let first = earlier.first ?? last
            return BodyForm(first.sent ?? first.head.fields, isDecoded: false)
        case .response:
            let asked = last.sent ?? last.head.fields
            let response = last.answer ?? offer?.response
            let wantsPart = asked.contains("Range")
            // Who asks for a coding, or for a part, gets the body as it comes: see `decodesAlways`.
            let isDecoded =
                decodesAlways
                ? !(wantsPart && response?.status == 206)
                : !asked.contains("Accept-Encoding") && !wantsPart && !passesCodings
            return BodyForm(response?.fields ?? HTTPFields(), isDecoded: isDecoded)
        }
    }
}
