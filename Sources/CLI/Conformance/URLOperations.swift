internal import HTTPDNSExchange
internal import HTTPDNSIDNA
internal import HTTPDNSNames

/// The operations of the conformance adapter that are about URLs and redirects, on plain values.
enum URLOperations {
    /// The answer to `url.target`.
    struct Target {
        let scheme: String
        let hostname: String
        let port: Int
        let hostHeader: String
        let target: String
    }

    /// `url.target`: where a request for that URL goes, as the URL standard reads it; nil for
    /// `"ok": false`.
    ///
    /// This is the standard's reading with all its repairs. `HTTPURL`, which the library sends
    /// requests by, refuses what has to be repaired. An empty query is left out, as the standard's
    /// `search` does; a request keeps its `?`.
    static func target(_ input: String) -> Target? {
        guard let url = try? ParsedURL(input, toASCII: IDNA.toASCII) else { return nil }
        return Target(
            scheme: url.scheme.rawValue, hostname: url.host.text, port: Int(url.portNumber),
            hostHeader: url.hostHeader,
            target: url.query?.isEmpty == true ? url.path : url.target)
    }

    /// The answer to `http.redirect`.
    struct Redirected {
        let method: String
        let body: String
        let keepsContentHeaders: Bool
    }

    /// `http.redirect`: what a redirect of that status makes of a request; nil when the input is
    /// not a request, or the redirect is not followed.
    static func redirect(
        status: Int, method: String, body: String, headers: [(name: String, value: String)]
    ) -> Redirected? {
        guard let method = HTTPMethod(method), let url = try? HTTPURL("https://origin.example/"),
            let request = try? request(method, url, headers),
            let location = try? fields([("Location", "/next")])
        else { return nil }
        let response = ResponseHead(url: url, status: status, version: .http11, fields: location)
        guard
            case .follow(let step) = RedirectRules().decide(
                response, to: request, hasBody: !body.isEmpty, hops: 0)
        else { return nil }
        return Redirected(
            method: step.head.method.text, body: step.keepsBody ? body : "",
            keepsContentHeaders: !headers.isEmpty
                && headers.allSatisfy { step.head.fields.contains($0.name) })
    }

    private static func request(
        _ method: HTTPMethod, _ url: HTTPURL, _ headers: [(name: String, value: String)]
    ) throws(FieldError) -> RequestHead {
        RequestHead(method: method, url: url, fields: try fields(headers))
    }

    private static func fields(
        _ pairs: [(name: String, value: String)]
    ) throws(FieldError) -> HTTPFields {
        var fields = HTTPFields()
        for pair in pairs { try fields.append(pair.name, pair.value) }
        return fields
    }
}
