internal import HTTPDNSCapture

extension OptionRule {
    static let keepSecrets = OptionRule(
        "keep-secrets", "with a HAR file: leave the passwords, cookies and tokens that are in it")
}

/// What is taken out of HAR files: other programs write them with every secret in them, and what is
/// made of them is made to be passed on.
struct CaptureSecrets {
    /// Nil: nothing.
    private let redaction: RecordRedaction?

    init(areKept: Bool) { redaction = areKept ? nil : RecordRedaction() }

    func shown(_ record: CaptureRecord) -> CaptureRecord { redaction?.shown(record) ?? record }

    /// - Throws: ``CommandFault``: an option that asks for what is not there.
    static func check(
        _ reading: CaptureReading, _ arguments: ParsedArguments
    ) throws(CommandFault) {
        guard arguments.has(.keepSecrets) else { return }
        guard case .har = reading.source else {
            throw .usage("--keep-secrets is for HAR files: what a capture left out is not in it")
        }
        guard !arguments.has(.captureCheck) else {
            throw .usage("--keep-secrets and --check: nothing is written that could have secrets")
        }
    }

    static let help = """
        What is shown and made of a HAR file is without its passwords, cookies and tokens, whoever wrote
        it, by the list that captures are kept by; --keep-secrets leaves them. The replay of rules reads
        a HAR file as it is.
        """
}
