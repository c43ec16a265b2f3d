internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSPinPolicy
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// `httpdns pins check`.
enum PinsCheck {
    static func run(
        _ words: [String], _ arguments: ParsedArguments, _ console: Console
    ) async throws(CommandFault) -> ExitCode {
        guard !arguments.has(.next) else { throw .usage("--next belongs to pins plan") }
        let pins = try PinFile.policy(arguments, console).pins
        guard !words.isEmpty else {
            throw .usage("a host is missing: httpdns pins check --policy FILE HOST…")
        }
        var targets: [PeerTarget] = []
        for word in words { targets.append(try PeerTarget(word)) }
        let configuration = try ToolConfiguration.load(arguments, console)
        let arguments = configuration.applied(to: arguments, of: "pins")
        let check = try PeerCheck(arguments, configuration, console)
        var common = try arguments.trustPolicy(configuration.trust, console)
        common.pins = pins
        let now = try arguments.moment() ?? SystemWallClock().now()
        var code = ExitCode.succeeded
        for target in targets {
            var policy = common
            try FetchTrust.apply(arguments, for: target.host, console, to: &policy)
            let verdict = try await check.verdict(on: target, under: policy)
            let finding = Finding(verdict, match: pins.match(for: target.host), now: now)
            report(finding, verdict, arguments, console)
            code = max(code, finding.code)
        }
        return code
    }

    /// What is to be said of one host.
    private struct Finding {
        var word: String
        var code: ExitCode
        var warnings: [String]

        init(_ verdict: PeerVerdict, match: PinMatch?, now: WallTime) {
            code = verdict.code
            warnings = PinWarnings.of(match, chain: verdict.chain, now: now)
            switch verdict.result {
            case .failure(.untrusted): word = "refused"
            case .failure(.unreached): word = "not judged"
            case .success(let peer):
                switch peer.pinning {
                case .unpinned:
                    word = "not pinned"
                    code = .negative
                    warnings.append("no pattern of the policy matches \(verdict.host)")
                case .mismatched:
                    word = "mismatch, only reported"
                    code = .negative
                case .matched: word = "holds"
                case .exempt: word = "exempt"
                case .lapsed: word = "expired"
                case .waived: word = "waived"
                }
            }
        }
    }

    /// The keys of a result, for a command that could not even begin.
    static func json(_ fault: CommandFault, subject: String?) -> JSONValue {
        guard case .object(var object) = VerdictRendering.json(fault, subject: subject) else {
            return .null
        }
        object["verdict"] = .null
        object["warnings"] = []
        return .object(object)
    }

    private static func report(
        _ finding: Finding, _ verdict: PeerVerdict, _ arguments: ParsedArguments,
        _ console: Console
    ) {
        if arguments.has(.json) {
            guard case .object(var object) = VerdictRendering.json(verdict) else { return }
            object["verdict"] = .string(finding.word)
            object["warnings"] = .array(finding.warnings.map { .string($0) })
            console.print(json: .object(object))
            return
        }
        let paint = console.outputPaint
        let word = finding.code == .succeeded ? paint.green(finding.word) : paint.red(finding.word)
        switch verdict.result {
        case .success(let peer):
            console.print("\(verdict.subject): \(word): \(peer.pinning.phrase)")
            for line in VerdictRendering.besides(peer, paint) { console.print("  " + line) }
            if case .mismatched = peer.pinning {
                for (number, certificate) in peer.chain.enumerated() {
                    let title = number == 0 ? "Verified chain:  " : "                 "
                    let subject = certificate.subject.isEmpty ? "(no subject)" : certificate.subject
                    console.print(
                        "  \(title) \(certificate.pin)  \(subject.prefix(400).description.printable)"
                    )
                }
            }
        case .failure(.untrusted(let failure)):
            let message = verdict.message(failure)
                .split(separator: "\n").map { String($0).printable }
            console.print("\(verdict.subject): \(word): \(message.joined(separator: "\n"))")
        case .failure(.unreached(_, let why, _)): console.note("\(verdict.subject): \(why)")
        }
        for warning in finding.warnings {
            console.print("  " + paint.yellow("warning") + ": " + warning)
        }
    }
}

/// What makes a rule that holds today brittle.
enum PinWarnings {
    static func of(_ match: PinMatch?, chain: [CertificateFacts], now: WallTime) -> [String] {
        guard let match, let rule = match.rule else { return [] }
        var warnings: [String] = []
        let used = Set(chain.map(\.pin))
        if !chain.isEmpty, rule.pins.isSubset(of: used) {
            warnings.append(
                rule.pins.count == 1
                    ? "the only pin of \(match.pattern) is in the chain itself: when that key is "
                        + "replaced, every client is locked out; add the pin of a backup key"
                    : "every pin of \(match.pattern) is in the chain itself: none is a backup; add "
                        + "the pin of a key that is not in use")
        }
        if let expiry = rule.expiry {
            let left = expiry.at.secondsSince1970 - now.secondsSince1970
            if left < 0 {
                warnings.append("the pins of \(match.pattern) ended \(expiry.at.iso8601)")
            } else if left < soonSeconds {
                warnings.append(
                    "the pins of \(match.pattern) end \(expiry.at.iso8601) "
                        + "(then: \(expiry.then.rawValue))")
            }
        }
        return warnings
    }

    /// Because: a month is what it takes to bring a new policy to most clients.
    private static let soonSeconds: Int64 = 2_592_000
}
