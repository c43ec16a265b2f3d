internal import CHTTPDNSOpenSSL
internal import HTTPDNSNames
internal import HTTPDNSTrust

/// All that a policy names, loaded when it is put to use: no handshake reads a file.
final class PolicyMaterial: Sendable {
    let chains: ChainVerifier
    private let chainsByHost: [(pattern: HostPattern, chains: ChainVerifier)]
    private let credentials: [(pattern: HostPattern, credential: ClientCredential)]
    private let lists: RevocationLists?
    private let logs: TransparencyLogs?
    private let policy: TrustPolicy

    /// - Throws: ``TrustSetupError``.
    init(_ policy: TrustPolicy) throws(TrustSetupError) {
        self.policy = policy
        chains = try ChainVerifier(policy: policy)
        var chainsByHost: [(pattern: HostPattern, chains: ChainVerifier)] = []
        for (pattern, roots) in policy.rootsByHost {
            var own = policy
            own.roots = roots
            // In place of all of the policy's, what was added to them included.
            if roots != .system { own.userRoots = nil }
            own.profile = roots == .system ? .publicWeb : .privateAuthority
            chainsByHost.append((pattern, try ChainVerifier(policy: own)))
        }
        self.chainsByHost = PolicyMaterial.mostSpecificFirst(chainsByHost) { $0.pattern }
        var credentials: [(pattern: HostPattern, credential: ClientCredential)] = []
        for (pattern, identity) in policy.clientIdentities {
            credentials.append((pattern, try ClientCredential(identity, for: pattern)))
        }
        self.credentials = PolicyMaterial.mostSpecificFirst(credentials) { $0.pattern }
        let revocation = policy.revocation
        lists =
            revocation.mode == .off
            ? nil : try RevocationLists(revocation.lists, profile: policy.profile)
        let transparency = policy.transparency
        logs = transparency.mode == .off ? nil : try TransparencyLogs(transparency.logs)
    }

    private static func mostSpecificFirst<Entry>(
        _ entries: [Entry], _ pattern: (Entry) -> HostPattern
    ) -> [Entry] {
        entries.sorted { left, right in
            let (left, right) = (pattern(left), pattern(right))
            return left.specificity == right.specificity
                ? left.distinctText < right.distinctText : left.specificity > right.specificity
        }
    }

    /// Names what was read from files: what a proof under the old content is worth under the new one
    /// nobody knows.
    var name: String {
        var parts = chainsByHost.compactMap { entry in
            entry.chains.rootsEdition.map { "\(entry.pattern.distinctText)@\($0)" }
        }
        parts += credentials.map { "\($0.pattern.distinctText):\($0.credential.material)" }
        if let lists { parts.append("lists:" + lists.material) }
        if let logs { parts.append("logs:" + logs.material) }
        return parts.joined(separator: " ")
    }

    func chains(for host: Host) -> ChainVerifier {
        let chains = chainsByHost.first { $0.pattern.matches(host) }?.chains ?? chains
        let options = policy.dangerous.options(for: host)
        return options.isEmpty ? chains : chains.accepting(options)
    }

    func credential(for host: Host) -> ClientCredential? {
        credentials.first { $0.pattern.matches(host) }?.credential
    }

    /// What is known of a verified chain besides that it is one.
    struct Inspection {
        var revocation = RevocationEvidence()
        var transparency: TransparencyReport?
        var commonNames: [[UInt8]] = []
        var leaf: Certificate?
        /// Nil where the chain ends before it.
        var issuer: Certificate?
    }

    /// Looks at OpenSSL's verified chain, leaf first; `chain` stays the caller's.
    func inspect(_ chain: OpaquePointer, host: Host?, now: WallTime) -> Inspection {
        var inspection = Inspection()
        let count = chttpdns_certificates_count(chain)
        guard count > 0, let leaf = chttpdns_certificates_at(chain, 0) else { return inspection }
        // A certificate alone is its own issuer, if it has signed itself; one that is trusted although
        // another has issued it speaks for nobody, not for itself either.
        let above = count > 1 ? chttpdns_certificates_at(chain, 1) : nil
        let issuer = above ?? (X509_self_signed(leaf, 1) == 1 ? leaf : nil)
        inspection.leaf = Certificate(sharing: leaf)
        inspection.issuer = issuer.flatMap { Certificate(sharing: $0) }
        if policy.revocation.mode != .off {
            // What an authority's certificate demands, those below it have to keep as well; the root
            // is given, whatever it says. Source: RFC 7633 §4.2.2.
            let demanding = 0..<max(1, count - 1)
            inspection.revocation.demandsStaple = demanding.contains { index in
                chttpdns_certificates_at(chain, index).map(chttpdns_demands_staple) == 1
            }
            if let lists { inspection.revocation.lists = lists.findings(chain, now: now) }
        }
        if policy.transparency.mode != .off, !(host.map(policy.transparency.isExempt) ?? false) {
            inspection.transparency = stamps(leaf: leaf, issuer: issuer ?? leaf, now: now)
        }
        if let host, policy.dangerous.options(for: host).contains(.matchesCommonName) {
            inspection.commonNames = PolicyMaterial.commonNames(leaf)
        }
        return inspection
    }

    private func stamps(
        leaf: OpaquePointer, issuer: OpaquePointer, now: WallTime
    ) -> TransparencyReport {
        logs?.report(leaf: leaf, issuer: issuer, now: now) ?? TransparencyReport(status: .checked)
    }

    /// The time stamps that a peer sent beside its certificate; nil where none are asked for.
    func sentStamps(
        on connection: OpaquePointer, _ peer: ExaminedPeer, now: WallTime
    ) -> TransparencyReport? {
        guard peer.provisional.transparency.status == .checked else { return nil }
        return logs?.report(
            sentOn: connection, leaf: peer.leaf.raw, issuer: (peer.issuer ?? peer.leaf).raw,
            now: now)
    }

    /// The octets of each common name in the subject, in UTF-8.
    private static func commonNames(_ leaf: OpaquePointer) -> [[UInt8]] {
        let subject = X509_get_subject_name(leaf)
        var names: [[UInt8]] = []
        var position: Int32 = -1
        while true {
            position = X509_NAME_get_index_by_NID(subject, NID_commonName, position)
            guard position >= 0, let entry = X509_NAME_get_entry(subject, position) else {
                return names
            }
            var octets: UnsafeMutablePointer<UInt8>?
            let count = ASN1_STRING_to_UTF8(&octets, X509_NAME_ENTRY_get_data(entry))
            names.append(Array(UnsafeBufferPointer(start: octets, count: Int(max(0, count)))))
            CRYPTO_free(octets, #file, #line)
        }
    }
}
