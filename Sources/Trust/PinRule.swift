public import HTTPDNSNames

/// What is asked of the hosts of one pattern in a ``PinSet``.
///
///     var rule = PinRule(try [Pin("sha256/…"), Pin("sha256/…")])
///     rule.expiry = PinRule.Expiry(at: moment, then: .failClosed)
public struct PinRule: Sendable, Hashable {
    /// What becomes of a peer none of whose verified certificates has a pinned key.
    public enum Enforcement: String, Sendable, Hashable, CaseIterable {
        /// It is refused.
        case enforce
        /// It is accepted, and the proof and a report say that it did not match.
        case reportOnly = "report-only"
    }

    /// What the rule means once it has expired.
    public enum AfterExpiry: String, Sendable, Hashable, CaseIterable {
        /// Its hosts are refused, whatever key they have, until the policy is renewed.
        case failClosed = "fail-closed"
        /// As ``Enforcement/reportOnly``.
        case reportOnly = "report-only"
        /// Its hosts are not pinned any longer, and no wider pattern speaks for them.
        case unpinned
    }

    /// When the rule ends, and what then: no default, for either choice locks out somebody.
    public struct Expiry: Sendable, Hashable {
        /// The last second in which the rule holds.
        public var at: WallTime
        public var then: AfterExpiry

        public init(at: WallTime, then: AfterExpiry) {
            self.at = at
            self.then = then
        }
    }

    /// What a root that somebody added to this machine may do: see ``TrustPolicy/userRoots``.
    public enum UserRoots: String, Sendable, Hashable, CaseIterable {
        /// The pins hold whatever root a chain ends in.
        case pinsApply = "pins-apply"
        /// A chain that ends in such a root needs no pin: a proxy that the owner of the machine put
        /// there may read along. The proof says so.
        case pinsWaived = "pins-waived"
        /// A chain that ends in such a root is refused, whatever pins match.
        case refused
    }

    /// Whether one pin is enough.
    public enum Backup: String, Sendable, Hashable {
        /// Two distinct pins at least, one of them for a key that waits in a safe. Because: when
        /// the only pinned key is lost or has to be replaced, every client is locked out. Source:
        /// RFC 7469 §2.5, §4.3.
        case required
        /// Somebody has decided to live with that.
        case waived
    }

    public var pins: Set<Pin>
    public var backup: Backup
    public var enforcement = Enforcement.enforce
    /// Nil: never.
    public var expiry: Expiry?
    public var userRoots = UserRoots.pinsApply
    /// Where a mismatch is reported to, besides what the client is told: `https` URLs.
    public var reportURIs: [String] = []

    /// A rule that is enforced and does not expire.
    public init(_ pins: some Sequence<Pin>, backup: Backup = .required) {
        self.pins = Set(pins)
        self.backup = backup
    }

    /// Sorted, for people.
    public var sortedPins: [Pin] { pins.sorted() }

    /// True where a peer without a pinned key is refused at that moment.
    package func binds(at now: WallTime) -> Bool {
        if let expiry, isExpired(at: now) { return expiry.then == .failClosed }
        return enforcement == .enforce
    }

    func isExpired(at now: WallTime) -> Bool { expiry.map { $0.at < now } ?? false }

    /// The same text for equal rules, another for different ones.
    var canonicalText: String {
        let expires = expiry.map { "\($0.at.secondsSince1970):\($0.then.rawValue)" } ?? "never"
        let reports = reportURIs.map { "\($0.utf8.count):\($0)" }.joined(separator: ",")
        return sortedPins.map(\.description).joined(separator: ",")
            + " \(enforcement.rawValue) backup:\(backup.rawValue) expires:\(expires)"
            + " users:\(userRoots.rawValue) reports:\(reports)"
    }
}

/// The rule that speaks for a host, and under which pattern it stands.
public struct PinMatch: Sendable, Hashable {
    public let pattern: HostPattern
    /// Nil: the pattern takes its hosts out of a wider one.
    public let rule: PinRule?
}
