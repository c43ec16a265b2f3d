/// How a verifier finds out whether a certificate was revoked, and what happens when nobody says so.
///
/// Two sources are looked at, and no other: the OCSP response that the peer staples to its handshake
/// (RFC 6066 §8), and revocation lists that are given here (RFC 5280 §5). Nothing is fetched: a
/// look-up at the authority would tell it who is visited, and whoever can drop it would decide.
///
/// A certificate that demands a staple (RFC 7633) gets none of this leniency: see ``Mode``.
public struct RevocationPolicy: Sendable, Hashable {
    /// What is demanded. In both modes but `off` a source that says "revoked" is believed at once,
    /// and a certificate with the TLS feature `status_request` must come with a good, current staple.
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// No list is read, and what a staple says of the certificate counts for nothing; the
        /// result says so. A staple is asked for only where Certificate Transparency looks for
        /// stamps in it.
        case off
        /// What is there is checked; the result says what was not.
        case ifPresent = "if-present"
        /// A staple or a list must show the peer's own certificate to be good at this moment.
        case required
    }

    /// Where a revocation list comes from; one PEM text may hold several.
    public enum Lists: Sendable, Hashable {
        /// A PEM file, read when the policy is put to use.
        case file(String)
        /// PEM text.
        case pem(String)
    }

    public var mode: Mode
    public var lists: [Lists]

    public init(_ mode: Mode = .ifPresent, lists: [Lists] = []) {
        self.mode = mode
        self.lists = lists
    }

    var canonicalText: String {
        mode.rawValue + lists.map { "," + $0.identity }.joined()
    }
}

extension RevocationPolicy.Lists {
    var identity: String {
        switch self {
        case .file(let path): "file:\(path.utf8.count):\(path)"
        case .pem(let text): "pem:\(text.utf8.count):\(text)"
        }
    }
}
