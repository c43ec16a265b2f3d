internal import HTTPDNSCapture
internal import HTTPDNSForwardProxy
internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSTrust

/// What a proxy tells, as lines and as JSON.
enum ProxyRendering {
    static func listening(_ place: String, connections: Int) -> JSONValue {
        [
            "event": "listening", "url": .string("http://\(place)"),
            "configuration": .string("http://\(place)/proxy.pac"),
            "connections": .integer(Int64(connections)),
        ]
    }

    /// - Parameter lost: what a capture could not keep.
    static func stopped(_ counts: ForwardProxyCounts, _ lost: FetchTrouble?) -> JSONValue {
        [
            "event": "stopped", "connections": .integer(Int64(clamping: counts.connections)),
            "requests": .integer(Int64(clamping: counts.requests)),
            "refusals": .integer(Int64(clamping: counts.refusals)),
            "bytesUp": .integer(counts.octetsUp), "bytesDown": .integer(counts.octetsDown),
            "error": lost.map {
                ["code": .string($0.label), "message": .string($0.message)]
            } ?? .null,
        ]
    }

    static func json(_ fault: CommandFault) -> JSONValue {
        [
            "event": "failed",
            "error": ["code": "usage", "message": .string(fault.message)],
        ]
    }

    static func json(_ event: ForwardProxyEvent) -> JSONValue {
        switch event {
        case .opened(let record): json(record, "opened")
        case .ended(let record): json(record, "ended")
        case .acceptingPaused(let why): ["event": "paused", "message": .string(why)]
        }
    }

    private static func json(_ record: ForwardProxyRecord, _ event: String) -> JSONValue {
        [
            "event": .string(event), "number": .integer(Int64(clamping: record.number)),
            "kind": .string(record.kind.rawValue), "method": .string(record.method),
            "target": .string(target(of: record)),
            "host": record.host.map { .string($0.description) } ?? .null,
            "status": record.status.map { .integer(Int64($0)) } ?? .null,
            "error": record.reason.map {
                [
                    "code": .string($0),
                    "message": .string(message(record.message ?? "", of: record)),
                ]
            } ?? .null,
            "resolver": record.resolver.map { .string($0) } ?? .null,
            "addresses": .array(record.addresses.map { .string($0.description) }),
            "remoteAddress": record.remote.map { .string($0.description) } ?? .null,
            "verified": record.peer.map { verified($0, record) } ?? .null,
            "attempts": .array(
                record.attempts.map {
                    [
                        "address": .string($0.endpoint.description), "error": .string($0.label),
                        "message": .string(message($0.message, of: record)),
                    ]
                }),
            "bytesUp": .integer(record.octetsUp), "bytesDown": .integer(record.octetsDown),
            "startedAt": .string(record.startedAt.description),
            "timings": [
                "resolve": number(record.resolveMilliseconds),
                "prove": number(record.proveMilliseconds),
                "opened": number(record.openedMilliseconds),
                "total": number(record.totalMilliseconds),
            ],
        ]
    }

    private static func verified(
        _ peer: VerifiedPeer, _ record: ForwardProxyRecord
    ) -> JSONValue {
        [
            "name": .string(peer.matchedName),
            "subject": text(peer.chain.first?.subject),
            "issuer": text(peer.chain.first?.issuer),
            "notAfter": .string(peer.validUntil.iso8601),
            "pin": peer.matchedPin.map { .string($0.description) } ?? .null,
            "kept": .bool(record.isProofKept),
        ]
    }

    /// A certificate may have none, which is written as nothing.
    private static func text(_ text: String?) -> JSONValue {
        text.flatMap { $0.isEmpty ? nil : .string($0) } ?? .null
    }

    private static func number(_ milliseconds: Double?) -> JSONValue {
        milliseconds.map { .number(($0 * 100).rounded() / 100) } ?? .null
    }

    /// One line, and one for each address that failed.
    static func lines(_ event: ForwardProxyEvent) -> [String] {
        switch event {
        case .acceptingPaused: []
        case .opened(let record):
            ["#\(record.number) \(record.method) \(target(of: record)) open: " + way(record)]
        case .ended(let record): ended(record)
        }
    }

    private static func ended(_ record: ForwardProxyRecord) -> [String] {
        let what = [record.method, target(of: record)].filter { !$0.isEmpty }.joined(
            separator: " ")
        let head = "#\(record.number) \(what.isEmpty ? "(unreadable)" : what)"
        let status = record.status.map { " \($0)" } ?? ""
        let attempts = record.attempts.map {
            "#\(record.number)   \($0.endpoint) failed: \($0.label): "
                + firstLine($0.message, of: record)
        }
        if let reason = record.reason {
            return attempts
                + ["\(head)\(status) \(reason): \(firstLine(record.message ?? "", of: record))"]
        }
        let took = DurationText.elapsed(milliseconds: record.totalMilliseconds)
        let octets = "\(record.octetsUp) up, \(record.octetsDown) down, \(took)"
        let way = record.kind == .exchange ? way(record) + ", " : ""
        return (record.kind == .exchange ? attempts : [])
            + ["\(head)\(status) \(way)\(octets)"]
    }

    private static func way(_ record: ForwardProxyRecord) -> String {
        let remote = record.remote.map { "\($0)" } ?? "no address"
        let giver = record.resolver.map { " by \($0)" } ?? ""
        guard record.kind == .tunnel else { return remote + giver }
        guard let peer = record.peer else { return remote + giver + ", not proven" }
        return remote + giver + ", proven as \(peer.matchedName)"
            + (record.isProofKept ? " before" : "")
    }

    private static func firstLine(_ text: String, of record: ForwardProxyRecord) -> String {
        let text = message(text, of: record)
        return text.split(separator: "\n").first { !$0.hasPrefix("No tunnel to") }.map {
            String($0)
        }
            ?? text
    }

    /// What a tunnel was asked for has been parsed: a host and a port hold no secret, whatever the host
    /// is called.
    private static func target(of record: ForwardProxyRecord) -> String {
        isAuthority(record) ? record.target : shown(url: record.target)
    }

    /// A message without its secrets, in which the port of the tunnel's own target is none.
    private static func message(_ text: String, of record: ForwardProxyRecord) -> String {
        guard isAuthority(record), text.contains(record.target), !text.contains(standIn) else {
            return shown(message: text)
        }
        let parts = text.split(separator: record.target, omittingEmptySubsequences: false)
        return shown(message: parts.joined(separator: standIn))
            .split(separator: standIn, omittingEmptySubsequences: false)
            .joined(separator: record.target)
    }

    private static func isAuthority(_ record: ForwardProxyRecord) -> Bool {
        record.method == "CONNECT" && record.host != nil && record.kind != .exchange
    }

    /// Stands for the target while a message is searched. Because: a character for private use is in no
    /// message of ours, and no name of a secret.
    private static let standIn = "\u{E000}"
}
