internal import HTTPDNSJSON
internal import HTTPDNSPlatform

/// Tells of the results of a run as they come: how many on a terminal, and each as an object, or in the
/// client's own words where somebody asks for them.
struct LabProgress<Outcome: Sendable>: Sendable {
    private let total: Int
    private let console: Console
    private let isJSON: Bool
    private let isVerbose: Bool
    private let json: @Sendable (Outcome, _ showsOutput: Bool) -> JSONValue
    /// Name of the scenario, and what was said in it.
    private let words: @Sendable (Outcome) -> (name: String, said: [String])
    private let done = Locked(0)

    init(
        total: Int, _ arguments: ParsedArguments, _ console: Console,
        json: @escaping @Sendable (Outcome, _ showsOutput: Bool) -> JSONValue,
        words: @escaping @Sendable (Outcome) -> (name: String, said: [String])
    ) {
        self.total = total
        self.console = console
        isJSON = arguments.has(.json)
        isVerbose = arguments.has(.verbose)
        self.json = json
        self.words = words
    }

    /// Any thread.
    func tell(_ outcome: Outcome) {
        let count = done.withLock { count in
            count += 1
            return count
        }
        if console.errors.isTerminal { console.errors.write("\r\u{1B}[K\(count) of \(total)") }
        if isJSON {
            console.print(json: json(outcome, isVerbose))
        } else if isVerbose {
            let (name, said) = words(outcome)
            console.note(name + ":")
            for line in said.flatMap({ $0.split(whereSeparator: \.isNewline) }) {
                console.note("  " + line)
            }
        }
    }

    /// Takes the count off the terminal.
    func end() { if console.errors.isTerminal { console.errors.write("\r\u{1B}[K") } }
}

extension Console {
    /// Says that a run was ended before its own end, and how far it came.
    func tellOfCut(_ done: Int, of total: Int) {
        guard done < total else { return }
        note("interrupted: \(done) of \(total) were played to their end")
    }
}
