package import HTTPDNSJSON
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSWire

extension LookupReport {
    /// The report as an object: the same keys on success and failure.
    package var json: JSONValue {
        var object = LookupReport.empty
        object["name"] = .string(subject.asciiText)
        object["unicodeName"] = LookupReport.text(subject.unicodeText)
        object["effectiveName"] = LookupReport.text(effectiveName?.text)
        object["types"] = .array(subject.types.map { .string($0.name) })
        object["status"] = LookupReport.text(status)
        object["error"] = errorJSON
        object["answers"] = .array(records.map(LookupReport.json))
        object["addresses"] = .array(addresses.map { .string($0.description) })
        object["aliases"] = .array(aliases.map { .string($0.description) })
        object["ttl"] = LookupReport.json(ttlSeconds)
        object["ede"] = .array(extendedErrors.map(LookupReport.json))
        object["negativeTTL"] = LookupReport.json(negativeTTLSeconds)
        object["cached"] = .bool(isCached)
        object["authenticated"] = .bool(!answered.isEmpty && source.isAuthenticated)
        object["authenticData"] = .bool(
            !answered.isEmpty && answered.allSatisfy(\.testimony.isAuthenticData))
        object["resolver"] = .string(answerSource?.resolver ?? source.label)
        object["stale"] = .bool(parts.contains { (try? $0.result.get())?.isStale == true })
        object["transport"] = LookupReport.text(
            isCached ? "cache" : answerSource?.transport.rawValue ?? source.transport)
        object["server"] = LookupReport.text(answerSource?.server ?? source.server)
        object["clientIP"] = LookupReport.text(answerSource?.clientAddress?.description)
        object["milliseconds"] = .number((milliseconds * 1_000).rounded() / 1_000)
        object["tries"] = .integer(Int64(tries))
        return .object(object)
    }

    /// The object of a command that asked nobody: the same keys.
    package static func json(_ fault: CommandFault, name: String?) -> JSONValue {
        var object = empty
        object["name"] = text(name)
        object["error"] = json(LookupTrouble(fault))
        return .object(object)
    }

    /// Every key, with what stands there when nothing is known.
    private static let empty: JSONObject = [
        "name": .null, "unicodeName": .null, "effectiveName": .null, "types": [],
        "status": .null, "error": .null, "answers": [], "addresses": [], "aliases": [],
        "ttl": .null, "ede": [], "negativeTTL": .null, "stale": false, "cached": false,
        "authenticated": false, "authenticData": false, "resolver": .null, "transport": .null,
        "server": .null, "clientIP": .null, "milliseconds": 0, "tries": 0,
    ]

    private var errorJSON: JSONValue {
        if let trouble = subject.nameTrouble {
            let place = subject.line.map { "line \($0): " } ?? ""
            return [
                "code": .string(trouble.label), "message": .string(place + trouble.message),
            ]
        }
        return trouble.map(LookupReport.json) ?? .null
    }

    private static func json(_ trouble: LookupTrouble) -> JSONValue {
        ["code": .string(trouble.label), "message": .string(trouble.message)]
    }

    private static func json(_ seconds: UInt32?) -> JSONValue {
        seconds.map { .integer(Int64($0)) } ?? .null
    }

    private static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    private static func json(_ error: ExtendedError) -> JSONValue {
        [
            "code": .integer(Int64(error.code)), "name": text(error.name),
            "text": .string(error.text),
        ]
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
