/// Cuts a stream into messages: two octets of length before each. Source: RFC 1035 §4.2.2, RFC 7858
/// §3.3.
package struct MessageFraming: Sendable {
    private var rest: [UInt8] = []

    package init() {}

    /// Takes what came; `found` is called with each message that is now whole, in order.
    package mutating func receive(
        _ octets: UnsafeRawBufferPointer, _ found: (UnsafeRawBufferPointer) -> Void
    ) {
        guard rest.isEmpty else {
            rest.append(contentsOf: octets)
            let used = rest.withUnsafeBytes { MessageFraming.cut($0, found) }
            rest.removeFirst(used)
            return
        }
        let used = MessageFraming.cut(octets, found)
        if used < octets.count { rest.append(contentsOf: octets[used...]) }
    }

    /// How many octets are held back for a message that is not whole.
    package var heldOctets: Int { rest.count }

    private static func cut(
        _ octets: UnsafeRawBufferPointer, _ found: (UnsafeRawBufferPointer) -> Void
    ) -> Int {
        var at = 0
        while octets.count - at >= 2 {
            let count = Int(octets[at]) << 8 | Int(octets[at + 1])
            guard octets.count - at - 2 >= count else { break }
            found(UnsafeRawBufferPointer(rebasing: octets[(at + 2)..<(at + 2 + count)]))
            at += 2 + count
        }
        return at
    }
}

/// What ties a reply to its query.
package enum MessageMatch {
    /// Whether `reply` repeats the question of `query`, which is a query of ours with one question.
    ///
    /// A reply without any question may be a server's word that it did not understand: it passes, and
    /// whoever reads it decides. Source: RFC 5452 §9.1, RFC 7766 §7.
    package static func answers(_ reply: UnsafeRawBufferPointer, _ query: [UInt8]) -> Bool {
        guard reply.count >= headerOctets, query.count >= headerOctets else { return false }
        // QR: a query that comes back is no reply.
        guard reply[2] & 0x80 != 0 else { return false }
        guard reply[4] != 0 || reply[5] != 0 else { return true }
        guard let end = questionEnd(query), reply.count >= end else { return false }
        let typeAt = end - 4
        for index in headerOctets..<end {
            let same = reply[index] == query[index]
            guard same || index < typeAt && lowered(reply[index]) == lowered(query[index]) else {
                return false
            }
        }
        return true
    }

    /// Where the first question ends; nil when it is none of ours.
    private static func questionEnd(_ query: [UInt8]) -> Int? {
        var at = headerOctets
        while at < query.count, query[at] != 0 {
            guard query[at] < 0x40 else { return nil }
            at += 1 + Int(query[at])
        }
        let end = at + 5
        return end <= query.count ? end : nil
    }

    private static func lowered(_ octet: UInt8) -> UInt8 {
        (0x41...0x5A).contains(octet) ? octet | 0x20 : octet
    }

    /// Source: RFC 1035 §4.1.1.
    private static let headerOctets = 12
}
