public import HTTPDNSNames

/// Why a peer was not trusted. Equality is on the facts, never on the text.
public struct TrustFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What went wrong; a bounded set.
    public struct Code: Sendable, Hashable {
        /// `no_pin_matched`: safe in metrics and JSON.
        public let label: String
        /// The rule that was broken: `RFC 9525 §6.3`.
        public let rule: String

        private init(_ label: String, _ rule: String) {
            self.label = label
            self.rule = rule
        }

        public static let wrongName = Code("wrong_name", "RFC 9525 §6")
        public static let badReferenceName = Code("bad_reference_name", "RFC 9525 §6.2")
        public static let malformedName = Code("malformed_name", "RFC 5280 §4.2.1.6")
        public static let expired = Code("expired", "RFC 5280 §4.1.2.5")
        public static let notYetValid = Code("not_yet_valid", "RFC 5280 §4.1.2.5")
        public static let unknownIssuer = Code("unknown_issuer", "RFC 5280 §6.1")
        public static let selfSigned = Code("self_signed", "RFC 5280 §6.1")
        public static let badSignature = Code("bad_signature", "RFC 5280 §6.1.3")
        public static let weakSignature = Code("weak_signature", "RFC 9155 §2, CA/B BR §7.1.3")
        public static let weakKey = Code("weak_key", "CA/B BR §6.1.5")
        public static let notForServers = Code("not_for_servers", "RFC 5280 §4.2.1.12")
        public static let notACA = Code("not_a_ca", "RFC 5280 §4.2.1.9")
        public static let authorityAsServer = Code("ca_as_server", "CA/B BR §7.1.2.7.8")
        public static let tooCostly = Code("too_costly", "this library")
        public static let pathTooLong = Code("path_too_long", "RFC 5280 §6.1.4")
        public static let nameConstraint = Code("name_constraint", "RFC 5280 §4.2.1.10")
        public static let revoked = Code("revoked", "RFC 5280 §6.3")
        public static let revocationUnknown = Code("revocation_unknown", "RFC 5280 §6.3")
        public static let stapleMissing = Code("staple_missing", "RFC 7633 §4.2.3")
        public static let stapleInvalid = Code("staple_invalid", "RFC 6066 §8, RFC 6960 §3.2")
        public static let notLogged = Code("not_logged", "RFC 6962 §5.2")
        public static let badCertificate = Code("bad_certificate", "RFC 5280 §4")
        public static let noCertificate = Code("no_certificate", "RFC 8446 §4.4.2")
        public static let noPinMatched = Code("no_pin_matched", "RFC 7469 §2.6")
        public static let pinsExpired = Code("pins_expired", "the pin policy: whenExpired")
        public static let userRootRefused = Code(
            "user_root_refused", "the pin policy: userRoots")
        /// Asked for over `http`, where nobody shows a key.
        public static let pinnedOverHTTP = Code("pinned_over_http", "RFC 7469 §2.6")
        public static let policyChanged = Code("policy_changed", "this library")
        public static let unexpected = Code("unexpected", "this library")
    }

    /// What was expected and what was presented.
    public struct Facts: Sendable, Hashable {
        public var host: Host
        /// The chain as verified where there was one, otherwise as presented; leaf first.
        public var chain: [CertificateFacts] = []
        public var configuredPins: [Pin] = []
        /// The pattern whose pins apply: `**.example.com`.
        public var pinPattern: String?
        /// The rule that refused, where one did.
        public var mismatch: PinMismatch?
        public var now: WallTime?
        /// The TLS library's own words, for example `certificate has expired`.
        public var detail: String?
        /// The ``DangerousOptions`` that are set for the host, needed or not.
        public var dangerous: [DangerousOptions.Option] = []

        public init(host: Host) { self.host = host }
    }

    public let code: Code
    public let facts: Facts

    public init(code: Code, facts: Facts) {
        self.code = code
        self.facts = facts
    }

    /// A bounded label, safe in metrics and JSON.
    public var label: String { code.label }

    /// The message for people: first what failed, then what was presented, then what to do.
    public var description: String { message }
}
