public import HTTPDNSNames
internal import HTTPDNSWire

/// How a ``LabDNSServer`` treats every question, on top of what its zone says of each; can be changed
/// while it runs.
///
/// What an attacker does to datagrams (``usesOtherPort``, ``forges(_:aheadMilliseconds:)``,
/// ``duplicates``) he cannot do to a TCP connection: over TCP these servers are healthy.
public enum LabDNSBehaviour: Sendable, Hashable {
    /// As the zone says.
    case healthy
    /// As the zone says, so much later.
    case slow(milliseconds: Int64)
    /// Reads and says nothing.
    case dead
    /// Both sockets are closed: the system refuses for it.
    case dying
    /// These addresses for every name.
    case lies([IPAddress])
    /// SERVFAIL for every name.
    case fails
    /// REFUSED for every name.
    case refuses
    /// TC over UDP; over TCP as the zone says, or no TCP at all.
    case truncates(servesTCP: Bool)
    /// The right answer under another message number.
    case mistakesNumber
    /// The right answer to another question.
    case mistakesQuestion
    /// The right answer from another port than was asked.
    case usesOtherPort
    /// First these addresses, then, so much later, the right answer.
    case forges([IPAddress], aheadMilliseconds: Int64)
    /// The right answer twice.
    case duplicates
}

extension LabDNSBehaviour {
    /// Lower case and hyphens, without the amounts; never changes.
    public var name: String {
        switch self {
        case .healthy: "healthy"
        case .slow: "slow"
        case .dead: "dead"
        case .dying: "dying"
        case .lies: "lies"
        case .fails: "servfail"
        case .refuses: "refused"
        case .truncates(servesTCP: true): "truncates"
        case .truncates(servesTCP: false): "truncates-without-tcp"
        case .mistakesNumber: "wrong-number"
        case .mistakesQuestion: "wrong-question"
        case .usesOtherPort: "wrong-port"
        case .forges: "forges"
        case .duplicates: "duplicates"
        }
    }
}

/// One message to send in reply.
struct LabReply {
    let octets: [UInt8]
    let delayMilliseconds: Int64
    var usesOtherPort = false
}

extension LabDNSBehaviour {
    /// Whether the sockets are there.
    var sockets: (datagrams: Bool, listener: Bool) {
        switch self {
        case .dying: (false, false)
        case .truncates(servesTCP: false): (true, false)
        default: (true, true)
        }
    }

    /// The messages for a query that the zone answers so, in order of their delays.
    func replies(to query: LabQuery, _ answer: LabAnswer) -> [LabReply] {
        let isTCP = query.question.isTCP
        switch self {
        case .healthy: return plain(query, answer)
        case .slow(let milliseconds): return plain(query, answer, later: milliseconds)
        case .dead, .dying: return []
        case .lies(let addresses): return plain(query, query.question.answer(addresses))
        case .fails: return plain(query, .serverFailure)
        case .refuses: return plain(query, .refused)
        case .truncates: return plain(query, answer.conducting(.truncates))
        case .mistakesNumber: return plain(query, answer.conducting(.mistakesNumber))
        case .mistakesQuestion: return plain(query, answer.conducting(.mistakesQuestion))
        case .usesOtherPort:
            return plain(query, answer).map { reply in
                LabReply(
                    octets: reply.octets, delayMilliseconds: reply.delayMilliseconds,
                    usesOtherPort: !isTCP)
            }
        case .forges(let addresses, let milliseconds):
            guard !isTCP else { return plain(query, answer) }
            return plain(query, query.question.answer(addresses))
                + plain(query, answer, later: milliseconds)
        case .duplicates:
            return isTCP ? plain(query, answer) : plain(query, answer).flatMap { [$0, $0] }
        }
    }

    private func plain(
        _ query: LabQuery, _ answer: LabAnswer, later milliseconds: Int64 = 0
    ) -> [LabReply] {
        let (delay, overflow) = answer.delayMilliseconds.addingReportingOverflow(milliseconds)
        return query.replies(answer).map {
            LabReply(octets: $0, delayMilliseconds: overflow ? .max : delay)
        }
    }
}
