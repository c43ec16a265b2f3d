internal import HTTPDNSNames
package import HTTPDNSWire

extension Question {
    /// The octets that ask this over an encrypted transport: id 0, EDNS, padded so that the length says
    /// nothing of the name. Source: RFC 8484 §4.1, RFC 8467 §4.1.
    ///
    /// What nearly every question is (a name and a type) is written at once; the rest goes the long way
    /// through ``Message``, which costs ten times as much; a resolver under load encodes one for every
    /// lookup. `QueryOctetsTests` holds the two against each other.
    ///
    /// - Throws: ``WireError`` when it has no wire form, which no host name lacks.
    package func paddedQuery() throws(WireError) -> [UInt8] {
        guard clientSubnet == nil else {
            return try query(id: 0).encode(padTo: QueryOptions.paddingBlockOctets)
        }
        var text = name.text
        return text.withUTF8 { paddedQuery($0) }
    }

    private func paddedQuery(_ name: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        // Header, name with its first length and the root, type and class, OPT, the padding's own head.
        let least = 12 + name.count + 2 + 4 + 11 + 4
        let block = QueryOptions.paddingBlockOctets
        let total = (least + block - 1) / block * block
        return [UInt8](unsafeUninitializedCapacity: total) { octets, count in
            octets.initialize(repeating: 0)
            count = total
            octets[2] = wantsRecursion ? 0x01 : 0
            octets[5] = 1
            octets[11] = 1
            var at = Question.put(name, in: octets, at: 12)
            octets[at] = UInt8(type.rawValue >> 8)
            octets[at + 1] = UInt8(type.rawValue & 0xFF)
            octets[at + 3] = 1
            at += 5
            // OPT on the root. Source: RFC 6891 §6.1.2.
            octets[at + 1] = 41
            octets[at + 2] = UInt8(EDNS.defaultPayloadOctets >> 8)
            octets[at + 3] = UInt8(EDNS.defaultPayloadOctets & 0xFF)
            octets[at + 6] = wantsDNSSEC ? 0x80 : 0
            let rest = total - at - 10
            octets[at + 8] = UInt8(rest >> 8)
            octets[at + 9] = UInt8(rest & 0xFF)
            // Padding. Source: RFC 7830 §3.
            octets[at + 11] = 12
            octets[at + 12] = UInt8((rest - 4) >> 8)
            octets[at + 13] = UInt8((rest - 4) & 0xFF)
        }
    }

    /// Writes the labels and the root; the index behind them. A host name's labels are 1...63 octets.
    private static func put(
        _ name: UnsafeBufferPointer<UInt8>, in octets: UnsafeMutableBufferPointer<UInt8>, at: Int
    ) -> Int {
        var lengthAt = at
        var next = at + 1
        for octet in name {
            if octet == 0x2E {
                octets[lengthAt] = UInt8(truncatingIfNeeded: next - lengthAt - 1)
                lengthAt = next
            } else {
                octets[next] = octet
            }
            next += 1
        }
        octets[lengthAt] = UInt8(truncatingIfNeeded: next - lengthAt - 1)
        octets[next] = 0
        return next + 1
    }
}
