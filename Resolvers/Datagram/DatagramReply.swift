package import HTTPDNSLookup
internal import HTTPDNSWire

/// What a message from a server means for the question: the one place here that reads or writes
/// messages.
package enum DatagramReply: Sendable, Hashable {
    case testimony(Testimony)
    /// The TC bit is set: the rest must be had over TCP. Source: RFC 2181 §9.
    case truncated
    case malformed(String)

    /// The server does not know EDNS: the same question must be put without it.
    case refusesEDNS

    /// The message that asks `question`, with an id that nobody can guess; nil when it has no wire form,
    /// which no host name lacks.
    ///
    /// Over TCP, c-ares 1.34 puts an id of its own in place of ours; over UDP ours is what a forger
    /// must guess.
    package static func message(
        asking question: Question, id: UInt16, hasEDNS: Bool = true, asksForAD: Bool = false
    ) -> [UInt8]? {
        var asked = question
        if !hasEDNS {
            // These travel in the OPT record.
            asked.wantsDNSSEC = false
            asked.clientSubnet = nil
        }
        var message = asked.query(id: id, edns: hasEDNS ? EDNS() : nil)
        message.flags.isAuthenticData = asksForAD
        return try? message.encode()
    }

    package static func read(
        _ octets: [UInt8], for question: Question, hadEDNS: Bool = true,
        from source: Testimony.Source
    ) -> DatagramReply {
        if let header = try? MessageHeader(octets) {
            // What follows the header of a truncated message may be cut anywhere: it is not read.
            if header.flags.isTruncated { return .truncated }
            // FORMERR or NOTIMP, and no OPT record of its own. Source: RFC 6891 §7.
            let isPuzzled = header.codeBits == 1 || header.codeBits == 4
            if hadEDNS, isPuzzled, header.additionals == 0 { return .refusesEDNS }
        }
        do throws(QueryFailure) {
            return .testimony(
                try HTTPDNSLookup.testimony(fromWire: octets, for: question, source: source))
        } catch {
            guard case .malformed(let why) = error else { return .malformed(error.description) }
            return .malformed(why)
        }
    }
}
