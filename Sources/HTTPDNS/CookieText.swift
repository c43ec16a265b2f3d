public import HTTPDNSExchange
internal import HTTPDNSPlatform
internal import HTTPDNSPublicSuffix

extension CookieJar {
    /// The jar that a Netscape cookie file holds, by this moment and the public suffix list.
    ///
    /// - Throws: ``CookieFileFault``: the first line that is no cookie.
    public init(netscape text: String) throws(CookieFileFault) {
        try self.init(
            netscape: text, now: SystemWallClock().now(),
            isPublicSuffix: { PublicSuffix.isPublicSuffix($0) })
    }

    /// The jar as a Netscape cookie file: what has not expired by now.
    public var netscapeText: String { netscapeText(now: SystemWallClock().now()) }
}
