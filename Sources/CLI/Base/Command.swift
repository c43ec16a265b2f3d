package import HTTPDNSJSON

/// One command of the tool, as data: what it takes, how it is explained, what it does.
package struct Command: Sendable {
    package typealias Action =
        @Sendable (ParsedArguments, Console) async throws(CommandFault) -> ExitCode

    package let name: String
    /// One line for the list of commands.
    package let summary: String
    /// What follows the name in the usage line: `NAME… [TYPE…] [@RESOLVER…]`.
    package let usage: String
    /// Left out of the list of commands.
    package var isHidden = false
    /// Its own options; ``OptionRule/common`` come on top.
    package let options: [OptionRule]
    /// What help says below the options: sections with examples, lists, exit codes.
    package let details: String
    /// What `--json` prints when the command cannot even begin, made of the words that were typed:
    /// the keys of a result. Nil: nothing.
    package private(set) var failure: (@Sendable ([String], CommandFault) -> JSONValue)?
    /// Whether Ctrl-C cancels the task that runs it with these words, so that it can tell what it has;
    /// else the process ends at once.
    package private(set) var tellsWhenInterrupted: @Sendable ([String]) -> Bool = { _ in false }
    /// How many descriptors it needs beyond those that are open when it begins.
    ///
    /// Because: the event loops of the runtime, the resolver and the transport take about twelve, and
    /// two connections with their files are to fit beside them. Without any of these the runtime
    /// itself gives up, by a trap.
    package private(set) var descriptors: Int32 = 24
    /// Verbs that have help of their own.
    package private(set) var verbs: [CommandVerb] = []
    package let run: Action

    package init(
        _ name: String, summary: String, usage: String, isHidden: Bool = false,
        options: [OptionRule], details: String,
        run: @escaping Action
    ) {
        self.name = name
        self.summary = summary
        self.usage = usage
        self.isHidden = isHidden
        self.options = options
        self.details = details
        self.run = run
    }

    /// The same with ``failure``.
    package func failing(
        _ failure: @escaping @Sendable ([String], CommandFault) -> JSONValue
    ) -> Command {
        var command = self
        command.failure = failure
        return command
    }

    /// The same with ``tellsWhenInterrupted``.
    ///
    /// - Parameter verbs: nil: whatever the words; else where they begin with one of these.
    package func tellingWhenInterrupted(in verbs: [[String]]? = nil) -> Command {
        var command = self
        command.tellsWhenInterrupted = { words in
            verbs?.contains { words.starts(with: $0) } ?? true
        }
        return command
    }

    /// The same for one that opens no connection: its file, and what the runtime needs.
    package func readingFilesOnly() -> Command {
        var command = self
        command.descriptors = 8
        return command
    }

    /// The same with ``verbs``.
    package func explaining(_ verbs: [CommandVerb]) -> Command {
        var command = self
        command.verbs = verbs
        return command
    }

    /// The verb that was typed, of those with help of their own.
    func verb(in words: some Collection<String>) -> CommandVerb? {
        verbs.filter { words.starts(with: $0.words) }.max { $0.words.count < $1.words.count }
    }

    package var allOptions: [OptionRule] { options + OptionRule.common }
}

/// A verb of a command, as help explains it.
package struct CommandVerb: Sendable {
    /// `export` of `httpdns capture export`; with a verb of a verb, both.
    package let words: [String]
    package let summary: String
    /// What follows the verb in the usage line.
    package let usage: String
    /// Those of the command that mean something to it.
    package let options: [OptionRule]
    package let details: String

    package init(
        _ words: String..., summary: String, usage: String, options: [OptionRule], details: String
    ) {
        self.words = words
        self.summary = summary
        self.usage = usage
        self.options = options
        self.details = details
    }
}

extension Command {
    /// The commands in the order of help. One line each.
    package static let all: [Command] = [
        .lookup,
        .fetch,
        .diagnose,
        .verify,
        .pins,
        .resolvers,
        .proxy,
        .rules,
        .lab,
        .capture,
        .conformance,
    ]
}
