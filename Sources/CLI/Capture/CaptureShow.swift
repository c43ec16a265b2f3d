internal import HTTPDNSCapture
internal import HTTPDNSJSON

/// `capture show`: the list, one record, or one body.
struct CaptureShow {
    private let reading: CaptureReading
    private let console: Console
    private let isJSON: Bool
    private let number: Int64?
    private let side: CaptureRecord.Side?

    init(
        _ reading: CaptureReading, _ arguments: ParsedArguments, _ console: Console
    ) throws(CommandFault) {
        self.reading = reading
        self.console = console
        isJSON = arguments.has(.json)
        number = try CaptureShow.number(arguments)
        side = try arguments.choice(.captureBody, BodySide.self)?.side
        guard side == nil || number != nil else {
            throw .usage("--body needs the number of a record: capture show FILE NUMBER --body …")
        }
    }

    func run() throws(CommandFault) -> ExitCode {
        guard let number else { return try list() }
        guard let record = try reading.record(number) else {
            throw CommandFault(
                "\(reading.path) has no record \(number); capture show \(reading.path) lists them",
                code: .negative, label: "no_record")
        }
        let request = try reading.body(record, .request)
        let response = try reading.body(record, .response)
        if let side {
            console.output.write(octets: side == .request ? request : response)
        } else if isJSON {
            let bodies = CaptureJSON.Bodies(record, request, response)
            console.output.write(
                octets: CaptureJSON.document(record, file: reading.path, bodies: bodies) + [0x0A])
        } else {
            let lines = CaptureRendering.detail(
                record, request: request, response: response, console.outputPaint)
            console.output.write(lines.map { $0 + "\n" }.joined())
        }
        return .succeeded
    }

    private func list() throws(CommandFault) -> ExitCode {
        var table = TextTable(CaptureRendering.titles)
        var count = 0
        let damaged = try reading.read { record in
            count += 1
            if isJSON {
                console.output.write(
                    octets: CaptureJSON.document(record, file: reading.path) + [0x0A])
            } else {
                table.add(CaptureRendering.cells(record))
            }
            return true
        }
        if !isJSON, count > 0 {
            console.output.write(table.lines(console.outputPaint).map { $0 + "\n" }.joined())
        }
        if count == 0 { console.note("no record of \(reading.path) fits") }
        reading.noteLosses(damaged, console)
        return .succeeded
    }

    private static func number(_ arguments: ParsedArguments) throws(CommandFault) -> Int64? {
        guard arguments.words.count > 2 else { return nil }
        guard let number = Int64(arguments.words[2]), number > 0 else {
            throw .usage(
                "\(quoted(arguments.words[2])) is no number of a record; one file is shown at a time"
            )
        }
        return number
    }
}

/// What `--body` takes.
private enum BodySide: String, CaseIterable {
    case request, response

    var side: CaptureRecord.Side { self == .request ? .request : .response }
}
