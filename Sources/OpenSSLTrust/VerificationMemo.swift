internal import CHTTPDNSOpenSSL
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// Peers that were examined before: whoever sends the same certificates again is not examined again.
///
/// Rules:
/// 1. The key is all that the examination depends on: every certificate as it was sent (DER, each after
///    its length), the host, the policy's fingerprint with what was read from files for it, and the
///    generation of the roots. It is compared octet by octet, which takes less time than a digest.
/// 2. Only peers that were found good are kept. A failure is found out anew each time: roots and
///    clocks get better, and a memo of failures is a way to lock somebody out.
/// 3. A peer is given out between the moment of its examination and the first end among its
///    certificates, the revocation lists that spoke of them, and the host's pin rule. A clock put back
///    examines anew.
/// 4. It is no proof: revocation is judged in each handshake, by
///    ``ChainJudge/conclude(_:staple:stamps:now:)``.
///
/// Any thread may call. When it is full, the one that has not been asked for since the hand last
/// passed goes (the clock algorithm).
package final class VerificationMemo: Sendable {
    /// How often a peer was found here, and how often it had to be examined.
    package struct Counts: Sendable, Hashable {
        package var found: UInt64 = 0
        package var examined: UInt64 = 0
    }

    /// All octets that an examination depends on: keys are equal only where nothing differs.
    struct Key: Sendable, Hashable {
        /// What is not of the certificates, and after it each of them, behind its length.
        private let octets: [UInt8]
        private let prefixCount: Int

        /// Nil when there is more than is worth keeping, or when OpenSSL refuses to write it.
        init?(prefix: [UInt8], leaf: OpaquePointer, untrusted: OpaquePointer?) {
            let count = chttpdns_chain_count(leaf, untrusted)
            guard count > 4, count <= VerificationMemo.largestChainOctets else { return nil }
            prefixCount = prefix.count
            octets = [UInt8](unsafeUninitializedCapacity: prefix.count + count) { room, written in
                guard let start = room.baseAddress else { return }
                _ = room.update(fromContentsOf: prefix)
                let added = chttpdns_chain_octets(leaf, untrusted, start + prefix.count, count)
                written = added == count ? prefix.count + count : 0
            }
            guard !octets.isEmpty else { return nil }
        }

        static func == (lhs: Key, rhs: Key) -> Bool {
            // Arrays compare element by element, which takes ten times as long.
            lhs.octets.count == rhs.octets.count
                && chttpdns_are_equal(lhs.octets, rhs.octets, lhs.octets.count) == 1
        }

        /// The end of a certificate is the end of a signature: with the host and the length of
        /// all, those tell apart what is not made to look alike.
        func hash(into hasher: inout Hasher) {
            octets.withUnsafeBytes { all in
                hasher.combine(all.count)
                hasher.combine(bytes: .init(rebasing: all.prefix(prefixCount)))
                var rest = all.dropFirst(prefixCount)
                while rest.count > 4 {
                    let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
                    let certificate = rest.dropFirst(4).prefix(count)
                    hasher.combine(bytes: .init(rebasing: certificate.suffix(Key.markOctets)))
                    rest = rest.dropFirst(4 + count)
                }
            }
        }

        /// Because: so much of a signature is as good as random.
        private static let markOctets = 16
    }

    private struct Entry {
        let key: Key
        let peer: ExaminedPeer
        var isUsed: Bool
    }

    private struct State {
        var places: [Key: Int] = [:]
        var entries: [Entry] = []
        var hand = 0
        var counts = Counts()
    }

    private let state = Locked(State())
    private let capacity: Int

    /// - Parameter capacity: 0 remembers nothing.
    package init(capacity: Int = VerificationMemo.usualCapacity) {
        self.capacity = max(0, capacity)
    }

    /// Without it no keys are needed.
    var remembers: Bool { capacity > 0 }
    package var counts: Counts { state.withLock { $0.counts } }
    package var count: Int { state.withLock { $0.entries.count } }

    func peer(for key: Key, now: WallTime) -> ExaminedPeer? {
        state.withLock { state in
            guard let place = state.places[key], state.entries[place].peer.holds(at: now) else {
                state.counts.examined += 1
                return nil
            }
            state.counts.found += 1
            state.entries[place].isUsed = true
            return state.entries[place].peer
        }
    }

    func keep(_ peer: ExaminedPeer, for key: Key) {
        guard capacity > 0 else { return }
        state.withLock { state in
            let entry = Entry(key: key, peer: peer, isUsed: false)
            if let place = state.places[key] {
                state.entries[place] = entry
            } else if state.entries.count < capacity {
                state.places[key] = state.entries.count
                state.entries.append(entry)
            } else {
                VerificationMemo.replace(&state, with: entry)
            }
        }
    }

    private static func replace(_ state: inout State, with entry: Entry) {
        // At most one round: the hand takes away each mark that it passes.
        while state.entries[state.hand].isUsed {
            state.entries[state.hand].isUsed = false
            state.hand = (state.hand + 1) % state.entries.count
        }
        state.places[state.entries[state.hand].key] = nil
        state.places[entry.key] = state.hand
        state.entries[state.hand] = entry
        state.hand = (state.hand + 1) % state.entries.count
    }

    /// Because: chains have 2 to 8 KB; larger ones are rare, and need not be quick.
    private static let largestChainOctets = 16_384

    /// Because: a busy client speaks to a few hundred hosts, and an entry has some 20 KB, most of it
    /// the parsed certificates.
    package static let usualCapacity = 1_024
}

/// A peer as it was examined, with what judging its staple needs.
final class ExaminedPeer: Sendable {
    let provisional: ProvisionalPeer
    let leaf: Certificate
    /// Nil where the chain ends before it: nobody can have signed a staple then.
    let issuer: Certificate?
    private let from: WallTime
    private let until: WallTime
    /// The last good staple: servers send the same one for hours.
    private let lastStaple = Locked<(digest: [UInt8], evidence: StapleEvidence)?>(nil)

    /// - Parameter pinsUntil: the last moment of the host's pin rule, which then says something else.
    init(
        _ provisional: ProvisionalPeer, leaf: Certificate, issuer: Certificate?, now: WallTime,
        pinsUntil: WallTime? = nil
    ) {
        self.provisional = provisional
        self.leaf = leaf
        self.issuer = issuer
        from = now
        var end = provisional.validity.upperBound
        for case .good(let listUntil?) in provisional.revocation.lists { end = min(end, listUntil) }
        if let pinsUntil, now <= pinsUntil { end = min(end, pinsUntil) }
        until = end
    }

    func holds(at now: WallTime) -> Bool { from <= now && now <= until }

    /// Whether all that was found stays as it is with time: what is not usable now may be later.
    var isLasting: Bool {
        provisional.transparency.invalidCount == 0
            && provisional.revocation.lists.allSatisfy { finding in
                if case .unusable = finding { false } else { true }
            }
    }

    /// What `octets`, the staple of this handshake, say; none: absent.
    func staple(_ octets: UnsafeBufferPointer<UInt8>, now: WallTime) -> StapleEvidence {
        guard let base = octets.baseAddress, !octets.isEmpty else { return .absent }
        guard let issuer else { return .unusable("is signed by one who is not in the chain") }
        var digest = [UInt8](repeating: 0, count: 32)
        guard chttpdns_sha256(base, octets.count, &digest) == 1 else {
            return .unusable("cannot be hashed")
        }
        if let last = lastStaple.withLock({ $0 }), last.digest == digest { return last.evidence }
        let evidence = StapleReader.evidence(octets, leaf: leaf, issuer: issuer, now: now)
        if case .read(let facts) = evidence, facts.status == .good, facts.nextUpdate != nil {
            lastStaple.withLock { $0 = (digest, evidence) }
        }
        return evidence
    }
}
