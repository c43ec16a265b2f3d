/// What `-` means where a file is named, for all commands alike:
///
/// - a file of what a command works on: standard input, which one option or word can have;
/// - a file that is written once: standard output;
/// - a file that is kept or changed, and a directory: nothing;
/// - a file that says how to work (certificates, lists, settings): nothing, either.
///
/// What means nothing is refused; `./-` is a file of that name.
enum DashRule {
    /// - Throws: ``CommandFault``: the option at fault.
    static func check(
        _ arguments: ParsedArguments, _ rules: [OptionRule]
    ) throws(CommandFault) {
        var readers: [String] = arguments.words.contains("-") ? ["-"] : []
        for rule in rules {
            let values = arguments.values(rule)
            if rule.name == OptionRule.data.name, values.contains("@-") {
                readers.append("--data @-")
            }
            let count = values.count { $0 == "-" }
            guard count > 0 else { continue }
            if inputs.contains(rule.name) {
                readers += Array(repeating: "--\(rule.name) -", count: count)
            } else if kept.contains(rule.name) {
                throw .usage(
                    "--\(rule.name) -: this is kept as a file, and - is none; ./- is one of that name"
                )
            } else if isFile(rule), !outputs.contains(rule.name) {
                throw .usage(
                    "--\(rule.name) - : this is not read from standard input; ./- is a file of that "
                        + "name")
            }
        }
        guard readers.count < 2 else {
            throw .usage(
                "\(readers.prefix(2).joined(separator: " and ")): standard input can be read once")
        }
    }

    private static func isFile(_ rule: OptionRule) -> Bool {
        rule.value == "FILE" || rule.value == "DIR"
    }

    private static let inputs = Set(
        [OptionRule.chain, .policy, .next, .rules, .file].map(\.name))
    private static let outputs = Set([OptionRule.output, .html, .junit].map(\.name))
    private static let kept = Set(
        [OptionRule.captureFile, .cookieJar, .cache, .directory].map(\.name))

    /// For help.
    static let words = """
        Where a file holds what the command works on (--chain, --policy, --next, --rules, --file, the
        FILE of capture and rules), - is standard input; where one is written (--output, --html,
        --junit), - is standard output. Files that are kept or changed (--capture, --cookie-jar,
        --cache), and those that say how to work (--config, --token-file, --hosts, --cacert, --cert,
        --key, --crl, --ct-logs), have to be files; ./- is one of that name.
        """
}
