internal import HTTPDNSClient
package import HTTPDNSExchange
package import HTTPDNSLookup
internal import HTTPDNSNames
package import HTTPDNSTrust
internal import HTTPDNSWire

// From what was heard to plain values: on the capture's thread. Secrets are still in it.
extension CaptureDraft {
    /// Without bodies.
    func record() -> CaptureRecord {
        var record: CaptureRecord
        switch facts {
        case .exchange(let facts):
            record = facts.record(startedAt: startedAt)
        case .record(let given):
            record = given
        case .nothing:
            record = CaptureRecord(.exchange, .init(url: ""), startedAt: startedAt)
        }
        record.id = id
        record.totalMilliseconds = totalMilliseconds
        record.requestBody = body(.request)
        record.responseBody = body(.response)
        return record
    }

    private func body(_ side: CaptureRecord.Side) -> CaptureRecord.Body {
        var body = CaptureRecord.Body()
        body.totalOctets = self[side].total
        body.omission = self[omission: side] ?? self[side].omission
        if case .record(let given) = facts {
            body.mediaType =
                side == .request ? given.requestBody.mediaType : given.responseBody.mediaType
        }
        return body
    }
}

extension ExchangeFacts {
    fileprivate func record(startedAt: CaptureTime) -> CaptureRecord {
        var hops: [CaptureRecord.Hop] = []
        for (place, hop) in report.hops.enumerated() {
            hops.append(self.hop(place, hop))
        }
        if hops.isEmpty { hops = [hop(0, nil)] }
        var record = CaptureRecord(
            kind, hops[0], startedAt: startedAt,
            initiator: CaptureRecord.Initiator(origin.name, task: origin.task))
        record.rule = rule
        record.hops = hops
        record.failure = failure.map(CaptureRecord.Failure.init)
        return record
    }

    /// By who answered last.
    private var kind: CaptureRecord.Kind {
        switch report.hops.last?.answerer {
        case .stub, .replay: return .stubbed
        case .nobody: return .blocked
        case .network, nil: break
        }
        switch report.hops.last?.cache?.outcome {
        case .hit, .stale: return .cached
        case .validated, .missed, .unsatisfied, nil: return .exchange
        }
    }

    /// All that acted, each once.
    private var rule: String? {
        var names: [String] = []
        for name in report.hops.flatMap(\.rules) + [origin.rule].compactMap(\.self)
        where !names.contains(name) {
            names.append(name)
        }
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    private func hop(_ place: Int, _ hop: ExchangeReport.Hop?) -> CaptureRecord.Hop {
        // A redirect that was followed to a host without an address, or that is being asked about.
        let isOffered = place == heads.count && offer != nil
        let head = isOffered ? offer?.step.head : place < heads.count ? heads[place] : nil
        var made = CaptureRecord.Hop(
            method: head?.method.text ?? "",
            url: (hop?.url ?? head?.url).map(\.description) ?? "")
        let fields = (place < sent.count ? sent[place] : nil) ?? head?.fields
        made.requestFields = (fields?.fields ?? []).map { .init($0.name, $0.value) }
        let isLast = place == heads.count - 1
        let answer =
            place < redirects.count
            ? redirects[place] : isLast ? self.answer ?? offer?.response : nil
        if let answer {
            made.status = answer.status
            made.version = answer.version.rawValue
            made.responseFields = answer.fields.fields.map { .init($0.name, $0.value) }
        }
        if let hop { made.take(hop) }
        return made
    }
}

extension CaptureRecord.Hop {
    /// What the client reports of the hop, but its URL.
    package mutating func take(_ hop: ExchangeReport.Hop) {
        resolution = hop.resolution.map(CaptureRecord.Resolution.init)
        resolveMilliseconds = hop.resolution == nil ? nil : hop.resolveMilliseconds
        remote = hop.remote?.description
        proxy = hop.proxy.map { "\($0)" }
        isReusedConnection = hop.isReusedConnection
        isResumedSession = hop.isResumedSession
        tlsVersion = hop.tlsVersion
        peer = hop.peer.map(CaptureRecord.Peer.init)
        status = status ?? hop.status
        version = version ?? hop.version?.rawValue
        timings.connected = hop.timings.connected
        timings.secured = hop.timings.secured
        timings.firstByte = hop.timings.firstByte
        timings.total = hop.timings.total
        sentOctets = hop.timings.sentOctets
        receivedOctets = hop.timings.receivedOctets
        attempts = hop.attempts.map {
            .init(at: $0.address?.description, label: $0.label, message: $0.message)
        }
        wasRefreshed = hop.wasRefreshed
        notFollowed = hop.notFollowed.map { "\($0)" }
        systemFallback = hop.systemFallback?.label
        cache = hop.cache?.outcome.rawValue
        rules = hop.rules
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

extension BodyKeeper {
    /// Why it has not kept all.
    var omission: CaptureRecord.Omission? {
        guard isCut, total > 0 else { return nil }
        return keepsNothing ? .off : .cut
    }
}
