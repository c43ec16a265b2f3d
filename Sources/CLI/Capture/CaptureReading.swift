internal import HTTPDNSCapture
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// A file that a person named, a capture or a HAR file, and which of its records are wanted.
struct CaptureReading {
    enum Source {
        case file(CaptureFile)
        case har(HARReader)
    }

    let path: String
    let source: Source
    let filter: CaptureFilter
    /// Those of a HAR file stay in what is shown.
    private let keepsSecrets: Bool

    /// - Throws: ``CommandFault``: what is wrong with the file or an option, and what to do.
    init(
        _ path: String, _ arguments: ParsedArguments, _ console: Console
    ) throws(CommandFault) {
        keepsSecrets = arguments.has(.keepSecrets)
        self.path = path
        filter = try CaptureReading.filter(arguments)
        if CaptureReading.isJSON(path) {
            source = .har(try CaptureReading.har(path, console))
            return
        }
        do throws(CaptureFileFault) { source = .file(try CaptureFile(path)) } catch {
            throw CommandFault(error)
        }
    }

    /// A large one takes its time, and says so on a terminal.
    private static func har(
        _ path: String, _ console: Console
    ) throws(CommandFault) -> HARReader {
        var progress = ReadingProgress(console, of: path)
        defer { progress.clear() }
        do throws(HARFault) {
            return try HARReader(file: path) { progress.show($0) }
        } catch { throw CommandFault(error) }
    }

    /// Gives the records that are wanted, oldest first; how many were damaged.
    func read(_ take: (CaptureRecord) -> Bool) throws(CommandFault) -> Int {
        switch source {
        case .file(let file):
            do throws(CaptureFileFault) { return try file.read(filter, take) } catch {
                throw CommandFault(error)
            }
        case .har(let reader):
            let wanted = CaptureReading.numbered(reader).filter(filter.fits)
            let secrets = CaptureSecrets(areKept: keepsSecrets)
            for record in wanted.suffix(filter.last ?? wanted.count)
            where !take(secrets.shown(record)) { break }
            return 0
        }
    }

    func record(_ number: Int64) throws(CommandFault) -> CaptureRecord? {
        switch source {
        case .file(let file):
            do throws(CaptureFileFault) { return try file.record(number) } catch {
                throw CommandFault(error)
            }
        case .har(let reader):
            return CaptureReading.numbered(reader).first { $0.id == number }
                .map(CaptureSecrets(areKept: keepsSecrets).shown)
        }
    }

    /// All that was kept of a body.
    func body(
        _ record: CaptureRecord, _ side: CaptureRecord.Side
    ) throws(CommandFault) -> [UInt8] {
        let body = side == .request ? record.requestBody : record.responseBody
        guard case .file(let file) = source, body.keptOctets > Int64(body.octets.count) else {
            return body.octets
        }
        do throws(CaptureFileFault) { return try file.body(of: record.id, side) } catch {
            throw CommandFault(error)
        }
    }

    /// In a HAR file the entries are counted from 1.
    private static func numbered(_ reader: HARReader) -> [CaptureRecord] {
        reader.records.enumerated().map { place, record in
            var record = record
            record.id = Int64(place) + 1
            return record
        }
    }

    private static func isJSON(_ path: String) -> Bool {
        guard let beginning = try? SmallFile.beginning(path, octets: 64) else { return false }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = beginning.starts(with: mark) ? beginning.dropFirst(3) : beginning[...]
        return text.first { $0 > 0x20 } == 0x7B
    }
}

// Options
extension CaptureReading {
    private static func filter(
        _ arguments: ParsedArguments
    ) throws(CommandFault) -> CaptureFilter {
        var filter = CaptureFilter()
        filter.host = arguments.value(.captureHost)
        filter.method = arguments.value(.captureMethod)
        filter.last = try arguments.number(.captureLast, in: 1...10_000_000)
        filter.since = try time(.captureSince, arguments)
        filter.until = try time(.captureUntil, arguments)
        filter.kind = try arguments.choice(.captureKind, CaptureRecord.Kind.self)
        try readStatus(arguments.value(.captureStatus), &filter)
        return filter
    }

    private static func readStatus(
        _ text: String?, _ filter: inout CaptureFilter
    ) throws(CommandFault) {
        guard let text else { return }
        switch text {
        case "failed": filter.isFailed = true
        case "ok": filter.isFailed = false
        default:
            guard let statuses = statuses(text.lowercased()) else {
                throw .usage(
                    "--status \(quoted(text)) is none: HTTP has 100 to 599; write 404, 4xx, 200-299, "
                        + "failed or ok")
            }
            filter.statuses = statuses
        }
    }

    /// `4xx`, `404`, `200-299`; nil for what no answer of HTTP has. Source: RFC 9110 §15.
    private static func statuses(_ text: String) -> ClosedRange<Int>? {
        let known = 100...599
        if text.count == 3, text.hasSuffix("xx"), let hundreds = text.first?.wholeNumberValue {
            let all = hundreds * 100...hundreds * 100 + 99
            return known.contains(all.lowerBound) ? all : nil
        }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count <= 2, let first = parts.first.flatMap({ Int($0) }),
            let last = parts.last.flatMap({ Int($0) }), first <= last, known.contains(first),
            known.contains(last)
        else { return nil }
        return first...last
    }

    /// A moment, a day, or so long ago.
    private static func time(
        _ rule: OptionRule, _ arguments: ParsedArguments
    ) throws(CommandFault) -> CaptureTime? {
        guard let text = arguments.value(rule) else { return nil }
        if let time = CaptureTime(text) { return time }
        guard let ago = DurationText.parse(text) else {
            throw .usage(
                "--\(rule.name) \(quoted(text)) is no time; write 2027-01-31T12:00:00Z, 2027-01-31, "
                    + "or how long ago: 10m, 2h")
        }
        return Capture.now.adding(milliseconds: 0 - Double(ago / .milliseconds(1)))
    }
}
