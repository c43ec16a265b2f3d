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

    /// - Throws: ``CommandFault``: what is wrong with the file or an option, and what to do.
    init(_ path: String, _ arguments: ParsedArguments) throws(CommandFault) {
        self.path = path
        filter = try CaptureReading.filter(arguments)
        if CaptureReading.isJSON(path) {
            do throws(HARFault) { source = .har(try HARReader(file: path)) } catch {
                throw .usage(error.description)
            }
            return
        }
        do throws(CaptureFileFault) { source = .file(try CaptureFile(path)) } catch {
            throw .usage(error.description)
        }
    }

    /// Gives the records that are wanted, oldest first; how many were damaged.
    func read(_ take: (CaptureRecord) -> Bool) throws(CommandFault) -> Int {
        switch source {
        case .file(let file):
            do throws(CaptureFileFault) { return try file.read(filter, take) } catch {
                throw .usage(error.description)
            }
        case .har(let reader):
            let wanted = CaptureReading.numbered(reader).filter(filter.fits)
            for record in wanted.suffix(filter.last ?? wanted.count) where !take(record) { break }
            return 0
        }
    }

    func record(_ number: Int64) throws(CommandFault) -> CaptureRecord? {
        switch source {
        case .file(let file):
            do throws(CaptureFileFault) { return try file.record(number) } catch {
                throw .usage(error.description)
            }
        case .har(let reader):
            return CaptureReading.numbered(reader).first { $0.id == number }
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
            throw .usage(error.description)
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
            let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            if text.count == 3, text.lowercased().hasSuffix("xx"),
                let hundreds = text.first?.wholeNumberValue, (1...9).contains(hundreds)
            {
                filter.statuses = hundreds * 100...hundreds * 100 + 99
            } else if parts.count <= 2, let first = parts.first.flatMap({ Int($0) }),
                let last = parts.last.flatMap({ Int($0) }), (100...999).contains(first),
                (first...999).contains(last)
            {
                filter.statuses = first...last
            } else {
                throw .usage(
                    "--status \(quoted(text)) is none; write 404, 4xx, 200-299, failed or ok")
            }
        }
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
