package import HTTPDNSNames

/// Matches the host we mean against the names a certificate presents.
///
/// Rules:
/// 1. Only `subjectAltName` counts, never the subject's common name. Source: RFC 9525 §2.
/// 2. A name is matched against `dNSName` entries only, an address against `iPAddress` entries
///    only, octet by octet. Source: RFC 9525 §6.3, §6.4. A `dNSName` of "127.0.0.1" proves nothing.
///    Who means `::ffff:192.0.2.1` reaches 192.0.2.1, so an entry for that proves it, too. Source:
///    RFC 4291 §2.5.5.2.
/// 3. `*` stands for one whole label, the left-most, and at least two labels follow it that are not
///    a public suffix together. Source: RFC 9525 §6.3, §7.1.
/// 4. Case does not count in ASCII; nothing else is folded. Source: RFC 9525 §6.3.
/// 5. A certificate with a `dNSName` that no name could be (NUL, control or non-ASCII octets, an
///    empty label) or an `iPAddress` of another length than 4 or 16 is refused whole, even when
///    another entry matches: such entries are how certificates are smuggled past readers that stop
///    at a NUL. Source: RFC 5280 §4.2.1.6.
package struct NameMatcher: Sendable {
    package enum Verdict: Sendable, Hashable {
        /// The entry that matched, as text.
        case matched(String)
        case mismatched
        /// An entry is not a name; the text says which and why.
        case malformed(String)
    }

    private let isPublicSuffix: @Sendable (String) -> Bool

    /// - Parameter isPublicSuffix: whether a canonical host name is one under which anybody may
    ///   register: `com`, `co.uk`.
    package init(isPublicSuffix: @escaping @Sendable (String) -> Bool = { _ in false }) {
        self.isPublicSuffix = isPublicSuffix
    }

    package func match(_ host: Host, _ certificate: CertificateFacts) -> Verdict {
        if let fault = NameMatcher.fault(in: certificate) { return .malformed(fault) }
        switch host {
        case .address(let address):
            let forms = [address.octets, NameMatcher.unmapped(address.octets)]
            return certificate.ipAddresses.contains(where: forms.contains)
                ? .matched(address.withoutZone) : .mismatched
        case .name(let name):
            let reference = Array(name.text.utf8)
            // A label may not end in "-", whoever asks for it. Source: RFC 1123 §2.1, RFC 5890
            // §2.3.1.
            guard !NameMatcher.endsLabelInHyphen(reference) else { return .mismatched }
            for entry in certificate.dnsNames {
                let presented = entry.map(NameMatcher.lowered)
                if presented == reference || isCovered(reference, by: presented) {
                    return .matched(String(decoding: presented, as: UTF8.self))
                }
            }
            return .mismatched
        }
    }

    /// What is wrong with the certificate's names, if anything is: rule 5.
    package static func fault(in certificate: CertificateFacts) -> String? {
        for entry in certificate.dnsNames {
            if let fault = fault(inName: entry) {
                return "dNSName \"\(escaped(entry))\" \(fault)"
            }
        }
        for entry in certificate.ipAddresses where entry.count != 4 && entry.count != 16 {
            return "iPAddress of \(entry.count) octets; there are 4 or 16"
        }
        return nil
    }

    /// The four octets of an IPv4 address in IPv6 form; others as they are.
    package static func unmapped(_ octets: [UInt8]) -> [UInt8] {
        octets.count == 16 && octets.starts(with: mappedPrefix) ? Array(octets[12...]) : octets
    }

    /// Source: RFC 4291 §2.5.5.2.
    private static let mappedPrefix: [UInt8] = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

    /// Printable ASCII as it is, the rest as `\xNN`: safe on a terminal. Beyond the length of a name
    /// only the beginning is shown: a peer may write 100 KB into an entry.
    package static func escaped(_ octets: [UInt8]) -> String {
        guard octets.count <= longestName else {
            return escaped(Array(octets.prefix(shownOctets))) + "… (\(octets.count) octets)"
        }
        var text = ""
        for octet in octets {
            if (0x20...0x7E).contains(octet), octet != 0x5C, octet != 0x22 {
                text.unicodeScalars.append(Unicode.Scalar(octet))
            } else {
                let digits = String(octet, radix: 16)
                text += "\\x" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return text
    }

    private func isCovered(_ reference: [UInt8], by presented: [UInt8]) -> Bool {
        guard presented.starts(with: [0x2A, 0x2E]) else { return false }
        let suffix = presented.dropFirst(2)
        guard let dot = reference.firstIndex(of: NameMatcher.dot), dot > 0,
            reference[(dot + 1)...] == suffix, suffix.contains(NameMatcher.dot)
        else { return false }
        return !isPublicSuffix(String(decoding: suffix, as: UTF8.self))
    }

    private static let dot: UInt8 = 0x2E
    private static let hyphen: UInt8 = 0x2D
    /// Source: RFC 1035 §2.3.4.
    private static let longestName = 255
    /// Because: enough to recognise an entry by.
    private static let shownOctets = 64

    private static func lowered(_ octet: UInt8) -> UInt8 {
        (0x41...0x5A).contains(octet) ? octet | 0x20 : octet
    }

    private static func fault(inName octets: [UInt8]) -> String? {
        var isLabelEmpty = octets.first == dot
        for (index, octet) in octets.enumerated() {
            if octet == dot, index > 0, octets[index - 1] == dot { isLabelEmpty = true }
            if octet == 0 { return "contains a NUL at octet \(index)" }
            if octet < 0x21 || octet == 0x7F {
                return "contains a space or control character at octet \(index)"
            }
            if octet > 0x7F { return "contains a non-ASCII octet at \(index)" }
        }
        if octets.isEmpty { return "is empty" }
        // One empty label at the end is a trailing dot: no match, but no trick either.
        return isLabelEmpty ? "has an empty label" : nil
    }

    private static func endsLabelInHyphen(_ name: [UInt8]) -> Bool {
        if name.last == hyphen { return true }
        return zip(name, name.dropFirst()).contains { $0 == hyphen && $1 == dot }
    }
}

extension IPAddress {
    /// The zone is this machine's own matter; no certificate can name it. Source: RFC 4007 §11.2.
    fileprivate var withoutZone: String { IPAddress(octets: octets)?.description ?? description }
}
