internal import HTTPDNSExchange
internal import HTTPDNSNames

// What a matcher means, and why it does not fit, in words.
extension RequestMatcher {
    public var description: String {
        switch form {
        case .any: "every request"
        case .scheme(let scheme): "scheme \(scheme.rawValue)"
        case .host(let pattern): "host \(pattern)"
        case .port(let port): "port \(port)"
        case .path(let pattern): "path \(pattern)"
        case .pathExtension(let extensions): "extension \(extensions.joined(separator: ", "))"
        case .query(let name, let value): "query item \(RuleText.plain(name)) is \(value)"
        case .method(let methods): "method \(methods.map(\.text).joined(separator: ", "))"
        case .field(let name, let value): "field \(RuleText.plain(name)) is \(value)"
        case .body(let what, _): "body is \(what)"
        case .custom(let what, _): what
        case .all(let matchers): RequestMatcher.joined(matchers, " and ", none: "every request")
        case .either(let matchers): RequestMatcher.joined(matchers, " or ", none: "no request")
        case .not(let matcher): "not (\(matcher))"
        }
    }

    private static func joined(_ matchers: [RequestMatcher], _ word: String, none: String) -> String
    {
        guard !matchers.isEmpty else { return none }
        return matchers.map { matcher in
            if case .either(let some) = matcher.form, some.count > 1, matchers.count > 1 {
                return "(\(matcher))"
            }
            return matcher.description
        }.joined(separator: word)
    }

    /// How near a request comes: which conditions hold of how many, and why the others do not.
    struct Nearness: Sendable, Hashable {
        var met = 0
        var conditions = 0
        var reasons: [String] = []
    }

    func nearness(to request: RuledRequest) -> Nearness {
        guard case .all(let matchers) = form else {
            guard !matches(request) else { return Nearness(met: 1, conditions: 1) }
            return Nearness(conditions: 1, reasons: [reason(request)])
        }
        return matchers.reduce(into: Nearness()) { sum, matcher in
            let one = matcher.nearness(to: request)
            sum.met += one.met
            sum.conditions += one.conditions
            sum.reasons += one.reasons
        }
    }

    /// Why it does not fit; only for a request that it does not fit.
    private func reason(_ request: RuledRequest) -> String {
        let origin = request.url.origin
        switch form {
        case .scheme(let scheme):
            return "scheme is \(origin.scheme.rawValue), not \(scheme.rawValue)"
        case .host(let pattern): return "host is \(origin.host), not \(pattern)"
        case .port(let port): return "port is \(origin.port), not \(port)"
        case .path(let pattern):
            return
                "path is \"\(RuleText.plain(PlainPath.text(of: request.url.path)))\", not \(pattern)"
        case .pathExtension(let extensions):
            let own = PlainPath.fileExtension(of: request.url.path)
            return "extension is \(own.map { "\"\(RuleText.plain($0))\"" } ?? "not there"), not "
                + extensions.joined(separator: " or ")
        case .query(let name, let value):
            let name = RuleText.plain(name)
            return request.queryItems.contains { $0.name == name }
                ? "query item \(name) is not \(value)" : "query item \(name) is not there"
        case .method(let methods):
            return
                "method is \(request.method), not \(methods.map(\.text).joined(separator: " or "))"
        case .field(let name, let value):
            return !request.values(of: name).isEmpty
                ? "field \(name) is not \(value)" : "field \(name) is not there"
        case .body(let what, _):
            return request.body == nil
                ? "body is read once, by who sends it, and cannot be looked at"
                : "body is not \(what)"
        case .custom(let what, _): return "it is not so that \(what)"
        case .either(let matchers):
            return matchers.isEmpty
                ? "it is for no request"
                : matchers.map { matcher in
                    matcher.nearness(to: request).reasons.joined(separator: ", ")
                }.joined(separator: "; and ")
        case .not(let matcher): return "\(matcher) holds, and must not"
        case .all, .any: return "it does not fit"
        }
    }
}
