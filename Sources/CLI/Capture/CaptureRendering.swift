internal import HTTPDNSCapture

/// Records as text for people. Pure; whatever a record holds comes out printable.
enum CaptureRendering {
    static let titles = [
        "NUMBER", "TIME", "METHOD", "STATUS", "TOOK", "UP", "DOWN", "FROM", "URL",
    ]

    static func cells(_ record: CaptureRecord) -> [String] {
        [
            "\(record.id)", String(record.startedAt.description.dropLast()),
            known(record.method),
            status(record), took(record.totalMilliseconds), octets(record.sentOctets),
            octets(record.receivedOctets), (record.resolver ?? "-").printable,
            known(record.url) + note(record),
        ]
    }

    private static func known(_ text: String) -> String { text.isEmpty ? "-" : text.printable }

    /// What the URL alone does not say.
    private static func note(_ record: CaptureRecord) -> String {
        var notes: [String] = []
        if record.kind != .exchange { notes.append(record.kind.rawValue) }
        if record.isAnswerCached, record.kind != .cached { notes.append("cached") }
        if record.hops.count > 1 {
            notes.append(
                record.hops.count == 2 ? "1 redirect" : "\(record.hops.count - 1) redirects")
        }
        if let rule = record.rule { notes.append("rule \(rule)") }
        if let asked = record.hops.first?.mappedFrom { notes.append("asked for \(asked)") }
        return notes.isEmpty ? "" : "  (" + notes.joined(separator: ", ").printable + ")"
    }

    static func status(_ record: CaptureRecord) -> String {
        if let failure = record.failure { return failure.label.printable }
        return record.status.map { "\($0)" } ?? "-"
    }

    static func took(_ milliseconds: Double?) -> String {
        milliseconds.map { DurationText.elapsed(milliseconds: $0) } ?? "-"
    }

    /// `512`, `1.5k`, `20M`: as wide as it need be.
    static func octets(_ count: Int64) -> String {
        guard count >= 1_000 else { return "\(max(0, count))" }
        var rest = Double(count)
        var unit = ""
        for next in ["k", "M", "G", "T", "P", "E"] where rest >= 999.5 {
            rest /= 1_000
            unit = next
        }
        let isShort = rest < 9.95
        let tenths = Int((rest * 10).rounded())
        return (isShort ? "\(tenths / 10).\(tenths % 10)" : "\(Int(rest.rounded()))") + unit
    }
}

// One record
extension CaptureRendering {
    static func detail(
        _ record: CaptureRecord, request: [UInt8], response: [UInt8], _ paint: Paint
    ) -> [String] {
        var lines = [paint.bold("\(record.method) \(record.url)".printable)]
        lines += summary(record, paint)
        for (place, hop) in record.hops.enumerated() {
            lines.append("")
            lines += self.hop(hop, place, of: record.hops.count, paint)
        }
        lines += body("request body", record.requestBody, request, paint)
        lines += body("response body", record.responseBody, response, paint)
        return lines
    }

    private static func summary(_ record: CaptureRecord, _ paint: Paint) -> [String] {
        var lines = [
            row("number", "\(record.id)"), row("started", record.startedAt.description),
            row("kind", record.kind.rawValue), row("took", took(record.totalMilliseconds)),
            row(
                "initiator",
                record.initiator.name + (record.initiator.task.map { ", task \($0)" } ?? "")),
        ]
        if let rule = record.rule { lines.append(row("rule", rule)) }
        if let reason = record.reason { lines.append(row("reason", reason)) }
        if let failure = record.failure {
            lines.append(paint.red(row("failed", failure.label)))
            lines += failure.message.split(separator: "\n").map { "    " + String($0).printable }
        }
        return lines
    }

    private static func hop(
        _ hop: CaptureRecord.Hop, _ place: Int, of count: Int, _ paint: Paint
    ) -> [String] {
        let title = count > 1 ? "hop \(place + 1) of \(count)" : "request"
        var lines = [paint.bold(title) + "  " + "\(hop.method) \(hop.url)".printable]
        if let asked = hop.mappedFrom { lines.append(row("mapped from", asked)) }
        lines += hop.requestFields.map { "  > " + "\($0.name): \($0.value)".printable }
        if let status = hop.status {
            let words = [hop.version.map { "HTTP/" + $0 }, "\(status)", hop.statusText]
            lines.append("  < " + words.compactMap(\.self).joined(separator: " ").printable)
            lines += hop.responseFields.map { "  < " + "\($0.name): \($0.value)".printable }
        }
        return lines + connection(hop) + attempts(hop)
    }

    private static func connection(_ hop: CaptureRecord.Hop) -> [String] {
        var lines: [String] = []
        if let found = hop.resolution {
            let facts = [
                found.resolver, found.transport, found.server.map { "server " + $0 },
                "ttl \(found.ttlSeconds)s", found.isCached ? "from the cache" : nil,
                found.isStale ? "stale" : nil,
            ].compactMap(\.self)
            lines.append(row("resolver", facts.joined(separator: ", ")))
            lines.append(row("addresses", found.addresses.joined(separator: ", ")))
            if !found.aliases.isEmpty {
                lines.append(row("aliases", found.aliases.joined(separator: ", ")))
            }
        }
        if let why = hop.notFollowed { lines.append(row("not followed", why)) }
        if let why = hop.systemFallback { lines.append(row("system asked", "because " + why)) }
        if let cache = hop.cache { lines.append(row("cache", cache)) }
        if let remote = hop.remote {
            let facts = [
                remote, hop.proxy.map { "through the proxy " + $0 },
                hop.connection.map { "connection " + $0 },
                hop.isReusedConnection ? "reused" : nil, hop.tlsVersion,
                hop.isResumedSession ? "resumed" : nil,
            ].compactMap(\.self)
            lines.append(row("connected to", facts.joined(separator: ", ")))
        }
        if let peer = hop.peer {
            let subject = peer.subject.isEmpty ? "no subject" : peer.subject
            lines.append(row("proved", "\(peer.matchedName), \(subject)"))
            lines.append(row("issued by", "\(peer.issuer), until \(peer.notAfter)"))
            lines.append(row("pins", peer.pinning + (peer.pin.map { " " + $0 } ?? "")))
        }
        return lines + [times(hop)].compactMap(\.self)
    }

    private static func times(_ hop: CaptureRecord.Hop) -> String? {
        let parts: [(String, Double?)] = [
            ("resolve", hop.resolveMilliseconds), ("connected", hop.timings.connected),
            ("secured", hop.timings.secured), ("first octet", hop.timings.firstByte),
            ("total", hop.timings.total),
        ]
        let told = parts.compactMap { name, time in
            time.map { "\(name) \(DurationText.precise(milliseconds: $0))" }
        }
        guard !told.isEmpty || hop.sentOctets > 0 || hop.receivedOctets > 0 else { return nil }
        let wire = "\(hop.sentOctets) octets up, \(hop.receivedOctets) down on the wire"
        return row("times", (told + [wire]).joined(separator: ", "))
    }

    private static func attempts(_ hop: CaptureRecord.Hop) -> [String] {
        (hop.resolverFailures + (hop.resolution?.attempts ?? []) + hop.attempts).map { attempt in
            row("in vain", [attempt.at, attempt.label].compactMap(\.self).joined(separator: ": "))
        }
    }

    private static func row(_ name: String, _ value: String) -> String {
        let gap = String(repeating: " ", count: max(1, 14 - name.count))
        return "  " + name + gap + value.printable
    }

    private static func body(
        _ title: String, _ body: CaptureRecord.Body, _ octets: [UInt8], _ paint: Paint
    ) -> [String] {
        guard body.totalOctets > 0 || !octets.isEmpty else { return [] }
        var words = "\(body.totalOctets) octets"
        if let omission = body.omission { words += ", kept \(body.keptOctets) (\(omission))" }
        var lines = ["", paint.bold(title) + "  " + words]
        guard let text = String(validating: octets, as: UTF8.self) else {
            return lines + ["  \(octets.count) octets that are no text; --body writes them out"]
        }
        let shown = text.split(separator: "\n", omittingEmptySubsequences: false)
        lines += shown.prefix(mostLines).map { "  " + String($0.prefix(mostColumns)).printable }
        if shown.count > mostLines { lines.append("  … --body writes out all of it") }
        return lines
    }

    /// Because: a screen or two; the rest is for a pager.
    private static let mostLines = 100
    /// Because: a line of minified text is longer than anybody reads.
    private static let mostColumns = 2_000
}
