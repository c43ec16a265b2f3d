internal import CHTTPDNSOpenSSL
internal import HTTPDNSNames
internal import HTTPDNSTrust

/// Tries the paths from a leaf to the roots that ``PathSearch`` finds, one after the other.
///
/// The rules are asked first, for they cost nothing; then OpenSSL verifies the leaf on exactly this
/// path: its intermediates are all the untrusted certificates there are, its root the only trusted
/// one. Certificates that no path may hold are left out from the start.
struct PathFinder {
    private let verifier: ChainVerifier
    private let time: WallTime
    private let certificates: [Certificate]
    private let facts: [CertificateFacts]
    /// Those with whose keys nothing is verified: the rules forbid them, some for what that costs. A
    /// path through one is refused whoever signed what, so that it is taken as signed to say why.
    private let isBanned: [Bool]
    private var search: PathSearch

    enum Purpose {
        case verifying
        /// To say why no path is accepted: those that break a rule are found as well, a few of them.
        case explaining
    }

    /// - Parameters:
    ///   - verifier: judges the paths.
    ///   - leaf: what paths begin with.
    ///   - untrusted: what the peer sent.
    ///   - time: the moment.
    ///   - purpose: which paths are of use.
    init(
        verifier: ChainVerifier, leaf: OpaquePointer, untrusted: OpaquePointer?, time: WallTime,
        for purpose: Purpose = .verifying
    ) {
        var pool = CertificatePool(verifier: verifier, time: time, purpose)
        pool.add(leaf, isTrusted: false, isLeaf: true)
        for index in 0..<min(Pool.mostPresented, max(0, chttpdns_certificates_count(untrusted))) {
            if let raw = chttpdns_certificates_at(untrusted, index) {
                pool.add(raw, isTrusted: false)
            }
        }
        pool.addTrusted()
        pool.dropBound()
        self.verifier = verifier
        self.time = time
        certificates = pool.certificates
        facts = pool.facts
        // For verifying they are not in the pool, the leaf aside, which issues nothing.
        isBanned = zip(pool.facts, pool.nodes).map { facts, node in
            verifier.rules.keyFault(of: facts, isAnchor: node.isTrusted) != nil
        }
        var limits = PathSearch.Limits()
        limits.length = verifier.rules.longestPath
        if purpose == .explaining {
            limits.paths = PathFinder.explainedPaths
            limits.signatures = PathFinder.explainedSignatures
        }
        // A leaf that cannot be read begins no path.
        let isThere = pool.certificates.first?.raw == leaf
        search = PathSearch(nodes: pool.nodes, leaf: isThere ? 0 : -1, limits: limits)
    }

    private typealias Pool = CertificatePool

    /// The next path that is accepted.
    mutating func next() -> ChainVerifier.Path? {
        while let path = search.next(isSigned: { [certificates, isBanned] in
            !isBanned[$1] && PathFinder.isSigned(certificates[$0], by: certificates[$1])
        }) {
            guard path.count > 1, verifier.rules.fault(in: path.map { facts[$0] }, at: time) == nil
            else { continue }
            guard search.spend(signatures: path.count - 1) else { return nil }
            if let path = verified(path) { return path }
        }
        return nil
    }

    /// The next path that leads to a trusted certificate, and what the library says of it where the
    /// rules have nothing against it. For ``Purpose/explaining``.
    mutating func nextRefused() -> (facts: [CertificateFacts], attempt: ChainVerifier.Attempt?)? {
        while let path = search.next(isSigned: { [certificates, isBanned] in
            isBanned[$1] || PathFinder.isSigned(certificates[$0], by: certificates[$1])
        }) {
            guard path.count > 1 else { continue }
            let facts = path.map { self.facts[$0] }
            guard verifier.rules.fault(in: facts, at: time) == nil else { return (facts, nil) }
            guard search.spend(signatures: path.count - 1) else { return nil }
            guard let attempt = attempt(path), attempt.path == nil else { continue }
            return (facts, attempt)
        }
        return nil
    }

    /// Because: a server has two or three paths at most, and whoever sends more is told enough.
    private static let explainedPaths = 8
    /// Because: a few paths of a few certificates; the search before has cost its share.
    private static let explainedSignatures = 40

    /// For tests: what the search has cost.
    var signaturesLeft: Int { search.signaturesLeft }

    private func verified(_ path: [Int]) -> ChainVerifier.Path? { attempt(path)?.path }

    private func attempt(_ path: [Int]) -> ChainVerifier.Attempt? {
        let raws = path.map { certificates[$0].raw }
        guard let leaf = raws.first, let root = raws.last,
            let between = CertificateStack(Array(raws.dropFirst().dropLast()))
        else { return nil }
        return verifier.attempt(leaf: leaf, untrusted: between.raw, root: root, time: time)
    }

    private static func isSigned(_ certificate: Certificate, by issuer: Certificate) -> Bool {
        defer { ERR_clear_error() }
        guard let key = X509_get0_pubkey(issuer.raw) else { return false }
        return X509_verify(certificate.raw, key) == 1
    }
}

/// The certificates of which paths may be made, each once.
private struct CertificatePool {
    private(set) var certificates: [Certificate] = []
    private(set) var facts: [CertificateFacts] = []
    private(set) var nodes: [PathNode] = []
    private let verifier: ChainVerifier
    private let time: WallTime
    private let purpose: PathFinder.Purpose
    private var indices: [[UInt8]: Int] = [:]
    private var keys: [Pin: Int] = [:]
    /// Subject and key of what the roots themselves say is not to be trusted for servers.
    private var rejected: [(subject: Int, key: Pin)] = []
    /// Authorities that a trusted certificate keeps from servers, in a path or not.
    private var bounds: [(subject: UInt, key: Pin)] = []

    /// Because: no server needs more, and a peer may send thousands.
    static let mostPresented: Int32 = 100
    /// Because: a few roots have the same name; this many only in an attack from a hashed directory.
    private static let mostTrusted = 64

    init(verifier: ChainVerifier, time: WallTime, _ purpose: PathFinder.Purpose) {
        self.verifier = verifier
        self.time = time
        self.purpose = purpose
    }

    mutating func add(_ raw: OpaquePointer, isTrusted: Bool, isLeaf: Bool = false) {
        guard let facts = try? CertificateReader.facts(of: raw, withOtherNames: true) else {
            return
        }
        if isTrusted, X509_check_trust(raw, X509_TRUST_SSL_SERVER, 0) == X509_TRUST_REJECTED {
            rejected.append((Int(truncatingIfNeeded: X509_subject_name_hash(raw)), facts.pin))
            return
        }
        if isTrusted, !facts.particulars.isSelfIssued, !verifier.rules.allowsUsage(of: facts) {
            bounds.append((X509_subject_name_hash(raw), facts.pin))
        }
        if let known = indices[facts.fingerprint] {
            guard isTrusted, X509_up_ref(raw) == 1 else { return }
            nodes[known].isTrusted = true
            // What a root is trusted for is said beside it in the roots, not by the peer's copy.
            certificates[known] = Certificate(owning: raw)
            return
        }
        // The leaf's own faults are the same on every path; it is there to begin with.
        let place = ChainRules.Place.authority(isAnchor: isTrusted)
        guard
            isLeaf || purpose == .explaining
                || verifier.rules.fault(of: facts, at: place, now: time) == nil,
            X509_up_ref(raw) == 1
        else { return }
        indices[facts.fingerprint] = nodes.count
        certificates.append(Certificate(owning: raw))
        nodes.append(
            PathNode(
                subject: Int(truncatingIfNeeded: X509_subject_name_hash(raw)),
                issuer: Int(truncatingIfNeeded: X509_issuer_name_hash(raw)),
                key: keys[facts.pin, default: keys.count], isTrusted: isTrusted,
                isSelfIssued: facts.particulars.isSelfIssued,
                subjectKeyID: facts.particulars.subjectKeyID,
                authorityKeyID: facts.particulars.authorityKeyID, notBefore: facts.notBefore))
        if keys[facts.pin] == nil { keys[facts.pin] = keys.count }
        self.facts.append(facts)
    }

    /// Drops what the peer sent of authorities that a trusted certificate keeps from servers.
    ///
    /// The roots say for what the key of such an authority is trusted. The attack: to send another
    /// certificate of it, without that bound.
    mutating func dropBound() {
        for (subject, pin) in rejected {
            for index in nodes.indices.dropFirst()
            where nodes[index].subject == subject && nodes[index].key == keys[pin] {
                nodes[index].isBarred = true
            }
        }
        for bound in bounds {
            let subject = Int(truncatingIfNeeded: bound.subject)
            for index in nodes.indices.dropFirst() where !nodes[index].isTrusted {
                guard nodes[index].subject == subject, facts[index].pin == bound.key else {
                    continue
                }
                nodes[index].isBarred = true
            }
        }
    }

    /// Adds the trusted certificates that have issued one of those here, and so on upwards.
    mutating func addTrusted() {
        guard let context = verifier.context() else { return }
        var asked: Set<Int> = []
        var index = 0
        while index < certificates.count, asked.count < CertificatePool.mostTrusted {
            defer { index += 1 }
            // What is trusted may have come from the peer, too.
            for own in [true, false] {
                let name = own ? nodes[index].subject : nodes[index].issuer
                guard asked.insert(name).inserted else { continue }
                let raw = certificates[index].raw
                let text = own ? X509_get_subject_name(raw) : X509_get_issuer_name(raw)
                guard let found = X509_STORE_CTX_get1_certs(context.raw, text) else { continue }
                defer { chttpdns_certificates_free(found) }
                for place in 0..<min(16, max(0, chttpdns_certificates_count(found))) {
                    if let trusted = chttpdns_certificates_at(found, place) {
                        add(trusted, isTrusted: true)
                    }
                }
            }
        }
    }
}

/// Owns a `STACK_OF(X509)` and a reference of each certificate in it.
final class CertificateStack {
    let raw: OpaquePointer

    /// The chain that has been verified; nil when memory is out.
    init?(verified context: OpaquePointer) {
        guard let raw = X509_STORE_CTX_get1_chain(context) else { return nil }
        self.raw = raw
    }

    init?(_ certificates: [OpaquePointer]) {
        guard let raw = chttpdns_certificates_new() else { return nil }
        self.raw = raw
        for certificate in certificates {
            guard chttpdns_certificates_push(raw, certificate) == 1 else { return nil }
        }
    }

    deinit { chttpdns_certificates_free(raw) }
}
