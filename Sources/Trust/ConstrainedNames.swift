/// Holds the names of one certificate against the constraints of the authorities above it.
///
/// Rules:
/// 1. A name that is within an excluded subtree is refused; of a kind that has permitted subtrees, a
///    name that is within none of them is, too. Source: RFC 5280 §4.2.1.10.
/// 2. A wildcard stands for many names: it is refused when any of them is excluded or is not
///    permitted. The attack: `*.example.com` under an authority that may not issue for
///    `www.example.com`.
/// 3. The common name is not a name here, as it is none to ``NameMatcher``. Source: RFC 9525 §2.
/// 4. A name of a constrained certificate that cannot be parsed, or is of a kind that is constrained
///    but cannot be compared, is refused.
struct ConstrainedNames {
    let certificate: CertificateFacts
    private let domains: [Domain]
    private let mailboxes: [NameConstraints.Mailbox]
    private let hosts: [[[UInt8]]?]

    /// - Throws: ``ChainFault`` for a name that cannot be parsed.
    init(_ certificate: CertificateFacts) throws(ChainFault) {
        self.certificate = certificate
        var domains: [Domain] = []
        for octets in certificate.dnsNames {
            guard let domain = Domain(octets) else {
                throw .name("dNSName \"\(NameMatcher.escaped(octets))\" is malformed")
            }
            domains.append(domain)
        }
        self.domains = domains
        for octets in certificate.ipAddresses where octets.count != 4 && octets.count != 16 {
            throw .name("iPAddress of \(octets.count) octets")
        }
        let names = certificate.particulars.names
        var mailboxes: [NameConstraints.Mailbox] = []
        for octets in names.emails {
            guard let mailbox = NameConstraints.Mailbox(octets) else {
                throw .name("rfc822Name \"\(NameMatcher.escaped(octets))\" is malformed")
            }
            mailboxes.append(mailbox)
        }
        self.mailboxes = mailboxes
        hosts = names.uris.map(ConstrainedNames.host)
    }

    var count: Int {
        domains.count + certificate.ipAddresses.count + mailboxes.count + hosts.count
            + certificate.particulars.names.directories.count
    }

    /// - Throws: ``ChainFault`` for the first name that is not under `constraints`.
    func check(_ constraints: NameConstraints) throws(ChainFault) {
        for domain in domains {
            try check(
                constraints, .dns, domain.description,
                isIn: { if case .dns(let tree) = $0 { domain.isAll(in: tree) } else { false } },
                touches: { if case .dns(let tree) = $0 { domain.isAny(in: tree) } else { false } })
        }
        for address in certificate.ipAddresses {
            // What reaches an IPv4 address is constrained like one.
            let short = NameMatcher.unmapped(address)
            try check(
                constraints, .address, "an iPAddress",
                isIn: { if case .address(let tree) = $0 { tree.contains(short) } else { false } },
                touches: {
                    guard case .address(let tree) = $0 else { return false }
                    return tree.contains(short) || tree.contains(address)
                })
        }
        for mailbox in mailboxes {
            try check(constraints, .email, "an rfc822Name") {
                if case .email(let tree) = $0 { tree.contains(mailbox) } else { false }
            }
        }
        for host in hosts {
            guard constraints.mentions(.uri) else { continue }
            guard let host else {
                throw .name("a URI without a host name, where URIs are constrained")
            }
            try check(constraints, .uri, "a URI") {
                if case .uri(let tree) = $0 { tree.isHost(host) } else { false }
            }
        }
        for name in certificate.particulars.names.directories {
            try check(constraints, .directory, "a distinguished name") {
                if case .directory(let tree) = $0 { name.isWithin(tree) } else { false }
            }
        }
        for kind in certificate.particulars.names.kinds where constraints.mentions(kind) {
            throw .name("a name of a kind that is constrained and cannot be compared")
        }
    }

    private func check(
        _ constraints: NameConstraints, _ kind: NameConstraints.Kind, _ name: String,
        isIn: (NameConstraints.Subtree) -> Bool
    ) throws(ChainFault) {
        try check(constraints, kind, name, isIn: isIn, touches: isIn)
    }

    private func check(
        _ constraints: NameConstraints, _ kind: NameConstraints.Kind, _ name: String,
        isIn: (NameConstraints.Subtree) -> Bool, touches: (NameConstraints.Subtree) -> Bool
    ) throws(ChainFault) {
        if constraints.excluded.contains(where: touches) {
            throw .name("\(name) is in an excluded subtree")
        }
        guard constraints.permitted.contains(where: { $0.kind == kind }) else { return }
        guard constraints.permitted.contains(where: isIn) else {
            throw .name("\(name) is in no permitted subtree")
        }
    }

    /// The host of a URI, labels from right to left; nil when it has none or it is an address.
    private static func host(of uri: [UInt8]) -> [[UInt8]]? {
        guard let colon = uri.firstIndex(of: 0x3A), uri[(colon + 1)...].starts(with: [0x2F, 0x2F])
        else { return nil }
        var authority = uri[(colon + 3)...].prefix { ![0x2F, 0x3F, 0x23].contains($0) }
        if let at = authority.lastIndex(of: 0x40) { authority = authority[(at + 1)...] }
        if let port = authority.firstIndex(of: 0x3A) { authority = authority[..<port] }
        if authority.last == 0x2E { authority = authority.dropLast() }
        guard let labels = NameConstraints.DomainTree.labels(of: authority),
            // The last label of an IPv4 address is a number; of a host name it never is. Source:
            // RFC 3696 §2. An IPv6 address has brackets, which no label has.
            labels.first?.allSatisfy({ (0x30...0x39).contains($0) }) == false
        else { return nil }
        return labels
    }
}

/// A `dNSName`: its labels from right to left, without the `*` of a wildcard.
private struct Domain: CustomStringConvertible {
    let labels: [[UInt8]]
    let isWildcard: Bool

    init?(_ octets: [UInt8]) {
        // `w*.example.com` is no wildcard to us; for the constraints it is the wildcard that
        // another reader may take it for.
        let dot = octets.firstIndex(of: 0x2E) ?? octets.endIndex
        isWildcard = octets[..<dot].contains(0x2A)
        let rest = isWildcard ? octets[dot...].dropFirst() : octets[...]
        guard let labels = NameConstraints.DomainTree.labels(of: rest) else { return nil }
        self.labels = labels
    }

    var description: String {
        let octets = labels.reversed().joined(separator: [0x2E])
        return "\"" + (isWildcard ? "*." : "") + NameMatcher.escaped(Array(octets)) + "\""
    }

    /// Every name that is meant is in the tree: a label more makes no difference to a tree that
    /// the rest is in, or is the top of.
    func isAll(in tree: NameConstraints.DomainTree) -> Bool {
        isWildcard ? labels.starts(with: tree.labels) : tree.contains(labels)
    }

    /// Some name that is meant is in the tree.
    func isAny(in tree: NameConstraints.DomainTree) -> Bool {
        guard isWildcard else { return tree.contains(labels) }
        // One label before the rest: the top of the tree is one of those names.
        let isTop = tree.labels.count == labels.count + 1 && tree.labels.starts(with: labels)
        return labels.starts(with: tree.labels) || (isTop && !tree.isBelow)
    }
}

extension NameConstraints {
    fileprivate func mentions(_ kind: Kind) -> Bool {
        permitted.contains { $0.kind == kind } || excluded.contains { $0.kind == kind }
    }
}
