/// A document that a command makes beside what it says: a file, or, for `-`, standard output, which
/// then has nothing else; what is for people goes to standard error.
struct SideDocument: Sendable {
    private let path: String
    private let output: OutputStream

    /// Nil where nobody asks for it.
    ///
    /// - Parameters:
    ///   - option: who names its place.
    ///   - console: where the command speaks; changed where the document takes its standard output.
    /// - Throws: ``CommandFault``: usage.
    init?(
        _ option: OptionRule, _ arguments: ParsedArguments, _ console: inout Console
    ) throws(CommandFault) {
        guard let path = arguments.value(option) else { return nil }
        guard !path.isEmpty else { throw .usage("--\(option.name) needs the name of a file") }
        self.path = path
        output = console.output
        guard path == "-" else { return }
        try SideDocument.refuseJSON(option, arguments)
        console = console.aside
    }

    /// - Throws: ``CommandFault``: usage.
    static func refuseJSON(
        _ option: OptionRule, _ arguments: ParsedArguments
    ) throws(CommandFault) {
        guard arguments.has(.json) else { return }
        throw .usage("--\(option.name) - and --json: standard output can have one of the two")
    }

    /// Written through: a pipe or a device stays what it is.
    ///
    /// - Throws: ``CommandFault``.
    func write(_ text: String) throws(CommandFault) {
        guard path != "-" else { return output.write(text) }
        try WrittenFile(path).write(Array(text.utf8))
    }
}

extension Console {
    /// All of it on standard error.
    var aside: Console {
        var console = Console(output: errors, errors: errors, variable: variable)
        console.outputPaint = errorPaint
        console.errorPaint = errorPaint
        return console
    }
}
