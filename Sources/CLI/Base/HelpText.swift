/// What `--help` prints. Pure.
package enum HelpText {
    /// The exit codes, for every command.
    package static let exitCodes = """
        Exit codes:
          0    answered, succeeded
          1    a negative answer (no such name, no data), or not trusted
          2    usage or configuration
          3    the server answered with a failure
          9    no reply in time, or unreachable
          130  interrupted: Ctrl-C or SIGTERM
        With several results the highest counts.
        """

    /// `httpdns --help`.
    package static func tool(_ commands: [Command]) -> String {
        let rows = commands.filter { !$0.isHidden }.map { ($0.name + " " + $0.usage, $0.summary) }
        return """
            httpdns: true addresses, and requests that go to them as requests for the original host

            Usage: httpdns COMMAND …

            Commands:
            \(columns(rows))

            Every command takes --help (with examples), --color auto|always|never and --version.

            \(DashRule.words)

            \(exitCodes)

            """
    }

    /// `httpdns COMMAND --help`.
    package static func command(_ command: Command) -> String {
        page(
            command.name, command.summary, command.usage, command.allOptions, command.details)
    }

    /// `httpdns COMMAND VERB --help`.
    package static func verb(_ verb: CommandVerb, of command: Command) -> String {
        page(
            ([command.name] + verb.words).joined(separator: " "), verb.summary, verb.usage,
            verb.options + OptionRule.common, verb.details)
    }

    private static func page(
        _ name: String, _ summary: String, _ usage: String, _ options: [OptionRule],
        _ details: String
    ) -> String {
        """
        httpdns \(name): \(summary)

        Usage: httpdns \(name) \(usage)

        Options:
        \(columns(options.map { ($0.synopsis, $0.summary) }))

        \(details)

        \(exitCodes)

        """
    }

    private static func columns(_ rows: [(String, String)]) -> String {
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { left, right in
            "  " + left + String(repeating: " ", count: width - left.count + 2) + right
        }.joined(separator: "\n")
    }
}
