import HTTPDNS
import HTTPDNSDigest
import HTTPDNSNames
import Testing

/// A cache without a disk at a clock that stands where the test sets it.
struct CachingBench {
    static let start: Int64 = 1_700_000_000
    var now = CacheMoment(wallSeconds: start, bootMilliseconds: 50_000, bootID: "boot")

    func later(_ seconds: Int64) -> CacheMoment {
        CacheMoment(
            wallSeconds: now.wallSeconds + seconds,
            bootMilliseconds: now.bootMilliseconds + seconds * 1_000, bootID: now.bootID)
    }

    static func date(_ secondsFromStart: Int64) -> String {
        HTTPDate.text(WallTime(secondsSince1970: start + secondsFromStart))
    }

    static func fields(_ lines: [String]) throws -> HTTPFields {
        var fields = HTTPFields()
        for line in lines {
            let colon = try #require(line.firstIndex(of: ":"))
            try fields.append(
                String(line[..<colon]),
                String(line[line.index(after: colon)...].drop { $0 == " " }))
        }
        return fields
    }

    static func request(
        _ lines: [String] = [], method: HTTPMethod = .get, url: String = "https://a.test/x?q=1"
    ) throws -> CacheRequest {
        CacheRequest(
            method: method, url: try HTTPURL(url), fields: try fields(lines),
            digest: { (try? Digest.sha256($0)) ?? [] })
    }

    static func head(
        _ lines: [String], status: Int = 200, url: String = "https://a.test/x?q=1"
    ) throws -> ResponseHead {
        ResponseHead(
            url: try HTTPURL(url), status: status, version: .http2, fields: try fields(lines))
    }

    /// What is kept of a response that came at the start.
    func kept(
        _ lines: [String], status: Int = 200, to request: CacheRequest? = nil,
        policy: [UInt8] = [1]
    ) throws -> KeptResponse {
        let request = try request ?? CachingBench.request()
        let head = try CachingBench.head(lines, status: status)
        let variant = try #require(Variant(request, answeredWith: head.fields))
        return KeptResponse(
            key: try #require(request.key), variant: variant, head: head, receivedAt: now,
            initialAgeSeconds: Freshness.initialAgeSeconds(
                head.fields, delaySeconds: 0, receivedAt: now),
            policy: policy)
    }

    /// What is done about a request so many seconds later, as a word.
    func outcome(
        _ kept: KeptResponse?, after seconds: Int64, asking lines: [String] = [],
        mode: CacheMode = .standard, method: HTTPMethod = .get, policy: [UInt8] = [1]
    ) throws -> String {
        let rules = ReuseRules(
            mode: mode, policy: policy, now: later(seconds), keepsPlainHTTP: false)
        let request = try CachingBench.request(lines, method: method)
        guard rules.looks(request) else { return "send" }
        switch rules.decide(request, kept) {
        case .answer(let use): return use.outcome.rawValue
        case .validate(_, let onError): return onError == nil ? "validate" : "validate or stale"
        case .send(_, let onError): return onError == nil ? "send" : "send or stale"
        case .refuse: return "504"
        }
    }
}
