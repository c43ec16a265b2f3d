package import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// Reads HAR files into records: our own, and those of browsers, proxies and other tools.
///
/// It reads what is there: an entry that lacks what a strict reader would ask for is read as far as
/// it goes, and told in ``faults``. Only what is no HAR at all is an error.
public struct HARReader: Sendable {
    /// The records, in the order of the file. An entry is a record; hops that ``HARWriter`` wrote
    /// are one again.
    public let records: [CaptureRecord]
    /// The program that wrote the file, as it says; empty where it does not.
    public let creator: String
    /// What breaks the format: `log.entries[3].request.url: …`. At most ``mostFaults``.
    public let faults: [String]

    /// Reads a file.
    ///
    /// - Throws: ``HARFault``: there is no such file, it is too large, no JSON, or no HAR.
    public init(file path: String) throws(HARFault) { try self.init(file: path) { _ in } }

    /// The same, saying how far it is.
    ///
    /// - Parameter progress: is told the share of the file that was read, 0...1, entry by entry.
    package init(file path: String, progress: (Double) -> Void) throws(HARFault) {
        let octets: [UInt8]
        do { octets = try SmallFile.whole(path, most: HARReader.maximumOctets) } catch {
            switch error {
            case .tooLarge:
                throw HARFault(
                    code: .tooLarge, place: path,
                    what: "it is larger than \(HARReader.maximumOctets >> 20) MiB; cut it, or keep "
                        + "the capture as a database, which is read record by record")
            default: throw HARFault(code: .unreadable, place: path, what: error.description)
            }
        }
        do { try self.init(octets, progress: progress) } catch {
            throw HARFault(code: error.code, place: path, what: error.description)
        }
    }

    /// Reads the octets of a file.
    ///
    /// - Throws: ``HARFault``.
    public init(_ octets: [UInt8]) throws(HARFault) { try self.init(octets) { _ in } }

    private init(_ octets: [UInt8], progress: (Double) -> Void) throws(HARFault) {
        var entries = Entries()
        let rest: JSONValue
        do { rest = try HARReader.read(octets, &entries, progress) } catch {
            let position = error.offset.map { LocatedJSON.position(of: $0, in: octets) }
            let place = position.map { "line \($0.line), column \($0.column)" } ?? ""
            throw HARFault(code: .malformed, place: place, what: error.what)
        }
        try self.init(rest, entries)
    }

    /// Values for which alone it is no JSON are replaced, and named.
    private static func read(
        _ octets: [UInt8], _ entries: inout Entries, _ progress: (Double) -> Void
    ) throws(JSONError) -> JSONValue {
        do { return try parse(octets, &entries, progress) } catch {
            guard let repaired = HARRepair(octets, mostFaults: mostFaults) else { throw error }
            entries = Entries(faults: repaired.faults)
            return try parse(repaired.octets, &entries, progress)
        }
    }

    private static func parse(
        _ octets: [UInt8], _ entries: inout Entries, _ progress: (Double) -> Void
    ) throws(JSONError) -> JSONValue {
        try JSONValue.parse(
            octets, maximumOctets: maximumOctets, handingOver: ["log", "entries"]
        ) { entry, end in
            entries.take(entry)
            progress(Double(end) / Double(octets.count))
        }
    }

    package init(_ value: JSONValue) throws(HARFault) {
        var entries = Entries()
        for entry in value["log"]?["entries"]?.array ?? [] { entries.take(entry) }
        var rest = value
        if var object = rest.object, var log = object["log"]?.object, log["entries"]?.array != nil {
            log["entries"] = []
            object["log"] = .object(log)
            rest = .object(object)
        }
        try self.init(rest, entries)
    }

    /// - Parameter value: the file without its entries.
    private init(_ value: JSONValue, _ entries: Entries) throws(HARFault) {
        guard let log = value["log"], log.object != nil else {
            throw HARFault(code: .foreign, place: "", what: "no HAR: the member \"log\" is missing")
        }
        guard log["entries"]?.array != nil else {
            throw HARFault(
                code: .foreign, place: "log", what: "no HAR: the array \"entries\" is missing")
        }
        creator = [log["creator"]?["name"]?.string, log["creator"]?["version"]?.string]
            .compactMap(\.self).joined(separator: " ")
        let head =
            HARSchema.faults(in: value, most: HARReader.mostFaults, isStrict: true) ?? []
        faults = (head + entries.faults).prefix(HARReader.mostFaults).map(\.description)
        records = entries.records
    }

    /// The entries so far.
    private struct Entries {
        var records: [CaptureRecord] = []
        var faults: [HARSchema.Fault] = []
        private var count = 0

        init(faults: [HARSchema.Fault] = []) { self.faults = faults }

        mutating func take(_ entry: JSONValue) {
            let room = HARReader.mostFaults - faults.count
            if room > 0 {
                faults +=
                    HARSchema.faults(
                        in: entry, as: "entry", at: "log.entries[\(count)]", most: room,
                        isStrict: true) ?? []
            }
            count += 1
            guard let read = HAREntryReading(entry)?.record else { return }
            // Hops that were one record are one again.
            if let place = entry["_httpdns"]?["hop"]?.integer, place > 0, let last = records.last,
                last.hops.count == Int(exactly: place),
                last.id == entry["_httpdns"]?["record"]?.integer
            {
                records[records.count - 1].join(read)
            } else {
                records.append(read)
            }
        }
    }

    /// Larger files are refused. Because: a file is read as a whole, and takes about twice its size of
    /// memory with its records.
    public static let maximumOctets = 256 << 20
    /// Because: who reads that many knows that the file is broken.
    public static let mostFaults = 50
}

/// Why a file is no HAR.
public struct HARFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of trouble.
    public enum Code: String, Sendable, Hashable {
        case unreadable
        /// Longer than ``HARReader/maximumOctets``.
        case tooLarge = "too_large"
        /// No JSON.
        case malformed
        /// JSON, and no HAR.
        case foreign
    }

    public let code: Code
    /// The file, or a line and column in it; empty for the whole.
    public let place: String
    public let what: String

    public var description: String { place.isEmpty ? what : "\(place): \(what)" }
}

extension CaptureRecord {
    fileprivate mutating func join(_ next: CaptureRecord) {
        hops += next.hops
        responseBody = next.responseBody
        failure = next.failure
        if requestBody.octets.isEmpty { requestBody.octets = next.requestBody.octets }
    }
}

/// One entry, read leniently.
private struct HAREntryReading {
    let entry: JSONValue
    let request: JSONValue
    let response: JSONValue?

    /// Nil for what is no entry.
    init?(_ entry: JSONValue) {
        guard let request = entry["request"], request["url"]?.string != nil else { return nil }
        self.entry = entry
        self.request = request
        response = entry["response"]
    }

    var record: CaptureRecord {
        let ours = entry["_httpdns"]
        let start = entry["startedDateTime"]?.string.flatMap { CaptureTime($0) }
        var record = CaptureRecord(
            .exchange, hop, startedAt: start ?? CaptureTime(microsecondsSince1970: 0),
            initiator: .init("har"))
        record.requestBody = body(request["postData"], request["bodySize"], sent: true)
        record.responseBody = body(response?["content"], response?["content"]?["size"])
        record.totalMilliseconds = entry["time"]?.number
        if let error = entry["_error"]?.string ?? response?["_error"]?.string, !error.isEmpty {
            record.failure = .init(label: "failed", message: error)
        } else if record.hops.first?.status == nil {
            record.failure = .init(label: "no_response", message: "no answer is in the file")
        }
        guard let ours, ours.object != nil else { return record }
        record.id = ours["record"]?.integer ?? 0
        record.kind = ours["kind"]?.string.flatMap { .init(rawValue: $0) } ?? .exchange
        record.totalMilliseconds = ours["milliseconds"]?.number ?? record.totalMilliseconds
        record.failure = nil
        RecordForm.readSummary(ours, &record)
        if let start = ours["started"]?.string.flatMap({ CaptureTime($0) }) {
            record.startedAt = start
        }
        record.requestBody = RecordForm.body(ours["requestBody"], record.requestBody.octets)
        record.responseBody = RecordForm.body(ours["responseBody"], record.responseBody.octets)
        return record
    }

    private var hop: CaptureRecord.Hop {
        var hop = CaptureRecord.Hop(
            method: request["method"]?.string ?? "GET", url: request["url"]?.string ?? "",
            requestFields: fields(request["headers"]))
        // 0 and less: nothing came. Source: what browsers write for requests that were blocked.
        hop.status = response?["status"]?.integer.flatMap {
            (100...999).contains($0) ? Int($0) : nil
        }
        hop.statusText = response?["statusText"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        hop.version = version
        hop.responseFields = fields(response?["headers"])
        if let ours = entry["_httpdns"], ours.object != nil {
            RecordForm.readConnection(ours, &hop)
            return hop
        }
        hop.remote = entry["serverIPAddress"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        readTimings(&hop)
        return hop
    }

    /// Parts of the time that are negative did not happen.
    private func readTimings(_ hop: inout CaptureRecord.Hop) {
        func part(_ name: String) -> Double? {
            entry["timings"]?[name]?.number.flatMap { $0 >= 0 && $0.isFinite ? $0 : nil }
        }
        hop.resolveMilliseconds = part("dns")
        let connect = part("connect")
        hop.isReusedConnection = connect == nil
        if let connect {
            let secure = part("ssl")
            hop.timings.connected = connect - min(connect, secure ?? 0)
            hop.timings.secured = secure == nil ? nil : connect
        }
        guard hop.status != nil else { return }
        let first = (connect ?? 0) + (part("send") ?? 0) + (part("wait") ?? 0)
        hop.timings.firstByte = first
        hop.timings.total = first + (part("receive") ?? 0)
    }

    /// `HTTP/1.1`, `http/2.0`, `h2`, `HTTP/3`.
    private var version: String? {
        let text = response?["httpVersion"]?.string ?? request["httpVersion"]?.string ?? ""
        let lower = text.lowercased()
        let number = lower.hasPrefix("http/") ? String(lower.dropFirst(5)) : lower
        switch number {
        case "": return nil
        case "2.0", "h2": return "2"
        case "3.0", "h3": return "3"
        default: return number
        }
    }

    private func fields(_ value: JSONValue?) -> [CaptureRecord.Field] {
        (value?.array ?? []).compactMap { field in
            guard let name = field["name"]?.string, let value = field["value"]?.string else {
                return nil
            }
            return CaptureRecord.Field(name, value)
        }
    }

    private func body(
        _ value: JSONValue?, _ size: JSONValue?, sent: Bool = false
    ) -> CaptureRecord.Body {
        guard let value, value.object != nil else { return CaptureRecord.Body() }
        var octets = Array((value["text"]?.string ?? "").utf8)
        let encoding = value["encoding"]?.string ?? value["_encoding"]?.string
        if encoding?.lowercased() == "base64", let text = value["text"]?.string {
            octets = Base64.decoded(HAREntryReading.unbroken(text)) ?? octets
        }
        if octets.isEmpty, sent, let items = value["params"]?.array {
            octets = Array(HAREntryReading.form(items).utf8)
        }
        var body = CaptureRecord.Body(octets)
        let stated = size?.integer ?? 0
        if stated > body.totalOctets {
            body.totalOctets = stated
            body.omission = octets.isEmpty ? .unseen : .cut
        }
        return body
    }

    /// Without the blanks and line ends that some write into base64.
    static func unbroken(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 <= 0x20 }) else { return text }
        return String(decoding: text.utf8.filter { $0 > 0x20 }, as: UTF8.self)
    }

    /// Names and values as a form would send them.
    private static func form(_ items: [JSONValue]) -> String {
        func encoded(_ text: String) -> String {
            text.utf8.reduce(into: "") { text, octet in
                switch octet {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2A, 0x2D, 0x2E, 0x5F:
                    text.unicodeScalars.append(Unicode.Scalar(octet))
                case 0x20: text += "+"
                default:
                    text += "%" + (octet < 16 ? "0" : "") + String(octet, radix: 16).uppercased()
                }
            }
        }
        return items.compactMap { item in
            item["name"]?.string.map {
                encoded($0) + "=" + encoded(item["value"]?.string ?? "")
            }
        }.joined(separator: "&")
    }
}
