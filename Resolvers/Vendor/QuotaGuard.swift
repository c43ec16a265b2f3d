package import HTTPDNSLookup
internal import HTTPDNSNames
package import HTTPDNSPlatform

/// Holds all back-ends of one account to its limit of requests.
package final class QuotaGuard: Sendable {
    private let bucket: Locked<TokenBucket>
    private let clock: any MonotonicSource

    package init(
        requestsPerSecond: Int, clock: any MonotonicSource = SystemMonotonicClock()
    ) {
        bucket = Locked(TokenBucket(perSecond: requestsPerSecond))
        self.clock = clock
    }

    /// - Throws: ``QueryFailure/overQuota(retryAfterMilliseconds:)``.
    package func take() throws(QueryFailure) {
        let now = clock.now()
        let wait = bucket.withLock { $0.take(now: now) }
        if let wait { throw .overQuota(retryAfterMilliseconds: wait) }
    }

    /// The request for which a token was taken did not go out.
    package func giveBack() {
        let now = clock.now()
        bucket.withLock { $0.giveBack(now: now) }
    }

    /// The guard of an account: one for all back-ends of the process that name it alike. The first to
    /// name it sets the limit.
    ///
    /// - Parameter account: provider and account, never a secret.
    package static func shared(account: String, requestsPerSecond: Int) -> QuotaGuard {
        guards.withLock { guards in
            if let known = guards[account] { return known }
            let made = QuotaGuard(requestsPerSecond: requestsPerSecond)
            guards[account] = made
            return made
        }
    }

    private static let guards = Locked<[String: QuotaGuard]>([:])
}
