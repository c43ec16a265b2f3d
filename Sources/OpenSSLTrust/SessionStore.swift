internal import CHTTPDNSOpenSSL
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// TLS sessions that one verifier has proved, for later connections to go on with.
///
/// Rules:
/// 1. One store belongs to one verifier, so a session is never found under another policy.
/// 2. The key is whom the certificate proves, and the scope; never an address: the next connection may
///    lead elsewhere.
/// 3. Only a session of a connection whose peer was proved is kept, with what that peer stapled.
/// 4. A session of TLS 1.3 is given out once. Source: RFC 8446 appendix C.4.
/// 5. Bounded: the key unused for longest goes first.
///
/// Any thread may call.
final class SessionStore: Sendable {
    struct Key: Sendable, Hashable {
        let host: Host
        let scope: ResumptionScope
    }

    /// A session, and what its peer stapled in the handshake that began it.
    struct Kept: Sendable {
        let session: TLSSession
        let staple: [UInt8]
        let until: WallTime
    }

    private struct Shelf {
        var kept: [Kept] = []
        var lastUse: UInt64
    }

    private struct State {
        var shelves: [Key: Shelf] = [:]
        var uses: UInt64 = 0
    }

    private let state = Locked(State())

    var count: Int { state.withLock { $0.shelves.values.reduce(0) { $0 + $1.kept.count } } }

    func keep(_ session: TLSSession, staple: [UInt8], for key: Key, now: WallTime) {
        let until = WallTime(
            secondsSince1970: now.secondsSince1970 + SessionStore.lifetimeSeconds)
        state.withLock { state in
            state.uses += 1
            if state.shelves[key] == nil, state.shelves.count >= SessionStore.capacity {
                let oldest = state.shelves.min { $0.value.lastUse < $1.value.lastUse }
                if let oldest { state.shelves[oldest.key] = nil }
            }
            var shelf = state.shelves[key] ?? Shelf(lastUse: state.uses)
            shelf.lastUse = state.uses
            shelf.kept.append(Kept(session: session, staple: staple, until: until))
            shelf.kept = shelf.kept.suffix(SessionStore.perKey)
            state.shelves[key] = shelf
        }
    }

    /// The youngest session that is left.
    func take(for key: Key, now: WallTime) -> Kept? {
        state.withLock { state in
            guard var shelf = state.shelves[key] else { return nil }
            state.uses += 1
            shelf.lastUse = state.uses
            shelf.kept.removeAll { $0.until < now }
            let taken = shelf.kept.last
            if taken?.session.isSingleUse == true { shelf.kept.removeLast() }
            state.shelves[key] = shelf.kept.isEmpty ? nil : shelf
            return taken
        }
    }

    /// What is kept under `key` is not good any more.
    func forget(_ key: Key) { state.withLock { $0.shelves[key] = nil } }

    /// Hosts. Because: a busy client speaks to a few hundred, and a session has some 5 KB.
    static let capacity = 256
    /// Sessions of one host. Because: servers give two with each handshake, and a client that opens six
    /// connections to a host at once is a browser.
    static let perKey = 6
    /// Because: one stolen key of a server opens a day at the most. The lifetimes that servers give,
    /// which OpenSSL keeps to, are shorter as a rule; RFC 8446 §4.6.1 allows seven days.
    static let lifetimeSeconds: Int64 = 86_400
}

/// One `SSL_SESSION`, freed with this.
final class TLSSession: @unchecked Sendable {
    // Safety: an SSL_SESSION counts its references with atomics, and nothing changes it after init.
    let raw: OpaquePointer

    /// Takes the reference over.
    init(owning raw: OpaquePointer) { self.raw = raw }

    deinit { SSL_SESSION_free(raw) }

    var isSingleUse: Bool { chttpdns_session_is_single_use(raw) == 1 }
}
