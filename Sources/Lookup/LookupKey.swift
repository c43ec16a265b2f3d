package import HTTPDNSNames
internal import HTTPDNSWire

/// Who is asked and from where, as a small number: the resolver hands it out for a chain of sources
/// on one network, and knows what it stands for.
package struct LookupScope: Sendable, Hashable {
    package let number: UInt32

    package init(number: UInt32) { self.number = number }
}

/// What makes two lookups the same: they then share one asking and one cache entry.
///
/// The client subnet and the service parameters stand in the question; the chain of sources and the
/// network in the scope.
package struct LookupKey: Sendable, Hashable {
    package let question: Question
    package let scope: LookupScope

    package init(question: Question, scope: LookupScope) {
        self.question = question
        self.scope = scope
    }
}

/// A key as the cache compares it: one word and some octets, with their hash.
///
/// It borrows the octets, so it is good only inside the closure that received it.
package struct PackedKey {
    /// The host name's text; where the question carries a subnet or parameters, a zero and those.
    package let octets: UnsafeRawBufferPointer
    /// Scope (32 bits), type (16), length of the octets (12), flags (4), from the low end.
    package let word: UInt64
    /// What is left of the octets after the last eight.
    package let tail: UInt64
    package let hash: UInt64

    /// The key of the plain question for a name's addresses: recursion wanted, nothing else.
    package init(
        name: UnsafeRawBufferPointer, _ family: IPAddress.Family, scope: LookupScope,
        hashing: KeyedHash
    ) {
        self.init(
            octets: name, type: RecordType(rawValue: family == .ipv4 ? 1 : 28), scope: scope,
            flags: PackedKey.wantsRecursion, hashing: hashing)
    }

    @inline(__always)
    init(
        octets: UnsafeRawBufferPointer, type: RecordType, scope: LookupScope, flags: UInt64,
        hashing: KeyedHash
    ) {
        self.octets = octets
        word =
            UInt64(scope.number) | UInt64(type.rawValue) << 32
            | UInt64(truncatingIfNeeded: octets.count & PackedKey.maximumOctets) << 48
            | flags << 60
        tail = KeyWords.tail(octets)
        hash = hashing.hash(octets, tail: tail, word)
    }

    // Because: the four highest bits of ``word``.
    static let wantsDNSSEC: UInt64 = 0x1
    static let wantsRecursion: UInt64 = 0x2
    static let hasExtras: UInt64 = 0x4
    /// The longest key that is kept.
    ///
    /// Because: a name takes 253 octets and parameters 1,000 with as many lengths at the very most.
    static let maximumOctets = 0xFFF
}

extension LookupKey {
    /// Lends the packed form; nil when it does not fit, and then the answer is not kept.
    package func withPacked<Result>(
        _ hashing: KeyedHash, _ body: (PackedKey) -> Result
    ) -> Result? {
        let extras = packedExtras
        if extras.isEmpty {
            let lent = question.name.text.utf8.withContiguousStorageIfAvailable {
                body(packed(UnsafeRawBufferPointer($0), flags: 0, hashing))
            }
            if let lent { return lent }
        }
        let octets = Array(question.name.text.utf8) + extras
        guard octets.count <= PackedKey.maximumOctets else { return nil }
        return octets.withUnsafeBytes {
            body(packed($0, flags: extras.isEmpty ? 0 : PackedKey.hasExtras, hashing))
        }
    }

    private func packed(
        _ octets: UnsafeRawBufferPointer, flags: UInt64, _ hashing: KeyedHash
    ) -> PackedKey {
        PackedKey(
            octets: octets, type: question.type, scope: scope,
            flags: flags | (question.wantsDNSSEC ? PackedKey.wantsDNSSEC : 0)
                | (question.wantsRecursion ? PackedKey.wantsRecursion : 0),
            hashing: hashing)
    }

    /// A zero, which no name contains, then the subnet and the parameters; empty without either.
    private var packedExtras: [UInt8] {
        guard question.clientSubnet != nil || !question.serviceParameters.isEmpty else { return [] }
        var writer = PackingWriter()
        writer.append(0)
        if let subnet = question.clientSubnet {
            writer.append(contentsOf: subnet.address.octets)
            writer.append(number: UInt64(subnet.prefixBits))
        } else {
            writer.append(number: 0)
        }
        writer.append(number: UInt64(question.serviceParameters.entries.count))
        for entry in question.serviceParameters.entries {
            writer.append(contentsOf: Array(entry.key.utf8))
            writer.append(contentsOf: Array(entry.value.utf8))
        }
        return writer.octets
    }

    /// The key that a packed form was made of; nil when it is none.
    init?(word: UInt64, octets: [UInt8]) {
        let flags = word >> 60
        let name = octets.prefix { $0 != 0 }
        guard let host = HostName(asked: String(decoding: name, as: UTF8.self)) else { return nil }
        var question = Question(
            name: host, type: RecordType(rawValue: UInt16(truncatingIfNeeded: word >> 32)))
        question.wantsDNSSEC = flags & PackedKey.wantsDNSSEC != 0
        question.wantsRecursion = flags & PackedKey.wantsRecursion != 0
        if flags & PackedKey.hasExtras != 0 {
            var reader = PackingReader(Array(octets.dropFirst(name.count + 1)))
            guard reader.readExtras(into: &question) else { return nil }
        }
        self.init(
            question: question, scope: LookupScope(number: UInt32(truncatingIfNeeded: word)))
    }
}

extension PackingReader {
    /// False when the octets are not what `packedExtras` writes.
    mutating func readExtras(into question: inout Question) -> Bool {
        guard let address = readOctets() else { return false }
        if !address.isEmpty {
            guard let address = IPAddress(octets: address), let bits = readCount(),
                let block = AddressBlock(address, prefixBits: bits)
            else { return false }
            question.clientSubnet = block
        }
        guard let count = readCount() else { return false }
        var pairs: [(key: String, value: String)] = []
        for _ in 0..<count {
            guard let key = readText(), let value = readText() else { return false }
            pairs.append((key, value))
        }
        guard let parameters = try? ServiceParameters(pairs) else { return false }
        question.serviceParameters = parameters
        return true
    }
}
