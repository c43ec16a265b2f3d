internal import HTTPDNSNames

/// Under the public rules a common name repeats one of the SAN's names, letter by letter. Source:
/// CA/B BR §7.1.4.3.
///
/// It is never matched, so it proves nothing here; but who reads it elsewhere must not read another
/// host than the SAN has. Not held against it are
/// - a common name that is not written like a host name or an address,
/// - the domain above a name of the SAN, for which the authority validated that name,
/// - a certificate for this machine itself, which the public rules do not know.
enum CommonNameRule {
    static func fault(in certificate: CertificateFacts) -> ChainFault? {
        guard !certificate.dnsNames.isEmpty || !certificate.ipAddresses.isEmpty,
            !isLocal(certificate)
        else { return nil }
        let addresses = certificate.ipAddresses.compactMap {
            IPAddress(octets: $0).map { Array($0.description.utf8) }
        }
        for name in certificate.particulars.commonNames {
            let isRepeated = certificate.dnsNames.contains(name) || addresses.contains(name)
            guard !isRepeated, isHost(name) else { continue }
            if !isAddress(name) {
                if certificate.dnsNames.isEmpty { continue }
                let ending = [0x2E] + name
                if certificate.dnsNames.contains(where: { hasEnding($0, ending) }) { continue }
            }
            return ChainFault(
                .badCertificate,
                "the common name \"\(NameMatcher.escaped(name))\" is not in subjectAltName "
                    + "(CA/B BR §7.1.4.3)")
        }
        return nil
    }

    private static func hasEnding(_ name: [UInt8], _ ending: [UInt8]) -> Bool {
        name.count > ending.count && name[(name.count - ending.count)...] == ending[...]
    }

    /// `localhost` and what is below it, or a loopback address. Source: RFC 6761 §6.3, RFC 6890.
    private static func isLocal(_ certificate: CertificateFacts) -> Bool {
        let localhost = Array("localhost".utf8)
        return certificate.dnsNames.contains {
            $0 == localhost || hasEnding($0, [0x2E] + localhost)
        }
            || certificate.ipAddresses.contains {
                $0.count == 4 && $0[0] == 127 || $0 == [UInt8](repeating: 0, count: 15) + [1]
            }
    }

    private static func isAddress(_ name: [UInt8]) -> Bool {
        if name.contains(0x3A) { return true }
        // A host name's last label never begins with a digit. Source: RFC 3696 §2.
        let last = name.split(separator: 0x2E).last ?? []
        return last.first.map { (0x30...0x39).contains($0) } ?? false
    }

    private static func isHost(_ name: [UInt8]) -> Bool {
        if name.contains(0x3A) {
            return name.allSatisfy { $0 == 0x3A || $0 == 0x2E || isHexadecimal($0) }
        }
        return name.contains(0x2E) && name.first != 0x2E && name.last != 0x2E
            && name.allSatisfy { octet in
                switch octet {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2A, 0x2D, 0x2E, 0x5F, 0x80...0xFF:
                    true
                default: false
                }
            }
    }

    private static func isHexadecimal(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }
}
