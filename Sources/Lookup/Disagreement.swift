internal import HTTPDNSNames
internal import HTTPDNSWire

/// Evidence that somebody between us and a plain resolver, or that resolver itself, answers otherwise
/// than a source that proved itself.
///
/// It is evidence, not proof: the world changes between two answers, and content networks answer each
/// resolver in its own way. So answers that share an address agree, and ``Kind`` says how
/// telling the difference is.
public struct Disagreement: Sendable, Hashable {
    /// What differs, from what is hardest to explain to what often has an innocent reason.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The plain answer has addresses that no public name can have; the other has none such.
        case impossibleAddresses = "impossible_addresses"
        /// One says that the name does not exist, the other knows it.
        case denied
        /// One has no record of the type, the other has.
        case emptied
        /// One is a server failure, the other is not.
        case failed
        /// Both have addresses, and none in common.
        case disjoint
    }

    public let question: Question
    /// From the source that proved itself.
    public let authenticated: Testimony
    public let plain: Testimony
    /// From the authenticated answer to the plain one; negative when the plain one came first.
    public let millisecondsApart: Int64
    public let kind: Kind

    /// Nil when the two agree, or answer different questions.
    public init?(authenticated: Testimony, plain: Testimony, millisecondsApart: Int64) {
        guard authenticated.question.name == plain.question.name,
            authenticated.question.type == plain.question.type,
            let kind = Disagreement.kind(authenticated, plain)
        else { return nil }
        question = authenticated.question
        self.authenticated = authenticated
        self.plain = plain
        self.millisecondsApart = millisecondsApart
        self.kind = kind
    }

    private static func kind(_ authenticated: Testimony, _ plain: Testimony) -> Kind? {
        let chains = (AliasChain(authenticated), AliasChain(plain))
        let addresses = (Set(chains.0.addresses), Set(chains.1.addresses))
        if plain.question.name.isPublic, isSpecial(addresses.1), !isSpecial(addresses.0) {
            return .impossibleAddresses
        }
        let failed = (isFailure(authenticated.code), isFailure(plain.code))
        guard failed.0 == failed.1 else { return .failed }
        // Two failures say nothing about the name.
        guard !failed.0 else { return nil }
        guard authenticated.code == plain.code else { return .denied }
        guard chains.0.end.isEmpty == chains.1.end.isEmpty else { return .emptied }
        // Of other types a rotating or signed record set differs without a reason.
        guard !addresses.0.isEmpty, !addresses.1.isEmpty else { return nil }
        return addresses.0.isDisjoint(with: addresses.1) ? .disjoint : nil
    }

    private static func isSpecial(_ addresses: Set<IPAddress>) -> Bool {
        addresses.contains { SpecialAddress.kind(of: $0) != nil }
    }

    private static func isFailure(_ code: ResponseCode) -> Bool {
        code != .noError && code != .noSuchName
    }
}

extension Disagreement: CustomStringConvertible {
    /// One line: who said what.
    public var description: String {
        "\(question.name) \(question.type.name): \(Disagreement.said(authenticated)), "
            + "but \(Disagreement.said(plain)) (\(kind.rawValue))"
    }

    private static func said(_ testimony: Testimony) -> String {
        let addresses = AliasChain(testimony).addresses
        // Because: a line for people; eight addresses show what there is to see.
        let list = addresses.prefix(8).map(\.description).joined(separator: ", ")
        let more = addresses.count > 8 ? ", …" : ""
        let what = addresses.isEmpty ? testimony.code.name : list + more
        return "\(testimony.source.resolver) says \(what)"
    }
}
