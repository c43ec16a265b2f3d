internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSOpenSSLTrust
internal import HTTPDNSTrust

/// `httpdns pins show`.
enum PinsShow {
    private struct Row {
        let pin: Pin
        let kind: String
        let subject: String
        /// Whether the peer sent it; nil for a file.
        var isServed: Bool?
    }

    static func run(
        _ words: [String], _ arguments: ParsedArguments, _ console: Console
    ) async throws(CommandFault) -> ExitCode {
        guard !words.isEmpty else {
            throw .usage("a host or a file is missing: httpdns pins show HOST|FILE…")
        }
        for rule in [OptionRule.policy, .next] where arguments.has(rule) {
            throw .usage("--\(rule.name) means nothing for show")
        }
        let isFile = { (word: String) in
            PinFile.isMeant(word, isConnected: arguments.has(.connect))
        }
        if words.allSatisfy(isFile) {
            let ofPeers = [OptionRule.connect, .resolver, .cacert, .at] + OptionRule.fetchTrust
            for rule in ofPeers where arguments.has(rule) {
                throw .usage(
                    "--\(rule.name) means nothing for a file: \(quoted(words[0])) is one, and nobody "
                        + "is connected to")
            }
        }
        var code = ExitCode.succeeded
        // One that cannot be read or judged keeps no other from it.
        for word in words {
            do throws(CommandFault) {
                let ended =
                    isFile(word)
                    ? try show(file: word, arguments, console)
                    : try await show(host: word, arguments, console)
                code = max(code, ended)
            } catch {
                if arguments.has(.json) { console.print(json: json(error, subject: word)) }
                console.note(error.message)
                code = max(code, error.code)
            }
        }
        return code
    }

    /// The keys of a result, for what could not be read or judged.
    static func json(_ fault: CommandFault, subject: String?) -> JSONValue {
        [
            "subject": VerdictRendering.text(subject),
            "error": ["code": "usage", "message": .string(fault.message)], "pins": [],
        ]
    }

    private static func show(
        file: String, _ arguments: ParsedArguments, _ console: Console
    ) throws(CommandFault) -> ExitCode {
        let rows = try PinFile.keys(file).map {
            Row(pin: $0.pin, kind: $0.kind.rawValue, subject: $0.subject)
        }
        print(rows, of: file, trouble: nil, arguments, console)
        return .succeeded
    }

    private static func show(
        host: String, _ arguments: ParsedArguments, _ console: Console
    ) async throws(CommandFault) -> ExitCode {
        let configuration = try ToolConfiguration.load(arguments, console)
        let arguments = configuration.applied(to: arguments, of: "pins")
        let target = try PeerTarget(host)
        var policy = try arguments.trustPolicy(configuration.trust, console)
        policy.pins = PinSet()
        try FetchTrust.apply(arguments, for: target.host, console, to: &policy)
        // A rule that only reports: nobody is refused by it, and it keeps what the peer sent.
        var rule = PinRule([])
        rule.enforcement = .reportOnly
        if let nobody = Pin(sha256: [UInt8](repeating: 0, count: 32)) { rule.pins = [nobody] }
        do throws(PinSetError) {
            try policy.pins.add(rule, for: HostPattern(exactly: target.host))
        } catch { throw .usage("\(error)") }
        let verdict = try await PeerCheck(arguments, configuration, console).verdict(
            on: target, under: policy)
        var served: [CertificateFacts]?
        if case .success(let peer) = verdict.result, case .mismatched(let kept) = peer.pinning {
            served = kept.served
        }
        let rows = verdict.chain.map { certificate in
            Row(
                pin: certificate.pin, kind: "certificate", subject: certificate.subject,
                isServed: served.map { $0.contains { $0.fingerprint == certificate.fingerprint } })
        }
        var trouble: (label: String, words: String)?
        switch verdict.result {
        case .success: break
        case .failure(.untrusted(let failure)):
            let first = verdict.message(failure).split(separator: "\n").first
            trouble = (
                failure.label,
                "not trusted: \(first ?? "") These are the keys of whoever answered."
            )
        case .failure(.unreached(let label, let why, _)): trouble = (label, why)
        }
        print(rows, of: host, trouble: trouble, arguments, console)
        return verdict.code
    }

    private static func print(
        _ rows: [Row], of subject: String, trouble: (label: String, words: String)?,
        _ arguments: ParsedArguments,
        _ console: Console
    ) {
        if arguments.has(.json) {
            console.print(json: [
                "subject": .string(subject),
                "error": trouble.map {
                    ["code": .string($0.label), "message": .string($0.words)]
                } ?? .null,
                "pins": .array(
                    rows.map { row in
                        [
                            "pin": .string(row.pin.description), "kind": .string(row.kind),
                            "subject": .string(row.subject),
                            "served": row.isServed.map { .bool($0) } ?? .null,
                        ]
                    }),
            ])
        } else {
            for row in rows {
                let note = row.isServed == false ? "  (a root of yours, not sent)" : ""
                let name = row.subject.isEmpty ? "(\(row.kind))" : row.subject
                console.print("\(row.pin)  \(name.prefix(400).description.printable)\(note)")
            }
        }
        if let trouble { console.note("\(subject): \(trouble.words)") }
    }
}
