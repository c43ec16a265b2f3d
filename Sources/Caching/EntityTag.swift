/// An entity tag. Source: RFC 9110 §8.8.3.
package struct EntityTag: Sendable, Hashable {
    package let isWeak: Bool
    /// With its quotes.
    package let opaque: String

    /// Nil for what is no entity tag: unquoted, a quote within, a control character.
    package init?(_ text: String) {
        let isWeak = text.hasPrefix("W/")
        let opaque = isWeak ? text.dropFirst(2) : text[...]
        let octets = Array(opaque.utf8)
        guard octets.count >= 2, octets.first == 0x22, octets.last == 0x22,
            octets.dropFirst().dropLast().allSatisfy({
                $0 == 0x21 || $0 >= 0x23 && $0 != 0x7F
            })
        else { return nil }
        self.isWeak = isWeak
        self.opaque = String(opaque)
    }

    package var text: String { (isWeak ? "W/" : "") + opaque }

    /// Both strong, and equal. Source: RFC 9110 §8.8.3.2.
    package func matchesStrongly(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && opaque == other.opaque
    }

    /// Equal but for weakness. Source: RFC 9110 §8.8.3.2.
    package func matchesWeakly(_ other: EntityTag) -> Bool { opaque == other.opaque }
}
