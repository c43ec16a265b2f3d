internal import CHTTPDNSSystem
internal import HTTPDNSPlatform

/// The tool `httpdns`: finds the command, reads its arguments, runs it, and turns faults into one
/// line and an exit code.
package enum CommandLineTool {
    /// Source: CHANGELOG.md.
    package static let version = "0.1.0"

    /// Runs the tool with the process's arguments and streams, and ends the process.
    ///
    /// Not an async `main`: help and the version need no concurrency, and starting its runtime costs
    /// them more than all else they do. It ends without the C library's clean-up, which would take
    /// things away from under threads that still run; nothing is buffered.
    package static func runProcess() -> Never {
        httpdns_occupy_standard_streams()
        httpdns_signals_of_command()
        if let number = CommandLine.firstUnreadableArgument {
            Console.process.complain(
                .usage("argument \(number) is not UTF-8: it would be sent as something else"),
                of: nil)
            _exit(ExitCode.usage.rawValue)
        }
        let arguments = Array(CommandLine.arguments.dropFirst())
        if let code = answered(arguments, .process) { _exit(code.rawValue) }
        let command = arguments.first.flatMap(Command.named)
        if let command, let fault = shortage(for: command) {
            report(fault, of: command, arguments.dropFirst(), .process)
            _exit(fault.code.rawValue)
        }
        let codes = ConditionLocked<[Int32]>([])
        let work = Task.detached {
            let code = await run(arguments: arguments, console: .process)
            codes.withLockSignalling { $0 = [code] }
        }
        if let command {
            let words = ParsedArguments.words(in: arguments.dropFirst(), rules: command.allOptions)
            if command.tellsWhenInterrupted(words) { Interruption.cancels(work) }
        }
        let ended = codes.waitAndTake({ codes, _ in codes }, until: { _ in nil })
        _exit(ended.first ?? ExitCode.usage.rawValue)
    }

    /// Told before the runtime's threads begin: where they find no descriptor, they end the process.
    private static func shortage(for command: Command) -> CommandFault? {
        let wanted = command.descriptors
        guard httpdns_descriptors_left(wanted) < wanted else { return nil }
        // The limit may be a soft one.
        httpdns_descriptor_limit_raise(raisedDescriptors)
        let left = httpdns_descriptors_left(wanted)
        guard left < wanted else { return nil }
        return .usage(
            "only \(left) descriptors are left to this process, and it needs \(wanted): raise the limit "
                + "(ulimit -n 1024)")
    }

    /// Because: what most systems give a process.
    private static let raisedDescriptors: UInt64 = 1_024

    /// Runs the tool; `arguments` are without the program's name.
    package static func run(arguments: [String], console: Console) async -> Int32 {
        if let code = answered(arguments, console) { return code.rawValue }
        guard let name = arguments.first, let command = Command.named(name) else {
            return ExitCode.usage.rawValue
        }
        do throws(CommandFault) {
            let parsed = try ParsedArguments(arguments.dropFirst(), rules: command.allOptions)
            let color = try parsed.choice(.color, ColorChoice.self) ?? .auto
            let code = try await command.run(parsed, console.painted(color))
            return (Interruption.hasCome ? .interrupted : code).rawValue
        } catch {
            report(error, of: command, arguments.dropFirst(), console)
            return (Interruption.hasCome ? .interrupted : error.code).rawValue
        }
    }

    /// The line for people, and with `--json` the object for programs.
    private static func report(
        _ fault: CommandFault, of command: Command, _ arguments: ArraySlice<String>,
        _ console: Console
    ) {
        console.complain(fault, of: command.name)
        let options = arguments.prefix { $0 != "--" }
        guard let failure = command.failure, options.contains("--" + OptionRule.json.name) else {
            return
        }
        let words = ParsedArguments.words(in: arguments, rules: command.allOptions)
            .filter { !$0.hasPrefix("@") }
        console.print(json: failure(words, fault))
    }

    /// What needs no command: help, the version, and arguments that name none.
    private static func answered(_ arguments: [String], _ console: Console) -> ExitCode? {
        let isAsking = { (rule: OptionRule, arguments: ArraySlice<String>) in
            arguments.prefix { $0 != "--" }.contains {
                $0 == "--" + rule.name || $0 == rule.letter.map { "-\($0)" }
            }
        }
        guard let first = arguments.first else {
            console.errors.write(HelpText.tool(Command.all))
            return .usage
        }
        if isAsking(.version, arguments[...]) {
            console.print("httpdns " + version)
            return .succeeded
        }
        if isAsking(.help, arguments.prefix(1)) || first == "help" {
            return help(on: arguments.dropFirst(), console)
        }
        guard let command = Command.named(first) else {
            console.complain(unknownCommand(first), of: nil)
            return .usage
        }
        guard isAsking(.help, arguments[...]) else { return nil }
        let words = ParsedArguments.words(in: arguments.dropFirst(), rules: command.allOptions)
        return help(on: [first] + words, console)
    }

    /// - Parameter words: the command, and its verb.
    private static func help(
        on words: some Collection<String>, _ console: Console
    ) -> ExitCode {
        guard let name = words.first else {
            console.output.write(HelpText.tool(Command.all))
            return .succeeded
        }
        guard let command = Command.named(name) else {
            console.complain(unknownCommand(name), of: nil)
            return .usage
        }
        let verb = command.verb(in: words.dropFirst())
        console.output.write(
            verb.map { HelpText.verb($0, of: command) } ?? HelpText.command(command))
        return .succeeded
    }

    private static func unknownCommand(_ typed: String) -> CommandFault {
        let names = Command.all.filter { !$0.isHidden }.map(\.name)
        let what = typed.hasPrefix("-") ? "option" : "command"
        let fault = CommandFault.unknown(
            what, typed, known: what == "option" ? ["--help", "--version"] : names)
        return .usage(fault.message + "; the commands are \(names.joined(separator: ", "))")
    }
}

extension CommandLine {
    /// The number of the first argument that `arguments` holds in a repaired form only.
    fileprivate static var firstUnreadableArgument: Int? {
        (1..<max(Int(argc), 1)).first { number in
            unsafeArgv[number].map { String(validatingCString: $0) == nil } ?? false
        }
    }
}

extension Command {
    /// The command of that name; nil when there is none.
    static func named(_ name: String) -> Command? { all.first { $0.name == name } }
}
