package import HTTPDNSExchange
package import HTTPDNSNames
package import HTTPDNSPlatform

/// Where the cookies of a client are kept: under the logical URL, never under an address.
package protocol CookieKeeper: Sendable {
    /// The `Cookie` value for a request to `url`; nil for none.
    func cookies(for url: HTTPURL) -> FieldText?

    /// Keeps the `Set-Cookie` lines of a response from `url`.
    func store(_ lines: [FieldText], from url: HTTPURL)
}

/// Keeps cookies in memory, by RFC 6265bis.
package final class CookieBox: CookieKeeper {
    private let jar: Locked<CookieJar>
    private let clock: any WallSource
    private let isPublicSuffix: @Sendable (HostName) -> Bool

    /// - Parameter kept: what it begins with.
    package init(
        _ kept: CookieJar = CookieJar(), clock: any WallSource = SystemWallClock(),
        isPublicSuffix: @escaping @Sendable (HostName) -> Bool
    ) {
        jar = Locked(kept)
        self.clock = clock
        self.isPublicSuffix = isPublicSuffix
    }

    package var kept: CookieJar {
        get { jar.withLock { $0 } }
        set { jar.withLock { $0 = newValue } }
    }

    package func cookies(for url: HTTPURL) -> FieldText? {
        let now = clock.now()
        return jar.withLock { $0.cookieField(for: url, now: now) }
    }

    package func store(_ lines: [FieldText], from url: HTTPURL) {
        let now = clock.now()
        jar.withLock { jar in
            for line in lines {
                // A line that may not be kept (another site's domain, say) leaves the answer usable.
                try? jar.store(
                    setCookie: line, from: url, now: now, isPublicSuffix: isPublicSuffix)
            }
        }
    }
}
