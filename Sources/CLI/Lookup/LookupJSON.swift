package import HTTPDNSJSON
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSWire

extension LookupReport {
    /// The report as an object: the same keys on success and failure.
    package var json: JSONValue {
        [
            "name": .string(subject.asciiText),
            "unicodeName": subject.unicodeText.map { .string($0) } ?? .null,
            "types": .array(subject.types.map { .string($0.name) }),
            "status": status.map { .string($0) } ?? .null,
            "error": errorJSON,
            "answers": .array(records.map(LookupReport.json)),
            "addresses": .array(addresses.map { .string($0.description) }),
            "aliases": .array(aliases.map { .string($0.description) }),
            "ttl": LookupReport.json(ttlSeconds),
            "negativeTTL": LookupReport.json(negativeTTLSeconds),
            "stale": false,
            "cached": .bool(isCached),
            "authenticated": .bool(!answered.isEmpty && source.isAuthenticated),
            "authenticData": .bool(
                !answered.isEmpty && answered.allSatisfy(\.testimony.isAuthenticData)),
            "resolver": .string(answerSource?.resolver ?? source.label),
            "transport": transportJSON,
            "server": (answerSource?.server ?? source.server).map { .string($0) } ?? .null,
            "clientIP": answerSource?.clientAddress.map { .string($0.description) } ?? .null,
            "milliseconds": .number((milliseconds * 1_000).rounded() / 1_000),
            "tries": .integer(Int64(tries)),
        ]
    }

    private var errorJSON: JSONValue {
        if case .failure(let error) = subject.name {
            return LookupReport.json(LookupTrouble(error))
        }
        return trouble.map(LookupReport.json) ?? .null
    }

    private var transportJSON: JSONValue {
        if isCached { return "cache" }
        let word = answerSource?.transport.rawValue ?? source.transport
        return word.map { .string($0) } ?? .null
    }

    private static func json(_ trouble: LookupTrouble) -> JSONValue {
        ["code": .string(trouble.label), "message": .string(trouble.message)]
    }

    private static func json(_ seconds: UInt32?) -> JSONValue {
        seconds.map { .integer(Int64($0)) } ?? .null
    }

    private static func json(_ record: ResourceRecord) -> JSONValue {
        [
            "name": .string(record.name.description),
            "type": .string(record.type.name),
            "ttl": .integer(Int64(record.ttlSeconds)),
            "data": .string(record.shownData),
        ]
    }
}
