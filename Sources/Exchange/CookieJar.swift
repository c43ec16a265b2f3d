public import HTTPDNSNames

/// Cookies, kept and chosen by the logical URL: an address has no part in it.
///
/// Two hosts that share an address share no cookie, and a host keeps its cookies when its address
/// changes. Each `Set-Cookie` field line is stored by itself, in order.
/// Source: RFC 6265 §5.3, §5.4; RFC 6265bis for prefixes, limits and secure cookies.
public struct CookieJar: Sendable, Hashable {
    /// A cookie as it is kept.
    public struct Cookie: Sendable, Hashable {
        public let name: String
        public let value: String
        /// A host name or an address, in canonical form.
        public let domain: String
        /// For ``domain`` itself only; otherwise for the hosts under it as well.
        public let isHostOnly: Bool
        public let path: String
        public let isSecure: Bool
        public let isHTTPOnly: Bool
        /// Nil for a session cookie.
        public let expires: WallTime?
        /// Of the first cookie of this name, domain and path, when it has been replaced since.
        public internal(set) var created: WallTime
        /// Counts stores, so that cookies of one second keep their order.
        var order: UInt64
        /// Counts uses; the smallest is evicted first.
        var lastUse: UInt64

        /// A cookie that was kept elsewhere: see ``CookieJar/init(restoring:)``.
        package init(
            name: String, value: String, domain: String, isHostOnly: Bool, path: String,
            isSecure: Bool, isHTTPOnly: Bool, expires: WallTime?, created: WallTime,
            order: UInt64 = 0, lastUse: UInt64 = 0
        ) {
            self.name = name
            self.value = value
            self.domain = domain
            self.isHostOnly = isHostOnly
            self.path = path
            self.isSecure = isSecure
            self.isHTTPOnly = isHTTPOnly
            self.expires = expires
            self.created = created
            self.order = order
            self.lastUse = lastUse
        }

        var identity: [String] { [name, domain, path] }

        func isExpired(at now: WallTime) -> Bool { expires.map { $0 <= now } ?? false }
    }

    private var cookies: [Cookie] = []
    private var counter: UInt64 = 0

    public init() {}

    /// A jar with cookies that were kept elsewhere, in the order they were made in.
    package init(restoring kept: [Cookie]) {
        for var cookie in kept {
            counter += 1
            cookie.order = counter
            cookie.lastUse = counter
            cookies.append(cookie)
        }
    }

    /// All cookies that have not expired, oldest first.
    public func all(now: WallTime) -> [Cookie] { cookies.filter { !$0.isExpired(at: now) } }

    /// Stores what one `Set-Cookie` field line says; an expiry in the past removes the cookie.
    ///
    /// - Parameters:
    ///   - line: the value of one field; never several joined by commas.
    ///   - url: the logical URL of the request that was answered.
    ///   - isPublicSuffix: true for a name under which others register names.
    /// - Throws: ``CookieRefusal`` when the line is not stored; the answer stays usable.
    public mutating func store(
        setCookie line: String, from url: HTTPURL, now: WallTime,
        isPublicSuffix: (HostName) -> Bool
    ) throws(CookieRefusal) {
        let parsed = try SetCookieLine(line)
        let scope = try CookieRules.scope(
            of: parsed.domain, from: url.origin.host, isPublicSuffix: isPublicSuffix)
        counter += 1
        let cookie = Cookie(
            name: parsed.name, value: parsed.value, domain: scope.domain,
            isHostOnly: scope.isHostOnly,
            path: parsed.path ?? CookieRules.defaultPath(of: url.path),
            isSecure: parsed.isSecure, isHTTPOnly: parsed.isHTTPOnly,
            expires: CookieJar.expiry(of: parsed, now: now), created: now, order: counter,
            lastUse: counter)
        try check(cookie, hasDomain: parsed.domain != nil, from: url)
        keep(cookie, now: now)
    }

    /// The `Cookie` value for a request to `url`; nil when no cookie belongs there.
    ///
    /// Longer paths come first, then older cookies. Source: RFC 6265 §5.4.
    public mutating func cookieHeader(for url: HTTPURL, now: WallTime) -> String? {
        let chosen = indices(for: url, now: now)
        guard !chosen.isEmpty else { return nil }
        counter += 1
        for index in chosen { cookies[index].lastUse = counter }
        return chosen.map { cookies[$0].name + "=" + cookies[$0].value }.joined(separator: "; ")
    }

    /// The cookies of a request to `url`, in the order they are sent in.
    public func cookies(for url: HTTPURL, now: WallTime) -> [Cookie] {
        indices(for: url, now: now).map { cookies[$0] }
    }

    /// Forgets the cookies without an expiry, as at the end of a session.
    public mutating func endSession() { cookies.removeAll { $0.expires == nil } }

    /// Forgets every cookie.
    public mutating func removeAll() { cookies.removeAll() }
}

extension CookieJar {
    private func indices(for url: HTTPURL, now: WallTime) -> [Int] {
        let host = url.origin.host.description
        return cookies.indices.filter { index in
            let cookie = cookies[index]
            return !cookie.isExpired(at: now)
                && (url.origin.scheme == .https || !cookie.isSecure)
                && (cookie.isHostOnly
                    ? cookie.domain == host
                    : CookieRules.domainMatches(host: host, domain: cookie.domain))
                && CookieRules.pathMatches(request: url.path, cookie: cookie.path)
        }.sorted { left, right in
            let (first, second) = (cookies[left], cookies[right])
            return first.path.utf8.count == second.path.utf8.count
                ? first.order < second.order : first.path.utf8.count > second.path.utf8.count
        }
    }

    /// Source: RFC 6265bis §5.7: `Secure`, "leave secure cookies alone", name prefixes.
    private func check(
        _ cookie: Cookie, hasDomain: Bool, from url: HTTPURL
    ) throws(CookieRefusal) {
        let isHTTPS = url.origin.scheme == .https
        if !isHTTPS {
            guard !cookie.isSecure else { throw .secureOverHTTP }
            let hides = cookies.contains { kept in
                kept.isSecure && kept.name == cookie.name
                    && (CookieRules.domainMatches(host: kept.domain, domain: cookie.domain)
                        || CookieRules.domainMatches(host: cookie.domain, domain: kept.domain))
                    && CookieRules.pathMatches(request: cookie.path, cookie: kept.path)
            }
            guard !hides else { throw .wouldHideSecure }
        }
        let name = cookie.name.lowercased()
        if name.hasPrefix("__secure-"), !cookie.isSecure { throw .brokenPrefix }
        if name.hasPrefix("__host-"), !cookie.isSecure || hasDomain || cookie.path != "/" {
            throw .brokenPrefix
        }
    }

    /// `Max-Age` counts before `Expires`. Source: RFC 6265 §5.3 step 3.
    private static func expiry(of line: SetCookieLine, now: WallTime) -> WallTime? {
        guard let seconds = line.maxAgeSeconds else { return line.expires }
        guard seconds > 0 else { return WallTime(secondsSince1970: .min) }
        let (end, overflow) = now.secondsSince1970.addingReportingOverflow(seconds)
        return WallTime(secondsSince1970: overflow ? .max : end)
    }

    /// A cookie of the same name, domain and path is replaced; its place in the order stays.
    private mutating func keep(_ cookie: Cookie, now: WallTime) {
        let old = cookies.firstIndex { $0.identity == cookie.identity }
        switch (old, cookie.isExpired(at: now)) {
        case (let old?, true): cookies.remove(at: old)
        case (let old?, false):
            var replacement = cookie
            replacement.order = cookies[old].order
            replacement.created = cookies[old].created
            cookies[old] = replacement
        case (nil, true): return
        case (nil, false):
            cookies.append(cookie)
            evict(cookie.domain, now: now)
        }
    }

    private mutating func evict(_ domain: String, now: WallTime) {
        let ofDomain = cookies.count { $0.domain == domain }
        guard
            ofDomain > CookieJar.maximumPerDomain || cookies.count > CookieJar.maximumInAll
        else { return }
        cookies.removeAll { $0.isExpired(at: now) }
        while cookies.count(where: { $0.domain == domain }) > CookieJar.maximumPerDomain {
            remove { $0.domain == domain }
        }
        while cookies.count > CookieJar.maximumInAll { remove { _ in true } }
    }

    /// Removes the least recently used of the cookies meant, those that are not `Secure` first.
    private mutating func remove(among isMeant: (Cookie) -> Bool) {
        let victim = cookies.indices.filter { isMeant(cookies[$0]) }.min { left, right in
            let (first, second) = (cookies[left], cookies[right])
            return first.isSecure == second.isSecure
                ? first.lastUse < second.lastUse : !first.isSecure
        }
        if let victim { cookies.remove(at: victim) }
    }

    /// Because: RFC 6265 §6.1 asks for at least 50; browsers keep 180.
    static let maximumPerDomain = 180
    /// Source: RFC 6265 §6.1 (at least 3 000).
    static let maximumInAll = 3_000
}
