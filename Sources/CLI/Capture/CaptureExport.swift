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
        output = arguments.value(.captureOutput).flatMap { $0 == "-" ? nil : $0 }
        checks = arguments.has(.captureCheck)
        isJSON = arguments.has(.json)
        // A HAR file is an object of its own.
        guard !isJSON || form != nil || output != nil else {
            throw .usage(
                "--json says what was written, and standard output is where the export goes; give "
                    + "--output FILE")
        }
        let chosen = try arguments.choice(.captureFormat, Form.self)
        if arguments.has(.captureHTML), let chosen, chosen != .html {
            throw .usage("--html and --format \(chosen.rawValue) are two forms")
        }
        self.form = form ?? (arguments.has(.captureHTML) ? .html : chosen ?? .ndjson)
    }

    func run() throws(CommandFault) -> ExitCode {
        if checks { return try check() }
        guard let output else {
            _ = try write { console.output.write(octets: $0) }
            return .succeeded
        }
        guard output.isEmpty || PrivateFile.identity(output) != PrivateFile.identity(reading.path)
        else {
            throw .usage("--output \(quoted(output)) is the file that is read")
        }
        let file: NewFile
        do throws(FileFault) { file = try NewFile(output) } catch {
            throw CaptureExport.fault(error)
        }
        var fault: FileFault?
        var written = try write { octets in
            guard fault == nil else { return }
            do throws(FileFault) { try file.write(octets) } catch { fault = error }
        }
        if let fault { throw CaptureExport.fault(fault) }
        do throws(FileFault) { try file.finish() } catch { throw CaptureExport.fault(error) }
        written.output = output
        if isJSON { console.print(json: written.json) }
        return .succeeded
    }

    private static func fault(_ fault: FileFault) -> CommandFault {
        CommandFault("--output: \(fault)", code: .usage, label: "output_failed")
    }

    private func write(
        _ take: ([UInt8]) -> Void
    ) throws(CommandFault) -> CaptureDocument.Written {
        var written = CaptureDocument.Written(
            file: reading.path, format: form.rawValue, octets: 0, records: 0)
        func put(_ octets: [UInt8]) {
            written.octets = (written.octets ?? 0) + Int64(octets.count)
            take(octets)
        }
        var writer = FormWriter(form, title: reading.path)
        put(writer.begin())
        var fault: CommandFault?
        var bodiless = 0
        let damaged = try reading.read { record in
            do throws(CommandFault) {
                put(try writer.entry(record, reading))
                written.records += 1
            } catch {
                // A body that is damaged is one record's matter.
                if error.label == CaptureFileFault.Code.damaged.rawValue {
                    bodiless += 1
                } else {
                    fault = error
                }
            }
            return fault == nil
        }
        if let fault { throw fault }
        written.damaged = Int64(damaged + bodiless)
        put(writer.end())
        reading.noteLosses(Int(clamping: written.damaged), console)
        return written
    }

    /// What breaks the format.
    private func check() throws(CommandFault) -> ExitCode {
        guard case .har(let reader) = reading.source else {
            throw .usage("\(reading.path) is a capture; --check judges HAR files")
        }
        if isJSON {
            var found = CaptureDocument.Written(
                file: reading.path, records: Int64(reader.records.count))
            found.isOK = reader.faults.isEmpty
            found.creator = reader.creator
            found.faults = reader.faults
            console.print(json: found.json)
        } else if reader.faults.isEmpty {
            let by = reader.creator.isEmpty ? "" : ", written by \(reader.creator)"
            console.print("HAR 1.2, \(reader.records.count) records\(by)".printable)
        } else {
            for fault in reader.faults { console.print(fault.printable) }
        }
        return reader.faults.isEmpty ? .succeeded : .negative
    }
}

/// Writes records in one form, piece by piece.
private struct FormWriter {
    private let form: CaptureExport.Form
    private var har = HARWriter(version: CommandLineTool.version)
    private var page: CapturePage

    init(_ form: CaptureExport.Form, title: String) {
        self.form = form
        page = CapturePage(title: title)
    }

    func begin() -> [UInt8] {
        switch form {
        case .ndjson: []
        case .har: har.begin()
        case .html: page.begin()
        }
    }

    /// - Throws: ``CommandFault``: a body cannot be read.
    mutating func entry(
        _ record: CaptureRecord, _ reading: CaptureReading
    ) throws(CommandFault) -> [UInt8] {
        // A page holds the beginnings of bodies: a browser has to show it.
        if form == .html { return page.entry(record) }
        let request = try reading.body(record, .request)
        let response = try reading.body(record, .response)
        guard form == .ndjson else {
            return har.entries(record, request: request, response: response)
        }
        return CaptureJSON.object(
            record, withBodies: true, request: request, response: response) + [0x0A]
    }

    func end() -> [UInt8] {
        switch form {
        case .ndjson: []
        case .har: har.end()
        case .html: page.end()
        }
    }
}
