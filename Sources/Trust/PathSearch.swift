package import HTTPDNSNames

/// What the search for a path needs to know of a certificate.
package struct PathNode: Sendable, Hashable {
    /// Equal for equal names; any numbers.
    package var subject: Int
    package var issuer: Int
    /// Equal for equal keys.
    package var key: Int
    /// Whether a path may end here.
    package var isTrusted: Bool
    package var isSelfIssued: Bool
    /// No path may hold it.
    package var isBarred = false
    package var subjectKeyID: [UInt8]?
    package var authorityKeyID: [UInt8]?
    package var notBefore: WallTime

    package init(
        subject: Int, issuer: Int, key: Int, isTrusted: Bool = false, isSelfIssued: Bool = false,
        subjectKeyID: [UInt8]? = nil, authorityKeyID: [UInt8]? = nil,
        notBefore: WallTime = WallTime(secondsSince1970: 0)
    ) {
        self.subject = subject
        self.issuer = issuer
        self.key = key
        self.isTrusted = isTrusted
        self.isSelfIssued = isSelfIssued
        self.subjectKeyID = subjectKeyID
        self.authorityKeyID = authorityKeyID
        self.notBefore = notBefore
    }
}

/// Finds the paths from a leaf to trusted certificates, the most promising first.
///
/// It knows a graph of certificates and asks for a signature only when a path would need it:
///
///     start ── next ──▶ a path ── next ──▶ another ── … ──▶ nil: there is no more, or enough was
///                                                              tried
///
/// Rules:
/// 1. An issuer has the name that the certificate gives as its issuer's, and, where both say so, the
///    same key identifier. Source: RFC 5280 §6.1.3 (a) (4), §4.2.1.1.
/// 2. Issuers are tried in this order: trusted ones, those whose key identifier matches, the newest.
/// 3. No name with the same key is twice in a path, so that authorities which sign each other do not
///    lead in circles. Source: RFC 4158 §2.4.2.
/// 4. A path ends at a trusted certificate; it is continued beyond it as well, for who is pinned may
///    be above.
/// 5. Everything is bounded: the length of a path, the number of paths, the signatures checked, the
///    steps made. The attack: a hundred certificates of one name, each of which could have issued
///    each other.
package struct PathSearch: Sendable {
    package struct Limits: Sendable, Hashable {
        /// Certificates in a path.
        package var length = 12
        package var paths = 64
        /// All of them together, those checked by who verifies the paths among them.
        package var signatures = 200
        package var steps = 4_096

        package init() {}
    }

    package let limits: Limits
    private let nodes: [PathNode]
    private let issuers: [Int: [Int]]
    /// The path at hand and, for each of its certificates, the issuers not yet tried.
    private var path: [Int]
    private var untried: [ArraySlice<Int>]
    private var checked: [Pair: Bool] = [:]
    private var isFresh = true
    private(set) package var signaturesLeft: Int
    private var stepsLeft: Int
    private var pathsLeft: Int

    private struct Pair: Hashable {
        let certificate: Int
        let issuer: Int
    }

    /// - Parameters:
    ///   - nodes: the certificates there are, without those that no path may hold.
    ///   - leaf: the one that paths begin with; an index.
    package init(nodes: [PathNode], leaf: Int, limits: Limits = Limits()) {
        self.nodes = nodes
        self.limits = limits
        issuers = Dictionary(grouping: nodes.indices, by: { nodes[$0].subject })
        path = nodes.indices.contains(leaf) ? [leaf] : []
        untried = []
        signaturesLeft = limits.signatures
        stepsLeft = limits.steps
        pathsLeft = limits.paths
        if !path.isEmpty { untried = [candidates(for: leaf)] }
    }

    /// Who verifies a path tells how many signatures that took; false: too many.
    package mutating func spend(signatures: Int) -> Bool {
        guard signaturesLeft >= signatures else { return false }
        signaturesLeft -= signatures
        return true
    }

    /// The next path, leaf first; `isSigned` says whether the second certificate's key has signed
    /// the first, and is asked once for each pair.
    package mutating func next(isSigned: (Int, Int) -> Bool) -> [Int]? {
        guard pathsLeft > 0 else { return nil }
        if isFresh {
            isFresh = false
            if let leaf = path.first, nodes[leaf].isTrusted { return found() }
        }
        while let last = path.last, let issuer = untried.last?.first {
            guard stepsLeft > 0 else { return nil }
            stepsLeft -= 1
            untried[untried.count - 1].removeFirst()
            if isNew(issuer), let signed = signed(last, issuer, isSigned) {
                if signed {
                    path.append(issuer)
                    untried.append(path.count < limits.length ? candidates(for: issuer) : [])
                    if nodes[issuer].isTrusted { return found() }
                }
            } else if signaturesLeft == 0 {
                return nil
            }
            retreat()
        }
        return nil
    }

    /// Drops certificates of which every issuer was tried.
    private mutating func retreat() {
        while let rest = untried.last, rest.isEmpty {
            untried.removeLast()
            path.removeLast()
        }
    }

    private mutating func found() -> [Int] {
        let found = path
        pathsLeft -= 1
        retreat()
        return found
    }

    /// Nil when no more signatures may be checked.
    private mutating func signed(
        _ certificate: Int, _ issuer: Int, _ isSigned: (Int, Int) -> Bool
    ) -> Bool? {
        let pair = Pair(certificate: certificate, issuer: issuer)
        if let known = checked[pair] { return known }
        guard signaturesLeft > 0 else { return nil }
        signaturesLeft -= 1
        let signed = isSigned(certificate, issuer)
        checked[pair] = signed
        return signed
    }

    private func isNew(_ issuer: Int) -> Bool {
        !path.contains {
            nodes[$0].subject == nodes[issuer].subject && nodes[$0].key == nodes[issuer].key
        }
    }

    private func candidates(for certificate: Int) -> ArraySlice<Int> {
        let node = nodes[certificate]
        // A trusted root has no issuer but itself.
        if node.isTrusted, node.isSelfIssued { return [] }
        let possible = (issuers[node.issuer] ?? []).filter { issuer in
            guard !nodes[issuer].isBarred else { return false }
            guard let wanted = node.authorityKeyID, let has = nodes[issuer].subjectKeyID else {
                return true
            }
            return wanted == has
        }
        return possible.sorted { isBetter($0, $1, for: node) }[...]
    }

    private func isBetter(_ lhs: Int, _ rhs: Int, for node: PathNode) -> Bool {
        let (left, right) = (nodes[lhs], nodes[rhs])
        if left.isTrusted != right.isTrusted { return left.isTrusted }
        let isLeftNamed = node.authorityKeyID != nil && left.subjectKeyID == node.authorityKeyID
        let isRightNamed = node.authorityKeyID != nil && right.subjectKeyID == node.authorityKeyID
        if isLeftNamed != isRightNamed { return isLeftNamed }
        if left.notBefore != right.notBefore { return left.notBefore > right.notBefore }
        return lhs < rhs
    }
}
