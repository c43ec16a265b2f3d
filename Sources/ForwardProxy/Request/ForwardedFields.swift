internal import HTTPDNSExchange
internal import HTTPDNSRequestReading

/// Which fields pass the proxy. Source: RFC 9110 §7.6.
enum ForwardedFields {
    /// The fields of a request for its next hop: without those of this hop, with ours.
    ///
    /// - Throws: ``FieldError``: never for fields that were read.
    static func request(_ head: ClientHead, via: String) throws(FieldError) -> HTTPFields {
        var fields = passing(head.fields)
        // The URL says it; a second word could differ. Source: RFC 9112 §3.2.2.
        for name in ["Host", "Content-Length", "Expect", "Max-Forwards"] { fields.remove(name) }
        if head.method == "OPTIONS" || head.method == "TRACE",
            let left = head.fields.first("Max-Forwards").flatMap({ UInt64($0) }), left > 0
        {
            try fields.set("Max-Forwards", String(left - 1))
        }
        try fields.append("Via", "1.\(head.minorVersion) \(via)")
        return fields
    }

    /// The fields of a response for the client, framing left out.
    static func response(_ fields: HTTPFields, version: HTTPVersion, via: String) -> HTTPFields {
        var passed = passing(fields)
        passed.remove("Content-Length")
        let word = version == .http2 ? "2" : version.rawValue
        // Both parts are tokens.
        try? passed.append("Via", "\(word) \(via)")
        return passed
    }

    private static func passing(_ fields: HTTPFields) -> HTTPFields {
        var passed = fields
        for value in fields.all("Connection") + fields.all("Proxy-Connection") {
            for name in value.split(separator: ",") {
                passed.remove(name.filter { $0 != " " && $0 != "\t" })
            }
        }
        for name in ofOneHop { passed.remove(name) }
        return passed
    }

    /// Source: RFC 9110 §7.6.1, §11.7; RFC 9113 §3.1 (`HTTP2-Settings`).
    private static let ofOneHop = [
        "Connection", "Proxy-Connection", "Keep-Alive", "TE", "Trailer", "Transfer-Encoding",
        "Upgrade", "HTTP2-Settings", "Proxy-Authorization", "Proxy-Authenticate",
        "Proxy-Authentication-Info",
    ]
}
