package import HTTPDNSExchange

/// What a later head says about a kept response: a 304, or the answer to a `HEAD`. Source: RFC 9111
/// §4.3.3 to §4.3.5.
package enum Freshening {
    /// The kept response, confirmed by the 304 that came for its validators; nil when the 304 is
    /// about another one, so that the request must be sent without them.
    ///
    /// - Parameter policy: under which the origin proved itself just now.
    package static func confirmed(
        _ kept: KeptResponse, by head: ResponseHead, delaySeconds: Int64, at now: CacheMoment,
        policy: [UInt8]
    ) -> KeptResponse? {
        // Whoever was believed before chose the tag: it proves nothing to who believes others.
        guard kept.policy == policy else { return nil }
        if let new = head.fields.first("ETag").flatMap({ EntityTag($0) }) {
            // A strong tag for a weak one is what nginx says of what it has coded: it makes the tag
            // of the whole answer weak, and tells that of the file in its 304.
            guard let old = kept.eTag,
                new.isWeak || old.isWeak ? new.matchesWeakly(old) : new.matchesStrongly(old)
            else { return nil }
        } else if let new = head.fields.first("Last-Modified"),
            let old = kept.fields.first("Last-Modified"), new != old
        {
            return nil
        }
        var confirmed = updated(
            kept, by: head, delaySeconds: delaySeconds, at: now, policy: policy)
        // Of the two the weak one says less: the body that is kept never had the strong one.
        if let old = kept.eTag, old.isWeak, confirmed.eTag?.isWeak == false {
            try? confirmed.fields.set("ETag", old.text)
        }
        return confirmed
    }

    /// Whether what is kept may stay after that head: it may forbid to keep it, or say that it
    /// answers other requests than was said before. Source: RFC 9111 §4.1, §5.2.2.5.
    package static func mayStay(_ kept: KeptResponse, after head: ResponseHead) -> Bool {
        !StorageRules.forbids(head.fields, status: kept.status)
            && kept.variant.isSelected(by: head.fields)
    }

    /// The kept response after a 200 to `HEAD`: freshened, or outdated where that is about another
    /// content; nil when it forbids to keep it, and what is kept must go. Source: RFC 9111 §4.3.5.
    package static func refreshed(
        _ kept: KeptResponse, byHead head: ResponseHead, delaySeconds: Int64, at now: CacheMoment,
        policy: [UInt8]
    ) -> KeptResponse? {
        guard kept.policy == policy, mayStay(kept, after: head) else { return nil }
        for name in ["ETag", "Last-Modified", "Content-Length"] {
            guard let new = head.fields.first(name) else { continue }
            guard new == kept.fields.first(name) else {
                var outdated = kept
                outdated.isOutdated = true
                return outdated
            }
        }
        return updated(kept, by: head, delaySeconds: delaySeconds, at: now, policy: policy)
    }

    private static func updated(
        _ kept: KeptResponse, by head: ResponseHead, delaySeconds: Int64, at now: CacheMoment,
        policy: [UInt8]
    ) -> KeptResponse {
        var updated = kept
        updated.fields = KeptFields.merged(kept.fields, with: head.fields)
        updated.receivedAt = now
        updated.initialAgeSeconds = Freshness.initialAgeSeconds(
            head.fields, delaySeconds: delaySeconds, receivedAt: now)
        updated.policy = policy
        updated.isOutdated = false
        return updated
    }

    /// What a response to a method that changes something makes out of date: the URL itself, and
    /// what
    /// `Location` and `Content-Location` name on its origin. Source: RFC 9111 §4.4.
    package static func invalidated(
        by head: ResponseHead, to method: HTTPMethod, _ url: HTTPURL,
        toASCII: DomainToASCII = HTTPURL.refusingUnicode
    ) -> [CacheKey] {
        guard !isSafe(method), (200...399).contains(head.status) else { return [] }
        var keys = [CacheKey(url)]
        for name in ["Location", "Content-Location"] {
            for text in head.fields.texts(name) {
                guard let other = try? url.resolving(reference: text, toASCII: toASCII),
                    other.origin == url.origin
                else { continue }
                keys.append(CacheKey(other))
            }
        }
        return keys.compactMap { $0 }
    }

    /// Source: RFC 9110 §9.2.1. An unknown method may change something.
    package static func isSafe(_ method: HTTPMethod) -> Bool {
        ["GET", "HEAD", "OPTIONS", "TRACE"].contains(method.text)
    }
}
