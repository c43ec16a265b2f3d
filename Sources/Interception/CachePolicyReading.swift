internal import Foundation
internal import FoundationNetworking
internal import HTTPDNSCaching
internal import HTTPDNSExchange

/// What a `cachePolicy` of Foundation means to our cache. The table is in docs/offline-cache.md.
struct CachePolicyReading {
    /// Nil: as the client does otherwise.
    let mode: CacheMode?
    /// An answer from the cache or a failure.
    let failsUncached: Bool
    /// Caches on the way are to ask as well.
    private let asksThrough: Bool

    /// - Parameter usual: the session's, for a request that has the default.
    init(
        _ policy: NSURLRequest.CachePolicy,
        or usual: NSURLRequest.CachePolicy = .useProtocolCachePolicy
    ) {
        let policy = policy == .useProtocolCachePolicy ? usual : policy
        failsUncached = policy == .returnCacheDataDontLoad
        asksThrough = policy == .reloadIgnoringLocalAndRemoteCacheData
        mode =
            switch policy {
            case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: .refresh
            case .returnCacheDataElseLoad: .preferCache
            case .returnCacheDataDontLoad: .onlyIfCached
            case .reloadRevalidatingCacheData: .validate
            default: nil
            }
    }

    func changing(_ fields: HTTPFields) -> HTTPFields {
        guard asksThrough, !fields.contains("Cache-Control") else { return fields }
        var fields = fields
        try? fields.append("Cache-Control", "no-cache")
        return fields
    }
}
