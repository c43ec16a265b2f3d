package import HTTPDNSLookup
internal import HTTPDNSWire

/// What a message from a server means for the question: the one place here that reads or writes
/// messages.
package enum DatagramReply: Sendable, Hashable {
    case testimony(Testimony)
    /// The TC bit is set: the rest must be had over TCP. Source: RFC 2181 §9.
    case truncated
    case malformed(String)

    /// The message that asks `question`, with a fresh random id; nil when it has no wire form,
    /// which no host name lacks.
    ///
    /// 1.34 puts an id of its own in place of ours, 1.18 sends ours: so it must be hard to guess.
    package static func message(asking question: Question) -> [UInt8]? {
        // The default generator is the system's own: getrandom(2).
        let id = UInt16.random(in: .min ... .max)
        return try? question.query(id: id).encode()
    }

    package static func read(
        _ octets: [UInt8], for question: Question, from source: Testimony.Source
    ) -> DatagramReply {
        // What follows the header of a truncated message may be cut anywhere: it is not read.
        if let header = try? MessageHeader(octets), header.flags.isTruncated { return .truncated }
        do throws(QueryFailure) {
            return .testimony(
                try HTTPDNSLookup.testimony(fromWire: octets, for: question, source: source))
        } catch {
            guard case .malformed(let why) = error else { return .malformed(error.description) }
            return .malformed(why)
        }
    }
}
