/// Why a server answers as it does, in its own words: the network says it, and nothing proves it.
///
/// Source: RFC 8914 §2.
public struct ExtendedError: Sendable, Hashable {
    /// The info code: 18 for "Prohibited".
    public let code: UInt16
    /// What the server adds; may be empty, and may hold any character.
    public let text: String

    public init(code: UInt16, text: String = "") {
        self.code = code
        self.text = text
    }

    /// The registered meaning of ``code``; nil for one that is not registered.
    ///
    /// Source: IANA "Extended DNS Error Codes", 2025-01.
    public var name: String? {
        let index = Int(code)
        return index < ExtendedError.names.count ? ExtendedError.names[index] : nil
    }

    /// By code, from 0.
    private static let names = [
        "Other Error", "Unsupported DNSKEY Algorithm", "Unsupported DS Digest Type",
        "Stale Answer", "Forged Answer", "DNSSEC Indeterminate", "DNSSEC Bogus",
        "Signature Expired", "Signature Not Yet Valid", "DNSKEY Missing", "RRSIGs Missing",
        "No Zone Key Bit Set", "NSEC Missing", "Cached Error", "Not Ready", "Blocked", "Censored",
        "Filtered", "Prohibited", "Stale NXDomain Answer", "Not Authoritative", "Not Supported",
        "No Reachable Authority", "Network Error", "Invalid Data",
        "Signature Expired before Valid", "Too Early", "Unsupported NSEC3 Iterations Value",
        "Unable to conform to policy", "Synthesized", "Invalid Query Type",
    ]
}
