/// A `Cookie` value, pair by pair. Source: RFC 6265 §4.2.1.
package enum CookiePairs {
    /// The pairs of a value, without the blanks around them.
    package static func all(_ field: FieldText) -> [FieldText] {
        field.wire.split(separator: 0x3B).compactMap { part in
            var pair = part.drop { $0 == 0x20 || $0 == 0x09 }
            while let last = pair.last, last == 0x20 || last == 0x09 { pair.removeLast() }
            return pair.isEmpty ? nil : FieldText(octets: pair)
        }
    }

    /// What stands before the sign of equality.
    package static func name(_ pair: FieldText) -> [UInt8] {
        Array(pair.wire.prefix { $0 != 0x3D })
    }

    /// The value that has these; nil for none.
    package static func joined(_ pairs: [FieldText]) -> FieldText? {
        pairs.isEmpty ? nil : FieldText.joined(pairs, separator: "; ")
    }
}
