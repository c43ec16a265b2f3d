public import HTTPDNSNames

/// Refuses answers that cannot be right for a public name.
///
/// Two attacks look like this: a resolver on the way that answers for a blocked or hijacked name with
/// a sinkhole (0.0.0.0, 127.0.0.1, 198.18.0.1), and DNS rebinding, where a name of the attacker's
/// leads into the network of the one who asks (10.0.0.1, 192.168.1.1, `::ffff:127.0.0.1`).
///
/// Rules:
/// 1. An answer with one refused address is refused whole. A mixed answer is what rebinding looks
///    like (one address of the attacker's, one inside), and a source that says one impossible thing
///    is not to be believed in the rest.
/// 2. Names that are not public are exempt: single labels, and those under a special-use domain.
///    Hosts files, tables and the like are not asked about: what their owner wrote is meant.
/// 3. A source that is reached over loopback may answer with loopback addresses: it speaks for this
///    machine, as a developer's own resolver does.
public struct AddressPolicy: Sendable, Hashable {
    /// Every special address is refused for every public name.
    public static let standard = AddressPolicy(isOff: false)
    /// Nothing is refused.
    public static let off = AddressPolicy(isOff: true)

    /// Special addresses that are in order all the same: a company's own network.
    public var allowedBlocks: [AddressBlock] = []
    /// Public names that may lead anywhere: split-horizon domains.
    public var allowedNames: [HostPattern] = []
    private let isOff: Bool

    private init(isOff: Bool) { self.isOff = isOff }

    /// What is to be done with an answer.
    public enum Verdict: Sendable, Hashable {
        case acceptable
        /// It is not used; the addresses are those at fault, in the order received.
        case refused([IPAddress])
    }

    /// Judges the addresses of one answer.
    ///
    /// - Parameter isLocalSource: true when the source was reached over loopback.
    public func verdict(
        for name: HostName, addresses: [IPAddress], isLocalSource: Bool
    ) -> Verdict {
        guard !isOff, name.isPublic, !allowedNames.contains(where: { $0.matches(.name(name)) })
        else { return .acceptable }
        let refused = addresses.filter { isRefused($0, isLocalSource: isLocalSource) }
        return refused.isEmpty ? .acceptable : .refused(refused)
    }

    /// What a refused address is, for a message: "127.0.0.1 (loopback)".
    package static func explanation(_ addresses: [IPAddress]) -> String {
        addresses.map { "\($0) (\(SpecialAddress.kind(of: $0) ?? "not allowed"))" }
            .joined(separator: ", ")
    }

    private func isRefused(_ address: IPAddress, isLocalSource: Bool) -> Bool {
        guard SpecialAddress.kind(of: address) != nil else { return false }
        if isLocalSource, address.isLoopback { return false }
        return !allowedBlocks.contains { $0.contains(address) }
    }
}
