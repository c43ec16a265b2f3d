/// How one request uses the cache of responses. Without a cache only ``onlyIfCached`` has a
/// meaning: it is answered by 504.
///
/// Whatever the mode: what the origin forbids to keep is not kept, and what it forbids to reuse
/// without asking it (`no-cache`, and `must-revalidate` once it is stale) is not reused without
/// asking it.
public enum CacheMode: String, Sendable, Hashable, CaseIterable {
    /// As RFC 9111 says: what is fresh answers, what is stale is validated.
    case standard
    /// The origin is asked about everything kept, fresh or not, but `immutable` that is fresh.
    case validate
    /// What is kept answers, however old; the network only where nothing is kept.
    case preferCache = "prefer"
    /// Offline: what is kept answers, however old, or a 504. Nothing is sent or looked up.
    case onlyIfCached = "only"
    /// The whole answer from the origin; it replaces what is kept.
    case refresh
    /// Past the cache. Nothing is read or kept; methods that change something still invalidate.
    case none
}
