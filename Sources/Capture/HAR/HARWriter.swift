internal import HTTPDNSExchange
internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSRedaction
internal import HTTPDNSTrust

/// Writes records as a HAR 1.2 file, entry by entry, so that a file of any size takes little
/// memory.
///
///     var writer = HARWriter()
///     take(writer.begin())
///     for record in records { take(writer.entries(record)) }
///     take(writer.end())
///
/// Each hop of a chain of redirects is an entry. What HAR has no members for stands in `_httpdns`
/// beside them, from which ``HARReader`` makes the same record again.
public struct HARWriter {
    private var isFirst = true
    private let creatorVersion: String

    /// - Parameter version: of the program that writes it.
    public init(version: String = "1") { creatorVersion = version }

    /// What the file begins with.
    public func begin() -> [UInt8] {
        var writer = DetailWriter()
        writer.object { writer in
            writer.put("name", "httpdns")
            writer.put("version", creatorVersion)
        }
        return Array("{\"log\":{\"version\":\"1.2\",\"creator\":".utf8) + writer.octets
            + Array(",\"pages\":[],\"entries\":[".utf8)
    }

    /// The entries of a record.
    ///
    /// - Parameters:
    ///   - record: what happened.
    ///   - request: all that was kept of the request's body; nil: as much as the record has.
    ///   - response: the same of the answer's.
    public mutating func entries(
        _ record: CaptureRecord, request: [UInt8]? = nil, response: [UInt8]? = nil
    ) -> [UInt8] {
        var octets: [UInt8] = []
        var spent: Double = 0
        for place in record.hops.indices {
            octets += isFirst ? [0x0A] : [0x2C, 0x0A]
            isFirst = false
            let entry = HAREntry(
                record, place, spent: spent, request: request ?? record.requestBody.octets,
                response: response ?? record.responseBody.octets)
            octets += entry.octets
            spent += entry.milliseconds
        }
        return octets
    }

    /// What the file ends with.
    public func end() -> [UInt8] { Array("\n]}}\n".utf8) }

    /// A whole file.
    public static func file(_ records: some Sequence<CaptureRecord>) -> [UInt8] {
        var writer = HARWriter()
        var octets = writer.begin()
        for record in records { octets += writer.entries(record) }
        return octets + writer.end()
    }
}

/// One entry of a HAR file.
struct HAREntry {
    let record: CaptureRecord
    let place: Int
    let hop: CaptureRecord.Hop
    let startedAt: CaptureTime
    let request: [UInt8]
    let response: [UInt8]

    private var isFirst: Bool { place == 0 }
    private var isLast: Bool { place == record.hops.count - 1 }

    private let times: HARTimes

    /// - Parameter spent: milliseconds of the record before this hop.
    init(
        _ record: CaptureRecord, _ place: Int, spent: Double, request: [UInt8], response: [UInt8]
    ) {
        self.record = record
        self.place = place
        let hop = record.hops[place]
        self.hop = hop
        startedAt = record.startedAt.adding(milliseconds: spent)
        self.request = request
        self.response = response
        let isLast = place == record.hops.count - 1
        times = HARTimes(
            hop, elapsed: isLast ? record.totalMilliseconds.map { $0 - spent } : nil,
            hasFailed: isLast && record.failure != nil)
    }

    /// As HAR has it: the sum of the parts.
    var milliseconds: Double { times.sum }

    var octets: [UInt8] {
        var writer = DetailWriter()
        writer.object { writer in
            writer.put("startedDateTime", startedAt.ofFourDigits.exact)
            writer.number(milliseconds, "time")
            writer.object("request") { write(request: &$0) }
            writer.object("response") { write(response: &$0) }
            writer.object("cache") { _ in }
            writer.object("timings") { write(timings: &$0) }
            if let address = HAREntry.address(hop.remote) {
                writer.put("serverIPAddress", address)
            }
            writer.put("connection", hop.connection)
            if let failure = record.failure, isLast { writer.put("_error", failure.message) }
            writer.object("_httpdns") { write(ours: &$0) }
        }
        return writer.octets
    }

    private func write(timings writer: inout DetailWriter) {
        writer.number(times.blocked ?? -1, "blocked")
        writer.number(times.dns ?? -1, "dns")
        writer.number(times.connect ?? -1, "connect")
        writer.number(times.ssl ?? -1, "ssl")
        writer.number(times.send, "send")
        writer.number(times.wait, "wait")
        writer.number(times.receive, "receive")
    }

    private func write(ours writer: inout DetailWriter) {
        writer.put("record", record.id)
        writer.put("hop", Int64(place))
        writer.put("hops", Int64(record.hops.count))
        writer.put("kind", record.kind.rawValue)
        writer.put("started", record.startedAt.ofFourDigits.exact)
        writer.put(milliseconds: record.totalMilliseconds, "milliseconds")
        if hop.method != method { writer.put("method", hop.method) }
        if hop.url != url { writer.put("url", hop.url) }
        RecordForm.writeSummary(record, &writer)
        RecordForm.writeConnection(hop, &writer)
        RecordForm.write(record.requestBody, "requestBody", &writer)
        RecordForm.write(record.responseBody, "responseBody", &writer)
    }

    /// Without its port, and IPv6 without brackets.
    private static func address(_ remote: String?) -> String? {
        guard let remote else { return nil }
        // Other programs name no port.
        if let address = try? IPAddress(remote) { return address.description }
        guard let colon = remote.lastIndex(of: ":") else { return nil }
        let host = remote[..<colon].drop { $0 == "[" }.prefix { $0 != "]" }
        return (try? IPAddress(String(host))).map(\.description)
    }
}

// Requests
extension HAREntry {
    private func write(request writer: inout DetailWriter) {
        writer.put("method", method)
        writer.put("url", url)
        writer.put("httpVersion", HAREntry.version(hop.version))
        writer.array("cookies") { writer in
            for field in hop.requestFields where field.name.lowercased() == "cookie" {
                write(cookies: field.value, &writer)
            }
        }
        HAREntry.write(hop.requestFields, "headers", &writer)
        writer.array("queryString") { writer in
            for item in HAREntry.items(CapturedURL(hop.url).query ?? "") {
                HAREntry.write(item.name, item.value, &writer)
            }
        }
        let hasBody = carriesBody
        if hasBody { writer.object("postData") { write(postData: &$0) } }
        writer.put("headersSize", hop.sentHeadOctets ?? -1)
        writer.put("bodySize", hasBody ? record.requestBody.totalOctets : 0)
    }

    /// HAR has nothing for a request that could not be read: what is known of it stands in `_httpdns`.
    private var method: String { hop.method.isEmpty ? "-" : hop.method }
    /// Source: HAR 1.2, "request": fragments are not included.
    private var url: String {
        let url = String(hop.url.prefix { $0 != "#" })
        return HARSchema.Form.isURI(url) || url.contains("://") ? url : "about:blank"
    }

    /// A redirect may have dropped it.
    private var carriesBody: Bool {
        record.requestBody.totalOctets > 0 && (isFirst || hop.method == record.method)
    }

    private func write(postData writer: inout DetailWriter) {
        let type =
            record.requestBody.mediaType ?? hop.requestField("content-type")
            ?? "application/octet-stream"
        writer.put("mimeType", type)
        if type.lowercased().hasPrefix("application/x-www-form-urlencoded"),
            let text = String(validating: request, as: UTF8.self)
        {
            writer.array("params") { writer in
                for item in HAREntry.items(text[...]) {
                    HAREntry.write(item.name, item.value, &writer)
                }
            }
        }
        HAREntry.write(body: request, encodingName: "_encoding", &writer)
    }

    private func write(cookies value: String, _ writer: inout DetailWriter) {
        for pair in value.split(separator: ";") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0].drop { $0 == " " }
            HAREntry.write(String(name), parts.count > 1 ? String(parts[1]) : "", &writer)
        }
    }
}

// Answers
extension HAREntry {
    private func write(response writer: inout DetailWriter) {
        writer.put("status", Int64(hop.status ?? 0))
        writer.put("statusText", hop.statusText ?? "")
        writer.put("httpVersion", HAREntry.version(hop.version))
        writer.array("cookies") { writer in
            for field in hop.responseFields where field.name.lowercased() == "set-cookie" {
                write(setCookie: field.value, &writer)
            }
        }
        HAREntry.write(hop.responseFields, "headers", &writer)
        writer.object("content") { write(content: &$0) }
        writer.put("redirectURL", hop.responseField("location") ?? "")
        writer.put("headersSize", hop.receivedHeadOctets ?? -1)
        writer.put("bodySize", HARSizes(record, place).received ?? -1)
    }

    private func write(content writer: inout DetailWriter) {
        writer.put("size", isLast ? record.responseBody.totalOctets : 0)
        let told = isLast ? record.responseBody.mediaType : nil
        writer.put("mimeType", told ?? hop.responseField("content-type") ?? "x-unknown")
        writer.put("compression", HARSizes(record, place).saved)
        guard isLast, record.responseBody.totalOctets > 0 else { return }
        HAREntry.write(body: response, encodingName: "encoding", &writer)
        if let omission = record.responseBody.omission {
            writer.put("comment", "not whole: \(omission.rawValue)")
        }
    }

    private func write(setCookie value: String, _ writer: inout DetailWriter) {
        guard let line = try? SetCookieLine(value) else { return }
        writer.object { writer in
            writer.put("name", line.name)
            writer.put("value", line.value)
            writer.put("path", line.path)
            writer.put("domain", line.domain)
            writer.put("expires", line.expires.map { CaptureTime($0).description })
            writer.put("httpOnly", line.isHTTPOnly)
            writer.put("secure", line.isSecure)
        }
    }
}

// What both have
extension HAREntry {
    static func version(_ version: String?) -> String {
        version.map { $0.hasPrefix("HTTP/") || $0.contains("/") ? $0 : "HTTP/" + $0 } ?? ""
    }

    private static func write(
        _ fields: [CaptureRecord.Field], _ name: StaticString, _ writer: inout DetailWriter
    ) {
        writer.array(name) { writer in
            for field in fields { write(field.name, field.value, &writer) }
        }
    }

    fileprivate static func write(
        _ name: String, _ value: String, _ writer: inout DetailWriter
    ) {
        writer.object { writer in
            writer.put("name", name)
            writer.put("value", value)
        }
    }

    /// As text where it is some, else in base64.
    fileprivate static func write(
        body octets: [UInt8], encodingName: StaticString, _ writer: inout DetailWriter
    ) {
        guard let text = String(validating: octets, as: UTF8.self) else {
            writer.put("text", Base64.encoded(octets))
            writer.put(encodingName, "base64")
            return
        }
        writer.put("text", text)
    }

    /// Name and value of each part of a query or a form, percent-decoded.
    static func items(_ text: Substring) -> [(name: String, value: String)] {
        text.split(separator: "&").map { part in
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (decoded(sides[0]), sides.count > 1 ? decoded(sides[1]) : "")
        }
    }

    private static func decoded(_ text: Substring) -> String {
        guard text.utf8.contains(where: { $0 == 0x25 || $0 == 0x2B }) else { return String(text) }
        var octets: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let octet = rest.popFirst() {
            if octet == 0x25, rest.count >= 2, let high = SecretNames.hex(rest[rest.startIndex]),
                let low = SecretNames.hex(rest[rest.startIndex + 1])
            {
                octets.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                octets.append(octet == 0x2B ? 0x20 : octet)
            }
        }
        return String(decoding: octets, as: UTF8.self)
    }
}

extension DetailWriter {
    /// A number that must be there, of whatever size.
    fileprivate mutating func number(_ milliseconds: Double, _ name: StaticString) {
        let isSound = milliseconds.isFinite && abs(milliseconds) < 1e12
        put(milliseconds: isSound ? milliseconds : 0, name)
    }
}
