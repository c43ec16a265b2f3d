package import HTTPDNSExchange
package import HTTPDNSNames

/// One response as it is kept; its body is elsewhere.
package struct KeptResponse: Sendable, Hashable {
    /// Names it within its store; 0 until it is there.
    package var number: Int64 = 0
    package var key: CacheKey
    /// Which requests for that URL it answers.
    package var variant: Variant
    package var status: Int
    package var version: HTTPVersion
    /// Without what belongs to one connection or one person's jar; see ``KeptFields``.
    package var fields: HTTPFields
    /// When it came, or was last confirmed.
    package var receivedAt: CacheMoment
    /// Its age at that moment. Source: RFC 9111 §4.2.3, `corrected_initial_age`.
    package var initialAgeSeconds: Int64
    /// Names the policy under which its origin proved itself; empty for plain `http`.
    package var policy: [UInt8]
    /// It set cookies, which are not kept: nothing is guessed about how long it holds.
    package var setsCookies: Bool
    /// The answer to a `HEAD` told of another content since: it is stale, whatever its lifetime.
    /// Source: RFC 9111 §4.3.5.
    package var isOutdated = false
    /// Octets of the body as it was delivered.
    package var bodyOctets: Int64 = 0

    package init(
        key: CacheKey, variant: Variant, head: ResponseHead, receivedAt: CacheMoment,
        initialAgeSeconds: Int64, policy: [UInt8]
    ) {
        self.key = key
        self.variant = variant
        status = head.status
        version = head.version
        fields = KeptFields.kept(head.fields)
        setsCookies = head.fields.contains("Set-Cookie")
        self.receivedAt = receivedAt
        self.initialAgeSeconds = initialAgeSeconds
        self.policy = policy
    }

    /// As it was kept.
    package init(
        key: CacheKey, variant: Variant, status: Int, version: HTTPVersion, fields: HTTPFields,
        receivedAt: CacheMoment, initialAgeSeconds: Int64, policy: [UInt8]
    ) {
        self.key = key
        self.variant = variant
        self.status = status
        self.version = version
        self.fields = fields
        self.receivedAt = receivedAt
        self.initialAgeSeconds = initialAgeSeconds
        self.policy = policy
        setsCookies = false
    }

    package var freshness: Freshness {
        Freshness(
            status: status, fields: fields, setsCookies: setsCookies, receivedAt: receivedAt)
    }

    /// Its age now; nil when no clock can say. Source: RFC 9111 §4.2.3, `current_age`.
    package func ageSeconds(at now: CacheMoment) -> Int64? {
        now.seconds(since: receivedAt).map { initialAgeSeconds.addingSaturated($0) }
    }

    package var eTag: EntityTag? { fields.first("ETag").flatMap { EntityTag($0) } }

    package var lastModified: WallTime? {
        let values = fields.all("Last-Modified")
        guard values.count == 1 else { return nil }
        return HTTPDate.parse(values[0], now: WallTime(secondsSince1970: receivedAt.wallSeconds))
    }

    /// Whether the origin can be asked about it.
    package var hasValidator: Bool { eTag != nil || lastModified != nil }
}

extension Int64 {
    func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    func subtractingSaturated(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }
}
