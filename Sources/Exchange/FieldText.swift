/// A value of a field: the text that applications see, and the octets that came where they are not that
/// text.
///
/// Values are octets, and most are ASCII or UTF-8. Others (Latin-1, GBK) are shown one character an
/// octet; what goes out again (a cookie, the target of a redirect) must be what came in.
/// Source: RFC 9110 §5.5 (ISO-8859-1 by history, obs-text opaque).
package struct FieldText: Sendable, Hashable, ExpressibleByStringLiteral {
    package let text: String
    /// Nil where they are ``text`` in UTF-8.
    package let octets: [UInt8]?

    package init(_ text: String) {
        self.text = text
        octets = nil
    }

    package init(stringLiteral text: String) { self.init(text) }

    /// UTF-8 where it is, otherwise one character an octet.
    package init(octets: some Collection<UInt8>) {
        if let text = String(validating: octets, as: UTF8.self) {
            self.init(text)
        } else {
            self.init(text: FieldText.latin1(octets), octets: Array(octets))
        }
    }

    init(text: String, octets: [UInt8]?) {
        self.text = text
        self.octets = octets
    }

    /// What is written on the wire.
    package var wire: [UInt8] { octets ?? Array(text.utf8) }

    package var isEmpty: Bool { text.isEmpty }

    static func latin1(_ octets: some Collection<UInt8>) -> String {
        var text = ""
        for octet in octets { text.unicodeScalars.append(Unicode.Scalar(octet)) }
        return text
    }

    /// Several with `separator`, which is ASCII, between.
    static func joined(_ parts: [FieldText], separator: String) -> FieldText {
        guard parts.contains(where: { $0.octets != nil }) else {
            return FieldText(parts.map(\.text).joined(separator: separator))
        }
        return FieldText(octets: Array(parts.map(\.wire).joined(separator: separator.utf8)))
    }
}

extension HTTPFields {
    /// All values of that name, in order, as they came.
    package func texts(_ name: String) -> [FieldText] {
        fields.filter { HTTPFields.same($0.name, name) }.map(\.text)
    }

    /// A value is not UTF-8.
    package var hasOctets: Bool { fields.contains { $0.octets != nil } }
}

extension HTTPFields.Field {
    /// The value as it came.
    package var text: FieldText { FieldText(text: value, octets: octets) }
}
