internal import HTTPDNSNames
internal import HTTPDNSOpenSSLTrust
internal import HTTPDNSTrust

extension TrustOperations {
    /// One entry of a TrustKit-style pin policy, for a domain.
    package struct PinnedDomain: Sendable, Hashable {
        package var domain: String
        package var pins: [String]
        package var includesSubdomains: Bool
        package var isEnforced: Bool
        /// Unix time after which the entry does not apply.
        package var expires: Int64?
        package var isExcluded: Bool

        package init(
            domain: String, pins: [String], includesSubdomains: Bool = false,
            isEnforced: Bool = true, expires: Int64? = nil
        ) {
            self.domain = domain
            self.pins = pins
            self.includesSubdomains = includesSubdomains
            self.isEnforced = isEnforced
            self.expires = expires
            isExcluded = false
        }
    }

    package enum PinDecision: Sendable, Hashable {
        case allow
        case block(String)
        case notPinned
    }

    /// `chain` as the peer sent it: what counts is what can be verified of it.
    package static func checkPins(_ chain: Chain, host: String, rules: [PinnedDomain])
        -> PinDecision
    {
        do {
            let host = try parsed(Reference(kind: "auto", value: host))
            let leaf = try single(chain.leaf)
            let time = try moment(chain.time, leaf: leaf)
            let pins = try pinSet(rules)
            guard let rule = pins.match(for: host)?.rule,
                rule.expiry.map({ time <= $0.at }) ?? true
            else { return .notPinned }
            let policy = TrustPolicy(
                roots: .pem(chain.roots.joined(separator: "\n")), pins: pins)
            let verifier = try OpenSSLVerifier(policy: policy)
            _ = try verifier.verify(
                leaf: leaf, intermediates: try chain.intermediates.map { try single($0) },
                host: host, at: time)
            return .allow
        } catch { return .block("\(error)") }
    }

    /// One real TLS connection to `port` of 127.0.0.1; accepted only when the handshake, the
    /// certificate and the pins all did.
    package static func connect(
        port: UInt16, host: Reference, chain: Chain, rules: [PinnedDomain] = [],
        isPublicSuffix: @escaping @Sendable (String) -> Bool = { _ in false }
    ) -> Answer {
        if host.kind == "RFC822" { return .skipped("only hosts are judged") }
        return answer { () throws in
            let host = try parsed(host)
            guard let port = Port(port), let loopback = IPAddress(octets: [127, 0, 0, 1]) else {
                throw Refusal("port 0")
            }
            var policy = TrustPolicy(
                roots: .pem(chain.roots.joined(separator: "\n")), pins: try pinSet(rules))
            // As in `x509.verify`: the suites state the rules of the public web.
            policy.profile = .publicWeb
            let verifier =
                if let time = chain.time {
                    try OpenSSLVerifier(
                        policy: policy, isPublicSuffix: isPublicSuffix,
                        clock: FixedWallClock(time: WallTime(secondsSince1970: time)))
                } else {
                    try OpenSSLVerifier(policy: policy, isPublicSuffix: isPublicSuffix)
                }
            _ = try TLSProbe(verifier: verifier).connect(
                to: Endpoint(address: loopback, port: port), host: host)
        }
    }

    private static func pinSet(_ rules: [PinnedDomain]) throws -> PinSet {
        var pins = PinSet()
        for rule in rules {
            guard !rule.isExcluded else {
                try pins.exempt(rule.pattern)
                continue
            }
            var added = PinRule(try rule.pins.map { try Pin($0) }, backup: .waived)
            // What is not enforced does not block; the chain and the name still have to do.
            added.enforcement = rule.isEnforced ? .enforce : .reportOnly
            added.expiry = rule.expires.map {
                PinRule.Expiry(at: WallTime(secondsSince1970: $0), then: .unpinned)
            }
            try pins.add(added, for: HostPattern(rule.pattern))
        }
        return pins
    }
}

extension TrustOperations.PinnedDomain {
    /// A domain includes itself and all below it, or is itself only.
    fileprivate var pattern: String { includesSubdomains ? "**." + domain : domain }
}
