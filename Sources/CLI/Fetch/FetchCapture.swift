internal import HTTPDNSCapture
internal import HTTPDNSPlatform

extension OptionRule {
    static let captureFile = OptionRule(
        "capture", value: "FILE", "record what happens there; capture show FILE reads it")
}

/// What `--capture` asks for: a recorder, and what went wrong with it.
struct FetchCapture: Sendable {
    let capture: Capture
    private let troubles: Troubles

    /// Told on the capture's own thread.
    private final class Troubles: Sendable {
        private let told = Locked<[CaptureTrouble]>([])
        func add(_ trouble: CaptureTrouble) { told.withLock { $0.append(trouble) } }
        var all: [CaptureTrouble] { told.withLock { $0 } }
    }

    /// Nil without the option.
    ///
    /// - Throws: ``CommandFault``: the file is there, and no capture that may be gone on with.
    init?(_ arguments: ParsedArguments) throws(CommandFault) {
        guard let path = arguments.value(.captureFile) else { return nil }
        guard !path.isEmpty else { throw .usage("--capture needs the name of a file") }
        do throws(CaptureFileFault) { _ = try CaptureFile(path) } catch {
            // What is damaged is moved aside, and said to be; an empty file is begun.
            let isFresh = error.code == .missing || FetchCapture.isEmpty(path)
            guard isFresh || error.code == .damaged || error.code == .busy else {
                throw .usage("--capture: \(error)")
            }
        }
        try WrittenFile.check(path, of: .captureFile)
        let troubles = Troubles()
        var configuration = CaptureConfiguration(path: path)
        configuration.report = { troubles.add($0) }
        capture = Capture(configuration)
        self.troubles = troubles
    }

    /// Returns when all is written; says what was not.
    ///
    /// - Returns: that records were lost, for `--json`: in lines it is told already.
    func finish(_ console: Console) async -> FetchTrouble? {
        await capture.close()
        let told = troubles.all
        for trouble in told { console.note("\(trouble)") }
        let lost = capture.counts.droppedRecords
        guard lost > 0 else { return nil }
        let what = "--capture: \(lost) record\(lost == 1 ? "" : "s") could not be kept"
        console.note(what)
        let why = told.last.map { ": \($0)" } ?? ""
        return FetchTrouble(label: "capture_failed", message: what + why, code: .usage)
    }

    private static func isEmpty(_ path: String) -> Bool {
        (try? SmallFile.beginning(path, octets: 1).isEmpty) ?? false
    }
}
