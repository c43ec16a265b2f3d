internal import HTTPDNSExchange

/// What the fields of an answer say of a body that a HAR holds.
///
/// There a text is one of Unicode, whatever it came in, and is told again in UTF-8: a `charset` that
/// says otherwise would make other characters of it. And the type of a body may stand beside the
/// fields alone. Source: HAR 1.2, `content`.
enum FixtureText {
    static func describe(_ body: CaptureRecord.Body, in fields: inout HTTPFields) {
        guard !body.octets.isEmpty else { return }
        if !fields.contains(name), let type = body.mediaType, type.contains("/") {
            // What cannot stand in a field is left out, as other fields of a file are.
            try? fields.set(name, type)
        }
        guard let type = fields.first(name), let charset = charset(of: type),
            isText(body.octets, notIn: charset.text)
        else { return }
        var told = type
        told.replaceSubrange(charset.place, with: "utf-8")
        try? fields.set(name, told)
    }

    private static let name = "Content-Type"

    /// The value of the parameter, quotes and all, and where it stands. Source: RFC 9110 §8.3.1.
    private static func charset(of type: String) -> (text: String, place: Range<String.Index>)? {
        for parameter in type.split(separator: ";").dropFirst() {
            guard let equals = parameter.firstIndex(of: "="),
                blankless(parameter[..<equals]).lowercased() == "charset"
            else { continue }
            let value = blankless(parameter[parameter.index(after: equals)...])
            guard !value.isEmpty else { return nil }
            let text = value.drop { $0 == "\"" }.prefix { $0 != "\"" }.lowercased()
            return (text, value.startIndex..<value.endIndex)
        }
        return nil
    }

    private static func blankless(_ text: Substring) -> Substring {
        var rest = text.drop { $0 == " " || $0 == "\t" }
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        return rest
    }

    /// It is UTF-8, and would be read as something else. What stood in base64 has the octets of its
    /// own charset: those are hardly ever UTF-8 beyond ASCII, and of UTF-16 each other one is 0.
    private static func isText(_ octets: [UInt8], notIn charset: String) -> Bool {
        guard charset != "utf-8", charset != "utf8",
            String(validating: octets, as: UTF8.self) != nil
        else { return false }
        if charset.hasPrefix("utf-16") || charset.hasPrefix("utf-32") { return !octets.contains(0) }
        return octets.contains { $0 >= 0x80 }
    }
}
