package import HTTPDNSExchange

/// What of a head is kept, and how a later head changes it.
package enum KeptFields {
    /// Of one connection, or framing that the transport has taken off. Source: RFC 9111 §3.1, RFC
    /// 9110 §7.6.1.
    private static let connectionFields: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding",
        "upgrade", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    ]
    /// For the cookie jar, once: a kept answer must not bring back a cookie that changed since.
    private static let cookieFields: Set<String> = ["set-cookie", "set-cookie2"]
    /// Say how the kept body is coded and framed, which a later head cannot change. Source: RFC
    /// 9111 §3.2.
    private static let bodyFields: Set<String> = [
        "content-encoding", "content-length", "content-range",
    ]

    /// The fields that are kept of a response.
    package static func kept(_ fields: HTTPFields) -> HTTPFields {
        let left = dropped(by: fields)
        var kept = HTTPFields()
        for field in fields.fields where !left.contains(field.name.lowercased()) {
            // They were checked when the head was read.
            try? kept.append(field.name, field.value)
        }
        return kept
    }

    /// The kept fields after a 304 or a response to `HEAD`: the new ones replace those of their
    /// name. Source: RFC 9111 §3.2.
    package static func merged(_ old: HTTPFields, with new: HTTPFields) -> HTTPFields {
        let left = dropped(by: new).union(bodyFields)
        let replacing = new.fields.filter { !left.contains($0.name.lowercased()) }
        // An age and a date belong to the message that they came in.
        let replaced = Set(replacing.map { $0.name.lowercased() }).union(["age", "date"])
        var merged = HTTPFields()
        for field in old.fields where !replaced.contains(field.name.lowercased()) {
            try? merged.append(field.name, field.value)
        }
        for field in replacing { try? merged.append(field.name, field.value) }
        return merged
    }

    private static func dropped(by fields: HTTPFields) -> Set<String> {
        let named = fields.all("Connection").flatMap { FieldList.items($0) }.map { $0.lowercased() }
        return connectionFields.union(cookieFields).union(named)
    }

    /// The head that a kept response answers with where the caller has it already: a 304.
    ///
    /// Source: RFC 9110 §15.4.5: the fields that a 200 would have had of these, and the date of the
    /// last change where no tag says more.
    package static func notModified(
        _ response: KeptResponse, for url: HTTPURL, ageSeconds: Int64?
    ) -> ResponseHead {
        let names = ofNotModified + (response.eTag == nil ? ["last-modified"] : [])
        var fields = HTTPFields()
        for field in response.fields.fields where names.contains(field.name.lowercased()) {
            try? fields.append(field.name, field.value)
        }
        if let ageSeconds { try? fields.set("Age", "\(max(ageSeconds, 0))") }
        return ResponseHead(url: url, status: 304, version: response.version, fields: fields)
    }

    /// Source: RFC 9110 §15.4.5.
    private static let ofNotModified = [
        "cache-control", "content-location", "date", "etag", "expires", "vary",
    ]

    /// The head that a kept response answers with.
    ///
    /// - Parameters:
    ///   - ageSeconds: for the `Age` field; nil for an answer that was just confirmed.
    ///   - news: the head that confirmed it, whose cookies are for the caller's jar.
    package static func delivered(
        _ response: KeptResponse, for url: HTTPURL, ageSeconds: Int64?, news: HTTPFields? = nil
    ) -> ResponseHead {
        var fields = response.fields
        if let ageSeconds { try? fields.set("Age", "\(max(ageSeconds, 0))") }
        for line in news?.all("Set-Cookie") ?? [] { try? fields.append("Set-Cookie", line) }
        return ResponseHead(
            url: url, status: response.status, version: response.version, fields: fields)
    }
}
