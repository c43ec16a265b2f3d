internal import HTTPDNSNames

/// What was typed after the command's name, told apart. Pure: nothing is looked up or opened.
///
/// Options may stand anywhere; `--name value`, `--name=value`, `-n value` and `-nvalue` are alike;
/// `--` ends them. A lone `-` is a word.
package struct ParsedArguments: Sendable, Hashable {
    /// Everything that is no option, in order.
    package private(set) var words: [String] = []
    /// How many words stand behind `--`; nil where there is none.
    package private(set) var wordsBehindEnd: Int?
    private var values: [String: [String]] = [:]
    /// The names of the options that there are.
    private let known: Set<String>

    /// - Throws: ``CommandFault``: the option at fault, what was expected, and the nearest match.
    package init(_ arguments: some Sequence<String>, rules: [OptionRule]) throws(CommandFault) {
        known = Set(rules.map(\.name))
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                words += rest
                wordsBehindEnd = rest.count
                break
            }
            guard argument.hasPrefix("-"), argument != "-" else {
                words.append(argument)
                continue
            }
            try read(argument, &rest, rules)
        }
        try DashRule.check(self, rules)
    }

    /// What is neither an option nor the value of one, of arguments that may be wrong otherwise.
    static func words(
        in arguments: some Sequence<String>, rules: [OptionRule]
    ) -> [String] {
        var words: [String] = []
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            if argument == "--" { return words + rest }
            guard argument.hasPrefix("-"), argument != "-" else {
                words.append(argument)
                continue
            }
            guard let option = try? match(argument, rules) else { continue }
            let takesNext =
                option.rule.value != nil && !option.rule.isValueOptional && option.attached == nil
            if takesNext { rest = rest.dropFirst() }
        }
        return words
    }

    /// Whether the option was given.
    package func has(_ rule: OptionRule) -> Bool { values[rule.name] != nil }

    /// The option's one value; nil when it was not given.
    package func value(_ rule: OptionRule) -> String? { values[rule.name]?.last }

    /// All values of a repeatable option, in order.
    package func values(_ rule: OptionRule) -> [String] { values[rule.name] ?? [] }

    /// The same with a value for an option that there is and that was not given.
    package func defaulting(_ name: String, to value: String) -> ParsedArguments {
        guard known.contains(name), values[name] == nil else { return self }
        var arguments = self
        arguments.values[name] = [value]
        return arguments
    }

    private mutating func read(
        _ argument: String, _ rest: inout ArraySlice<String>, _ rules: [OptionRule]
    ) throws(CommandFault) {
        let (rule, spelling, attached) = try ParsedArguments.match(argument, rules)
        guard rule.isRepeatable || values[rule.name] == nil || rule.value == nil else {
            throw .usage("\(spelling) was given twice; it takes one value")
        }
        if rule.isValueOptional {
            values[rule.name] = [attached ?? ""]
            return
        }
        guard let placeholder = rule.value else {
            guard attached == nil else { throw .usage("\(spelling) takes no value") }
            values[rule.name] = [""]
            return
        }
        guard let value = attached ?? rest.popFirst() else {
            throw .usage("\(spelling) needs a value: \(spelling) \(placeholder)")
        }
        values[rule.name, default: []].append(value)
    }

    /// The rule of an option, as it was spelled, and the value that hangs on it.
    private static func match(
        _ argument: String, _ rules: [OptionRule]
    ) throws(CommandFault) -> (rule: OptionRule, spelling: String, attached: String?) {
        guard argument.hasPrefix("--") else {
            let letter = argument.dropFirst().first
            guard let rule = rules.first(where: { $0.letter != nil && $0.letter == letter }) else {
                // `-json` is meant as `--json`.
                let long = "-" + argument
                let isKnown = rules.contains { "--" + $0.name == long }
                throw .unknown("option", argument, known: isKnown ? [long] : [])
            }
            let tail = String(argument.dropFirst(2))
            return (rule, "-" + String(rule.letter ?? "-"), tail.isEmpty ? nil : tail)
        }
        let equals = argument.firstIndex(of: "=")
        let spelling = String(argument[..<(equals ?? argument.endIndex)])
        guard let rule = rules.first(where: { "--" + $0.name == spelling }) else {
            throw .unknown("option", spelling, known: rules.map { "--" + $0.name })
        }
        return (rule, spelling, equals.map { String(argument[argument.index(after: $0)...]) })
    }
}

extension ParsedArguments {
    /// The value of a ``OptionRule/timeout``-like option.
    ///
    /// - Throws: ``CommandFault``.
    package func duration(_ rule: OptionRule) throws(CommandFault) -> Duration? {
        guard let text = value(rule) else { return nil }
        guard let duration = DurationText.parse(text) else {
            throw .usage(
                "--\(rule.name) \(quoted(text)) is not a duration; write 2s, 500ms or 1m "
                    + "(at most 24h)")
        }
        return duration
    }

    /// The value of an option that takes a whole number in `range`.
    ///
    /// - Throws: ``CommandFault``.
    package func number(
        _ rule: OptionRule, in range: ClosedRange<Int>
    ) throws(CommandFault) -> Int? {
        guard let text = value(rule) else { return nil }
        let isDigits = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isDigits, let number = Int(text), range.contains(number) else {
            throw .usage(
                "--\(rule.name) \(quoted(text)) is not a number from \(range.lowerBound) "
                    + "to \(range.upperBound)")
        }
        return number
    }

    /// The value of an option that takes one of a few words.
    ///
    /// - Throws: ``CommandFault``, with the nearest of them.
    package func choice<Choice: RawRepresentable & CaseIterable>(
        _ rule: OptionRule, _ type: Choice.Type
    ) throws(CommandFault) -> Choice? where Choice.RawValue == String {
        guard let text = value(rule) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        if let choice = Choice.allCases.first(where: {
            $0.rawValue.lowercased() == text.lowercased()
        }) {
            return choice
        }
        let words = Choice.allCases.map(\.rawValue)
        let hint = Nearest.word(to: text, in: words).map { "; did you mean \"\($0)\"?" } ?? ""
        throw .usage(
            "--\(rule.name) \(quoted(text)) is not one of \(words.joined(separator: ", "))" + hint)
    }
}
