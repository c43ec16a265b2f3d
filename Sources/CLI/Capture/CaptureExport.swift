internal import HTTPDNSCapture
internal import HTTPDNSJSON
internal import HTTPDNSPlatform

/// `capture har` and `capture export`: records in another form, written as they are read.
struct CaptureExport {
    enum Form: String, CaseIterable {
        case ndjson, har, html
    }

    private let reading: CaptureReading
    private let console: Console
    private let form: Form
    private let output: String?
    private let checks: Bool
    private let isJSON: Bool

    init(
        _ reading: CaptureReading, _ arguments: ParsedArguments, _ console: Console, form: Form?
    ) throws(CommandFault) {
        self.reading = reading
        self.console = console
        output = arguments.value(.captureOutput)
        checks = arguments.has(.captureCheck)
        isJSON = arguments.has(.json)
        let chosen = try arguments.choice(.captureFormat, Form.self)
        if arguments.has(.captureHTML), let chosen, chosen != .html {
            throw .usage("--html and --format \(chosen.rawValue) are two forms")
        }
        self.form = form ?? (arguments.has(.captureHTML) ? .html : chosen ?? .ndjson)
    }

    func run() throws(CommandFault) -> ExitCode {
        if checks { return try check() }
        guard let output, output != "-" else {
            try write { console.output.write(octets: $0) }
            return .succeeded
        }
        guard PrivateFile.identity(output) != PrivateFile.identity(reading.path) else {
            throw .usage("--output \(quoted(output)) is the file that is read")
        }
        let file: NewFile
        do throws(FileFault) { file = try NewFile(output) } catch { throw .usage("\(error)") }
        var fault: FileFault?
        try write { octets in
            guard fault == nil else { return }
            do throws(FileFault) { try file.write(octets) } catch { fault = error }
        }
        if let fault { throw .usage("\(fault)") }
        do throws(FileFault) { try file.finish() } catch { throw .usage("\(error)") }
        return .succeeded
    }

    private func write(_ put: ([UInt8]) -> Void) throws(CommandFault) {
        var har = HARWriter(version: CommandLineTool.version)
        var page = CapturePage(title: reading.path)
        switch form {
        case .ndjson: break
        case .har: put(har.begin())
        case .html: put(page.begin())
        }
        var fault: CommandFault?
        let damaged = try reading.read { record in
            do throws(CommandFault) {
                switch form {
                case .ndjson:
                    put(
                        CaptureJSON.object(
                            record, withBodies: true,
                            request: try reading.body(record, .request),
                            response: try reading.body(record, .response)) + [0x0A])
                case .har:
                    put(
                        har.entries(
                            record, request: try reading.body(record, .request),
                            response: try reading.body(record, .response)))
                // A page holds the beginnings of bodies: a browser has to show it.
                case .html: put(page.entry(record))
                }
            } catch { fault = error }
            return fault == nil
        }
        if let fault { throw fault }
        switch form {
        case .ndjson: break
        case .har: put(har.end())
        case .html: put(page.end())
        }
        if damaged > 0 {
            console.note("\(damaged) records of \(reading.path) are damaged, and left out")
        }
    }

    /// What breaks the format.
    private func check() throws(CommandFault) -> ExitCode {
        guard case .har(let reader) = reading.source else {
            throw .usage("\(reading.path) is a capture; --check judges HAR files")
        }
        if isJSON {
            console.print(
                json: [
                    "file": .string(reading.path), "ok": .bool(reader.faults.isEmpty),
                    "creator": .string(reader.creator),
                    "records": .integer(Int64(reader.records.count)),
                    "faults": .array(reader.faults.map { .string($0) }), "error": .null,
                ])
        } else if reader.faults.isEmpty {
            let by = reader.creator.isEmpty ? "" : ", written by \(reader.creator)"
            console.print("HAR 1.2, \(reader.records.count) records\(by)".printable)
        } else {
            for fault in reader.faults { console.print(fault.printable) }
        }
        return reader.faults.isEmpty ? .succeeded : .negative
    }
}
