public import HTTPDNSNames

/// What makes a check weaker, each for some hosts and with a reason. There is no option for all hosts,
/// and none that accepts everything.
///
/// Each shows by its ``Option/label`` in every proof, failure and report about a host it is set for,
/// whether it was needed or not.
public struct DangerousOptions: Sendable, Hashable {
    /// One check that becomes weaker.
    public enum Option: String, Sendable, Hashable, CaseIterable, Comparable {
        /// A certificate without any `dNSName` and `iPAddress` may name the host in its subject's
        /// common name, whole and without a wildcard.
        ///
        /// The attack that it opens: an authority that checks only alternative names signs a subject
        /// that says whatever the applicant likes. Source: RFC 9525 §2, §7.
        case matchesCommonName = "matches_common_name"
        /// The certificates of the chain may have ended. One that is not valid yet is refused as ever.
        ///
        /// The attack that it opens: a key that was stolen long ago, whose revocation nobody lists any
        /// more. Source: RFC 5280 §3.3: a list names a certificate until it has ended.
        case acceptsExpired = "accepts_expired"
        /// Keys in the chain may have 80 bits of security in place of 112: RSA of 1,024 bits, and what
        /// the profile takes of elliptic curves from 160 bits on. Signatures over SHA-1 and MD5 are
        /// refused as ever.
        ///
        /// The attack that it opens: who can factor the key is the server, or the authority, ever
        /// after. Source: NIST SP 800-57 part 1, table 2.
        case acceptsWeakKeys = "accepts_weak_keys"

        /// Safe in metrics and JSON.
        public var label: String { rawValue }

        public static func < (lhs: Option, rhs: Option) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    private var entries: [HostPattern: [Option: String]] = [:]

    public init() {}

    public var isEmpty: Bool { entries.isEmpty }

    /// Sets `option` for the hosts of `pattern`.
    ///
    /// - Parameters:
    ///   - option: the check that becomes weaker.
    ///   - pattern: the hosts; a pattern for a whole top-level domain is refused.
    ///   - reason: why, for those who read the policy later; not empty.
    /// - Throws: ``DangerousOptionsError``.
    public mutating func accept(
        _ option: Option, for pattern: HostPattern, because reason: String
    ) throws(DangerousOptionsError) {
        guard reason.utf8.contains(where: { $0 > 0x20 }) else { throw .noReason(option) }
        guard !pattern.isWide else { throw .tooWide(option, pattern) }
        entries[pattern, default: [:]][option] = reason
    }

    /// All that are set for `host`, sorted: of every pattern that matches it.
    public func options(for host: Host) -> [Option] {
        guard !entries.isEmpty else { return [] }
        var options: Set<Option> = []
        for (pattern, accepted) in entries where pattern.matches(host) {
            options.formUnion(accepted.keys)
        }
        return options.sorted()
    }

    /// The first pattern that speaks for all that is registered under one name, and that name.
    package func widest(
        _ isPublicSuffix: (String) -> Bool
    ) -> (pattern: HostPattern, suffix: HostName)? {
        let wide = entries.keys.compactMap { pattern in
            pattern.suffix.flatMap { isPublicSuffix($0.text) ? (pattern, $0) : nil }
        }
        return wide.min { $0.0.distinctText < $1.0.distinctText }
    }

    /// What is set for whom and why, a line each, for the log of a start.
    public var lines: [String] {
        entries.flatMap { pattern, accepted in
            accepted.map { "dangerous: \($0.key.label) for \(pattern), because \($0.value)" }
        }.sorted()
    }

    var canonicalText: String {
        entries.map { pattern, accepted in
            pattern.distinctText + "="
                + accepted.keys.sorted().map(\.label).joined(separator: ",")
        }.sorted().joined(separator: ";")
    }
}

/// Why a dangerous option cannot be set.
public enum DangerousOptionsError: Error, Sendable, Hashable, CustomStringConvertible {
    case noReason(DangerousOptions.Option)
    case tooWide(DangerousOptions.Option, HostPattern)

    public var description: String {
        switch self {
        case .noReason(let option): "\(option.label) needs a reason"
        case .tooWide(let option, let pattern):
            "\(option.label) cannot be set for \(pattern): name the hosts, or a domain of two "
                + "labels or more"
        }
    }
}

extension HostPattern {
    /// What all its hosts are under; nil for one host alone.
    fileprivate var suffix: HostName? {
        switch form {
        case .exact: nil
        case .oneLabelUnder(let suffix), .anyDepthUnder(let suffix), .under(let suffix): suffix
        }
    }

    /// Everything under a top-level domain.
    fileprivate var isWide: Bool { suffix.map { $0.labels.count < 2 } ?? false }
}
