/// The types that zone files and tools know by name.
///
/// Source: IANA "Resource Record (RR) TYPEs", 2025-01; those marked experimental or withdrawn are
/// left out and read as `TYPE…`.
private let typeNames: [(UInt16, String)] = [
    (1, "A"), (2, "NS"), (5, "CNAME"), (6, "SOA"), (12, "PTR"), (13, "HINFO"), (15, "MX"),
    (16, "TXT"), (17, "RP"), (18, "AFSDB"), (24, "SIG"), (25, "KEY"), (28, "AAAA"), (29, "LOC"),
    (33, "SRV"), (35, "NAPTR"), (36, "KX"), (37, "CERT"), (39, "DNAME"), (41, "OPT"), (42, "APL"),
    (43, "DS"), (44, "SSHFP"), (45, "IPSECKEY"), (46, "RRSIG"), (47, "NSEC"), (48, "DNSKEY"),
    (49, "DHCID"), (50, "NSEC3"), (51, "NSEC3PARAM"), (52, "TLSA"), (53, "SMIMEA"), (55, "HIP"),
    (59, "CDS"), (60, "CDNSKEY"), (61, "OPENPGPKEY"), (62, "CSYNC"), (63, "ZONEMD"), (64, "SVCB"),
    (65, "HTTPS"), (99, "SPF"), (104, "NID"), (105, "L32"), (106, "L64"), (107, "LP"),
    (108, "EUI48"), (109, "EUI64"), (249, "TKEY"), (250, "TSIG"), (251, "IXFR"), (252, "AXFR"),
    (255, "ANY"), (256, "URI"), (257, "CAA"),
]

/// Source: IANA "DNS RCODEs", 2025-01.
private let codeNames: [UInt16: String] = [
    0: "NOERROR", 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED",
    6: "YXDOMAIN", 7: "YXRRSET", 8: "NXRRSET", 9: "NOTAUTH", 10: "NOTZONE", 11: "DSOTYPENI",
    16: "BADVERS", 17: "BADKEY", 18: "BADTIME", 19: "BADMODE", 20: "BADNAME", 21: "BADALG",
    22: "BADTRUNC", 23: "BADCOOKIE",
]

private let namesByType = Dictionary(uniqueKeysWithValues: typeNames)
private let typesByName = Dictionary(uniqueKeysWithValues: typeNames.map { ($0.1, $0.0) })

extension RecordType: CustomStringConvertible {
    /// `AAAA`; `TYPE1234` for types without a name. Source: RFC 3597 §5.
    public var name: String { namesByType[rawValue] ?? "TYPE\(rawValue)" }

    public var description: String { name }

    /// Reads a name in any case (`aaaa`, `HTTPS`, `TYPE65`); nil when there is no such type.
    public init?(name: String) {
        let upper = String(
            decoding: name.utf8.map { (0x61...0x7A).contains($0) ? $0 & 0xDF : $0 }, as: UTF8.self)
        if let number = typesByName[upper] {
            self.init(rawValue: number)
            return
        }
        let digits = upper.dropFirst(4)
        guard upper.hasPrefix("TYPE"), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = UInt16(digits)
        else { return nil }
        self.init(rawValue: number)
    }
}

extension ResponseCode: CustomStringConvertible {
    /// `NXDOMAIN`; `RCODE24` for codes without a name.
    public var name: String { codeNames[rawValue] ?? "RCODE\(rawValue)" }

    public var description: String { name }
}
