internal import HTTPDNSClient
package import HTTPDNSExchange
package import HTTPDNSLookup
internal import HTTPDNSNames
package import HTTPDNSTrust
internal import HTTPDNSWire

/// What was made of something. An object, so that a look at it copies neither.
final class Made<Given, Result> {
    let given: Given
    let result: Result

    init(of given: Given, _ result: Result) {
        self.given = given
        self.result = result
    }
}

typealias MadeFields = Made<[HTTPFields.Field], [CaptureRecord.Field]>

/// From what was heard to plain values without their secrets. One thread's own: what comes with
/// each request of a host is made once.
final class DraftReader {
    let redactor: Redactor
    private var seen: [Host: Seen] = [:]

    /// What came last with a host, and what was made of it.
    private final class Seen {
        var resolution: Made<ResolvedHost, CaptureRecord.Resolution>?
        var peer: Made<VerifiedPeer, CaptureRecord.Peer>?
        var remote: Made<Endpoint, String>?
        var given: MadeFields?
        var sent: Made<SentFields, [CaptureRecord.Field]>?
        var received: MadeFields?
    }

    init(_ redactor: Redactor) { self.redactor = redactor }

    /// What was read of a draft, but for its bodies.
    struct Reading: Sendable {
        /// Without bodies.
        fileprivate(set) var record: CaptureRecord
        fileprivate var request: Rest?
        fileprivate var response: Rest?
    }

    /// What a draft held of a body.
    fileprivate struct Rest: Sendable {
        let held: [UInt8]
        let form: BodyForm
        let isWhole: Bool

        /// Nil where there is no body.
        init?(_ draft: CaptureDraft, _ side: CaptureRecord.Side) {
            guard draft[side].total > 0 else { return nil }
            held = draft[side].held
            form = draft.form(of: side)
            // What a failure broke off is cut, wherever that was.
            isWhole = !draft[side].isCut && draft[omission: side] == nil && !draft.hasFailed
        }
    }

    /// Reads a draft where it lies; see ``whole(_:_:_:)`` for what is left.
    func read(_ sent: SentDraft) -> Reading {
        sent.read { draft in
            Reading(
                record: record(draft), request: Rest(draft, .request),
                response: Rest(draft, .response))
        }
    }

    /// - Parameters:
    ///   - bodies: of which pieces may have come before.
    ///   - file: takes what is too long for a record.
    func whole(
        _ reading: Reading, _ bodies: inout BodyStreams, _ file: CaptureFileSink? = nil
    ) -> CaptureRecord {
        var record = reading.record
        if let rest = reading.request {
            record.requestBody.take(finish(.request, rest, &bodies, file))
        }
        if let rest = reading.response {
            record.responseBody.take(finish(.response, rest, &bodies, file))
        }
        return record
    }

    private func finish(
        _ side: CaptureRecord.Side, _ rest: Rest, _ bodies: inout BodyStreams,
        _ file: CaptureFileSink?
    ) -> CaptureRecord.Body {
        bodies.finish(side, rest.held, rest.form, isWhole: rest.isWhole, redactor, file)
    }

    /// Without bodies.
    private func record(_ draft: CaptureDraft) -> CaptureRecord {
        var record: CaptureRecord
        if let exchange = draft.exchange {
            record = self.record(exchange, startedAt: draft.startedAt)
        } else {
            record =
                draft.given
                ?? CaptureRecord(.exchange, .init(url: ""), startedAt: draft.startedAt)
            redactor.redact(&record)
        }
        record.id = draft.id
        record.totalMilliseconds = draft.totalMilliseconds
        record.requestBody = draft.body(.request)
        record.responseBody = draft.body(.response)
        return record
    }

    private func record(_ facts: ExchangeFacts, startedAt: CaptureTime) -> CaptureRecord {
        var hops: [CaptureRecord.Hop] = []
        hops.reserveCapacity(max(1, facts.report.hops.count))
        for place in facts.report.hops.indices {
            hops.append(hop(facts.leg(place), facts.report.hops[place]))
        }
        if hops.isEmpty { hops = [hop(facts.leg(0), nil)] }
        var record = CaptureRecord(
            facts.kind, hops, startedAt: startedAt,
            initiator: CaptureRecord.Initiator(facts.origin.name, task: facts.origin.task))
        record.rule = facts.rule.map { redactor.text($0) }
        record.failure = facts.failure.map { failure in
            var failure = CaptureRecord.Failure(failure)
            failure.message = redactor.message(failure.message)
            return failure
        }
        return record
    }

    /// - Parameter leg: nothing may be known of a redirect that was followed to a host without an
    ///   address.
    private func hop(
        _ leg: ExchangeFacts.Leg?, _ hop: ExchangeReport.Hop?
    ) -> CaptureRecord.Hop {
        let url = hop?.url ?? leg?.head.url
        var made = CaptureRecord.Hop(
            method: leg?.head.method.text ?? "", url: url.map { redactor.url("\($0)") } ?? "")
        guard let origin = url?.origin else { return made }
        let seen = seen(origin.host)
        if let answer = leg?.answer ?? hop?.refusedRedirect {
            made.status = answer.status
            made.statusText = answer.reason.map { redactor.text($0) }
            made.version = answer.version.rawValue
            made.responseFields = redactor.fields(answer.fields.fields, &seen.received)
        }
        if let leg { made.requestFields = fields(of: leg, to: origin, seen) }
        if let hop { take(hop, seen, &made) }
        return made
    }

    /// As they went out, or as they were given where nothing did.
    private func fields(
        of leg: ExchangeFacts.Leg, to origin: Origin, _ seen: Seen
    ) -> [CaptureRecord.Field] {
        guard let sent = SentFields(leg, to: origin) else {
            return redactor.fields((leg.sent ?? leg.head.fields).fields, &seen.given)
        }
        return DraftReader.made(of: sent, &seen.sent) { sent in
            sent.whole(redactor.fields(sent.passing, &seen.given))
        }
    }

    private func seen(_ host: Host) -> Seen {
        if let known = seen[host] { return known }
        if seen.count >= DraftReader.mostHosts { seen = [:] }
        let new = Seen()
        seen[host] = new
        return new
    }

    private func take(
        _ hop: ExchangeReport.Hop, _ seen: Seen, _ made: inout CaptureRecord.Hop
    ) {
        made.take(hop, redactor)
        made.resolution = hop.resolution.map {
            DraftReader.made(of: $0, &seen.resolution, CaptureRecord.Resolution.init)
        }
        made.peer = hop.peer.map {
            DraftReader.made(of: $0, &seen.peer, CaptureRecord.Peer.init)
        }
        made.remote = hop.remote.map {
            DraftReader.made(of: $0, &seen.remote, \.description)
        }
    }

    /// What was made of it the last time, if it is the same.
    private static func made<Given: Hashable, Result>(
        of given: Given, _ last: inout Made<Given, Result>?, _ make: (Given) -> Result
    ) -> Result {
        if let last, last.given == given { return last.result }
        let result = make(given)
        last = Made(of: given, result)
        return result
    }

    /// Because: an application talks to some dozen hosts at a time.
    private static let mostHosts = 64
}

extension CaptureDraft {
    fileprivate func body(_ side: CaptureRecord.Side) -> CaptureRecord.Body {
        var body = CaptureRecord.Body()
        body.totalOctets = self[side].total
        body.omission = self[omission: side] ?? self[side].omission
        if let given {
            body.mediaType =
                side == .request ? given.requestBody.mediaType : given.responseBody.mediaType
        }
        return body
    }
}

extension ExchangeFacts {
    /// By who answered last.
    fileprivate var kind: CaptureRecord.Kind {
        // Where it lies: a hop is large.
        guard case let last = report.hops.count - 1, last >= 0 else { return .exchange }
        switch report.hops[last].answerer {
        case .stub, .replay: return .stubbed
        case .nobody: return .blocked
        case .network: break
        }
        switch report.hops[last].cache?.outcome {
        case .hit, .stale: return .cached
        case .validated, .missed, .unsatisfied, nil: return .exchange
        }
    }

    /// All that acted, each once.
    fileprivate var rule: String? {
        guard
            origin.rule != nil
                || report.hops.indices.contains(where: { !report.hops[$0].appliedRules.isEmpty })
        else { return nil }
        var names: [String] = []
        for name in report.hops.flatMap(\.rules) + [origin.rule].compactMap(\.self)
        where !names.contains(name) {
            names.append(name)
        }
        return names.joined(separator: ", ")
    }
}

extension CaptureRecord.Hop {
    /// What the client reports of the hop, but its URL and what comes again with each.
    fileprivate mutating func take(_ hop: ExchangeReport.Hop, _ redactor: Redactor) {
        let wasAsked = hop.resolution != nil || hop.resolutionFailure != nil
        resolveMilliseconds = wasAsked ? hop.resolveMilliseconds : nil
        mappedFrom = hop.mappedFrom.map { redactor.url("\($0)") }
        for failure in [hop.systemFallback, hop.resolutionFailure] {
            resolverFailures += failure.map { CaptureRecord.Attempt.all($0) } ?? []
        }
        proxy = hop.proxy.map { redactor.url("\($0)") }
        isReusedConnection = hop.isReusedConnection
        isResumedSession = hop.isResumedSession
        tlsVersion = hop.tlsVersion
        status = status ?? hop.status
        statusText = statusText ?? hop.reason.map { redactor.text($0) }
        version = version ?? hop.version?.rawValue
        connection = hop.localPort.map { "\($0)" }
        timings.connected = hop.timings.connected
        timings.secured = hop.timings.secured
        timings.firstByte = hop.timings.firstByte
        timings.total = hop.timings.total
        sentOctets = hop.timings.sentOctets
        receivedOctets = hop.timings.receivedOctets
        attempts = hop.attempts.map {
            .init(
                at: $0.address?.description, label: $0.label, message: redactor.text($0.message))
        }
        wasRefreshed = hop.wasRefreshed
        notFollowed = hop.notFollowed.map { "\($0)" }
        systemFallback = hop.systemFallback?.label
        cache = hop.cache?.outcome.rawValue
        rules = hop.rules.map { redactor.text($0) }
    }
}

extension CaptureRecord.Resolution {
    /// What a resolver found.
    package init(_ host: ResolvedHost) {
        self.init(
            resolver: host.source.resolver, transport: host.source.transport.rawValue,
            addresses: host.addresses.map(\.description), ttlSeconds: host.ttlSeconds)
        server = host.source.server
        aliases = host.aliases.map(\.description)
        isCached = host.isCached
        isStale = host.isStale
        attempts = host.attempts.map {
            CaptureRecord.Attempt($0)
        }
    }
}

extension CaptureRecord.Attempt {
    /// Everybody who was asked, and gave no address.
    package static func all(_ failure: ResolutionFailure) -> [CaptureRecord.Attempt] {
        switch failure {
        case .failed(let failure): failure.attempts.map { CaptureRecord.Attempt($0) }
        case .negative(let answer):
            answer.attempts.map { CaptureRecord.Attempt($0) } + [
                CaptureRecord.Attempt(
                    at: answer.testimony.source.resolver, label: failure.label,
                    message: failure.description)
            ]
        }
    }

    /// A resolver that gave nothing usable.
    init(_ attempt: LookupAttempt) {
        switch attempt.reason {
        case .answered(let code):
            self.init(
                at: attempt.resolver, label: "answered", message: "it answered \(code.name)")
        case .emptyAnswer:
            self.init(at: attempt.resolver, label: "empty_answer", message: "an empty answer")
        case .failed(let failure):
            self.init(at: attempt.resolver, label: failure.label, message: "\(failure)")
        }
    }
}

extension CaptureRecord.Peer {
    /// What a peer proved.
    package init(_ peer: VerifiedPeer) {
        let (word, pin) = CaptureRecord.Peer.pinning(peer.pinning)
        self.init(
            host: peer.host.description, matchedName: peer.matchedName,
            subject: peer.chain.first?.subject ?? "", issuer: peer.chain.first?.issuer ?? "",
            notAfter: CaptureTime(peer.chain.first?.notAfter ?? peer.validUntil),
            pin: pin, pinning: word)
    }

    private static func pinning(_ outcome: PinOutcome) -> (String, String?) {
        switch outcome {
        case .unpinned: ("unpinned", nil)
        case .exempt: ("exempt", nil)
        case .matched(let pin, _): ("matched", "\(pin)")
        case .mismatched: ("mismatched", nil)
        case .lapsed: ("lapsed", nil)
        case .waived: ("waived", nil)
        }
    }
}

extension CaptureRecord.Failure {
    /// Why an exchange failed.
    package init(_ failure: ExchangeFailure) {
        self.init(label: failure.label, message: failure.description)
    }
}

extension CaptureRecord.Body {
    fileprivate mutating func take(_ body: CaptureRecord.Body) {
        octets = body.octets
        keptOctets = body.keptOctets
        omission = omission ?? body.omission
    }
}

extension BodyKeeper {
    /// Why it has not kept all.
    var omission: CaptureRecord.Omission? {
        guard isCut, total > 0 else { return nil }
        return keepsNothing ? .off : .cut
    }
}
