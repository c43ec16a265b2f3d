package import HTTPDNSNames
internal import HTTPDNSWire

/// Whom to ask and how patiently: what a ``DatagramBackend`` was made with.
package struct DatagramPlan: Sendable, Hashable {
    package let label: String
    package let servers: [Endpoint]
    package let mode: DatagramBackend.Mode
    /// How often each silent server is asked.
    package let rounds: Int
    package let firstPatienceMilliseconds: Int64
    package var order = Order.asGiven
    /// Ask for the AD bit, since the path to the servers is trusted. Source: RFC 6840 §5.7.
    package var asksForAD = false
    /// `servers` as they are written in answers.
    let serverTexts: [String]

    /// Who is asked first; one that rests is asked last in any case.
    package enum Order: Sendable, Hashable {
        case asGiven
        /// Another one for each question.
        case rotate
        /// By the round trips measured.
        case fastest
    }

    package init(
        label: String, servers: [Endpoint], mode: DatagramBackend.Mode, rounds: Int,
        firstPatienceMilliseconds: Int64
    ) {
        self.label = label
        self.servers = servers
        serverTexts = servers.map { $0.dnsServerText }
        self.mode = mode
        self.rounds = rounds
        self.firstPatienceMilliseconds = firstPatienceMilliseconds
    }

    /// How long the newest attempt may be silent before the next one: doubled with each round.
    ///
    /// Because: a lost packet is repeated soon, and a slow path still gets its time.
    /// Source: RFC 1536 §1.
    package func patienceMilliseconds(round: Int) -> Int64 {
        // Beyond 2^16 the deadline ends the question anyhow.
        firstPatienceMilliseconds << Int64(min(max(round, 0), 16))
    }
}

/// Why an attempt brought no message that can be used.
package enum DatagramTrouble: Sendable, Hashable, CustomStringConvertible {
    /// The system's own word.
    case network(String)
    case closed
    case malformed(String)
    /// A bug of ours; the text names the place.
    case fault(String)

    package var isMalformed: Bool {
        if case .malformed = self { return true }
        return false
    }

    package var description: String {
        switch self {
        case .network(let why), .malformed(let why), .fault(let why): why
        case .closed: "it closed the connection before it answered"
        }
    }
}

extension Endpoint {
    /// `192.0.2.1:53`, `[2001:db8::1]:53`, `[fe80::1%eth0]:53`: with the zone, which a URL drops.
    package var dnsServerText: String {
        guard address.zone != nil else { return description }
        return "[" + address.description + "]:" + port.description
    }
}

extension ResponseCode {
    /// The server could not or would not answer; another one may. Source: RFC 1035 §4.1.1.
    package var isLame: Bool {
        self == .serverFailure || self == .notImplemented || self == .refused
    }
}
