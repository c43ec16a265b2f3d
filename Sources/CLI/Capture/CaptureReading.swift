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
        let isJudged = arguments.has(.captureCheck)
        if path == "-" || SmallFile.isStream(path) {
            source = .har(try CaptureReading.har(from: path, isJudged: isJudged, console))
            return
        }
        if CaptureReading.isJSON(path) {
            source = .har(try CaptureReading.har(path, isJudged: isJudged, console))
            return
        }
        do throws(CaptureFileFault) { source = .file(try CaptureFile(path)) } catch {
            throw CaptureReading.neither(path, error) ?? CommandFault(error)
        }
    }

    /// What a file is called that is no database: whoever named it may have meant a HAR file.
    private static func neither(_ path: String, _ fault: CaptureFileFault) -> CommandFault? {
        guard fault.code == .foreign,
            let beginning = try? SmallFile.beginning(path, octets: 64), beginning.count >= 2,
            !beginning.starts(with: "SQLite format 3".utf8)
        else { return nil }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = beginning.starts(with: mark) ? beginning.dropFirst(3) : beginning[...]
        let first = text.first { $0 > 0x20 } ?? 0
        let what =
            if isUTF16(beginning) {
                "it looks like UTF-16, and a HAR file is JSON in UTF-8"
            } else if first == 0x5B || first == 0x22 || "ntf-0123456789".utf8.contains(first) {
                "a HAR file is a JSON object with the member \"log\", and a capture an SQLite "
                    + "database"
            } else if beginning.allSatisfy({ $0 == 0 }) {
                "it begins with zeros"
            } else {
                "a HAR file begins with {, and a capture as an SQLite database does"
            }
        return CommandFault(
            "\(path) is neither a capture nor a HAR file: \(what)", code: .usage,
            label: fault.code.rawValue)
    }

    /// A large one takes its time, and says so on a terminal.
    private static func har(
        _ path: String, isJudged: Bool, _ console: Console
    ) throws(CommandFault) -> HARReader {
        var progress = ReadingProgress(console, of: path)
        defer { progress.clear() }
        do throws(HARFault) {
            return try HARReader(file: path, isJudged: isJudged) { progress.show($0) }
        } catch { throw CommandFault(error) }
    }

    /// Of what is read once, from its beginning to its end.
    private static func har(
        from path: String, isJudged: Bool, _ console: Console
    ) throws(CommandFault) -> HARReader {
        let name = path == "-" ? "standard input" : path
        let octets: [UInt8]
        if path == "-" {
            do throws(CommandFault) {
                octets = try FileOctets.read(path, atMost: HARReader.maximumOctets)
            } catch { throw CommandFault(error.message, code: error.code, label: "unreadable") }
        } else {
            do throws(SmallFile.Fault) {
                octets = try SmallFile.whole(path, most: HARReader.maximumOctets)
            } catch {
                throw CommandFault("\(path): \(error)", code: .usage, label: "unreadable")
            }
        }
        guard !octets.starts(with: "SQLite format 3".utf8) else {
            throw CommandFault(
                "\(name) is a database: a capture is read from a file, HAR from anywhere",
                code: .usage, label: "unreadable")
        }
        var progress = ReadingProgress(console, of: name)
        defer { progress.clear() }
        do throws(HARFault) {
            return try HARReader(octets, of: name, isJudged: isJudged) { progress.show($0) }
        } catch { throw CommandFault(error) }
    }

    /// Says which records are not among those that are read, and why.
    func noteLosses(_ damaged: Int, _ console: Console) {
        if damaged > 0 { console.note("\(damaged) records of \(path) are damaged, and left out") }
        switch source {
        case .file(let file):
            let dropped = (try? file.contents().dropped) ?? 0
            guard dropped > 0 else { return }
            console.note("\(dropped) records were lost before they came into \(path)")
        case .har(let reader):
            guard !reader.faults.isEmpty else { return }
            console.note(
                "\(path) breaks the format in \(reader.faults.count) places, and was read as "
                    + "far as it goes; capture har \(path) --check names them")
        }
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

    /// By its mark, or by the zeros of letters of ASCII.
    private static func isUTF16(_ beginning: [UInt8]) -> Bool {
        guard beginning.count >= 4 else { return false }
        let isZero = beginning.prefix(4).map { $0 == 0 }
        return [[0xFF, 0xFE], [0xFE, 0xFF]].contains(Array(beginning.prefix(2)))
            || isZero == [false, true, false, true] || isZero == [true, false, true, false]
    }

    private static func isJSON(_ path: String) -> Bool {
        guard let beginning = try? SmallFile.beginning(path, octets: 64) else { return false }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = beginning.starts(with: mark) ? beginning.dropFirst(3) : beginning[...]
        // UTF-16 is none; see `neither`.
        return !isUTF16(beginning) && text.first { $0 > 0x20 } == 0x7B
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
