internal import HTTPDNSExchange
internal import HTTPDNSIDNA
internal import HTTPDNSNames
internal import HTTPDNSPublicSuffix

/// The operations of the conformance adapter that are about cookies, on plain values.
enum CookieOperations {
    /// One step of `cookie.jar`.
    enum Step {
        case set(now: Int64, url: String, headers: [String])
        /// A probe is a request to the address itself; it is answered apart.
        case get(now: Int64, url: String, isProbe: Bool)
    }

    /// The answer to `cookie.jar`.
    struct JarAnswer {
        /// Name and value of the cookies of the last `get`.
        var cookies: [[String]] = []
        /// The `Cookie` value of each `get`; empty where no field is sent.
        var all: [String] = []
        var probe: [[String]] = []
    }

    /// `cookie.jar`. Through which address the connection goes makes no difference, so it is not
    /// an argument. Without a list of suffixes the built-in one counts.
    static func jar(_ steps: [Step], publicSuffixes: [String]?) -> JarAnswer {
        var jar = CookieJar()
        var answer = JarAnswer()
        for step in steps {
            switch step {
            case .set(let now, let text, let headers):
                guard let url = try? HTTPURL(text, toASCII: IDNA.toASCII) else { continue }
                for header in headers {
                    // A refused line leaves the jar as it was.
                    try? jar.store(
                        setCookie: header, from: url, now: WallTime(secondsSince1970: now),
                        isPublicSuffix: suffixRule(publicSuffixes))
                }
            case .get(let now, let text, let isProbe):
                let time = WallTime(secondsSince1970: now)
                let url = try? HTTPURL(text, toASCII: IDNA.toASCII)
                let found = url.map { jar.cookies(for: $0, now: time).map { [$0.name, $0.value] } }
                let header = url.flatMap { jar.cookieHeader(for: $0, now: time) }
                if isProbe {
                    answer.probe = found ?? []
                } else {
                    answer.cookies = found ?? []
                    answer.all.append(header ?? "")
                }
            }
        }
        return answer
    }

    /// `cookie.date`: seconds since 1970; nil for no date.
    static func date(_ input: String) -> Int64? { CookieDate.parse(input)?.secondsSince1970 }

    /// `cookie.domain`: what a `Domain` attribute of that text makes of the cookie; nil when it is
    /// refused.
    static func domain(
        host: String, attribute: String, publicSuffixes: [String]?
    ) -> (domain: String, isHostOnly: Bool)? {
        guard let origin = parsedHost(host),
            let line = try? SetCookieLine("a=b; Domain=" + attribute)
        else { return nil }
        return try? CookieRules.scope(
            of: line.domain, from: origin, isPublicSuffix: suffixRule(publicSuffixes))
    }

    /// `cookie.domain_match`, over any text.
    static func domainMatches(host: String, domain: String) -> Bool {
        let domain = domain.count > 1 && domain.hasPrefix(".") ? domain.dropFirst() : domain[...]
        return CookieRules.domainMatches(
            host: canonical(host), domain: canonical(String(domain)))
    }

    /// `cookie.path_match`.
    static func pathMatches(request: String, cookie: String) -> Bool {
        CookieRules.pathMatches(request: request, cookie: cookie)
    }

    /// `cookie.default_path`.
    static func defaultPath(_ path: String) -> String { CookieRules.defaultPath(of: path) }

    private static func canonical(_ host: String) -> String {
        if let address = try? IPAddress(host) { return address.description }
        return (try? IDNA.toASCII(host)) ?? host
    }

    private static func parsedHost(_ text: String) -> Host? {
        if let address = try? IPAddress(text) { return .address(address) }
        return (try? HostName(unicode: text)).map { .name($0) }
    }

    /// The names given, and every name of one label as the list's own `*` rule says; or the
    /// built-in list.
    private static func suffixRule(_ suffixes: [String]?) -> (HostName) -> Bool {
        guard let suffixes else { return PublicSuffix.isPublicSuffix }
        return { name in name.labels.count == 1 || suffixes.contains(name.text) }
    }
}
