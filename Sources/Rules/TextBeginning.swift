/// What a text is, by how it begins: HTML, SVG, other XML, or JSON.
///
/// Only the beginning is at hand: what breaks off in it where the octets do is taken for well formed.
enum TextBeginning {
    static func type(of head: [UInt8]) -> String? {
        var text = Cursor(head)
        text.skipMark()
        text.skip(Cursor.blanks)
        switch text.peek {
        case UInt8(ascii: "<"): return markup(text)
        case UInt8(ascii: "{"), UInt8(ascii: "["): return isJSON(text) ? "application/json" : nil
        default: return nil
        }
    }

    // MARK: Markup

    /// Source: WHATWG MIME Sniffing §7.1; SVG 2 §5.1: the root element is `svg`.
    private static func markup(_ start: Cursor) -> String? {
        var text = start
        let isXML = text.takes("<?xml")
        text = start
        // What may stand before the first element. Source: XML 1.0 §2.8.
        while let end = prologue(text) {
            guard text.skip(past: end) else { break }
            text.skip(Cursor.blanks)
        }
        if isElement("svg", text) { return "image/svg+xml" }
        if isXML {
            return isElement("html", text) || isDoctype(text)
                ? "application/xhtml+xml" : "application/xml"
        }
        let isHTML = start.begins("<!--") || tags.contains { isElement($0, start) }
        return isHTML || isDoctype(start) ? "text/html; charset=utf-8" : nil
    }

    private static func prologue(_ text: Cursor) -> String? {
        if text.begins("<?") { return "?>" }
        if text.begins("<!--") { return "-->" }
        return text.begins("<!DOCTYPE svg") ? ">" : nil
    }

    private static func isDoctype(_ text: Cursor) -> Bool {
        var text = text
        return text.takes("<!DOCTYPE HTML") && ends(text)
    }

    private static func isElement(_ name: String, _ text: Cursor) -> Bool {
        var text = text
        return text.takes("<" + name) && ends(text)
    }

    /// A name of a tag has come to its end.
    private static func ends(_ text: Cursor) -> Bool {
        guard let next = text.peek else { return false }
        return Cursor.blanks.contains(next) || next == UInt8(ascii: ">")
            || next == UInt8(ascii: "/")
    }

    /// Source: WHATWG MIME Sniffing §7.1.
    private static let tags = [
        "html", "head", "script", "iframe", "h1", "div", "font", "table", "a", "style", "title",
        "b", "body", "br", "p",
    ]

    // MARK: JSON

    /// An object up to its first colon, or an array up to the end of its first element.
    private static func isJSON(_ start: Cursor) -> Bool {
        var text = start
        while text.takes("[") {
            text.skip(Cursor.blanks)
            if text.takes("]") { return true }
        }
        switch text.peek {
        case UInt8(ascii: "{"):
            _ = text.takes("{")
            text.skip(Cursor.blanks)
            if text.takes("}") { return true }
            guard text.takesString() else { return false }
            text.skip(Cursor.blanks)
            return text.takes(":")
        case UInt8(ascii: "\""): guard text.takesString() else { return false }
        default:
            guard
                ["true", "false", "null"].contains(where: { text.takes($0) }) || text.takesNumber()
            else { return false }
        }
        text.skip(Cursor.blanks)
        return text.takes(",") || text.takes("]")
    }
}

/// A place in the first octets of a text.
private struct Cursor {
    private let octets: [UInt8]
    private var at = 0

    /// Source: WHATWG MIME Sniffing §3: white space.
    static let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0C, 0x0D]

    init(_ octets: [UInt8]) { self.octets = octets }

    var peek: UInt8? { at < octets.count ? octets[at] : nil }

    mutating func skip(_ some: [UInt8]) {
        while let octet = peek, some.contains(octet) { at += 1 }
    }

    /// The mark of UTF-8.
    mutating func skipMark() {
        if octets.starts(with: [0xEF, 0xBB, 0xBF]) { at = 3 }
    }

    /// Letters in any case.
    func begins(_ word: String) -> Bool {
        let rest = octets[at...].prefix(word.utf8.count)
        return rest.count == word.utf8.count
            && zip(rest, word.utf8).allSatisfy { Cursor.lower($0) == Cursor.lower($1) }
    }

    mutating func takes(_ word: String) -> Bool {
        guard begins(word) else { return false }
        at += word.utf8.count
        return true
    }

    /// False where it does not come, up to the end.
    mutating func skip(past word: String) -> Bool {
        while at < octets.count {
            if takes(word) { return true }
            at += 1
        }
        return false
    }

    /// Source: RFC 8259 §7.
    mutating func takesString() -> Bool {
        guard takes("\"") else { return false }
        while let octet = peek, octet >= 0x20 {
            at = min(at + (octet == 0x5C ? 2 : 1), octets.count)
            if octet == 0x22 { return true }
        }
        return false
    }

    /// Source: RFC 8259 §6.
    mutating func takesNumber() -> Bool {
        _ = takes("-")
        guard takesDigits() else { return false }
        if takes("."), !takesDigits() { return false }
        guard takes("e") else { return true }
        if !takes("+") { _ = takes("-") }
        return takesDigits()
    }

    private mutating func takesDigits() -> Bool {
        let start = at
        while let octet = peek, (0x30...0x39).contains(octet) { at += 1 }
        return at > start
    }

    private static func lower(_ octet: UInt8) -> UInt8 {
        (0x41...0x5A).contains(octet) ? octet | 0x20 : octet
    }
}
