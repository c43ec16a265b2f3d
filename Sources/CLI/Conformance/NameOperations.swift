internal import HTTPDNSExchange
internal import HTTPDNSIDNA
internal import HTTPDNSNames
internal import HTTPDNSPublicSuffix

/// The operations of the conformance adapter that are about names and addresses, on plain values.
///
/// Each returns nil where the answer is `"ok": false`.
enum NameOperations {
    /// `ip.literal`: the octets of an address, of that family (4 or 6) where one is named.
    static func ipLiteral(_ input: String, family: Int?) -> [UInt8]? {
        guard let address = try? IPAddress(input) else { return nil }
        guard let family else { return address.octets }
        return address.family == (family == 4 ? .ipv4 : .ipv6) ? address.octets : nil
    }

    /// `host.toascii`: a domain, or with `verifyDNSLength` the host of a URL, in A-labels.
    static func hostToASCII(_ input: String, verifyDNSLength: Bool) -> String? {
        if verifyDNSLength {
            guard let url = try? ParsedURL(input, toASCII: IDNA.toASCII) else { return nil }
            return (try? HostName(url.host.text))?.text
        }
        // The empty domain stays empty; a URL's host is refused only later.
        guard !input.isEmpty, let ascii = try? IDNA.toASCII(input), !ascii.isEmpty else {
            return input.isEmpty ? "" : nil
        }
        return ascii.utf8.contains(where: HostParser.isForbidden) ? nil : ascii
    }

    /// `idna.toascii_n`: UTS 46 with every check.
    static func toASCIIStrictly(_ input: String) -> String? {
        try? IDNA.toASCIIStrictly(input)
    }

    /// `psl.registrable`: the registrable domain in the form that `host` is written in.
    static func registrable(_ host: String) -> String? {
        guard let name = try? HostName(unicode: host),
            let domain = PublicSuffix.registrableDomain(of: name)
        else { return nil }
        guard host.utf8.contains(where: { $0 >= 0x80 }) else { return domain.text }
        return IDNA.toUnicode(domain)
    }
}
