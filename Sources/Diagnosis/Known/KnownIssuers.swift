internal import HTTPDNSTrust

/// Programs and appliances that answer TLS in a site's place, by what their certificates say of their
/// issuer.
enum KnownInterceptors {
    /// The product that issued a certificate of the chain; nil when none is known.
    static func product(in chain: [CertificateFacts]) -> String? {
        let issuers = chain.map { $0.issuer.lowercased() }
        return table.first { entry in issuers.contains { $0.contains(entry.pattern) } }?.product
    }

    /// A part of the issuer in lower case, and whose it is.
    ///
    /// Source: the issuers that Durumeric et al., "The Security Impact of HTTPS Interception", NDSS
    /// 2017, and de Carné de Carnavalet and Mannan, "Killed by Proxy", NDSS 2016, list; for debugging
    /// proxies their own documentation.
    private static let table: [(pattern: String, product: String)] = [
        ("mitmproxy", "mitmproxy, a debugging proxy"),
        ("charles proxy", "Charles, a debugging proxy"),
        ("do_not_trust_fiddler", "Fiddler, a debugging proxy"),
        ("portswigger", "Burp Suite, a testing proxy"),
        ("owasp zap", "ZAP, a testing proxy"),
        ("proxyman", "Proxyman, a debugging proxy"),
        ("http toolkit", "HTTP Toolkit, a debugging proxy"),
        ("fortinet", "a Fortinet firewall"), ("fortigate", "a Fortinet firewall"),
        ("zscaler", "Zscaler, a web gateway"),
        ("netskope", "Netskope, a web gateway"), ("goskope", "Netskope, a web gateway"),
        ("cisco umbrella", "Cisco Umbrella, a web gateway"),
        ("cisco secure access", "Cisco Secure Access, a web gateway"),
        ("forcepoint", "Forcepoint, a web gateway"), ("websense", "Forcepoint, a web gateway"),
        ("blue coat", "a Blue Coat proxy"), ("bluecoat", "a Blue Coat proxy"),
        ("palo alto", "a Palo Alto firewall"), ("sonicwall", "a SonicWall firewall"),
        ("sophos", "Sophos"), ("barracuda", "a Barracuda gateway"),
        ("check point", "a Check Point firewall"), ("watchguard", "a WatchGuard firewall"),
        ("untangle", "an Untangle firewall"), ("smoothwall", "a Smoothwall filter"),
        ("lightspeed systems", "Lightspeed, a school filter"),
        ("securly", "Securly, a school filter"), ("goguardian", "GoGuardian, a school filter"),
        ("contentkeeper", "ContentKeeper, a school filter"), ("iboss", "iboss, a web gateway"),
        ("avast", "Avast, an antivirus program"), ("avg technologies", "AVG, an antivirus program"),
        ("kaspersky", "Kaspersky, an antivirus program"),
        ("bitdefender", "Bitdefender, an antivirus program"),
        ("eset ssl filter", "ESET, an antivirus program"),
        ("dr.web", "Dr.Web, an antivirus program"),
        ("adguard", "AdGuard, an advertisement filter"),
        ("net nanny", "Net Nanny, a parental filter"), ("qustodio", "Qustodio, a parental filter"),
        ("superfish", "Superfish, an advertisement injector"),
        ("edellroot", "eDellRoot, a root of a computer maker"),
        ("komodia", "Komodia, an interception library"),
        ("wajam", "Wajam, an advertisement injector"),
        ("squid", "a Squid proxy"), ("pfsense", "a pfSense firewall"),
        ("opnsense", "an OPNsense firewall"),
    ]
}

/// Public authorities: a chain to one of them that cannot be built is most often short of a
/// certificate in between, which the site forgot to send.
enum KnownAuthorities {
    static func isNamed(by certificate: CertificateFacts) -> Bool {
        let issuer = certificate.issuer.lowercased()
        return names.contains { issuer.contains("o=" + $0) }
    }

    /// Organisations in lower case, as issuers spell them.
    ///
    /// Source: CCADB, "Included CA Certificates", the owners with the most certificates, 2025-01.
    private static let names = [
        "let's encrypt", "digicert", "sectigo", "google trust services", "globalsign", "amazon",
        "godaddy", "entrust", "microsoft corporation", "zerossl", "ssl corporation", "actalis",
        "buypass", "harica", "hellenic academic", "identrust", "trustasia", "wotrus", "certum",
        "asseco", "comodo ca", "cloudflare", "geant", "swisssign", "quovadis", "d-trust",
        "telekom security", "cfca", "sheca", "secom trust", "starfield",
    ]
}

extension CertificateFacts {
    /// Whether one of its names covers a host name: itself, or a wildcard for its first label.
    func covers(_ name: String) -> Bool {
        let wanted = Array(name.utf8)
        let parent = wanted.firstIndex(of: 0x2E).map { Array(wanted[$0...]) }
        return dnsNames.contains { entry in
            let lowered = entry.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
            if lowered == wanted { return true }
            guard lowered.first == 0x2A, let parent else { return false }
            return Array(lowered.dropFirst()) == parent
        }
    }

    /// Its names for people, at most `count` of them.
    func listedNames(_ count: Int = 4) -> String {
        let names = dnsNames.prefix(count).map { String(decoding: $0, as: UTF8.self) }
        guard !names.isEmpty else { return subject.isEmpty ? "nobody" : subject }
        return names.joined(separator: ", ") + (dnsNames.count > count ? ", …" : "")
    }
}
