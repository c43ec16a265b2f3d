package import HTTPDNSExchange
internal import HTTPDNSLookup
internal import HTTPDNSTrust

/// Why a request has no usable answer, in the words of the tool.
package struct FetchTrouble: Error, Sendable, Hashable {
    /// One of ``codes``, of ``LookupTrouble/codes``, or the label of a verdict.
    package let label: String
    package let message: String
    package let code: ExitCode

    /// - Parameter message: the secrets of the URLs in it are taken out.
    package init(label: String, message: String, code: ExitCode) {
        self.label = label
        self.message = shown(message: message)
        self.code = code
    }

    package init(_ failure: ExchangeFailure) {
        var isOfAuthority = false
        if case .untrusted(let refusal) = failure.cause {
            isOfAuthority = [.unknownIssuer, .selfSigned].contains(refusal.code)
        }
        var message = failure.description
        if case .redirectRefused(.downgrade(let url)) = failure.cause {
            message = message.replacing(
                RedirectFault.downgrade(to: url).description,
                with: RedirectFault.downgradeText(to: url) + "; --follow-to-http permits it")
        }
        if case .redirectRefused(.tooMany) = failure.cause {
            message += "; --max-redirects N follows more, --no-follow hands the redirect over"
        }
        self.init(
            label: failure.label,
            message: message + (isOfAuthority ? "\n" + PeerVerdict.rootHint : ""),
            code: FetchTrouble.exitCode(failure))
    }

    /// The codes that are not those of a lookup or of a verdict: help prints them.
    package static let codes: [(label: String, meaning: String, code: ExitCode)] = [
        ("no_such_name", "the host does not exist", .negative),
        ("no_data", "the host has no address", .negative),
        ("cannot_connect", "no address could be connected to", .noReply),
        ("timed_out", "no reply in time", .noReply),
        ("connection_lost", "before an answer: exit 9; in its body", .serverFailure),
        ("handshake_failed", "TLS failed before a certificate came", .noReply),
        ("malformed_response", "the answer breaks HTTP", .serverFailure),
        ("head_too_large", "the answer's head is too large", .serverFailure),
        ("body_too_large", "the answer's body is too large", .serverFailure),
        ("body_expands_too_far", "the answer's body is a decompression bomb", .serverFailure),
        ("body_source_failed", "the file of --data changed, or cannot be read", .usage),
        ("redirect_refused", "too many redirects, or from https to http", .serverFailure),
        ("not_kept", "--cache-mode only, and nothing kept may answer", .negative),
        ("blocked", "a rule of --rules blocks the request", .negative),
        ("no_rule_matched", "--rules is strict, and no rule decides", .negative),
        ("not_recorded", "no recorded exchange fits", .negative),
        ("stub_failed", "a stub of --rules cannot be played", .usage),
        ("record_failed", "what a rule of --rules records could not be kept", .usage),
        ("offline", "a rule turns the network off, and nothing kept may answer", .negative),
        ("unsendable", "the request cannot be sent as it is", .usage),
        ("output_failed", "the file of -o or --cookie-jar cannot be written", .usage),
        (
            "capture_failed", "--capture could not keep a record; what came of the request stands",
            .usage
        ),
        ("unavailable", "this machine lacks something", .usage),
        ("unexpected", "a fault of this program", .serverFailure),
        ("cancelled", "interrupted", .interrupted),
    ]

    static func exitCode(_ failure: ResolutionFailure) -> ExitCode {
        switch failure {
        case .negative(let answer):
            if case .serverFailure = answer.outcome { .serverFailure } else { .negative }
        case .failed(let failure): LookupTrouble(failure).code
        }
    }

    private static func exitCode(_ failure: ExchangeFailure) -> ExitCode {
        switch failure.cause {
        case .untrusted: .negative
        case .notResolved(let failure): exitCode(failure)
        case .connectionLost(_, let hadResponse): hadResponse ? .serverFailure : .noReply
        default: codes.first { $0.label == failure.label }?.code ?? .serverFailure
        }
    }
}
