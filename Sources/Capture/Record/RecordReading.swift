internal import HTTPDNSJSON
internal import HTTPDNSStore

// From a row back to a record. A row is read as if a stranger had written it.
extension RecordForm {
    /// Nil when the row is not what was written.
    static func record(_ row: CaptureRow) -> CaptureRecord? {
        guard
            let detail = try? JSONValue.parse(row.detail, maximumOctets: maximumDetailOctets),
            let kind = CaptureRecord.Kind(rawValue: row.kind),
            let hops = detail["hops"]?.array?.compactMap(hop), let first = hops.first
        else { return nil }
        var record = CaptureRecord(
            kind, first, startedAt: CaptureTime(microsecondsSince1970: row.startedMicroseconds))
        record.id = row.number
        record.hops = hops
        readSummary(detail, &record)
        record.totalMilliseconds = row.totalMicroseconds.map { Double($0) / 1_000 }
        record.requestBody = body(detail["requestBody"], row.sent)
        record.responseBody = body(detail["responseBody"], row.received)
        return record
    }

    static func readSummary(_ value: JSONValue, _ record: inout CaptureRecord) {
        record.initiator = .init(
            value["initiator"]?.string ?? "", task: int(value["task"]))
        record.rule = value["rule"]?.string
        record.reason = value["reason"]?.string
        guard let failure = value["failure"] else { return }
        record.failure = .init(
            label: failure["label"]?.string ?? "", message: failure["message"]?.string ?? "")
    }

    static func body(_ value: JSONValue?, _ octets: [UInt8]) -> CaptureRecord.Body {
        var body = CaptureRecord.Body()
        body.octets = octets
        body.totalOctets = max(0, value?["octets"]?.integer ?? Int64(octets.count))
        body.keptOctets = max(0, value?["kept"]?.integer ?? Int64(octets.count))
        body.omission = value?["omission"]?.string.flatMap { .init(rawValue: $0) }
        body.mediaType = value?["mediaType"]?.string
        return body
    }

    static func hop(_ value: JSONValue) -> CaptureRecord.Hop? {
        guard value.object != nil else { return nil }
        var hop = CaptureRecord.Hop(
            method: value["method"]?.string ?? "", url: value["url"]?.string ?? "",
            requestFields: fields(value["requestHeaders"]))
        hop.status = int(value["status"])
        hop.statusText = value["statusText"]?.string
        hop.version = value["version"]?.string
        hop.responseFields = fields(value["responseHeaders"])
        readConnection(value, &hop)
        return hop
    }

    /// What HAR has no members for, too.
    static func readConnection(_ value: JSONValue, _ hop: inout CaptureRecord.Hop) {
        hop.resolution = value["resolution"].flatMap(resolution)
        hop.mappedFrom = value["mappedFrom"]?.string
        hop.resolveMilliseconds = value["resolveMilliseconds"]?.number
        hop.resolverFailures = attempts(value["resolverFailures"])
        hop.remote = value["remote"]?.string
        hop.proxy = value["proxy"]?.string
        hop.isReusedConnection = value["reused"]?.bool ?? false
        hop.isResumedSession = value["resumed"]?.bool ?? false
        hop.tlsVersion = value["tls"]?.string
        hop.peer = value["peer"].flatMap(peer)
        if let timings = value["timings"] { hop.timings = self.timings(timings) }
        hop.attempts = attempts(value["attempts"])
        hop.wasRefreshed = value["refreshed"]?.bool ?? false
        hop.notFollowed = value["notFollowed"]?.string
        hop.systemFallback = value["systemFallback"]?.string
        hop.cache = value["cache"]?.string
        hop.rules = texts(value["rules"])
        hop.sentOctets = max(0, value["sentOctets"]?.integer ?? 0)
        hop.receivedOctets = max(0, value["receivedOctets"]?.integer ?? 0)
        hop.sentHeadOctets = value["sentHeadOctets"]?.integer
        hop.receivedHeadOctets = value["receivedHeadOctets"]?.integer
        hop.connection = value["connection"]?.string
    }

    private static func timings(_ value: JSONValue) -> CaptureRecord.Timings {
        var timings = CaptureRecord.Timings()
        timings.blocked = value["blocked"]?.number
        timings.connected = value["connected"]?.number
        timings.secured = value["secured"]?.number
        timings.sent = value["sent"]?.number
        timings.firstByte = value["firstByte"]?.number
        timings.total = value["total"]?.number
        return timings
    }

    private static func fields(_ value: JSONValue?) -> [CaptureRecord.Field] {
        (value?.array ?? []).compactMap { pair in
            guard let pair = pair.array, pair.count == 2, let name = pair[0].string,
                let value = pair[1].string
            else { return nil }
            return CaptureRecord.Field(name, value)
        }
    }

    private static func resolution(_ value: JSONValue) -> CaptureRecord.Resolution? {
        guard value.object != nil else { return nil }
        var resolution = CaptureRecord.Resolution(
            resolver: value["resolver"]?.string ?? "",
            transport: value["transport"]?.string ?? "",
            addresses: texts(value["addresses"]),
            ttlSeconds: UInt32(clamping: value["ttl"]?.integer ?? 0))
        resolution.server = value["server"]?.string
        resolution.aliases = texts(value["aliases"])
        resolution.isCached = value["cached"]?.bool ?? false
        resolution.isStale = value["stale"]?.bool ?? false
        resolution.attempts = attempts(value["attempts"])
        return resolution
    }

    private static func peer(_ value: JSONValue) -> CaptureRecord.Peer? {
        guard let notAfter = value["notAfter"]?.string.flatMap({ CaptureTime($0) }) else {
            return nil
        }
        return CaptureRecord.Peer(
            host: value["host"]?.string ?? "", matchedName: value["matchedName"]?.string ?? "",
            subject: value["subject"]?.string ?? "", issuer: value["issuer"]?.string ?? "",
            notAfter: notAfter, pin: value["pin"]?.string,
            pinning: value["pinning"]?.string ?? "")
    }

    private static func attempts(_ value: JSONValue?) -> [CaptureRecord.Attempt] {
        (value?.array ?? []).map {
            CaptureRecord.Attempt(
                at: $0["at"]?.string, label: $0["label"]?.string ?? "",
                message: $0["message"]?.string ?? "")
        }
    }

    private static func texts(_ value: JSONValue?) -> [String] {
        (value?.array ?? []).compactMap(\.string)
    }

    static func int(_ value: JSONValue?) -> Int? {
        value?.integer.flatMap { Int(exactly: $0) }
    }

    /// Because: heads are at most 256 KiB a hop, and a chain of twenty hops is refused.
    static let maximumDetailOctets = 16 << 20
}
