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
    /// - Parameters:
    ///   - isJudged: what is wrong is wanted, and the records are not: an entry at an impossible time
    ///     is a fault among others.
    ///   - progress: is told the share of the file that was read, 0...1, entry by entry.
    package init(
        file path: String, isJudged: Bool = false, progress: (Double) -> Void
    ) throws(HARFault) {
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
        try self.init(octets, of: path, isJudged: isJudged, progress: progress)
    }

    /// The same of octets that were read from a file.
    package init(
        _ octets: [UInt8], of path: String, isJudged: Bool, progress: (Double) -> Void
    ) throws(HARFault) {
        do { try self.init(octets, isJudged: isJudged, progress: progress) } catch {
            throw HARFault(code: error.code, place: path, what: error.description)
        }
    }

    /// Reads the octets of a file.
    ///
    /// - Throws: ``HARFault``.
    public init(_ octets: [UInt8]) throws(HARFault) {
        try self.init(octets, isJudged: false) { _ in }
    }

    private init(
        _ octets: [UInt8], isJudged: Bool, progress: (Double) -> Void
    ) throws(HARFault) {
        var entries = Entries()
        let rest: JSONValue
        do { rest = try HARReader.read(octets, &entries, progress) } catch {
            let position = error.offset.map { LocatedJSON.position(of: $0, in: octets) }
            let place = position.map { "line \($0.line), column \($0.column)" } ?? ""
            throw HARFault(code: .malformed, place: place, what: error.what)
        }
        try self.init(rest, entries, isJudged: isJudged)
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
        try self.init(rest, entries, isJudged: false)
    }

    /// - Parameter value: the file without its entries.
    private init(
        _ value: JSONValue, _ entries: Entries, isJudged: Bool
    ) throws(HARFault) {
        guard let log = value["log"], log.object != nil else {
            throw HARFault(code: .foreign, place: "", what: "no HAR: the member \"log\" is missing")
        }
        guard log["entries"]?.array != nil else {
            throw HARFault(
                code: .foreign, place: "log", what: "no HAR: the array \"entries\" is missing")
        }
        if let fault = entries.impossible, !isJudged { throw fault }
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
        /// The first entry at a time that there is not: nobody knows where it belongs.
        var impossible: HARFault?
        private var count = 0

        init(faults: [HARSchema.Fault] = []) { self.faults = faults }

        mutating func take(_ entry: JSONValue) {
            let place = "log.entries[\(count)]"
            let room = HARReader.mostFaults - faults.count
            if room > 0 {
                let found =
                    HARSchema.faults(
                        in: entry, as: "entry", at: place, most: room, isStrict: true) ?? []
                faults += (found + HARReader.codingFaults(in: entry, at: place)).prefix(room)
            }
            if let text = entry["startedDateTime"]?.string, HARReader.moment(text) == nil {
                note(impossible: text, at: place + ".startedDateTime")
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

        private mutating func note(impossible text: String, at place: String) {
            let what = "\"\(text.prefix(100))\" is no moment that there is"
            if impossible == nil {
                impossible = HARFault(code: .malformed, place: place, what: what)
            }
            guard faults.count < HARReader.mostFaults,
                !faults.contains(where: { $0.place == place })
            else { return }
            faults.append(HARSchema.Fault(place: place, what: what))
        }
    }

    /// Bodies that are said to be in base64, and are not.
    private static func codingFaults(
        in entry: JSONValue, at place: String
    ) -> [HARSchema.Fault] {
        let bodies = [
            ("response.content", entry["response"]?["content"], "encoding"),
            ("request.postData", entry["request"]?["postData"], "_encoding"),
        ]
        return bodies.compactMap { name, body, encoding in
            guard let body, body[encoding]?.string?.lowercased() == "base64",
                let text = body["text"]?.string,
                Base64.decoded(HAREntryReading.unbroken(text)) == nil
            else { return nil }
            return HARSchema.Fault(
                place: "\(place).\(name).text",
                what: "it is no base64, which \"\(encoding)\" says that it is")
        }
    }

    /// As other programs write moments, too: an offset without a colon, or none, which is read as UTC.
    fileprivate static func moment(_ text: String) -> CaptureTime? {
        if let time = CaptureTime(text) { return time }
        let octets = Array(text.utf8)
        if octets.count > 5, [0x2B, 0x2D].contains(octets[octets.count - 5]) {
            return CaptureTime("\(text.dropLast(2)):\(text.suffix(2))")
        }
        return CaptureTime("\(octets.last == 0x7A ? text.dropLast() : text[...])Z")
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
        let start = entry["startedDateTime"]?.string.flatMap(HARReader.moment)
        var record = CaptureRecord(
            .exchange, hop, startedAt: start ?? CaptureTime(microsecondsSince1970: 0),
            initiator: .init("har"))
        record.requestBody = body(request["postData"], request["bodySize"], sent: true)
        record.responseBody = body(response?["content"], response?["content"]?["size"])
        readMediaTypes(&record)
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
            // Where HAR has no form for it.
            hop.method = ours["method"]?.string ?? hop.method
            hop.url = ours["url"]?.string ?? hop.url
            return hop
        }
        hop.remote = entry["serverIPAddress"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        hop.connection = entry["connection"]?.string
        readTimings(&hop)
        (hop.sentOctets, hop.sentHeadOctets) = HAREntryReading.sizes(request)
        if let response {
            (hop.receivedOctets, hop.receivedHeadOctets) = HAREntryReading.sizes(response)
        }
        return hop
    }

    /// What a file says of bodies beside the fields.
    private func readMediaTypes(_ record: inout CaptureRecord) {
        let sent = request["postData"]?["mimeType"]?.string
        if let sent, sent != record.hops.last?.requestField("content-type") {
            record.requestBody.mediaType = sent
        }
        let received = response?["content"]?["mimeType"]?.string
        if let received, received != "x-unknown",
            received != record.hops.last?.responseField("content-type")
        {
            record.responseBody.mediaType = received
        }
    }

    /// Octets of head and body, as far as they are told, and of the head where both are.
    private static func sizes(_ message: JSONValue) -> (all: Int64, head: Int64?) {
        let head = message["headersSize"]?.integer.flatMap { $0 >= 0 ? $0 : nil }
        let body = message["bodySize"]?.integer.flatMap { $0 >= 0 ? $0 : nil }
        let (sum, overflow) = (head ?? 0).addingReportingOverflow(body ?? 0)
        return (overflow ? .max : sum, overflow || body == nil ? nil : head)
    }

    /// Parts of the time that are negative did not happen.
    private func readTimings(_ hop: inout CaptureRecord.Hop) {
        func part(_ name: String) -> Double? {
            entry["timings"]?[name]?.number.flatMap { $0 >= 0 && $0.isFinite ? $0 : nil }
        }
        hop.timings.blocked = part("blocked")
        hop.resolveMilliseconds = part("dns")
        let secure = part("ssl")
        // Some count TLS beside the connection, and not in it.
        let connect = part("connect").map { $0 < (secure ?? 0) ? $0 + (secure ?? 0) : $0 }
        hop.isReusedConnection = connect == nil
        if let connect {
            hop.timings.connected = connect - (secure ?? 0)
            hop.timings.secured = secure == nil ? nil : connect
        }
        let sent = (connect ?? 0) + (part("send") ?? 0)
        if part("send") != nil { hop.timings.sent = sent }
        let first = sent + (part("wait") ?? 0)
        if hop.status != nil { hop.timings.firstByte = first }
        let total = first + (part("receive") ?? 0)
        if hop.status != nil || total > 0 { hop.timings.total = total }
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

    /// Browsers join several fields of one name by line feeds.
    private func fields(_ value: JSONValue?) -> [CaptureRecord.Field] {
        (value?.array ?? []).flatMap { field -> [CaptureRecord.Field] in
            guard let name = field["name"]?.string, let value = field["value"]?.string else {
                return []
            }
            guard value.utf8.contains(0x0A) else { return [CaptureRecord.Field(name, value)] }
            let lines = value.utf8.split(separator: 0x0A).compactMap { line in
                let line = line.drop(while: HAREntryReading.isBlank)
                let end = line.lastIndex { !HAREntryReading.isBlank($0) }
                return end.flatMap { String(line[...$0]) }
            }
            return (lines.isEmpty ? [""] : lines).map { CaptureRecord.Field(name, $0) }
        }
    }

    private static func isBlank(_ octet: UInt8) -> Bool {
        octet == 0x20 || octet == 0x09 || octet == 0x0D
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
        let blanks: Set<UInt8> = [0x09, 0x0A, 0x0D, 0x20]
        guard text.utf8.contains(where: { $0 <= 0x20 }) else { return text }
        return String(decoding: text.utf8.filter { !blanks.contains($0) }, as: UTF8.self)
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
