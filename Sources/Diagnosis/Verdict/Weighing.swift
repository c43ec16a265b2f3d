internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSTrust
internal import HTTPDNSWire

/// The evidence put in order: who said what, what stands at each address, what trusted sources say.
///
/// Whether an address is the name's is decided by TLS alone. That an address differs from what
/// another source gave says nothing.
struct Weighing {
    let evidence: Evidence
    /// By address; all addresses that were looked at.
    let peers: [IPAddress: PeerEvidence]
    /// Each address that some source gave for the name, in the order first seen.
    let addresses: [IPAddress]
    /// Those that programs here are led to: see ``Evidence/isUsed(_:)``.
    let networkAddresses: Set<IPAddress>
    /// What trusted sources say, all of them together, for each type that any of them answered.
    let trusted: [RecordType: Statement]
    private var provenFamilies: Set<IPAddress.Family> = []

    init(_ evidence: Evidence) {
        self.evidence = evidence
        peers = Dictionary(
            evidence.peers.map { ($0.address, $0) }, uniquingKeysWith: { first, _ in first })
        var addresses: [IPAddress] = []
        var seen: Set<IPAddress> = []
        let raced = evidence.races.flatMap { $0.first.addresses + $0.second.addresses }
        let given = evidence.answers.flatMap { $0.statement?.addresses ?? [] }
        for address in given + raced where seen.insert(address).inserted {
            addresses.append(address)
        }
        self.addresses = addresses
        networkAddresses = Set(
            evidence.answers.filter { evidence.isUsed($0) }.flatMap {
                $0.statement?.addresses ?? []
            })
        trusted = Weighing.gathered(evidence.answers.filter { !$0.source.isSuspect })
        provenFamilies = Set(
            addresses.filter { standing(of: $0) == .proven }.map(\.family))
    }

    /// Several trusted sources speak as one: what any of them gives, is given.
    private static func gathered(_ answers: [AnswerEvidence]) -> [RecordType: Statement] {
        var gathered: [RecordType: Statement] = [:]
        for answer in answers {
            guard let statement = answer.statement,
                statement.isPositive || statement.isNegative
            else { continue }
            guard var known = gathered[answer.type] else {
                gathered[answer.type] = statement
                continue
            }
            if statement.isPositive, !known.isPositive {
                known = statement
            } else if statement.isPositive {
                known.addresses += statement.addresses.filter { !known.addresses.contains($0) }
                known.ttlSeconds = [known.ttlSeconds, statement.ttlSeconds].compactMap(\.self).max()
            }
            gathered[answer.type] = known
        }
        return gathered
    }

    /// What trusted sources give, both families.
    var trustedAddresses: Set<IPAddress> { Set(trusted.values.flatMap(\.addresses)) }

    /// Whether a trusted source knows an address of the name.
    var isTrustedPositive: Bool { trusted.values.contains(where: \.isPositive) }

    /// Whether a trusted source says that the name does not exist.
    var isDenied: Bool {
        !isTrustedPositive && trusted.values.contains { $0.code == .noSuchName }
    }

    /// Whether some address proves the name: then one that does not is somebody else's.
    var hasProof: Bool { !provenFamilies.isEmpty }

    /// The same for one family: who looks into connections may do so for one alone.
    func hasProof(of family: IPAddress.Family) -> Bool { provenFamilies.contains(family) }

    /// Addresses with the name's proof that trusted sources give.
    var provenByTrusted: [IPAddress] {
        let given = trustedAddresses
        return addresses.filter { given.contains($0) && standing(of: $0) == .proven }
    }

    /// The labels of the trusted sources that give one of these, for a sentence.
    func trustedGivers(of addresses: [IPAddress]) -> String {
        let labels = evidence.answers.filter { answer in
            !answer.source.isSuspect
                && (answer.statement?.addresses ?? []).contains { addresses.contains($0) }
        }.map(\.source.label)
        var seen: Set<String> = []
        return labels.filter { seen.insert($0).inserted }.prefix(2).joined(separator: ", ")
    }

    func standing(of address: IPAddress) -> AddressJudgement.Standing {
        if AddressMeaning(of: address)?.canBeDialled == false { return .impossible }
        guard let peer = peers[address] else { return .untried }
        switch peer.connection {
        case .notDialled: return .untried
        case .failed, .timedOut: return .unreachable
        case .connected: break
        }
        guard let real = peer.real else { return .untried }
        switch real {
        case .proven: return .proven
        case .untrusted(let failure): return standing(of: failure)
        case .cut(.refused): return .mute
        case .cut, .timedOut:
            let others = [peer.withoutName, peer.otherName].compactMap(\.self)
            return others.contains(where: \.isSpoken) ? .filtered : .mute
        }
    }

    /// Whether a certificate that was refused is the name's own, gone bad, or somebody else's.
    private func standing(of failure: TrustFailure) -> AddressJudgement.Standing {
        let covers = failure.facts.chain.first?.covers(evidence.name.text) ?? false
        guard covers else { return failure.code == .noCertificate ? .mute : .impostor }
        return Weighing.codesOfStrangers.contains(failure.code) ? .impostor : .badCertificate
    }

    /// Anybody can make a certificate with the name in it that fails for one of these.
    private static let codesOfStrangers: Set<TrustFailure.Code> = [
        .unknownIssuer, .selfSigned, .badSignature, .noPinMatched, .notACA, .pathTooLong,
        .nameConstraint, .badCertificate, .userRootRefused, .wrongName, .malformedName,
    ]

    /// The statement of a source for a type.
    func statement(of source: EvidenceSource, _ type: RecordType) -> Statement? {
        evidence.answers.first { $0.source == source && $0.type == type }?.statement
    }

    /// Whether an IPv6 address is a trusted IPv4 address in the form that this network's translator,
    /// or the well-known prefix, gives it.
    func isTranslated(_ address: IPAddress) -> Bool {
        guard address.family == .ipv6, let plain = trusted[.a]?.addresses else { return false }
        let prefixes = evidence.network.translators + [NAT64Prefix.wellKnown].compactMap(\.self)
        return prefixes.contains { prefix in
            prefix.extract(address).map { plain.contains($0) } ?? false
        }
    }

    /// The trust failure at an address, where there was one.
    func failure(at address: IPAddress) -> TrustFailure? {
        guard case .untrusted(let failure) = peers[address]?.real else { return nil }
        return failure
    }

    /// How a handshake is cut with the name, where it is not without it, for a sentence.
    func cutWords(at address: IPAddress) -> String? {
        guard standing(of: address) == .filtered, let real = peers[address]?.real else {
            return nil
        }
        return "\(address): with the name the handshake \(PeerJudging.words(real)), without it or "
            + "with another one the server answers"
    }

    /// Who made the certificate that was refused at an address.
    func issuer(at address: IPAddress) -> String? {
        failure(at: address)?.facts.chain.first?.issuer
    }

    /// What somebody else's certificate says of itself, for a sentence.
    func whoAnswers(at address: IPAddress) -> String {
        guard let failure = failure(at: address) else { return "\(address)" }
        let leaf = failure.facts.chain.first
        let names = leaf?.listedNames() ?? "no certificate"
        let issuer = leaf.map { ", issued by \($0.issuer)" } ?? ""
        return "\(address) shows a certificate for \(names)\(issuer) (\(failure.label))"
    }
}

extension Evidence {
    /// Whether an answer is what programs of this machine get: the system's, or a name server's on
    /// its own port, by UDP, and by TCP where UDP brought nothing.
    ///
    /// Another port, TCP beside UDP and a resolver of the user's own may all tell the truth while
    /// every program here is led astray. Such a resolver counts where nobody else is judged.
    func isUsed(_ answer: AnswerEvidence) -> Bool {
        let source = answer.source
        switch source.standing {
        case .system: return true
        case .nameserver: return source.alternateOf == nil && !isTwin(answer)
        case .resolver:
            return !sources.contains { [.system, .nameserver].contains($0.standing) }
        case .hosts, .trusted: return false
        }
    }

    /// Whether it came by TCP, and the same server answers the same by UDP, which programs ask first.
    private func isTwin(_ answer: AnswerEvidence) -> Bool {
        guard answer.source.transport == .tcp, let server = answer.source.server else {
            return false
        }
        return answers.contains {
            $0.source.standing == .nameserver && $0.source.transport == .udp
                && $0.source.server == server && $0.type == answer.type && $0.statement != nil
        }
    }
}

extension [IPAddress] {
    /// For a sentence, a few of them.
    var listed: String {
        prefix(4).map(\.description).joined(separator: ", ") + (count > 4 ? ", …" : "")
    }
}
