/// Whether a datagram is the reply to a query of ours; looks at the header and the question alone.
///
/// A forger must guess the port (the socket hears the server's address and port only), the id and the
/// question; a wrong guess is ignored and the true reply still counts. Source: RFC 5452 §9.1.
package enum ReplyCheck: Sendable, Hashable {
    case ours
    case wrongID
    case wrongQuestion
    case notReply

    /// - Parameters:
    ///   - reply: octets from outside.
    ///   - query: what we sent: one question, first in the message.
    ///   - questionOctets: how long the question is: name, type and class.
    package static func verdict(
        _ reply: [UInt8], to query: [UInt8], questionOctets: Int
    ) -> ReplyCheck {
        guard reply.count >= header, query.count >= header + questionOctets, reply[2] & 0x80 != 0
        else { return .notReply }
        guard reply[0] == query[0], reply[1] == query[1] else { return .wrongID }
        let questions = UInt16(reply[4]) << 8 | UInt16(reply[5])
        if questions == 0 {
            // A server that could not read the query may leave the question out, as long as it
            // claims nothing about the name; a cut reply says nothing but that.
            let code = reply[3] & 0x0F
            let claimsNothing = code != 0 && code != 3 && reply[6] == 0 && reply[7] == 0
            return claimsNothing || reply[2] & 0x02 != 0 ? .ours : .wrongQuestion
        }
        guard questions == 1, reply.count >= header + questionOctets else { return .wrongQuestion }
        let sent = query[header..<(header + questionOctets)]
        let echoed = reply[header..<(header + questionOctets)]
        // Source: RFC 4343: case does not matter. Lengths and the type are below the letters.
        let isSame =
            sent == echoed
            || zip(sent, echoed).allSatisfy { lowered($0) == lowered($1) }
                && sent.suffix(4) == echoed.suffix(4)
        return isSame ? .ours : .wrongQuestion
    }

    private static func lowered(_ octet: UInt8) -> UInt8 {
        (0x41...0x5A).contains(octet) ? octet + 0x20 : octet
    }

    /// Source: RFC 1035 §4.1.1.
    private static let header = 12
}
