package import HTTPDNSExchange
internal import HTTPDNSNames

/// How long a response is fresh, and how old it is. Pure arithmetic. Source: RFC 9111 §4.2.
package struct Freshness: Sendable, Hashable {
    /// From the moment the origin made it.
    package let lifetimeSeconds: Int64
    /// The origin said so itself; false for a guess.
    package let isExplicit: Bool

    /// Of a response as a private cache reads it: `s-maxage` is not for it.
    ///
    /// `max-age` goes before `Expires`, and that before a guess from `Last-Modified`. What is in
    /// conflict or no number makes it stale. Source: RFC 9111 §4.2.1.
    package init(
        status: Int, fields: HTTPFields, setsCookies: Bool = false, receivedAt: CacheMoment
    ) {
        let directives = CacheDirectives(ofResponse: fields)
        let received = WallTime(secondsSince1970: receivedAt.wallSeconds)
        let date = Freshness.date(fields, receivedAt: receivedAt)
        if let given = directives.seconds("max-age") {
            isExplicit = true
            if case .number(let seconds) = given {
                lifetimeSeconds = seconds
            } else {
                lifetimeSeconds = 0
            }
        } else if fields.contains("Expires") {
            isExplicit = true
            let values = fields.all("Expires")
            let end =
                values.allSatisfy { $0 == values[0] }
                ? HTTPDate.parse(values[0], now: received) : nil
            // A date that is none, "0" above all, has passed. Source: RFC 9111 §5.3.
            lifetimeSeconds = max(
                0,
                end?.secondsSince1970.subtractingSaturated(date.secondsSince1970) ?? 0)
        } else {
            isExplicit = false
            let isGuessed =
                !setsCookies
                && (Freshness.heuristicStatuses.contains(status) || directives.has("public"))
            lifetimeSeconds = isGuessed ? Freshness.guess(fields, from: date, received) : 0
        }
    }

    /// A tenth of the time since the last change, a day at most: for what is heuristically
    /// cacheable, and not where a cookie is set, which makes the answer one person's. Source: RFC
    /// 9111 §4.2.2.
    private static func guess(
        _ fields: HTTPFields, from date: WallTime, _ received: WallTime
    ) -> Int64 {
        let values = fields.all("Last-Modified")
        guard values.count == 1, let changed = HTTPDate.parse(values[0], now: received) else {
            return 0
        }
        let since = date.secondsSince1970.subtractingSaturated(changed.secondsSince1970)
        return min(max(since, 0) / 10, longestGuessSeconds)
    }

    /// `Date`, or the moment it came where there is none to be used. Source: RFC 9110 §6.6.1.
    static func date(_ fields: HTTPFields, receivedAt: CacheMoment) -> WallTime {
        let received = WallTime(secondsSince1970: receivedAt.wallSeconds)
        let values = fields.all("Date")
        guard let first = values.first, values.allSatisfy({ $0 == first }) else { return received }
        return HTTPDate.parse(first, now: received) ?? received
    }

    /// The age of a response when it came. Source: RFC 9111 §4.2.3, `corrected_initial_age`.
    package static func initialAgeSeconds(
        _ fields: HTTPFields, delaySeconds: Int64, receivedAt: CacheMoment
    ) -> Int64 {
        let date = Freshness.date(fields, receivedAt: receivedAt)
        let apparent = max(0, receivedAt.wallSeconds.subtractingSaturated(date.secondsSince1970))
        // Of a list the first counts; what is no number does not. Source: RFC 9111 §5.1.
        let stated =
            fields.first("Age").flatMap { FieldList.items($0).first }
            .flatMap { FieldList.deltaSeconds($0) } ?? 0
        return max(apparent, stated.addingSaturated(max(delaySeconds, 0)))
    }

    /// Source: RFC 9110 §15.1. 206 is left out: parts are not kept.
    static let heuristicStatuses: Set<Int> = [
        200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501,
    ]
    /// Because: a guess should be off by no more than a day. RFC 9111 §4.2.2 leaves it to the
    /// cache.
    static let longestGuessSeconds: Int64 = 86_400
}
