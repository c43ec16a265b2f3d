/// What a text has to be: a path, the value of a field or of a query item.
public struct TextPattern: Sendable, Hashable, CustomStringConvertible {
    enum Form: Sendable, Hashable {
        case any
        case exactly(String)
        case containing(String)
        case glob(Glob)
    }

    let form: Form

    /// Whatever it is, as long as it is there.
    public static let any = TextPattern(form: .any)

    /// This text, case included.
    public static func exactly(_ text: String) -> TextPattern { TextPattern(form: .exactly(text)) }

    /// A text with this in it, case included.
    public static func containing(_ text: String) -> TextPattern {
        TextPattern(form: .containing(text))
    }

    /// A pattern with wildcards; see ``Glob``.
    ///
    /// - Throws: ``RuleFault``.
    public static func glob(_ pattern: String) throws(RuleFault) -> TextPattern {
        TextPattern(form: .glob(try Glob(pattern)))
    }

    func matches(_ text: String) -> Bool {
        switch form {
        case .any: true
        case .exactly(let expected): text == expected
        case .containing(let part): part.isEmpty || contains(text, part)
        case .glob(let glob): glob.matches(text)
        }
    }

    public var description: String {
        switch form {
        case .any: "anything"
        case .exactly(let text): "\"\(RuleText.plain(text))\""
        case .containing(let text): "something with \"\(RuleText.plain(text))\" in it"
        case .glob(let glob): "\"\(RuleText.plain(glob.pattern))\""
        }
    }
}

/// A pattern with wildcards, read from left to right and anchored at both ends.
///
/// - `*`: any characters but `/`, also none.
/// - `**`: any characters, also none.
/// - `?`: one character but `/`.
///
/// Everything else stands for itself. It takes time in proportion to pattern and text, whatever
/// they are: nothing is tried twice.
public struct Glob: Sendable, Hashable {
    public let pattern: String
    private let tokens: [Token]

    private enum Token: Sendable, Hashable {
        case scalar(Unicode.Scalar)
        case one
        case run
        case anyRun
    }

    /// Reads a pattern.
    ///
    /// - Throws: ``RuleFault`` for an empty pattern and one of more than ``maximumOctets``.
    public init(_ pattern: String) throws(RuleFault) {
        guard !pattern.isEmpty else { throw RuleFault("an empty pattern fits nothing") }
        guard pattern.utf8.count <= Glob.maximumOctets else {
            throw RuleFault(
                "a pattern of \(pattern.utf8.count) octets; at most \(Glob.maximumOctets) are read")
        }
        self.pattern = pattern
        var tokens: [Token] = []
        for scalar in pattern.unicodeScalars {
            switch scalar {
            case "*" where tokens.last == .run: tokens[tokens.count - 1] = .anyRun
            case "*" where tokens.last == .anyRun: break
            case "*": tokens.append(.run)
            case "?": tokens.append(.one)
            default: tokens.append(.scalar(scalar))
            }
        }
        self.tokens = tokens
    }

    /// Because: every character of a path is held against all of it at worst.
    public static let maximumOctets = 512

    /// Follows all readings of the pattern at once.
    func matches(_ text: String) -> Bool {
        var reached = [Bool](repeating: false, count: tokens.count + 1)
        reached[0] = true
        skipRuns(&reached)
        for scalar in text.unicodeScalars {
            step(scalar, &reached)
            guard reached.contains(true) else { return false }
        }
        return reached[tokens.count]
    }

    private func step(_ scalar: Unicode.Scalar, _ reached: inout [Bool]) {
        var next = [Bool](repeating: false, count: tokens.count + 1)
        for (place, token) in tokens.enumerated() where reached[place] {
            switch token {
            case .scalar(let expected): if scalar == expected { next[place + 1] = true }
            case .one: if scalar != "/" { next[place + 1] = true }
            case .run: if scalar != "/" { next[place] = true }
            case .anyRun: next[place] = true
            }
        }
        skipRuns(&next)
        reached = next
    }

    /// A run may be empty.
    private func skipRuns(_ reached: inout [Bool]) {
        for (place, token) in tokens.enumerated() where reached[place] {
            if token == .run || token == .anyRun { reached[place + 1] = true }
        }
    }
}

/// True when `part` stands somewhere in `text`.
private func contains(_ text: String, _ part: String) -> Bool {
    let (text, part) = (Array(text.utf8), Array(part.utf8))
    guard text.count >= part.count else { return false }
    return (0...(text.count - part.count)).contains { text[$0...].starts(with: part) }
}

/// Text of a request or of a rule, in a message.
package enum RuleText {
    /// Nothing endless, no control characters, and none that turn the line around.
    package static func plain(_ text: String, most: Int = 120) -> String {
        let shown = text.unicodeScalars.prefix(most).map(escaped).joined()
        return text.unicodeScalars.count > most ? shown + "…" : shown
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar.properties.generalCategory {
        case .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse:
            "\\u{\(String(scalar.value, radix: 16))}"
        default: scalar.escaped(asASCII: false)
        }
    }
}
