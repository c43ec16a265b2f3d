internal import HTTPDNSLookup
internal import HTTPDNSWire

/// How a report is shown to people. Pure.
package struct LookupRendering: Sendable {
    package let usesSeconds: Bool
    package let wantsDNSSEC: Bool
    package let paint: Paint

    package init(usesSeconds: Bool, wantsDNSSEC: Bool, paint: Paint) {
        self.usesSeconds = usesSeconds
        self.wantsDNSSEC = wantsDNSSEC
        self.paint = paint
    }

    /// The records and the summary; nothing when there is no record at all.
    package func table(_ report: LookupReport) -> [String] {
        let records = report.records
        guard !records.isEmpty else { return [] }
        var table = TextTable(["NAME", "TYPE", "TTL", "DATA", "FROM"])
        let from = from(report)
        for record in records { table.add(cells(record, from)) }
        return table.lines(paint) + (report.hasRecords ? [summary(report)] : [])
    }

    /// A line a record, cells between tabs: for lists.
    package func rows(_ report: LookupReport) -> [String] {
        let from = from(report)
        return report.records.map { cells($0, from).joined(separator: "\t") }
    }

    private func cells(_ record: ResourceRecord, _ from: String) -> [String] {
        [
            record.name.description, record.type.name, ttl(record.ttlSeconds), record.shownData,
            from,
        ]
    }

    private func from(_ report: LookupReport) -> String {
        report.source.shown(report.answerSource?.resolver ?? report.source.label).printable
    }

    private func ttl(_ seconds: UInt32) -> String {
        usesSeconds ? String(seconds) : DurationText.short(seconds: seconds)
    }

    private func summary(_ report: LookupReport) -> String {
        let count = report.records.count
        var parts = ["\(count) \(count == 1 ? "record" : "records")"]
        if let ttl = report.ttlSeconds {
            parts.append(
                ttl == 0
                    ? "not to be kept (TTL 0)"
                    : "usable for " + (usesSeconds ? "\(ttl)s" : DurationText.short(seconds: ttl)))
        }
        if report.isCached { parts.append("from the cache") }
        if wantsDNSSEC {
            let isAuthentic = report.answered.allSatisfy(\.testimony.isAuthenticData)
            parts.append(isAuthentic ? "authentic data (AD)" : "not validated (no AD)")
        }
        parts.append(DurationText.elapsed(milliseconds: report.milliseconds))
        let name = report.subject.unicodeText.map {
            "; \(report.subject.asciiText) is \($0.printable)"
        }
        return paint.dim(parts.joined(separator: ", ")) + (name ?? "")
    }

    /// The lines for standard error: negative answers, failures, types without records.
    package func complaints(_ report: LookupReport) -> [String] {
        if let trouble = report.subject.nameTrouble {
            let place = report.subject.line.map { "line \($0): " } ?? ""
            return ["\(place)\(quoted(report.subject.text)) is not a name: \(trouble.message)"]
        }
        var lines: [(type: String, text: [String])] = []
        for part in report.parts {
            let text: [String]
            switch part.result {
            case .failure(let trouble): text = self.text(trouble, report)
            case .success(let answer): text = self.text(answer, part.type, report)
            }
            if !text.isEmpty { lines.append((part.type.name, text)) }
        }
        guard let first = lines.first else { return [] }
        let name = report.subject.shownText
        let isSame = lines.count == report.parts.count && lines.allSatisfy { $0.text == first.text }
        guard !isSame else { return prefixed(first.text, name) }
        return lines.flatMap { prefixed($0.text, "\(name) \($0.type)") }
    }

    /// The first line begins with the name; what follows is indented already.
    private func prefixed(_ text: [String], _ name: String) -> [String] {
        text.enumerated().map { $0.offset == 0 ? "\(name): \($0.element)" : $0.element }
    }

    private func text(
        _ answer: LookupAnswer, _ type: RecordType, _ report: LookupReport
    ) -> [String] {
        let place = place(answer.testimony.source, isCached: answer.isCached, report)
        switch answer.outcome {
        case .records: return []
        // The C library says so of a name that has addresses of the other family only.
        case .noData where report.hasRecords && report.asksForAddresses,
            .noSuchName where report.hasRecords && report.asksForAddresses:
            return []
        case .noData:
            let types =
                report.hasRecords
                ? type.name
                : report.parts.map(\.type.name).joined(
                    separator: " or ")
            return ["NODATA (\(place)): no \(types) record, \(validity(answer))"]
        case .noSuchName: return ["NXDOMAIN (\(place)): \(validity(answer))"]
        case .serverFailure(let code):
            return ["\(code.name) (\(place)): the server answered with a failure"]
        }
    }

    private func validity(_ answer: LookupAnswer) -> String {
        guard let seconds = answer.testimony.negativeTTLSeconds else {
            return "negative answer without an SOA, not to be kept"
        }
        return "negative answer valid \(DurationText.short(seconds: seconds))"
    }

    /// `127.0.0.53, udp, 3ms`.
    private func place(
        _ source: Testimony.Source, isCached: Bool, _ report: LookupReport
    ) -> String {
        let transport = isCached ? "cache" : source.transport.rawValue
        let isPlain = source.transport == .udp || source.transport == .tcp
        var who = isPlain ? source.server ?? source.resolver : source.resolver
        if who.hasSuffix(":53"), isPlain { who.removeLast(3) }
        let parts = who == transport ? [who] : [who, transport]
        return (parts + [DurationText.elapsed(milliseconds: report.milliseconds)])
            .joined(separator: ", ")
    }

    private func text(_ trouble: LookupTrouble, _ report: LookupReport) -> [String] {
        let source = report.source
        let who = source.names[source.label] ?? source.server ?? source.label
        let time = DurationText.elapsed(milliseconds: report.milliseconds)
        guard !trouble.isInterruption else {
            let way = source.transport.map { $0 == who ? "" : $0 + ", " } ?? ""
            return ["interrupted before \(who) answered (\(way)\(time))"]
        }
        guard let transport = source.transport else {
            // A chain: one line for each source that failed.
            let lines = trouble.message.split(separator: "\n").map { String($0) }
            return lines.prefix(1).map { $0 + " (\(time))" } + lines.dropFirst()
        }
        let way = transport == who ? "" : transport + " "
        if let refusal = trouble.refusal {
            // Some of the texts begin with the server themselves.
            let why =
                refusal.hasPrefix(who + ": ") ? refusal.dropFirst(who.count + 2) : refusal[...]
            let way = transport == who ? "" : transport + ", "
            return ["no reply from \(who) (\(way)\(time)): \(why)"]
        }
        guard trouble.label == "timed_out" else {
            return ["\(who): \(message(trouble, from: who)) (\(way)\(time))"]
        }
        let tries = trouble.tries ?? 1
        return ["no reply from \(who) (\(way)\(tries) \(tries == 1 ? "try" : "tries"), \(time))"]
    }

    /// Some of the texts name the server themselves.
    private func message(_ trouble: LookupTrouble, from who: String) -> String {
        var message = trouble.message
        if let twice = message.firstRange(of: who + ": ") { message.removeSubrange(twice) }
        return message
    }

    /// Whether several resolvers said the same about one name; nil when only one was asked.
    package func agreement(_ reports: [LookupReport]) -> String? {
        guard reports.count > 1 else { return nil }
        let answered = reports.filter { $0.status != nil }
        let silent = reports.count - answered.count
        let missing = silent == 0 ? "" : "\(silent) of \(reports.count) gave no answer; "
        guard let first = answered.first else { return "none of \(reports.count) gave an answer" }
        guard answered.count > 1 else { return missing + "nothing to compare" }
        if answered.allSatisfy({ verdict($0) == verdict(first) }) {
            let how = answered.count == 2 ? "both resolvers" : "all \(answered.count) resolvers"
            let who = silent == 0 ? how : "the others"
            return missing + "\(who) agree"
        }
        let said = answered.map {
            "\($0.source.shown($0.source.label).printable) says \(verdict($0))"
        }
        let judged = LookupJudgement(reports: answered).phrase.map { "; " + $0 } ?? ""
        return missing + "the resolvers disagree: " + said.joined(separator: "; ") + judged
    }

    /// What a report says, TTLs and times aside: the data, the status, or why there is none.
    package func statement(_ report: LookupReport) -> String {
        if case .failure = report.subject.name { return "no name" }
        let said = verdict(report)
        return said.isEmpty ? report.trouble?.label ?? "" : said
    }

    private func verdict(_ report: LookupReport) -> String {
        let data = report.endData.sorted()
        return data.isEmpty ? report.status ?? "" : data.joined(separator: ", ")
    }
}
