/// HTML in which every text that came from outside is escaped: markup is made here alone, by names that
/// this program knows.
struct Markup: Sendable {
    private(set) var html: String

    private init(html: String) { self.html = html }

    /// A text of whatever kind.
    static func text(_ text: String) -> Markup {
        var html = ""
        for scalar in text.printable.unicodeScalars {
            switch scalar {
            case "&": html += "&amp;"
            case "<": html += "&lt;"
            case ">": html += "&gt;"
            case "\"": html += "&quot;"
            case "'": html += "&#39;"
            default: html.unicodeScalars.append(scalar)
            }
        }
        return Markup(html: html)
    }

    /// Lines, each on its own line.
    static func lines(_ lines: [String]) -> Markup {
        joined(lines.map { text($0) }, by: "\n")
    }

    static let nothing = Markup(html: "")

    /// An element; attribute values are escaped, their names are ours.
    static func element(
        _ name: StaticString, _ attributes: [(StaticString, String)] = [], _ content: [Markup] = []
    ) -> Markup {
        let list = attributes.map { " \($0.0)=\"\(text($0.1).html)\"" }.joined()
        let isVoid = ["meta", "rect", "br"].contains("\(name)")
        if isVoid { return Markup(html: "<\(name)\(list)>") }
        return Markup(
            html: "<\(name)\(list)>" + content.map(\.html).joined() + "</\(name)>")
    }

    static func element(_ name: StaticString, class kind: String, _ content: [Markup]) -> Markup {
        element(name, [("class", kind)], content)
    }

    static func + (left: Markup, right: Markup) -> Markup {
        Markup(html: left.html + right.html)
    }

    static func joined(_ parts: [Markup], by separator: StaticString = "") -> Markup {
        Markup(html: parts.map(\.html).joined(separator: "\(separator)"))
    }

    /// A whole document of this element. The policy lets nothing in from anywhere, and no script run.
    ///
    /// Source: W3C Content Security Policy Level 3.
    static func document(title: String, style: StaticString, body: [Markup]) -> String {
        let head = [
            element("meta", [("charset", "utf-8")]),
            element(
                "meta",
                [
                    ("http-equiv", "Content-Security-Policy"),
                    ("content", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"),
                ]),
            element("meta", [("name", "referrer"), ("content", "no-referrer")]),
            element("meta", [("name", "color-scheme"), ("content", "light dark")]),
            element(
                "meta",
                [("name", "viewport"), ("content", "width=device-width, initial-scale=1")]),
            element("title", [], [text(title)]),
            Markup(html: "<style>\(style)</style>"),
        ]
        let page = element(
            "html", [("lang", "en")],
            [element("head", [], head), element("body", [], body)])
        return "<!doctype html>\n" + page.html + "\n"
    }
}
