internal import HTTPDNSCapture
internal import HTTPDNSJSON

/// The objects of `capture … --json` that are no record: sums, what was written, and failures, which
/// have the keys of a result.
enum CaptureDocument {
    /// - Parameter words: the verb, the file and the number, as far as they were typed.
    static func failure(_ words: [String], _ fault: CommandFault) -> JSONValue {
        var object: JSONObject = ["file": words.dropFirst().first.map { .string($0) } ?? .null]
        for name in names(of: words.first, hasNumber: words.count > 2)
        where object[name] == nil && name != "error" {
            object[name] = .null
        }
        object["error"] = [
            "code": .string(fault.label ?? "usage"), "message": .string(fault.message),
        ]
        return .object(object)
    }

    /// The keys of a result, whatever it is.
    static func names(of verb: String?, hasNumber: Bool) -> [String] {
        switch verb {
        case "show": CaptureJSON.names(withBodies: hasNumber)
        case "stats": statisticsNames
        case "har", "export": Written.names
        default: ["file", "error"]
        }
    }

    /// Besides the groups, of which those that were not asked for are null.
    static let statisticsNames = [
        "file", "dropped", "damaged", "total", "hosts", "resolvers", "days", "error",
    ]

    /// What `har` and `export` have written, and what `har --check` has found.
    struct Written {
        let file: String
        /// Nil where nothing was written.
        var format: String?
        var output: String?
        var octets: Int64?
        var records: Int64
        var damaged: Int64 = 0
        /// Of a check.
        var isOK: Bool?
        var creator: String?
        var faults: [String]?

        static let names = [
            "file", "format", "output", "octets", "records", "damaged", "ok", "creator", "faults",
            "error",
        ]

        var json: JSONValue {
            [
                "file": .string(file), "format": Written.text(format),
                "output": Written.text(output), "octets": octets.map { .integer($0) } ?? .null,
                "records": .integer(records), "damaged": .integer(damaged),
                "ok": isOK.map { .bool($0) } ?? .null, "creator": Written.text(creator),
                "faults": faults.map { .array($0.map { .string($0) }) } ?? .null, "error": .null,
            ]
        }

        private static func text(_ text: String?) -> JSONValue {
            text.map { .string($0) } ?? .null
        }
    }

    /// Every `error.code`, with its meaning and exit code: help prints them.
    static let codes: [(label: String, meaning: String, code: ExitCode)] = [
        ("no_record", "the file has no record of that number", .negative),
        ("usage", "an option or a value that cannot work", .usage),
        ("missing", "there is no such file", .usage),
        ("unreadable", "the system does not let it be read, or it is no file", .usage),
        ("foreign", "it is no capture and no HAR file", .usage),
        ("malformed", "a HAR file that is no JSON, or has an entry at an impossible time", .usage),
        ("newer", "a capture of a newer version", .usage),
        ("damaged", "a capture that is not as it was written", .usage),
        ("too_large", "a HAR file of more than 256 MiB", .usage),
        ("busy", "another process holds the capture", .usage),
        ("output_failed", "the file of --output cannot be written", .usage),
    ]
}

extension CommandFault {
    init(_ fault: CaptureFileFault) {
        self.init(fault.description, code: .usage, label: fault.code.rawValue)
    }

    init(_ fault: HARFault) {
        self.init(fault.description, code: .usage, label: fault.code.rawValue)
    }
}
