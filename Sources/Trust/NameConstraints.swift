/// The names under which an authority may issue. Source: RFC 5280 §4.2.1.10.
package struct NameConstraints: Sendable, Hashable {
    package var permitted: [Subtree]
    package var excluded: [Subtree]
    /// Why they cannot be held against a name; a chain with such constraints is refused.
    package var fault: String?

    package init(
        permitted: [Subtree] = [], excluded: [Subtree] = [], fault: String? = nil
    ) {
        self.permitted = permitted
        self.excluded = excluded
        self.fault = fault
    }

    /// Source: RFC 5280 §4.2.1.6, GeneralName.
    package enum Kind: Sendable, Hashable {
        case dns, address, email, uri, directory
        case other, x400, ediParty, registeredID
    }

    package enum Subtree: Sendable, Hashable {
        /// `example.com` and all below it; with a dot in front only what is below.
        case dns(DomainTree)
        case address(AddressTree)
        case email(EmailTree)
        /// The host of the URI: `example.com` alone, or with a dot in front what is below.
        case uri(DomainTree)
        case directory(DirectoryName)
        /// A kind that no rule here can compare.
        case opaque(Kind)

        package var kind: Kind {
            switch self {
            case .dns: .dns
            case .address: .address
            case .email: .email
            case .uri: .uri
            case .directory: .directory
            case .opaque(let kind): kind
            }
        }
    }
}

extension NameConstraints {
    /// A domain of a constraint: canonical labels from right to left.
    package struct DomainTree: Sendable, Hashable {
        /// `com`, `example`; none: every domain.
        let labels: [[UInt8]]
        /// Written with a dot in front: the domain itself is not meant.
        let isBelow: Bool

        /// Nil when no domain is written like this.
        ///
        /// A dot in front is not in RFC 5280 for `dNSName`, but is what `openssl` and others write.
        package init?(_ octets: [UInt8]) {
            isBelow = octets.first == 0x2E
            let rest = isBelow ? octets[1...] : octets[...]
            if rest.isEmpty {
                guard !isBelow else { return nil }
                labels = []
                return
            }
            guard let labels = DomainTree.labels(of: rest) else { return nil }
            self.labels = labels
        }

        /// The labels from right to left in lower case; nil when it is no domain.
        static func labels(of octets: ArraySlice<UInt8>) -> [[UInt8]]? {
            guard octets.count <= 253 else { return nil }
            var labels: [[UInt8]] = []
            for label in octets.split(separator: 0x2E, omittingEmptySubsequences: false) {
                guard !label.isEmpty, label.count <= 63, label.allSatisfy(isPlain) else {
                    return nil
                }
                labels.append(label.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
            }
            return labels.reversed()
        }

        /// Letters, digits, `-` and `_`.
        private static func isPlain(_ octet: UInt8) -> Bool {
            switch octet {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
            default: false
            }
        }

        func contains(_ name: [[UInt8]]) -> Bool {
            name.starts(with: labels) && (!isBelow || name.count > labels.count)
        }
    }

    /// An address and a mask of the same length.
    package struct AddressTree: Sendable, Hashable {
        let address: [UInt8]
        let mask: [UInt8]

        /// Nil unless there are 8 or 32 octets and the mask is a prefix. Source: RFC 5280 §4.2.1.10,
        /// RFC 4632 §3.1.
        package init?(_ octets: [UInt8]) {
            guard octets.count == 8 || octets.count == 32 else { return nil }
            let half = octets.count / 2
            mask = Array(octets[half...])
            address = zip(octets[..<half], mask).map { $0 & $1 }
            var isOver = false
            for octet in mask {
                guard !isOver || octet == 0, (~octet &+ 1) & ~octet == 0 else { return nil }
                isOver = octet != 0xFF
            }
        }

        func contains(_ octets: [UInt8]) -> Bool {
            octets.count == address.count && zip(octets, mask).map { $0 & $1 } == address
        }
    }

    /// One mailbox, the mailboxes of one host, or those of the hosts below a domain.
    package enum EmailTree: Sendable, Hashable {
        case mailbox(Mailbox)
        case hosts(DomainTree)

        package init?(_ octets: [UInt8]) {
            if octets.contains(0x40) {
                guard let mailbox = Mailbox(octets) else { return nil }
                self = .mailbox(mailbox)
            } else {
                guard let tree = DomainTree(octets) else { return nil }
                self = .hosts(tree)
            }
        }

        func contains(_ other: Mailbox) -> Bool {
            switch self {
            case .mailbox(let mailbox): mailbox == other
            case .hosts(let tree): tree.isHost(other.host)
            }
        }
    }

    /// A mailbox; the part before `@` is compared as it is, without quotes. Source: RFC 5321 §4.1.2.
    package struct Mailbox: Sendable, Hashable {
        let local: [UInt8]
        let host: [[UInt8]]

        package init?(_ octets: [UInt8]) {
            var local: [UInt8] = []
            var index = 0
            if octets.first == 0x22 {
                index = 1
                while index < octets.count, octets[index] != 0x22 {
                    if octets[index] == 0x5C { index += 1 }
                    guard index < octets.count, (0x20...0x7E).contains(octets[index]) else {
                        return nil
                    }
                    local.append(octets[index])
                    index += 1
                }
                index += 1
            } else {
                while index < octets.count, octets[index] != 0x40 {
                    guard Mailbox.isAtom(octets[index]) else { return nil }
                    local.append(octets[index])
                    index += 1
                }
            }
            guard !local.isEmpty, index < octets.count, octets[index] == 0x40,
                let host = DomainTree.labels(of: octets[(index + 1)...])
            else { return nil }
            self.local = local
            self.host = host
        }

        /// What may stand in a local part without quotes, dots among it.
        private static func isAtom(_ octet: UInt8) -> Bool {
            switch octet {
            case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D...0x39, 0x3D, 0x3F, 0x41...0x5A, 0x5E...0x7E:
                true
            default: false
            }
        }
    }
}

extension NameConstraints.DomainTree {
    /// For e-mail and URIs a domain without a dot in front is that host alone, and an empty one
    /// every host. Source: RFC 5280 §4.2.1.10.
    func isHost(_ name: [[UInt8]]) -> Bool {
        isBelow || labels.isEmpty ? contains(name) : labels == name
    }
}
