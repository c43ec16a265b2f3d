internal import HTTPDNSNames
internal import HTTPDNSOpenSSLTrust
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// The conformance operations about certificates and pins, as functions of plain values: what
/// `x509.verify`, `x509.hostmatch`, `pin.spki`, `pin.check` and `tls.connect` answer.
package enum TrustOperations {
    /// An answer; `accepted` is the operation's `ok`.
    package enum Answer: Sendable, Hashable {
        case accepted
        case refused(String)
        /// The case asks for something this library does not offer.
        case skipped(String)
    }

    /// A host as the suites write it: `kind` is `DNS`, `IP`, `RFC822` or `auto`.
    package struct Reference: Sendable, Hashable {
        package let kind: String
        package let value: String

        package init(kind: String, value: String) {
            self.kind = kind
            self.value = value
        }
    }

    /// The certificates of a case, PEM each, and when it plays; no time: whenever the leaf is
    /// valid.
    package struct Chain: Sendable, Hashable {
        package var leaf: String
        package var intermediates: [String]
        package var roots: [String]
        package var time: Int64?

        package init(leaf: String, intermediates: [String], roots: [String], time: Int64?) {
            self.leaf = leaf
            self.intermediates = intermediates
            self.roots = roots
            self.time = time
        }
    }

    /// What a case of `x509.verify` asks for besides; all optional.
    package struct Demands: Sendable, Hashable {
        package var usages: [String] = []
        package var maximumIntermediates: Int?
        package var revocationLists: [String] = []
        /// As for `openssl verify`: what is not asked for there is not demanded. Nil: the rules of
        /// the public web.
        package var options: [String]?
        /// `SERVER` or `CLIENT`.
        package var peerKind = "SERVER"

        package init() {}
    }

    package static func verify(
        _ chain: Chain, host: Reference?, demands: Demands = Demands(),
        isPublicSuffix: @escaping @Sendable (String) -> Bool = { _ in false }
    ) -> Answer {
        if let reason = unsupported(demands) { return .skipped(reason) }
        if host?.kind == "RFC822" { return .skipped("only hosts are judged") }
        return answer { () throws in
            let host = try host.map { try parsed($0) }
            let leaf = try single(chain.leaf)
            let setup = try Setup(demands)
            let time = try moment(setup.time ?? chain.time, leaf: leaf)
            var policy = TrustPolicy(roots: .pem(chain.roots.joined(separator: "\n")))
            policy.profile = setup.profile
            var chains = try ChainVerifier(policy: policy)
            chains.settings = setup.settings
            chains.rules.usages = setup.usages
            chains.rules.strength = setup.strength
            chains.rules.maximumIntermediates = setup.maximumIntermediates
            let lists = try RevocationLists(
                demands.revocationLists.map { .pem($0) }, profile: setup.profile)
            let evidence = chains.evidence(
                leaf: leaf, intermediates: try chain.intermediates.map { try single($0) },
                host: host, time: time, lists: lists)
            // Who gives lists wants the leaf cleared by one.
            policy.revocation.mode = lists == nil ? .ifPresent : .required
            guard let host else { return try unnamed(evidence, policy, at: time) }
            let judge = ChainJudge(
                policy: policy, matcher: NameMatcher(isPublicSuffix: isPublicSuffix))
            _ = try judge.judge(host: host, evidence: evidence, now: time)
        }
    }

    /// Whether the leaf's names cover the host, in both opinions: ours and OpenSSL's.
    package static func hostMatch(
        leaf: String, host: Reference,
        isPublicSuffix: @escaping @Sendable (String) -> Bool = { _ in false }
    ) -> Answer {
        answer { () throws in
            let host = try parsed(host)
            let certificate = try single(leaf)
            let matcher = NameMatcher(isPublicSuffix: isPublicSuffix)
            let verdict = matcher.match(host, try CertificateReader.facts(of: certificate))
            guard case .matched = verdict else { throw Refusal("\(verdict)") }
            guard ChainVerifier.accepts(certificate, host) else {
                throw Refusal("OpenSSL's matcher refuses")
            }
        }
    }

    /// The pin of a certificate's key, without the `sha256/` before it; nil when it does not parse.
    package static func pinOfKey(certificate: String) -> String? {
        guard let certificate = try? single(certificate),
            let facts = try? CertificateReader.facts(of: certificate)
        else { return nil }
        return String(facts.pin.description.dropFirst("sha256/".count))
    }

    private static func unnamed(
        _ evidence: ChainEvidence, _ policy: TrustPolicy, at time: WallTime
    ) throws {
        if let refusal = evidence.refusal { throw Refusal(refusal.detail) }
        if let fault = evidence.chain.first.flatMap(NameMatcher.fault) { throw Refusal(fault) }
        do throws(RevocationJudge.Fault) {
            _ = try RevocationJudge.judge(
                evidence.revocation, staple: .notAsked, mode: policy.revocation.mode, now: time)
        } catch { throw Refusal(error.detail) }
    }

    private static func unsupported(_ demands: Demands) -> String? {
        if demands.peerKind == "CLIENT" { return "only servers are judged" }
        let judged = ["serverAuth", "anyExtendedKeyUsage"]
        if !demands.usages.isEmpty, !demands.usages.contains(where: judged.contains) {
            return "only servers are judged: \(demands.usages)"
        }
        return Setup.unsupported(demands.options ?? [])
    }
}

/// Why a case is refused, where no error of the library says it.
struct Refusal: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A clock that stands still.
struct FixedWallClock: WallSource {
    let time: WallTime

    func now() -> WallTime { time }
}

extension TrustOperations {
    static func answer(_ body: () throws -> Void) -> Answer {
        do {
            try body()
            return .accepted
        } catch { return .refused("\(error)") }
    }

    static func parsed(_ reference: Reference) throws -> Host {
        let text = reference.value
        switch reference.kind {
        case "IP": return .address(try IPAddress(text))
        case "DNS": return .name(try HostName(text))
        default:
            if text.hasPrefix("["), text.hasSuffix("]"), text.utf8.contains(0x3A) {
                return .address(try IPAddress(String(text.dropFirst().dropLast())))
            }
            if let address = try? IPAddress(text) { return .address(address) }
            return .name(try HostName(text))
        }
    }

    static func single(_ pem: String) throws -> Certificate {
        guard let first = try Certificate.all(pem: pem).first else { throw Refusal("no PEM") }
        return first
    }

    /// `time`, or the moment nearest to now at which the leaf is valid.
    static func moment(_ time: Int64?, leaf: Certificate) throws -> WallTime {
        if let time { return WallTime(secondsSince1970: time) }
        let facts = try CertificateReader.facts(of: leaf)
        return max(facts.notBefore, min(facts.notAfter, SystemWallClock().now()))
    }
}
