public import HTTPDNSLookup
public import HTTPDNSNames

/// Who gave an answer about the name under test.
public struct EvidenceSource: Sendable, Hashable {
    /// Why it is asked, which is how its word is weighed.
    public enum Standing: String, Sendable, Hashable, CaseIterable {
        /// The file of this machine that comes before all resolvers.
        case hosts
        /// The system's own resolver: what other programs here get.
        case system
        /// A server that this network, or the user, has plain questions sent to.
        case nameserver
        /// A resolver that the user wants judged.
        case resolver
        /// It proves itself, or is on this machine, and the user believes it: the measure of the others.
        case trusted
    }

    /// Unlike that of any other source of a run: `udp://127.0.0.53:53`, `system`.
    public let label: String
    public let standing: Standing
    public let transport: AnswerTransport
    /// The server asked, where it is one by address.
    public let server: Endpoint?
    /// The server whose other port this is: where it does DNS, too, so that it should say the same. Nil:
    /// it is none.
    public let alternateOf: Endpoint?

    public init(
        label: String, standing: Standing, transport: AnswerTransport, server: Endpoint? = nil,
        alternateOf: Endpoint? = nil
    ) {
        self.label = label
        self.standing = standing
        self.transport = transport
        self.server = server
        self.alternateOf = alternateOf
    }

    /// Whether it is judged, and more than a file of this machine.
    var isOfNetwork: Bool { isSuspect && standing != .hosts }

    /// Whether it is judged; the others are what is judged by.
    public var isSuspect: Bool { standing != .trusted }
}
