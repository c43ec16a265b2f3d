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

/// True when `part` stands somewhere in `text`, in time in proportion to both.
///
/// Source: Knuth, Morris and Pratt, "Fast Pattern Matching in Strings" (1977).
private func contains(_ text: String, _ part: String) -> Bool {
    let part = Array(part.utf8)
    var borders = [Int](repeating: 0, count: part.count)
    var length = 0
    for place in part.indices.dropFirst() {
        while length > 0, part[place] != part[length] { length = borders[length - 1] }
        if part[place] == part[length] { length += 1 }
        borders[place] = length
    }
    var met = 0
    for octet in text.utf8 {
        while met > 0, octet != part[met] { met = borders[met - 1] }
        if octet == part[met] { met += 1 }
        if met == part.count { return true }
    }
    return part.isEmpty
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
