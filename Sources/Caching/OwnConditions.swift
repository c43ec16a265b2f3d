internal import HTTPDNSExchange
internal import HTTPDNSNames

// Conditions of the caller's own, judged by what is kept
extension CacheRequest {
    /// The caller has what is kept already, by the conditions that it sends: a 304 says so.
    ///
    /// `If-None-Match` goes before `If-Modified-Since`, and that is held against the date of the
    /// response where it has none of its last change. `If-Match` and `If-Unmodified-Since` are the
    /// origin's alone to judge. Source: RFC 9111 §4.3.2; RFC 9110 §13.1.2, §13.1.3.
    package func hasAlready(_ kept: KeptResponse) -> Bool {
        // Without the conditions it would have been a success. Source: RFC 9110 §13.2.1.
        guard (200...299).contains(kept.status) else { return false }
        let tags = fields.all("If-None-Match").flatMap { FieldList.items($0) }
        guard tags.isEmpty else {
            if tags.contains("*") { return true }
            guard let own = kept.eTag else { return false }
            return tags.contains { EntityTag($0)?.matchesWeakly(own) ?? false }
        }
        let dates = fields.all("If-Modified-Since")
        let received = WallTime(secondsSince1970: kept.receivedAt.wallSeconds)
        guard dates.count == 1, !fields.contains("If-None-Match"),
            let since = HTTPDate.parse(dates[0], now: received)
        else { return false }
        let changed =
            kept.lastModified ?? Freshness.date(kept.fields, receivedAt: kept.receivedAt)
        return changed <= since
    }
}
