package import HTTPDNSExchange
package import HTTPDNSJSON
internal import HTTPDNSLookup
internal import HTTPDNSNames
package import HTTPDNSTrust

/// How a request that is over is shown. Pure.
package enum FetchRendering {
    /// The one object of `--json`: the same keys whatever happened.
    package static func json(
        url: HTTPURL, report: ExchangeReport, bytes: Int64, trouble: FetchTrouble?,
        trust: TrustPolicy = TrustPolicy(), notes: [String] = []
    ) -> JSONValue {
        let hop = report.hops.last
        let last = hop?.url ?? url
        let source = hop?.resolution?.source
        return [
            "url": .string(url.description),
            "finalURL": .string(last.description),
            "status": number(hop?.status.map(Int64.init)),
            "httpVersion": text(hop?.version?.rawValue),
            "remoteAddress": text(hop.flatMap(remote)?.description),
            "serverName": text(serverName(last)),
            "hostHeader": .string(last.origin.authority),
            "resolver": text(source?.resolver),
            "addresses": .array(
                (hop?.resolution?.addresses ?? []).map { .string($0.description) }),
            "ttl": number(hop?.resolution.map { Int64($0.ttlSeconds) }),
            "step": number(hop?.resolution?.step.map(Int64.init)),
            "fallback": text(hop?.fallbackLabel),
            "resolverAttempts": .array((hop?.resolution?.attempts ?? []).map(attempt)),
            "notFollowed": hop?.notFollowed.map(notFollowed) ?? .null,
            "proxy": hop?.proxy.map(proxy) ?? .null,
            "resumed": .bool(hop?.isResumedSession ?? false),
            "cache": hop?.cache.map(cache) ?? .null,
            "verified": hop?.peer.map(verified) ?? .null,
            "dangerous": dangerous(trust.dangerous.options(for: last.origin.host)),
            "redirects": .array(report.hops.dropLast().map(redirect)),
            "bytes": .integer(bytes),
            "timings": timings(report),
            "attempts": .array(report.hops.flatMap(\.attempts).map(attempt)),
            "rules": .array(report.hops.flatMap(rules)),
            "notes": .array(notes.map { .string($0) }),
            "error": trouble.map { ["code": .string($0.label), "message": .string($0.message)] }
                ?? .null,
        ]
    }

    /// The object of a command that sent nothing: the same keys.
    package static func json(_ fault: CommandFault, url: String?) -> JSONValue {
        [
            "url": text(url.map(withoutUserinfo)), "finalURL": .null, "status": .null,
            "httpVersion": .null,
            "remoteAddress": .null, "serverName": .null, "hostHeader": .null, "resolver": .null,
            "addresses": [], "ttl": .null, "step": .null, "fallback": .null,
            "resolverAttempts": [], "notFollowed": .null,
            "proxy": .null, "resumed": false,
            "cache": .null,
            "verified": .null, "dangerous": [], "redirects": [],
            "bytes": 0,
            "timings": timings(nil), "attempts": [], "rules": [], "notes": [],
            "error": [
                "code": .string(fault.label ?? LookupTrouble(fault).label),
                "message": .string(fault.message),
            ],
        ]
    }

    /// The address connected to; that of a peer which could not be trusted, too.
    private static func remote(_ hop: ExchangeReport.Hop) -> IPAddress? {
        if let remote = hop.remote { return remote.address }
        return hop.attempts.last { $0.label != "cannot_connect" }?.address
    }

    private static func verified(_ peer: VerifiedPeer) -> JSONValue {
        let leaf = peer.chain.first
        return [
            "name": .string(peer.matchedName),
            "subject": text(leaf?.subject),
            "issuer": text(leaf?.issuer),
            "notAfter": text(leaf?.notAfter.iso8601),
            "pin": text(peer.matchedPin?.description),
            "revocation": revocation(peer.revocation),
            "transparency": transparency(peer.transparency),
            "dangerous": dangerous(peer.dangerous),
        ]
    }

    private static func notFollowed(_ reason: RedirectDecision.DeliverReason) -> JSONValue {
        ["code": .string(reason.label), "message": .string(shown(message: "\(reason)"))]
    }

    private static func proxy(_ proxy: Proxy) -> JSONValue {
        ["url": .string(proxy.description), "told": .string(proxy.target.rawValue)]
    }

    private static func redirect(_ hop: ExchangeReport.Hop) -> JSONValue {
        [
            "url": .string(hop.url.description), "status": number(hop.status.map(Int64.init)),
            "remoteAddress": text(hop.remote?.address.description),
        ]
    }

    private static func attempt(_ attempt: RouteAttempt) -> JSONValue {
        [
            "address": text(attempt.address?.description), "error": .string(attempt.label),
            "message": .string(shown(message: attempt.message)),
        ]
    }

    /// A source that gave nothing usable.
    private static func attempt(_ attempt: LookupAttempt) -> JSONValue {
        [
            "resolver": .string(attempt.resolver), "error": .string(attempt.reason.label),
            "message": .string(shown(message: attempt.reason.description)),
        ]
    }

    /// What acted on a hop.
    private static func rules(_ hop: ExchangeReport.Hop) -> [JSONValue] {
        hop.appliedRules.map { rule in
            [
                "url": .string(hop.url.description), "name": .string(rule.name),
                "actions": .array(rule.actions.map { .string($0) }),
            ]
        }
    }

    private static func timings(_ report: ExchangeReport?) -> JSONValue {
        let hop = report?.hops.last
        let timings = hop?.timings
        return [
            "resolve": milliseconds(hop?.resolveMilliseconds),
            "connect": milliseconds(timings?.connected),
            "tls": milliseconds(handshake(timings)),
            "firstByte": milliseconds(
                timings?.firstByte.map { $0 + (hop?.resolveMilliseconds ?? 0) }),
            "total": milliseconds(report?.totalMilliseconds),
        ]
    }

    private static func handshake(_ timings: ExchangeReport.Timings?) -> Double? {
        guard let connected = timings?.connected, let secured = timings?.secured else { return nil }
        return max(0, secured - connected)
    }

    private static func serverName(_ url: HTTPURL) -> String? {
        guard url.origin.scheme == .https, case .name(let name) = url.origin.host else {
            return nil
        }
        return name.text
    }

    private static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    private static func number(_ number: Int64?) -> JSONValue {
        number.map { .integer($0) } ?? .null
    }

    /// Microseconds are the clock's own noise.
    private static func milliseconds(_ value: Double?) -> JSONValue {
        guard let value, value.isFinite else { return .null }
        return .number((value * 100).rounded() / 100)
    }
}

// The timeline of --verbose
extension FetchRendering {
    /// What happened, hop by hop, for people.
    package static func timeline(
        _ report: ExchangeReport, bytes: Int64, _ paint: Paint,
        trust: TrustPolicy = TrustPolicy()
    ) -> [String] {
        var lines: [String] = []
        for (index, hop) in report.hops.enumerated() {
            let arrow = index == 0 ? "" : "→ "
            lines.append(paint.bold(arrow + shown(url: hop.url.description).printable))
            lines += rows(hop, trust).map { name, value in
                "  " + paint.dim(name + String(repeating: " ", count: 11 - name.count))
                    + value.printable
            }
        }
        let total = DurationText.elapsed(milliseconds: report.totalMilliseconds)
        lines.append("\(bytes) octets of body, \(total) in all")
        return lines
    }

    private static func rows(
        _ hop: ExchangeReport.Hop, _ trust: TrustPolicy
    ) -> [(String, String)] {
        var rows: [(String, String)] = []
        if let resolution = hop.resolution {
            let source = resolution.source
            let server = source.server.map { " at \($0)" } ?? ""
            let ttl = DurationText.short(seconds: resolution.ttlSeconds)
            rows.append(
                (
                    "resolver",
                    "\(source.resolver)\(server) (\(source.transport.rawValue)"
                        + (resolution.isCached ? ", cached" : "") + "), ttl \(ttl)"
                ))
            rows.append(
                (
                    "addresses", resolution.addresses.map(\.description).joined(separator: ", ")
                ))
        }
        if hop.wasRefreshed {
            rows.append(("refreshed", "the addresses that were kept all failed"))
        }
        rows += fallback(hop, trust)
        if let proxy = hop.proxy {
            let told = hop.isRewritten ? "told the address" : "told the name: not rewritten"
            rows.append(("proxy", "\(proxy), \(told)"))
        }
        for attempt in hop.attempts {
            let address = attempt.address.map(\.description) ?? "an address"
            let message = shown(message: attempt.message)
            let line = message.split(separator: "\n").first.map(String.init) ?? ""
            rows.append(("refused", "\(address): \(attempt.label): \(line)"))
        }
        if let remote = hop.remote {
            let how = [
                hop.isReusedConnection ? "open already" : nil, hop.tlsVersion,
                hop.isResumedSession ? "session resumed" : nil,
                hop.version.map { "HTTP/" + $0.rawValue },
            ].compactMap { $0 }.joined(separator: ", ")
            rows.append(("connected", "\(remote)" + (how.isEmpty ? "" : ", " + how)))
        }
        rows.append(("host", hop.url.origin.authority))
        if let name = serverName(hop.url) { rows.append(("sni", name)) }
        if let peer = hop.peer { rows += proof(peer) + trustRows(peer) }
        let options = trust.dangerous.options(for: hop.url.origin.host)
        if !options.isEmpty {
            rows.append(("DANGEROUS", options.map(\.label).joined(separator: ", ")))
        }
        for rule in hop.appliedRules {
            rows.append(("rule", "\(rule.name): \(rule.actions.joined(separator: ", "))"))
        }
        if let provenance = hop.cache { rows.append(cacheRow(provenance)) }
        if let status = hop.status {
            let why = hop.notFollowed.map { ", not followed: \(shown(message: "\($0)"))" } ?? ""
            rows.append(("answer", "\(status)" + why))
        }
        rows.append(("times", times(hop)))
        return rows
    }

    /// That it was not the first source, and why; and that it was the network's for a pinned host.
    private static func fallback(
        _ hop: ExchangeReport.Hop, _ trust: TrustPolicy
    ) -> [(String, String)] {
        var rows = (hop.resolution?.attempts ?? []).map { attempt in
            let why = shown(message: attempt.reason.description).split(separator: "\n").first
            return ("no answer", "\(attempt.resolver): \(why ?? "")")
        }
        if let failure = hop.systemFallback {
            rows.append(("fallback", "the system was asked: \(failure.label)"))
        } else if let step = hop.resolution?.step, step > 1 {
            rows.append(("fallback", "source \(step) of the chain answered"))
        }
        let isPinned = trust.pins.match(for: hop.url.origin.host)?.rule != nil
        if isPinned, hop.resolution?.source.transport == .system {
            rows.append(("pinned", "and yet looked up by the system, which was allowed"))
        }
        return rows
    }

    private static func proof(_ peer: VerifiedPeer) -> [(String, String)] {
        var rows = [("proof", "\(peer.host) is \(peer.matchedName) of the certificate")]
        if let leaf = peer.chain.first {
            rows.append(("subject", leaf.subject.isEmpty ? "(none)" : leaf.subject))
            rows.append(("issuer", leaf.issuer))
            rows.append(("valid", "until \(leaf.notAfter.iso8601)"))
        }
        rows.append(("pin", peer.pinning.phrase))
        return rows
    }

    private static func times(_ hop: ExchangeReport.Hop) -> String {
        let steps: [(String, Double?)] = [
            ("resolve", hop.resolveMilliseconds), ("connect", hop.timings.connected),
            ("tls", handshake(hop.timings)),
            ("first byte", hop.timings.firstByte.map { $0 + hop.resolveMilliseconds }),
            ("hop", hop.timings.total.map { $0 + hop.resolveMilliseconds }),
        ]
        return steps.compactMap { name, value in
            value.map { "\(name) \(DurationText.elapsed(milliseconds: $0))" }
        }.joined(separator: ", ")
    }
}
