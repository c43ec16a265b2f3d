internal import HTTPDNSNames
internal import HTTPDNSTrust

extension OptionRule {
    static let cert = OptionRule(
        "cert", value: "FILE", "present this certificate (PEM) to the host, if it asks")
    static let key = OptionRule(
        "key", value: "FILE", "its private key (PEM); else the key is in the file of --cert")
    static let keyPassEnv = OptionRule(
        "key-pass-env", value: "NAME", "the variable that holds the passphrase of the key")
    static let revocation = OptionRule(
        "revocation", value: "MODE",
        "off, if-present or required: what a staple or list must show (if-present)")
    static let crl = OptionRule(
        "crl", value: "FILE", isRepeatable: true, "revocation lists in PEM")
    static let transparency = OptionRule(
        "ct", value: "MODE",
        "off, report, require (2 logs) or require=N: time stamps of N of --ct-logs (off)")
    static let transparencyLogs = OptionRule(
        "ct-logs", value: "FILE", isRepeatable: true, "the known logs: log_list.json or public keys"
    )
    static let dangerous = OptionRule(
        "dangerous", value: "HOST=OPTION", isRepeatable: true,
        "weaken a check for a host: accepts_expired, accepts_weak_keys or matches_common_name; "
            + "shows in every result")

    static let fetchTrust: [OptionRule] = [
        .cert, .key, .keyPassEnv, .revocation, .crl, .transparency, .transparencyLogs, .dangerous,
    ]
}

/// What `fetch` and `verify` are told about trust besides roots and pins.
enum FetchTrust {
    /// - Throws: ``CommandFault``: the option at fault.
    static func apply(
        _ arguments: ParsedArguments, for host: Host, _ console: Console,
        to policy: inout TrustPolicy
    ) throws(CommandFault) {
        if let identity = try identity(arguments, console) {
            policy.clientIdentities[HostPattern(exactly: host)] = identity
        }
        try revocation(arguments, &policy.revocation)
        try transparency(arguments, &policy.transparency)
        for text in arguments.values(.dangerous) { try accept(text, in: &policy.dangerous) }
    }

    private static func identity(
        _ arguments: ParsedArguments, _ console: Console
    ) throws(CommandFault) -> ClientIdentity? {
        guard let file = arguments.value(.cert) else {
            for option in [OptionRule.key, .keyPassEnv] where arguments.has(option) {
                throw .usage("--\(option.name) belongs to --cert, which is not given")
            }
            return nil
        }
        var identity = ClientIdentity(
            .files(certificates: file, key: arguments.value(.key) ?? file))
        if let name = arguments.value(.keyPassEnv) {
            guard let text = console.variable(name), !text.isEmpty else {
                // The name is not shown: who mistakes the option writes the passphrase there.
                throw .usage("--key-pass-env names a variable of the environment that is not set")
            }
            identity.passphrase = Secret(text)
        }
        return identity
    }

    private static func revocation(
        _ arguments: ParsedArguments, _ policy: inout RevocationPolicy
    ) throws(CommandFault) {
        if let text = arguments.value(.revocation) {
            guard let mode = RevocationPolicy.Mode(rawValue: text) else {
                throw .usage(
                    "--revocation \(quoted(text)) is none of "
                        + RevocationPolicy.Mode.allCases.map(\.rawValue).joined(separator: ", "))
            }
            policy.mode = mode
        }
        let lists = arguments.values(.crl)
        guard !lists.isEmpty else { return }
        policy.lists = lists.map { .file($0) }
        guard policy.mode != .off else {
            throw .usage("--crl says to look, --revocation off not to")
        }
    }

    private static func transparency(
        _ arguments: ParsedArguments, _ policy: inout TransparencyPolicy
    ) throws(CommandFault) {
        let logs = arguments.values(.transparencyLogs)
        if !logs.isEmpty {
            policy.logs = logs.map { .file($0) }
            if policy.mode == .off { policy.mode = .report }
        }
        if let text = arguments.value(.transparency) {
            guard let mode = transparencyMode(text) else {
                throw .usage(
                    "--ct \(quoted(text)) is none of off, report, require, require=N (1 to 9)")
            }
            guard mode != .off || logs.isEmpty else {
                throw .usage("--ct-logs says to look, --ct off not to")
            }
            policy.mode = mode
        }
        guard policy.mode == .off || !policy.logs.isEmpty else {
            throw .usage("--ct needs --ct-logs: which logs are known")
        }
    }

    /// `off`, `report`, `require`, `require=N`; nil for anything else.
    static func transparencyMode(_ text: String) -> TransparencyPolicy.Mode? {
        switch text {
        case "off": return .off
        case "report": return .report
        case "require": return .require(minimumLogs: TransparencyPolicy.usualLogs)
        default:
            guard text.hasPrefix("require="), let number = Int(text.dropFirst(8)),
                (1...9).contains(number)
            else { return nil }
            return .require(minimumLogs: number)
        }
    }

    private static func accept(
        _ text: String, in options: inout DangerousOptions
    ) throws(CommandFault) {
        let parts = text.split(separator: "=", maxSplits: 1).map { String($0) }
        guard parts.count == 2, let option = DangerousOptions.Option(rawValue: parts[1]) else {
            throw .usage(
                "--dangerous \(quoted(text)): write HOST=OPTION; there is "
                    + DangerousOptions.Option.allCases.map(\.label).joined(separator: ", "))
        }
        let pattern: HostPattern
        do throws(HostPatternError) { pattern = try HostPattern(parts[0]) } catch {
            throw .usage("--dangerous \(quoted(text)): \(error)")
        }
        do throws(DangerousOptionsError) {
            try options.accept(option, for: pattern, because: "the command line says so")
        } catch { throw .usage("--dangerous: \(error)") }
    }
}
