public import HTTPDNSNames

extension CookieJar {
    /// This jar's changes put into what others have made of it meanwhile.
    ///
    /// What was set or replaced here counts; what was removed here is removed; all else is as the others
    /// have it. A cookie is one by its name, domain and path.
    ///
    /// - Parameters:
    ///   - start: what this jar began as.
    ///   - others: what was kept of it since, by whoever shares it.
    ///   - now: decides what has expired.
    public func merged(since start: CookieJar, into others: CookieJar, now: WallTime) -> CookieJar {
        var merged = others
        let before = Dictionary(
            start.all(now: now).map { (Key($0), $0) }, uniquingKeysWith: { $1 })
        var isHere: Set<Key> = []
        var changed: [Cookie] = []
        for cookie in all(now: now) {
            let key = Key(cookie)
            isHere.insert(key)
            if before[key]?.says(cookie) != true { changed.append(cookie) }
        }
        for (key, cookie) in before where !isHere.contains(key) { merged.remove(cookie) }
        for cookie in changed { merged.restore(cookie, now: now) }
        return merged
    }

    /// What makes two cookies one. Source: RFC 6265 §5.3 step 11.
    private struct Key: Hashable {
        let name: FieldText
        let domain: String
        let path: String

        init(_ cookie: Cookie) {
            name = cookie.nameText
            domain = cookie.domain
            path = cookie.path
        }
    }
}

extension CookieJar.Cookie {
    /// The same but for when it was made and used.
    fileprivate func says(_ other: CookieJar.Cookie) -> Bool {
        valueText == other.valueText && isHostOnly == other.isHostOnly
            && isSecure == other.isSecure && isHTTPOnly == other.isHTTPOnly
            && expires == other.expires
    }
}
