internal import HTTPDNSExchange
internal import HTTPDNSJSON
internal import HTTPDNSTrust

// What a proof says besides whom it proves
extension FetchRendering {
    static func revocation(_ report: RevocationReport) -> JSONValue {
        var source: JSONValue = .null
        var until: JSONValue = .null
        var reason: JSONValue = .null
        switch report.leaf {
        case .good(let by, let end):
            source = .string(by.rawValue)
            until = end.map { .string($0.iso8601) } ?? .null
        case .notChecked(let why): reason = .string(why.rawValue)
        }
        return [
            "status": .string(report.leaf.label), "source": source, "until": until,
            "reason": reason, "issuers": .array(report.issuers.map { .string($0.label) }),
            "remarks": .array(report.remarks.map { .string($0) }),
        ]
    }

    static func transparency(_ report: TransparencyReport) -> JSONValue {
        [
            "status": .string(report.status.rawValue),
            "logs": .array(report.logs.map { .string($0.name) }),
            "embedded": .integer(Int64(report.embeddedCount)),
            "handshake": .integer(Int64(report.handshakeCount)),
            "stapled": .integer(Int64(report.stapledCount)),
            "unknown": .integer(Int64(report.unknownCount)),
            "invalid": .integer(Int64(report.invalidCount)),
        ]
    }

    static func dangerous(_ options: [DangerousOptions.Option]) -> JSONValue {
        .array(options.map { .string($0.label) })
    }

    /// Rows of the timeline.
    static func trustRows(_ peer: VerifiedPeer) -> [(String, String)] {
        var rows = [("revoked", peer.revocation.summary)]
        if peer.transparency.status != .off {
            rows.append(("logged", peer.transparency.summary))
        }
        return rows
    }
}
