internal import HTTPDNSNames
internal import HTTPDNSTrust

/// What is known of addresses: which have proved themselves for a name, and which have failed.
///
/// Rules:
/// 1. A proof counts for one host, port, address and policy, for ``proofSeconds``, and not beyond the
///    validity of the certificate.
/// 2. A failure counts for ``failureSeconds``: who asks again at once is told the same.
/// 3. Above ``maximumEntries`` the oldest go first.
struct ProofCache: Sendable {
    struct Key: Sendable, Hashable {
        let host: Host
        let endpoint: Endpoint
        let policy: PolicyFingerprint
    }

    enum Entry: Sendable {
        case proven(AddressProof)
        case failed(AddressFailure)
    }

    private struct Kept: Sendable {
        let entry: Entry
        let until: Monotonic
        let number: UInt64
    }

    private var kept: [Key: Kept] = [:]
    private var order: [(key: Key, number: UInt64)] = []
    private var lastNumber: UInt64 = 0

    var count: Int { kept.count }

    func entry(_ key: Key, now: Monotonic, wall: WallTime) -> Entry? {
        guard let kept = kept[key], kept.until > now else { return nil }
        if case .proven(let proof) = kept.entry, proof.peer.validUntil <= wall { return nil }
        return kept.entry
    }

    mutating func keep(_ entry: Entry, for key: Key, now: Monotonic) {
        lastNumber += 1
        let seconds: Int64
        switch entry {
        case .proven: seconds = ProofCache.proofSeconds
        case .failed: seconds = ProofCache.failureSeconds
        }
        kept[key] = Kept(entry: entry, until: now.adding(seconds: seconds), number: lastNumber)
        order.append((key, lastNumber))
        if order.count > 2 * ProofCache.maximumEntries { sweep(now) }
    }

    mutating func forget(_ key: Key) { kept[key] = nil }

    private mutating func sweep(_ now: Monotonic) {
        kept = kept.filter { $0.value.until > now }
        order = order.filter { kept[$0.key]?.number == $0.number }
        let excess = max(0, order.count - ProofCache.maximumEntries)
        for (key, _) in order.prefix(excess) { kept[key] = nil }
        order.removeFirst(excess)
    }

    /// How long a proof opens tunnels without a new one.
    ///
    /// Because: what usual addresses live, and so about what one answer of a resolver is believed.
    static let proofSeconds: Int64 = 60
    /// How long a failure answers for the address. Because: browsers ask again within the second.
    static let failureSeconds: Int64 = 5
    /// Because: a page has tens of hosts; what is dropped is only proved anew.
    static let maximumEntries = 4_096
}

/// An address that has proved itself for a host and port.
struct AddressProof: Sendable, Hashable {
    let peer: VerifiedPeer
    let version: String
    let cipher: String
}

/// Why an address is not gone to.
struct AddressFailure: Sendable, Hashable, Error {
    enum Kind: Int, Sendable, Hashable {
        case unreachable, timedOut, notTLS, untrusted
    }

    let endpoint: Endpoint
    let kind: Kind
    /// A bounded label.
    let label: String
    let message: String
}
