internal import HTTPDNSCapture
internal import HTTPDNSJSON

/// `capture stats`: sums, as tables or as one object.
struct CaptureStats {
    private enum Grouping: String, CaseIterable {
        case host, resolver, day
    }

    private let reading: CaptureReading
    private let console: Console
    private let isJSON: Bool
    private let grouping: Grouping?

    init(
        _ reading: CaptureReading, _ arguments: ParsedArguments, _ console: Console
    ) throws(CommandFault) {
        self.reading = reading
        self.console = console
        isJSON = arguments.has(.json)
        grouping = try arguments.choice(.captureBy, Grouping.self)
    }

    func run() throws(CommandFault) -> ExitCode {
        var sums = CaptureStatistics()
        var damaged = 0
        if case .file(let file) = reading.source {
            do throws(CaptureFileFault) { damaged = try sums.add(file, reading.filter) } catch {
                throw CommandFault(error)
            }
        } else {
            damaged = try reading.read { record in
                sums.add(record)
                return true
            }
        }
        var dropped: Int64 = 0
        if case .file(let file) = reading.source { dropped = (try? file.contents().dropped) ?? 0 }
        if case .har = reading.source { reading.noteLosses(damaged, console) }
        if damaged > 0 {
            console.note(
                "\(damaged) records of \(reading.path) are damaged, and counted as far as they can "
                    + "be read")
        }
        if isJSON {
            console.print(json: json(sums, dropped, damaged))
        } else {
            for line in text(sums, dropped) { console.print(line) }
        }
        return .succeeded
    }

    private func groups(
        _ sums: CaptureStatistics, _ grouping: Grouping
    ) -> [(name: String, tally: CaptureTally)] {
        func busiest(_ groups: [String: CaptureTally]) -> [(name: String, tally: CaptureTally)] {
            groups.map { (name: $0.key, tally: $0.value) }
                .sorted { ($1.tally.requests, $0.name) < ($0.tally.requests, $1.name) }
        }
        return switch grouping {
        case .host: busiest(sums.byHost)
        case .resolver: busiest(sums.byResolver)
        case .day:
            sums.byDay.sorted { $0.key < $1.key }
                .map { (name: $0.key.description, tally: $0.value) }
        }
    }

    private func text(_ sums: CaptureStatistics, _ dropped: Int64) -> [String] {
        let titles = [
            "REQUESTS", "FAILED", "UP", "DOWN", "P50", "P90", "P99", "LOOKUPS CACHED",
            "ANSWERS CACHED",
        ]
        var lines: [String] = []
        if grouping == nil {
            var table = TextTable(["ALL"] + titles)
            table.add([""] + cells(sums.total))
            lines += table.lines(console.outputPaint)
        }
        for wanted in Grouping.allCases where grouping == nil || grouping == wanted {
            let groups = groups(sums, wanted)
            guard !groups.isEmpty else { continue }
            var table = TextTable([wanted.rawValue.uppercased()] + titles)
            for (name, tally) in groups {
                table.add([name.isEmpty ? "-" : name.printable] + cells(tally))
            }
            if !lines.isEmpty { lines.append("") }
            lines += table.lines(console.outputPaint)
        }
        if dropped > 0 {
            lines += ["", "\(dropped) records were lost before they came into the file"]
        }
        return lines
    }

    private func cells(_ tally: CaptureTally) -> [String] {
        [
            "\(tally.requests)", "\(tally.failures)", CaptureRendering.octets(tally.sentOctets),
            CaptureRendering.octets(tally.receivedOctets),
            CaptureRendering.took(tally.milliseconds(atShare: 0.5)),
            CaptureRendering.took(tally.milliseconds(atShare: 0.9)),
            CaptureRendering.took(tally.milliseconds(atShare: 0.99)),
            "\(tally.lookupCacheHits)", "\(tally.answerCacheHits)",
        ]
    }

    private func json(
        _ sums: CaptureStatistics, _ dropped: Int64, _ damaged: Int
    ) -> JSONValue {
        var object: JSONObject = [
            "file": .string(reading.path), "dropped": .integer(dropped),
            "damaged": .integer(Int64(damaged)),
            "total": json(sums.total),
        ]
        let names: [Grouping: String] = [.host: "hosts", .resolver: "resolvers", .day: "days"]
        for wanted in Grouping.allCases {
            let name = names[wanted] ?? wanted.rawValue
            guard grouping == nil || grouping == wanted else {
                object[name] = .null
                continue
            }
            object[name] = .array(
                groups(sums, wanted).map { name, tally in
                    var group: JSONObject = [
                        wanted.rawValue: name.isEmpty ? .null : .string(name)
                    ]
                    for member in json(tally).object?.members ?? [] {
                        group[member.name] = member.value
                    }
                    return .object(group)
                })
        }
        object["error"] = .null
        return .object(object)
    }

    private func json(_ tally: CaptureTally) -> JSONValue {
        let latency = { (share: Double) -> JSONValue in
            tally.milliseconds(atShare: share).map { .number($0) } ?? .null
        }
        return [
            "requests": .integer(Int64(tally.requests)),
            "failures": .integer(Int64(tally.failures)),
            "sentOctets": .integer(tally.sentOctets),
            "receivedOctets": .integer(tally.receivedOctets),
            "lookupCacheHits": .integer(Int64(tally.lookupCacheHits)),
            "answerCacheHits": .integer(Int64(tally.answerCacheHits)),
            "milliseconds": [
                "p50": latency(0.5), "p90": latency(0.9), "p99": latency(0.99),
                "max": latency(1),
            ],
        ]
    }
}
