internal import Foundation
internal import HTTPDNSClient
internal import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSPlatform

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The cookies of a session's own storage, judged by our jar's rules and filed under the logical URL.
///
/// Foundation chooses cookies without looking at path and Secure, and stores none of a custom
/// protocol's responses. So the storage keeps them, and the jar decides.
final class SessionCookies: CookieKeeper, @unchecked Sendable {
    // Safety: HTTPCookieStorage locks itself; everything else is immutable.
    private let storage: HTTPCookieStorage?
    private let sends: Bool
    private let keeps: Bool
    private let isPublicSuffix: @Sendable (HostName) -> Bool
    private let clock = SystemWallClock()
    /// The session may have put cookies of its storage into the request's Cookie field.
    private let setsField: Bool
    private let first: URL?

    init(
        _ configuration: URLSessionConfiguration, request: URLRequest,
        isPublicSuffix: @escaping @Sendable (HostName) -> Bool
    ) {
        storage = configuration.httpCookieStorage
        sends = configuration.httpShouldSetCookies && request.httpShouldHandleCookies
        keeps =
            request.httpShouldHandleCookies && configuration.httpCookieAcceptPolicy != .never
        self.isPublicSuffix = isPublicSuffix
        setsField = configuration.httpShouldSetCookies
        first = request.url
    }

    /// Names of cookies that the session itself may have put into the request's Cookie field.
    private var sessionsNames: Set<String> {
        guard setsField, let first, let kept = storage?.cookies(for: first) else { return [] }
        return Set(kept.map(\.name))
    }

    /// The part of a request's Cookie field that the application set itself.
    ///
    /// A session whose storage holds cookies for the host puts those in the field's place, whatever
    /// their path and whether they are Secure. They are told by their names: their values may have
    /// changed since.
    func callersOwn(_ value: String) -> String? {
        let sessionsNames = sessionsNames
        let own = value.split(separator: ";").map { $0.drop { $0 == " " } }.filter { pair in
            !sessionsNames.contains(String(pair.prefix { $0 != "=" }))
        }
        return own.isEmpty ? nil : own.joined(separator: "; ")
    }

    func cookies(for url: HTTPURL) -> FieldText? {
        guard sends, let storage, !cookies(storage, url).isEmpty else { return nil }
        var jar = jar(storage, url)
        return jar.cookieField(for: url, now: now)
    }

    /// Those of the host, whatever their path and whether they are Secure.
    private func cookies(_ storage: HTTPCookieStorage, _ url: HTTPURL) -> [HTTPCookie] {
        let isFirst = first?.host == url.origin.host.description
        guard let lookup = isFirst ? first : URL(string: url.origin.description) else { return [] }
        return storage.cookies(for: lookup) ?? []
    }

    func store(_ lines: [FieldText], from url: HTTPURL) {
        guard keeps, let storage else { return }
        let now = now
        for line in lines {
            var jar = jar(storage, url)
            let before = jar.all(now: now)
            // A line that may not be kept (another site's domain, say) leaves the answer usable.
            guard
                (try? jar.store(
                    setCookie: line, from: url, now: now, isPublicSuffix: isPublicSuffix)) != nil
            else { continue }
            let after = jar.all(now: now)
            for gone in before where !after.contains(where: { SessionCookies.same($0, gone) }) {
                KeptCookie(gone, made: nil).map(storage.deleteCookie)
            }
            for new in after where !before.contains(new) {
                // In the place of the one that it replaces. Source: RFC 6265 §5.3 step 11.3.
                let old = cookies(storage, url).first { SessionCookies.same($0, new) }
                KeptCookie(new, made: old?.created).map(storage.setCookie)
            }
        }
    }

    private static func same(_ cookie: HTTPCookie, _ kept: CookieJar.Cookie) -> Bool {
        same(CookieJar.Cookie(cookie, now: kept.created), kept)
    }

    private var now: WallTime { clock.now() }

    private func jar(_ storage: HTTPCookieStorage, _ url: HTTPURL) -> CookieJar {
        let kept = cookies(storage, url).map { ($0.created, $0) }.sorted {
            ($0.0, $0.1.name) < ($1.0, $1.1.name)
        }
        return CookieJar(restoring: kept.map { CookieJar.Cookie($0.1, now: now) })
    }

    private static func same(_ left: CookieJar.Cookie, _ right: CookieJar.Cookie) -> Bool {
        left.nameText == right.nameText && left.domain == right.domain && left.path == right.path
            && left.isHostOnly == right.isHostOnly
    }
}

extension HTTPCookie {
    /// Seconds since 2001 at which it was made; the storage itself keeps no order.
    fileprivate var created: Double {
        properties?[.created] as? Double ?? 0
    }
}

extension CookieJar.Cookie {
    /// A cookie of Foundation's: a domain that begins with a dot is for the hosts under it as well.
    fileprivate init(_ cookie: HTTPCookie, now: WallTime) {
        let isHostOnly = !cookie.domain.hasPrefix(".")
        self.init(
            name: (cookie as? KeptCookie)?.nameText ?? FieldText(cookie.name),
            value: (cookie as? KeptCookie)?.valueText ?? FieldText(cookie.value),
            domain: (isHostOnly ? cookie.domain : String(cookie.domain.dropFirst())).lowercased(),
            isHostOnly: isHostOnly, path: cookie.path, isSecure: cookie.isSecure,
            isHTTPOnly: cookie.isHTTPOnly,
            expires: cookie.expiresDate.map { WallTime(rounding: $0) }, created: now)
    }

    /// As Foundation describes a cookie.
    fileprivate var properties: [HTTPCookiePropertyKey: Any] {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .path: path,
            .domain: isHostOnly ? domain : "." + domain,
        ]
        if isSecure { properties[.secure] = "TRUE" }
        if isHTTPOnly { properties[HTTPCookiePropertyKey("HttpOnly")] = "TRUE" }
        if let expires {
            properties[.expires] = Date(timeIntervalSince1970: Double(expires.secondsSince1970))
        } else {
            properties[.discard] = "TRUE"
        }
        return properties
    }
}

/// A cookie with what Foundation's own has no place for: octets that are not UTF-8, and when the one
/// that it takes the place of was made.
///
/// The storage keeps the object. What it writes to a disk, and reads there in another process, is text.
private final class KeptCookie: HTTPCookie, @unchecked Sendable {
    // Safety: nothing of it ever changes.
    let nameText: FieldText
    let valueText: FieldText
    private let made: Double?

    /// Nil when Foundation refuses it.
    ///
    /// - Parameters:
    ///   - cookie: what is to be kept.
    ///   - made: seconds since 2001; nil for now.
    init?(_ cookie: CookieJar.Cookie, made: Double?) {
        nameText = cookie.nameText
        valueText = cookie.valueText
        self.made = made
        super.init(properties: cookie.properties)
    }

    override var properties: [HTTPCookiePropertyKey: Any]? {
        var properties = super.properties
        if let made { properties?[.created] = made }
        return properties
    }
}

extension HTTPCookiePropertyKey {
    fileprivate static let created = HTTPCookiePropertyKey("Created")
}

extension WallTime {
    /// A date that a server may have chosen: clamped to what fits.
    fileprivate init(rounding date: Date) {
        let seconds = date.timeIntervalSince1970
        self.init(
            secondsSince1970: seconds.isFinite ? Int64(max(min(seconds, 1e15), -1e15)) : Int64.max)
    }
}
