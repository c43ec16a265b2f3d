/// Writes the octets of a message; names may share suffixes already written.
package struct WireWriter {
    package private(set) var octets: [UInt8] = []
    /// Where a suffix was written, by the offset of its parent suffix and its first label.
    private var suffixes: [Suffix: Int] = [:]

    private struct Suffix: Hashable {
        /// The offset of the rest of the name; 0 for the root, where the header stands.
        let parent: Int
        /// Compared with case, so that a name comes back as it was written.
        let label: ArraySlice<UInt8>
    }

    package init() { octets.reserveCapacity(512) }

    package mutating func append(_ octet: UInt8) { octets.append(octet) }

    package mutating func append(_ number: UInt16) {
        octets.append(UInt8(number >> 8))
        octets.append(UInt8(number & 0xFF))
    }

    package mutating func append(_ number: UInt32) {
        append(UInt16(number >> 16))
        append(UInt16(number & 0xFFFF))
    }

    package mutating func append(contentsOf part: some Sequence<UInt8>) { octets += part }

    /// A length octet and as many octets.
    package mutating func append(characterString text: [UInt8]) throws(WireError) {
        guard let length = UInt8(exactly: text.count) else {
            throw WireError(.malformedRecord, atOctet: octets.count)
        }
        octets.append(length)
        octets += text
    }

    /// Two octets of length before what `write` appends.
    package mutating func sized(
        _ write: (inout WireWriter) throws(WireError) -> Void
    ) throws(WireError) {
        let start = octets.count
        append(UInt16(0))
        try write(&self)
        guard let length = UInt16(exactly: octets.count - start - 2) else {
            throw WireError(.recordTooLong, atOctet: start)
        }
        octets[start] = UInt8(length >> 8)
        octets[start + 1] = UInt8(length & 0xFF)
    }

    /// Writes a name in full.
    package mutating func append(plain name: WireName) {
        octets += name.octets
        octets.append(0)
    }

    /// Writes a name, ending in a pointer where its end was written before.
    ///
    /// Costs one look-up a label. Source: RFC 1035 §4.1.4.
    package mutating func append(shared name: WireName) {
        let starts = name.labelStarts
        var kept = starts.count
        var parent = 0
        while kept > 0,
            let found = suffixes[Suffix(parent: parent, label: label(kept - 1, name, starts))]
        {
            parent = found
            kept -= 1
        }
        let base = octets.count
        var below = parent
        for index in stride(from: kept - 1, through: 0, by: -1) {
            let offset = base + starts[index]
            guard offset <= WireWriter.maximumPointer else { break }
            suffixes[Suffix(parent: below, label: label(index, name, starts))] = offset
            below = offset
        }
        octets += name.octets[..<(kept < starts.count ? starts[kept] : name.octets.count)]
        if parent > 0 {
            append(UInt16(0xC000) | UInt16(parent))
        } else {
            octets.append(0)
        }
    }

    private func label(_ index: Int, _ name: WireName, _ starts: [Int]) -> ArraySlice<UInt8> {
        name.octets[starts[index]..<(starts[index] + 1 + Int(name.octets[starts[index]]))]
    }

    /// The last offset a pointer can name. Source: RFC 1035 §4.1.4.
    private static let maximumPointer = 0x3FFF
}
