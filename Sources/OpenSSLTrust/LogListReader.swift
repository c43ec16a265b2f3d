internal import HTTPDNSJSON
internal import HTTPDNSNames

/// One log of Certificate Transparency, as a list of logs describes it.
struct KnownLog: Sendable, Hashable {
    /// SubjectPublicKeyInfo, DER.
    let key: [UInt8]
    let name: String?
    let runner: String?
    /// From then on its time stamps count for nothing; in milliseconds since 1970.
    let retiredAtMilliseconds: Int64?
}

/// Why a text is not a list of logs; completes "it cannot be used: …".
struct LogListError: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

/// Reads a list of logs in one of three forms: see ``TransparencyPolicy/Logs``. Pure.
enum LogListReader {
    static func logs(_ octets: [UInt8]) throws(LogListError) -> [KnownLog] {
        let text = String(decoding: octets, as: UTF8.self)
        let logs: [KnownLog]
        switch octets.first(where: { $0 > 0x20 }) {
        case nil: throw LogListError("it is empty")
        case 0x7B: logs = try json(octets)
        default:
            logs = text.contains("-----BEGIN") ? try pem(text) : try lines(text)
        }
        guard !logs.isEmpty else { throw LogListError("it names no log whose time stamps count") }
        return logs
    }

    private static func pem(_ text: String) throws(LogListError) -> [KnownLog] {
        var logs: [KnownLog] = []
        var body: String?
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("-----BEGIN PUBLIC KEY-----") {
                body = ""
            } else if line.hasPrefix("-----END PUBLIC KEY-----"), let whole = body {
                logs.append(try bare(whole, at: "key \(logs.count + 1)"))
                body = nil
            } else {
                body?.append(contentsOf: line.filter { !$0.isWhitespace })
            }
        }
        guard body == nil else { throw LogListError("key \(logs.count + 1) has no end") }
        return logs
    }

    private static func lines(_ text: String) throws(LogListError) -> [KnownLog] {
        var logs: [KnownLog] = []
        for (index, line) in text.split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline
        ).enumerated() {
            let key = line.filter { !$0.isWhitespace }
            guard !key.isEmpty, !key.hasPrefix("#") else { continue }
            logs.append(try bare(key, at: "line \(index + 1)"))
        }
        return logs
    }

    private static func bare(_ base64: String, at place: String) throws(LogListError) -> KnownLog {
        guard let key = Base64.decoded(base64), !key.isEmpty else {
            throw LogListError("\(place) is not base64 of a public key")
        }
        return KnownLog(key: key, name: nil, runner: nil, retiredAtMilliseconds: nil)
    }

    private static func json(_ octets: [UInt8]) throws(LogListError) -> [KnownLog] {
        let document: JSONValue
        do { document = try JSONValue.parse(octets, maximumOctets: maximumOctets) } catch {
            throw LogListError("\(error)")
        }
        guard let operators = document["operators"]?.array else {
            throw LogListError("it has no array 'operators' (log_list.json, version 3)")
        }
        var logs: [KnownLog] = []
        for (index, entry) in operators.enumerated() {
            // Logs with a tiled interface sign the same time stamps.
            for member in ["logs", "tiled_logs"] {
                for (position, log) in (entry[member]?.array ?? []).enumerated() {
                    let place = "operators[\(index)].\(member)[\(position)]"
                    if let known = try known(log, runner: entry["name"]?.string, at: place) {
                        logs.append(known)
                    }
                }
            }
        }
        return logs
    }

    /// Nil for a log that is not to be trusted yet, or never was.
    private static func known(
        _ log: JSONValue, runner: String?, at place: String
    ) throws(LogListError) -> KnownLog? {
        guard let text = log["key"]?.string, let key = Base64.decoded(text), !key.isEmpty else {
            throw LogListError("\(place).key is not base64 of a public key")
        }
        if let identifier = log["log_id"]?.string {
            guard let wanted = Base64.decoded(identifier), wanted == PolicyFile.sha256(key) else {
                throw LogListError("\(place).log_id is not the SHA-256 of its key")
            }
        }
        var retired: Int64?
        switch log["state"]?.object?.names.first {
        case nil, "usable", "qualified", "readonly": break
        case "retired":
            let moment = log["state"]?["retired"]?["timestamp"]?.string
            guard let moment, let seconds = seconds(moment),
                case (let milliseconds, let overflow) = seconds.multipliedReportingOverflow(
                    by: 1_000),
                !overflow
            else { throw LogListError("\(place).state.retired.timestamp is not a time") }
            retired = milliseconds
        default: return nil
        }
        return KnownLog(
            key: key, name: log["description"]?.string, runner: runner,
            retiredAtMilliseconds: retired)
    }

    /// `2026-11-30T02:01:07Z` as seconds since 1970. Source: RFC 3339 §5.6; dates to days as in Howard
    /// Hinnant's "chrono-compatible low-level date algorithms", `days_from_civil`.
    static func seconds(_ text: String) -> Int64? {
        let octets = Array(text.utf8)
        guard octets.count == 20, octets[10] == 0x54, octets[19] == 0x5A,
            octets[4] == 0x2D, octets[7] == 0x2D, octets[13] == 0x3A, octets[16] == 0x3A
        else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            octets[range].allSatisfy { (0x30...0x39).contains($0) }
                ? Int64(String(decoding: octets[range], as: UTF8.self)) : nil
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 61
        else { return nil }
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        return days * 86_400 + hour * 3_600 + minute * 60 + second
    }

    /// Because: the lists of browsers have some 100 KB.
    private static let maximumOctets = 16_777_216
}
