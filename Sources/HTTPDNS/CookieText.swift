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

    /// The same from the octets of a file, which need not be UTF-8.
    ///
    /// - Throws: ``CookieFileFault``, as ``init(netscape:)``.
    public init(netscape octets: [UInt8]) throws(CookieFileFault) {
        try self.init(
            netscape: octets, now: SystemWallClock().now(),
            isPublicSuffix: { PublicSuffix.isPublicSuffix($0) })
    }

    /// The same as octets, each cookie with those that it was set with.
    public var netscapeOctets: [UInt8] { netscapeOctets(now: SystemWallClock().now()) }

    /// The jar as a Netscape cookie file: what has not expired by now.
    public var netscapeText: String { netscapeText(now: SystemWallClock().now()) }
}

extension CookieFileReading {
    /// Reads a whole file by this moment and the public suffix list; nothing in it is an error.
    public init(_ octets: [UInt8]) {
        self.init(
            octets, now: SystemWallClock().now(),
            isPublicSuffix: { PublicSuffix.isPublicSuffix($0) })
    }

    /// `jar` as a cookie file, with the lines of this one that were skipped at its end.
    public func octets(with jar: CookieJar) -> [UInt8] {
        octets(with: jar, now: SystemWallClock().now())
    }
}

extension CookieJar {
    /// This jar's changes put into what others have made of it meanwhile.
    ///
    /// - Parameters:
    ///   - start: what this jar began as.
    ///   - others: what was kept of it since, by whoever shares it.
    public func merged(since start: CookieJar, into others: CookieJar) -> CookieJar {
        merged(since: start, into: others, now: SystemWallClock().now())
    }
}
