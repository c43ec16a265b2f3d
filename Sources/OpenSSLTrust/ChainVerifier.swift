internal import CHTTPDNSOpenSSL
package import HTTPDNSNames
package import HTTPDNSTrust

/// Builds and checks a certificate chain with OpenSSL and reports what it found; judging is the
/// core's. Also for certificates that came from a file rather than from a handshake.
///
/// 1. OpenSSL builds one path and verifies it; ``ChainRules`` then hold for it.
/// 2. Only when that path is refused for a reason that another path could mend, or has no pinned key
///    where one is needed, ``PathFinder`` tries others.
/// 3. The first path that is accepted is the verified chain. If there is none, the failure reported
///    is that of the path that got furthest; where only the pin was missing, that.
package struct ChainVerifier: Sendable {
    private let store: RootStore
    private let origins: RootOrigins
    package var settings = ChainSettings()
    package var rules: ChainRules
    /// A path without one of the pinned keys is only taken when there is no other.
    private let pins: PinSet
    var rootsEdition: UInt64? { store.edition }
    /// Tells this reading of the roots from every other in the process.
    var rootsGeneration: UInt64 { store.generation }

    /// - Throws: ``TrustSetupError`` when the roots cannot be loaded.
    package init(policy: TrustPolicy) throws(TrustSetupError) {
        self.init(
            store: try RootStore.shared(policy.roots, and: policy.userRoots),
            profile: policy.profile, pins: policy.pins)
    }

    init(
        store: RootStore, profile: TrustPolicy.Profile, pins: PinSet = PinSet(),
        local: LocalRoots? = nil
    ) {
        self.store = store
        origins = RootOrigins(store: store, local: local ?? store.local)
        rules = ChainRules(profile: profile)
        self.pins = pins
    }

    /// The same, weaker by what is set for a host.
    func accepting(_ options: [DangerousOptions.Option]) -> ChainVerifier {
        var weaker = self
        if options.contains(.acceptsExpired) { weaker.rules.acceptsExpired = true }
        if options.contains(.acceptsWeakKeys) {
            weaker.rules.strength = .weak
            weaker.settings.securityLevel = ChainSettings.weakSecurityLevel
        }
        return weaker
    }

    /// Whether `root`, which ends a verified chain, came with these roots or was added.
    func origin(of root: CertificateFacts?) -> RootOrigin { origins.origin(of: root) }

    /// What OpenSSL finds out about `leaf`, with `intermediates` to build from, at `time`.
    ///
    /// Without a host, names are not looked at. What the lists say is of the verified chain.
    package func evidence(
        leaf: Certificate, intermediates: [Certificate], host: Host?, time: WallTime,
        lists: RevocationLists? = nil
    ) -> ChainEvidence {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let untrusted = CertificateStack(intermediates.map(\.raw)) else {
            return .refused(.outOfMemory)
        }
        return withExtendedLifetime((leaf, intermediates)) {
            var findings: [ListFinding] = []
            var evidence = evidence(
                leaf: leaf.raw, untrusted: untrusted.raw, host: host, time: time
            ) { chain in
                if let lists { findings = lists.findings(chain, now: time) }
            }.evidence
            evidence.revocation.lists = findings
            return evidence
        }
    }

    /// The same for OpenSSL's own objects, and the verify code to report to it. `inspect` is called
    /// with OpenSSL's verified chain, where there is one.
    func evidence(
        leaf: OpaquePointer, untrusted: OpaquePointer?, host: Host?, time: WallTime,
        inspect: (OpaquePointer) -> Void = { _ in }
    ) -> (evidence: ChainEvidence, verifyError: Int32) {
        let accepts = host.map { ChainVerifier.accepts(leaf, $0) } ?? true
        func accept(_ path: Path) -> (evidence: ChainEvidence, verifyError: Int32) {
            inspect(path.certificates.raw)
            return (
                ChainEvidence(chain: path.chain, libraryAcceptsName: accepts),
                accepts ? X509_V_OK : X509_V_ERR_HOSTNAME_MISMATCH
            )
        }
        let first = attempt(leaf: leaf, untrusted: untrusted, root: nil, time: time)
        let pinned = host.flatMap { pins.match(for: $0)?.rule?.pins }
        let isPinned = { (path: Path) in pinned?.isHeld(by: path.chain) ?? true }
        if let path = first.path, isPinned(path) { return accept(path) }
        var fallback = first.path
        if first.isMendable {
            var finder = PathFinder(verifier: self, leaf: leaf, untrusted: untrusted, time: time)
            while let path = finder.next() {
                if isPinned(path) { return accept(path) }
                fallback = fallback ?? path
            }
        }
        if let fallback { return accept(fallback) }
        let told =
            first.isMendable
            ? furthest(leaf: leaf, untrusted: untrusted, time: time) ?? first : first
        let presented = ChainVerifier.presented(leaf: leaf, untrusted: untrusted)
        return (
            ChainEvidence(chain: presented, refusal: told.refusal ?? .outOfMemory),
            told.verifyError
        )
    }

    /// What refuses the path that got furthest, where one leads to a trusted certificate at all: the
    /// last of the rules that it broke says most. Nil: none leads there.
    private func furthest(
        leaf: OpaquePointer, untrusted: OpaquePointer?, time: WallTime
    ) -> Attempt? {
        var finder = PathFinder(
            verifier: self, leaf: leaf, untrusted: untrusted, time: time, for: .explaining)
        var best: (fault: ChainFault, distance: Int)?
        var refused: Attempt?
        while let path = finder.nextRefused() {
            guard let fault = rules.fault(in: path.facts, at: time) else {
                // Only the library refuses it: nothing can be further.
                refused = refused ?? path.attempt
                continue
            }
            // Those of the chain are looked at last, behind the certificates from the leaf up.
            let distance = fault.isOfPath ? Int.max : fault.depth
            if best.map({ $0.distance < distance }) ?? true { best = (fault, distance) }
        }
        if let refused { return refused }
        return best.map {
            Attempt(
                refusal: .init($0.fault), verifyError: X509_V_ERR_APPLICATION_VERIFICATION)
        }
    }

    /// A verified chain, leaf first, root last.
    struct Path {
        let chain: [CertificateFacts]
        let certificates: CertificateStack
    }

    /// What came of one path.
    struct Attempt {
        /// Nil where it was refused.
        var path: Path?
        var refusal: ChainEvidence.Refusal?
        var verifyError = X509_V_OK
        var isMendable = true
    }

    /// Lets OpenSSL verify `leaf`, on the path it finds or, with a `root`, on no other than through
    /// all of `untrusted`; then the rules.
    func attempt(
        leaf: OpaquePointer, untrusted: OpaquePointer?, root: OpaquePointer?, time: WallTime
    ) -> Attempt {
        let failed = Attempt(refusal: .outOfMemory, verifyError: X509_V_ERR_UNSPECIFIED)
        let anchors = root.flatMap { CertificateStack([$0]) }
        guard (anchors == nil) == (root == nil),
            let context = StoreContext(store: store, leaf: leaf, untrusted: untrusted),
            context.configure(settings, rules, time: time)
        else { return failed }
        // The stack has to outlive the context, which does not own it.
        defer { withExtendedLifetime(anchors) {} }
        if let anchors { X509_STORE_CTX_set0_trusted_stack(context.raw, anchors.raw) }
        let verified = X509_verify_cert(context.raw) == 1
        let error = X509_STORE_CTX_get_error(context.raw)
        guard verified, error == X509_V_OK else {
            let code = error == X509_V_OK ? X509_V_ERR_UNSPECIFIED : error
            return Attempt(
                refusal: .init(verifyError: code), verifyError: code,
                isMendable: !ChainVerifier.isOfLeaf(
                    code, depth: X509_STORE_CTX_get_error_depth(context.raw)))
        }
        do {
            guard let certificates = CertificateStack(verified: context.raw) else {
                return failed
            }
            let chain = try ChainVerifier.facts(certificates.raw)
            if let fault = rules.fault(in: chain, at: time) {
                return Attempt(
                    refusal: .init(fault), verifyError: X509_V_ERR_APPLICATION_VERIFICATION,
                    isMendable: fault.depth > 0 || fault.isOfPath)
            }
            return Attempt(path: Path(chain: chain, certificates: certificates))
        } catch {
            return Attempt(
                refusal: .init(.badCertificate, detail: error.description),
                verifyError: X509_V_ERR_INVALID_EXTENSION)
        }
    }

    /// To look up trusted certificates with.
    func context() -> StoreContext? { StoreContext(store: store, leaf: nil, untrusted: nil) }

    /// Whether OpenSSL's verdict is about the leaf alone, so that it is the same on every path.
    private static func isOfLeaf(_ verifyError: Int32, depth: Int32) -> Bool {
        guard depth == 0 else { return false }
        switch verifyError {
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_SIGNATURE_FAILURE,
            X509_V_ERR_CERT_UNTRUSTED, X509_V_ERR_CERT_REJECTED, X509_V_ERR_CERT_CHAIN_TOO_LONG,
            X509_V_ERR_UNSPECIFIED, X509_V_ERR_NO_EXPLICIT_POLICY,
            X509_V_ERR_INVALID_POLICY_EXTENSION:
            return false
        default: return true
        }
    }

    /// OpenSSL's own opinion whether the certificate is for `host`.
    ///
    /// A name and an address go to different functions: an address given to the name function would
    /// match a `dNSName` that merely looks like it.
    package static func accepts(_ certificate: Certificate, _ host: Host) -> Bool {
        accepts(certificate.raw, host)
    }

    private static func accepts(_ leaf: OpaquePointer, _ host: Host) -> Bool {
        defer { LastError.clear() }
        switch host {
        case .name(let name):
            // Without these flags the common name counts where there is no SAN, and
            // `w*.example.com` is a wildcard. Source: X509_check_host(3).
            let flags = X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS
            return X509_check_host(leaf, name.text, name.text.utf8.count, UInt32(flags), nil) == 1
        case .address(let address):
            let forms = [address.octets, NameMatcher.unmapped(address.octets)]
            return forms.contains { X509_check_ip(leaf, $0, $0.count, 0) == 1 }
        }
    }

    private static func facts(_ chain: OpaquePointer) throws(CertificateError)
        -> [CertificateFacts]
    {
        var facts: [CertificateFacts] = []
        let count = max(0, chttpdns_certificates_count(chain))
        facts.reserveCapacity(Int(count))
        for index in 0..<count {
            guard let raw = chttpdns_certificates_at(chain, index) else { continue }
            facts.append(try KnownFacts.facts(of: raw))
        }
        return facts
    }

    /// What the peer sent, for the message; certificates that cannot be read are left out.
    static func presented(
        leaf: OpaquePointer, untrusted: OpaquePointer?
    ) -> [CertificateFacts] {
        var presented: [CertificateFacts] = []
        if let facts = try? CertificateReader.facts(of: leaf, withOtherNames: false) {
            presented.append(facts)
        }
        // Because: a message of more lines helps nobody, and the peer chooses how many it sends.
        let shown = min(20, max(0, chttpdns_certificates_count(untrusted)))
        for index in 0..<shown {
            // In a handshake the list begins with the leaf itself.
            guard let raw = chttpdns_certificates_at(untrusted, index), X509_cmp(raw, leaf) != 0,
                let facts = try? CertificateReader.facts(of: raw, withOtherNames: false)
            else { continue }
            presented.append(facts)
        }
        return presented
    }
}

extension Set<Pin> {
    fileprivate func isHeld(by chain: [CertificateFacts]) -> Bool {
        chain.contains { contains($0.pin) }
    }
}

extension ChainEvidence {
    fileprivate static func refused(_ refusal: Refusal) -> ChainEvidence {
        ChainEvidence(chain: [], refusal: refusal)
    }
}

extension ChainEvidence.Refusal {
    fileprivate static let outOfMemory = Self(.unexpected, detail: "out of memory")

    init(_ fault: ChainFault) { self.init(fault.code, detail: fault.detail) }
}
