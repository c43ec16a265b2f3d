internal import HTTPDNSJSON
internal import HTTPDNSStore

/// Records as rows of a file: columns for what is looked for, and all of it in JSON.
enum RecordForm {
    static func row(_ record: CaptureRecord) -> CaptureRow {
        var writer = DetailWriter()
        return row(record, &writer)
    }

    /// - Parameter writer: one that has written other rows, or none yet.
    static func row(_ record: CaptureRecord, _ writer: inout DetailWriter) -> CaptureRow {
        var row = columns(record)
        writer.object { write(record, &$0) }
        row.detail = writer.take()
        // What is longer stands in pieces, all of it.
        if isInRow(record.requestBody) { row.sent = record.requestBody.octets }
        if isInRow(record.responseBody) { row.received = record.responseBody.octets }
        return row
    }

    /// What is looked for.
    static func columns(_ record: CaptureRecord) -> CaptureRow {
        var row = CaptureRow()
        let started = record.startedAt.microsecondsSince1970
        row.startedMicroseconds = started
        let end = record.startedAt.adding(milliseconds: record.totalMilliseconds ?? 0)
        row.endedMicroseconds = end.microsecondsSince1970
        row.totalMicroseconds = record.totalMilliseconds.flatMap {
            Int64(exactly: ($0 * 1_000).rounded())
        }
        row.kind = record.kind.rawValue
        row.method = record.method
        row.host = record.host
        row.failure = record.failure?.label ?? ""
        row.resolver = record.resolver ?? ""
        row.status = record.status.map { Int64($0) }
        row.sentOctets = record.sentOctets
        row.receivedOctets = record.receivedOctets
        row.isLookupCached = record.isLookupCached
        row.isAnswerCached = record.isAnswerCached
        return row
    }

    private static func isInRow(_ body: CaptureRecord.Body) -> Bool {
        body.keptOctets == Int64(body.octets.count)
    }

    /// The members of a record's object, without number and times of its own, which are columns.
    static func write(_ record: CaptureRecord, _ writer: inout DetailWriter) {
        writeSummary(record, &writer)
        writer.array("hops") { writer in
            for place in record.hops.indices {
                writer.object { write(record.hops[place], &$0) }
            }
        }
        write(record.requestBody, "requestBody", &writer)
        write(record.responseBody, "responseBody", &writer)
    }

    /// Who, by which rule, and why not.
    static func writeSummary(_ record: CaptureRecord, _ writer: inout DetailWriter) {
        writer.put("initiator", record.initiator.name)
        writer.put("task", record.initiator.task.map { Int64($0) })
        writer.put("rule", record.rule)
        writer.put("reason", record.reason)
        guard let failure = record.failure else { return }
        writer.object("failure") { writer in
            writer.put("label", failure.label)
            writer.put("message", failure.message)
        }
    }

    /// There is something to be said of it.
    static func isWritten(_ body: CaptureRecord.Body) -> Bool {
        body.totalOctets > 0 || body.omission != nil || body.mediaType != nil
    }

    static func write(
        _ body: CaptureRecord.Body, _ name: StaticString, _ writer: inout DetailWriter
    ) {
        guard isWritten(body) else { return }
        writer.object(name) { writer in
            writer.put("octets", body.totalOctets)
            writer.put("kept", body.keptOctets)
            writer.put("omission", body.omission?.rawValue)
            writer.put("mediaType", body.mediaType)
        }
    }

    private static func write(_ hop: CaptureRecord.Hop, _ writer: inout DetailWriter) {
        writer.put("method", hop.method)
        writer.put("url", hop.url)
        write(hop.requestFields, "requestHeaders", &writer)
        writer.put("status", hop.status.map { Int64($0) })
        writer.put("statusText", hop.statusText)
        writer.put("version", hop.version)
        write(hop.responseFields, "responseHeaders", &writer)
        writeConnection(hop, &writer)
    }

    /// How the answer came about.
    static func writeConnection(_ hop: CaptureRecord.Hop, _ writer: inout DetailWriter) {
        if let resolution = hop.resolution {
            writer.object("resolution") { write(resolution, &$0) }
        }
        writer.put("mappedFrom", hop.mappedFrom)
        writer.put(milliseconds: hop.resolveMilliseconds, "resolveMilliseconds")
        write(hop.resolverFailures, "resolverFailures", &writer)
        writer.put("remote", hop.remote)
        writer.put("proxy", hop.proxy)
        writer.flag("reused", hop.isReusedConnection)
        writer.flag("resumed", hop.isResumedSession)
        writer.put("tls", hop.tlsVersion)
        if let peer = hop.peer { writer.object("peer", of: peer) { write(peer, &$0) } }
        writer.object("timings") { writer in
            writer.put(milliseconds: hop.timings.blocked, "blocked")
            writer.put(milliseconds: hop.timings.connected, "connected")
            writer.put(milliseconds: hop.timings.secured, "secured")
            writer.put(milliseconds: hop.timings.sent, "sent")
            writer.put(milliseconds: hop.timings.firstByte, "firstByte")
            writer.put(milliseconds: hop.timings.total, "total")
        }
        write(hop.attempts, "attempts", &writer)
        writer.flag("refreshed", hop.wasRefreshed)
        writer.put("notFollowed", hop.notFollowed)
        writer.put("systemFallback", hop.systemFallback)
        writer.put("cache", hop.cache)
        if !hop.rules.isEmpty {
            writer.array("rules") { writer in
                for rule in hop.rules { writer.put(element: rule) }
            }
        }
        writer.put("sentOctets", hop.sentOctets)
        writer.put("receivedOctets", hop.receivedOctets)
        writer.put("sentHeadOctets", hop.sentHeadOctets)
        writer.put("receivedHeadOctets", hop.receivedHeadOctets)
        writer.put("connection", hop.connection)
    }

    private static func write(
        _ fields: [CaptureRecord.Field], _ name: StaticString, _ writer: inout DetailWriter
    ) {
        guard !fields.isEmpty else { return }
        writer.array(name) { writer in
            for field in fields {
                writer.array { writer in
                    writer.put(element: field.name)
                    writer.put(element: field.value)
                }
            }
        }
    }

    private static func write(
        _ resolution: CaptureRecord.Resolution, _ writer: inout DetailWriter
    ) {
        writer.put("resolver", resolution.resolver)
        writer.put("transport", resolution.transport)
        writer.put("server", resolution.server)
        writer.array("addresses") { writer in
            for address in resolution.addresses { writer.put(element: address) }
        }
        if !resolution.aliases.isEmpty {
            writer.array("aliases") { writer in
                for alias in resolution.aliases { writer.put(element: alias) }
            }
        }
        writer.put("ttl", Int64(resolution.ttlSeconds))
        writer.flag("cached", resolution.isCached)
        writer.flag("stale", resolution.isStale)
        write(resolution.attempts, "attempts", &writer)
    }

    private static func write(_ peer: CaptureRecord.Peer, _ writer: inout DetailWriter) {
        writer.put("host", peer.host)
        writer.put("matchedName", peer.matchedName)
        writer.put("subject", peer.subject)
        writer.put("issuer", peer.issuer)
        writer.put("notAfter", peer.notAfter.exact)
        writer.put("pin", peer.pin)
        writer.put("pinning", peer.pinning)
    }

    private static func write(
        _ attempts: [CaptureRecord.Attempt], _ name: StaticString, _ writer: inout DetailWriter
    ) {
        guard !attempts.isEmpty else { return }
        writer.array(name) { writer in
            for attempt in attempts {
                writer.object { writer in
                    writer.put("at", attempt.at)
                    writer.put("label", attempt.label)
                    writer.put("message", attempt.message)
                }
            }
        }
    }
}
