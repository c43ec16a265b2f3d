public import HTTPDNSNames

/// Cookies, kept and chosen by the logical URL: an address has no part in it.
///
/// Two hosts that share an address share no cookie, and a host keeps its cookies when its address
/// changes. Each `Set-Cookie` field line is stored by itself, in order.
/// Source: RFC 6265 §5.3, §5.4; RFC 6265bis for prefixes, limits and secure cookies.
public struct CookieJar: Sendable, Hashable {
    /// A cookie as it is kept.
    public struct Cookie: Sendable, Hashable {
        /// Where its octets are not UTF-8, one character for each; the value alike.
        public var name: String { nameText.text }
        /// The same of the value.
        public var value: String { valueText.text }
        package let nameText: FieldText
        package let valueText: FieldText
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
            name: FieldText, value: FieldText, domain: String, isHostOnly: Bool, path: String,
            isSecure: Bool, isHTTPOnly: Bool, expires: WallTime?, created: WallTime,
            order: UInt64 = 0, lastUse: UInt64 = 0
        ) {
            nameText = name
            valueText = value
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

        func replaces(_ other: Cookie) -> Bool {
            nameText == other.nameText && domain == other.domain && path == other.path
        }

        /// What the name promises holds. Source: RFC 6265bis §4.1.3.
        func keepsPrefix(hasDomain: Bool) -> Bool {
            let name = name.lowercased()
            if name.hasPrefix("__secure-") { return isSecure }
            return !name.hasPrefix("__host-") || isSecure && !hasDomain && path == "/"
        }

        func isExpired(at now: WallTime) -> Bool { expires.map { $0 <= now } ?? false }
    }

    /// By domain; no list is empty.
    private var cookies: [String: [Cookie]] = [:]
    private var count = 0
    private var counter: UInt64 = 0

    public init() {}

    /// A jar with cookies that were kept elsewhere, in the order they were made in.
    package init(restoring kept: [Cookie]) {
        for var cookie in kept {
            counter += 1
            cookie.order = counter
            cookie.lastUse = counter
            cookies[cookie.domain, default: []].append(cookie)
        }
        count = kept.count
    }

    /// Takes in a cookie that was kept elsewhere, as the newest, in place of one of its name, domain
    /// and path.
    mutating func restore(_ cookie: Cookie, now: WallTime) {
        counter += 1
        var cookie = cookie
        cookie.order = counter
        cookie.lastUse = counter
        keep(cookie, now: now)
    }

    /// All cookies that have not expired, oldest first.
    public func all(now: WallTime) -> [Cookie] {
        cookies.values.joined().filter { !$0.isExpired(at: now) }.sorted { $0.order < $1.order }
    }

    /// Stores what one `Set-Cookie` field line says; an expiry in the past removes the cookie.
    ///
    /// - Parameters:
    ///   - line: the value of one field; never several joined by commas.
    ///   - url: the logical URL of the request that was answered.
    ///   - now: the time of the answer.
    ///   - isPublicSuffix: true for a name under which others register names.
    /// - Throws: ``CookieRefusal`` when the line is not stored; the answer stays usable.
    public mutating func store(
        setCookie line: String, from url: HTTPURL, now: WallTime,
        isPublicSuffix: (HostName) -> Bool
    ) throws(CookieRefusal) {
        try store(
            setCookie: FieldText(line), from: url, now: now, isPublicSuffix: isPublicSuffix)
    }

    /// The same from the octets of a line.
    package mutating func store(
        setCookie line: FieldText, from url: HTTPURL, now: WallTime,
        isPublicSuffix: (HostName) -> Bool
    ) throws(CookieRefusal) {
        let parsed = try SetCookieLine(line)
        let scope = try CookieRules.scope(
            of: parsed.domain, from: url.origin.host, isPublicSuffix: isPublicSuffix)
        counter += 1
        let cookie = Cookie(
            name: parsed.nameText, value: parsed.valueText, domain: scope.domain,
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
    /// Longer paths come first, then older cookies (Source: RFC 6265 §5.4); what does not fit into
    /// ``maximumFieldOctets`` stays out, whole cookies and from the end.
    public mutating func cookieHeader(for url: HTTPURL, now: WallTime) -> String? {
        cookieField(for: url, now: now)?.text
    }

    /// The same with the octets that the cookies were set with.
    package mutating func cookieField(for url: HTTPURL, now: WallTime) -> FieldText? {
        var pairs: [FieldText] = []
        var octets = 0
        for cookie in cookies(for: url, now: now) {
            let pair = FieldText.joined([cookie.nameText, cookie.valueText], separator: "=")
            octets += (pair.octets?.count ?? pair.text.utf8.count) + (pairs.isEmpty ? 0 : 2)
            guard octets <= CookieJar.maximumFieldOctets else { break }
            if pairs.isEmpty { counter += 1 }
            touch(cookie)
            pairs.append(pair)
        }
        return pairs.isEmpty ? nil : FieldText.joined(pairs, separator: "; ")
    }

    /// The longest `Cookie` value that is sent.
    ///
    /// Because: servers refuse a longer field (Apache: LimitRequestFieldSize, 8,190; nginx: a buffer of
    /// 8 KiB), and whoever may set cookies for a parent domain could shut a client out of it so. curl
    /// stops at the same length.
    public static let maximumFieldOctets = 8_190

    /// The cookies of a request to `url`, in the order they are sent in.
    public func cookies(for url: HTTPURL, now: WallTime) -> [Cookie] {
        guard !cookies.isEmpty else { return [] }
        var chosen: [Cookie] = []
        for domain in CookieJar.domains(of: url.origin.host) {
            for cookie in cookies[domain] ?? [] where !cookie.isExpired(at: now) {
                if CookieJar.belongs(cookie, to: url) { chosen.append(cookie) }
            }
        }
        return chosen.sorted { (first: Cookie, second: Cookie) -> Bool in
            let (left, right) = (first.path.utf8.count, second.path.utf8.count)
            return left == right ? first.order < second.order : left > right
        }
    }

    /// Forgets the cookies without an expiry, as at the end of a session.
    public mutating func endSession() { removeAll { $0.expires == nil } }

    /// Forgets everything.
    public mutating func removeAll() { removeAll { _ in true } }
}

extension CookieJar {
    /// The host and, for a name, every domain above it: those whose cookies may match it.
    private static func domains(of host: Host) -> [String] {
        guard case .name(let name) = host else { return [host.description] }
        let labels = name.labels
        return labels.indices.map { labels[$0...].joined(separator: ".") }
    }

    /// For a cookie of the URL's host or of a domain above it.
    private static func belongs(_ cookie: Cookie, to url: HTTPURL) -> Bool {
        guard url.origin.scheme == .https || !cookie.isSecure else { return false }
        guard !cookie.isHostOnly || cookie.domain == url.origin.host.description else {
            return false
        }
        return CookieRules.pathMatches(request: url.path, cookie: cookie.path)
    }

    private mutating func touch(_ cookie: Cookie) {
        guard let index = cookies[cookie.domain]?.firstIndex(where: cookie.replaces) else { return }
        cookies[cookie.domain]?[index].lastUse = counter
    }

    private mutating func removeAll(where isMeant: (Cookie) -> Bool) {
        cookies = cookies.mapValues { $0.filter { !isMeant($0) } }.filter { !$0.value.isEmpty }
        count = cookies.values.reduce(0) { $0 + $1.count }
    }

    /// Source: RFC 6265bis §5.7: `Secure`, "leave secure cookies alone", name prefixes.
    private func check(
        _ cookie: Cookie, hasDomain: Bool, from url: HTTPURL
    ) throws(CookieRefusal) {
        let isHTTPS = url.origin.scheme == .https
        if !isHTTPS {
            guard !cookie.isSecure else { throw .secureOverHTTP }
            let hides = cookies.contains { domain, kept in
                (CookieRules.domainMatches(host: domain, domain: cookie.domain)
                    || CookieRules.domainMatches(host: cookie.domain, domain: domain))
                    && kept.contains {
                        $0.isSecure && $0.nameText == cookie.nameText
                            && CookieRules.pathMatches(request: cookie.path, cookie: $0.path)
                    }
            }
            guard !hides else { throw .wouldHideSecure }
        }
        guard cookie.keepsPrefix(hasDomain: hasDomain) else { throw .brokenPrefix }
    }

    /// `Max-Age` counts before `Expires`. Source: RFC 6265 §5.3 step 3. Nothing is kept for longer than
    /// ``maximumAgeSeconds``.
    private static func expiry(of line: SetCookieLine, now: WallTime) -> WallTime? {
        let (limit, overflow) = now.secondsSince1970.addingReportingOverflow(maximumAgeSeconds)
        return stated(line, now: now).map {
            min($0, WallTime(secondsSince1970: overflow ? .max : limit))
        }
    }

    /// 400 days. Source: RFC 6265bis §5.5.
    private static let maximumAgeSeconds: Int64 = 34_560_000

    private static func stated(_ line: SetCookieLine, now: WallTime) -> WallTime? {
        guard let seconds = line.maxAgeSeconds else { return line.expires }
        guard seconds > 0 else { return WallTime(secondsSince1970: .min) }
        let (end, overflow) = now.secondsSince1970.addingReportingOverflow(seconds)
        return WallTime(secondsSince1970: overflow ? .max : end)
    }

    /// A cookie of the same name, domain and path is replaced; its place in the order stays.
    private mutating func keep(_ cookie: Cookie, now: WallTime) {
        var list = cookies[cookie.domain] ?? []
        let old = list.firstIndex { cookie.replaces($0) }
        switch (old, cookie.isExpired(at: now)) {
        case (let old?, true): list.remove(at: old)
        case (let old?, false):
            var replacement = cookie
            replacement.order = list[old].order
            replacement.created = list[old].created
            list[old] = replacement
        case (nil, true): return
        case (nil, false): list.append(cookie)
        }
        count += list.count - (cookies[cookie.domain]?.count ?? 0)
        cookies[cookie.domain] = list.isEmpty ? nil : list
        guard list.count > CookieJar.maximumPerDomain || count > CookieJar.maximumInAll else {
            return
        }
        evict(cookie.domain, now: now)
    }

    private mutating func evict(_ domain: String, now: WallTime) {
        removeAll { $0.isExpired(at: now) }
        while let list = cookies[domain], list.count > CookieJar.maximumPerDomain {
            remove(CookieJar.victim(list))
        }
        while count > CookieJar.maximumInAll { remove(CookieJar.victim(cookies.values.joined())) }
    }

    /// The least recently used, of those that are not `Secure` where there are any.
    private static func victim(_ cookies: some Sequence<Cookie>) -> Cookie? {
        cookies.min { first, second in
            first.isSecure == second.isSecure
                ? first.lastUse < second.lastUse : !first.isSecure
        }
    }

    mutating func remove(_ victim: Cookie?) {
        guard let victim, var list = cookies[victim.domain] else { return }
        list.removeAll { $0.replaces(victim) }
        count += list.count - (cookies[victim.domain]?.count ?? 0)
        cookies[victim.domain] = list.isEmpty ? nil : list
    }

    /// Because: RFC 6265 §6.1 asks for at least 50; browsers keep 180.
    static let maximumPerDomain = 180
    /// Source: RFC 6265 §6.1 (at least 3 000).
    static let maximumInAll = 3_000
}
