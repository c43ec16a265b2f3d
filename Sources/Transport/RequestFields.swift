internal import HTTPDNSExchange
internal import HTTPDNSNames

/// The header lines of a request in libcurl's spelling.
enum RequestFields {
    /// - `Name: value` is sent; `Name;` sends an empty value; `Name:` keeps libcurl from adding one.
    ///
    /// Fields that frame the message or steer the connection are left out: they are the transport's to
    /// write, and a second `Content-Length` or `Transfer-Encoding` is how requests are smuggled.
    /// Source: RFC 9112 §11.2; curl's documentation of CURLOPT_HTTPHEADER.
    ///
    /// - Parameters:
    ///   - hasBody: libcurl would add fields of its own about the body.
    ///   - accepting: For `Accept-Encoding`, where the request has none of its own.
    static func lines(
        _ fields: HTTPFields, hasBody: Bool = true, expectsContinue: Bool = false,
        accepting: String? = nil
    ) -> [String] {
        var lines: [String] = []
        for field in fields.fields where !RequestFraming.isTransports(field) {
            let isBlank = field.value.utf8.allSatisfy { $0 == 0x20 || $0 == 0x09 }
            lines.append(isBlank ? field.name + ";" : "\(field.name): \(field.value)")
        }
        // libcurl compares each line with each field that it could add itself: none too many.
        if !fields.contains("Accept") { lines.append("Accept:") }
        if hasBody, !expectsContinue { lines.append("Expect:") }
        if hasBody, !fields.contains("Content-Type") { lines.append("Content-Type:") }
        if let accepting, !fields.contains("Accept-Encoding") {
            lines.append("Accept-Encoding: " + accepting)
        }
        return lines
    }

    /// ``lines(_:hasBody:expectsContinue:accepting:)`` of these fields as octets: of a value that is not
    /// UTF-8 those that it has.
    static func octets(of lines: [String], _ fields: HTTPFields) -> [[UInt8]] {
        var octets = lines.map { Array($0.utf8) }
        for (place, field) in fields.fields.filter({ !RequestFraming.isTransports($0) })
            .enumerated()
        where field.octets != nil && place < octets.count {
            octets[place] = Array((field.name + ": ").utf8) + field.text.wire
        }
        return octets
    }

    /// What keeps a request from being tried; nil when nothing does.
    static func obstacle(_ request: TransportRequest) -> String? {
        if request.origin.scheme == .https, request.verifier == nil {
            return "https without a verifier: nothing could prove who the peer is"
        }
        guard request.target.utf8.first == 0x2F,
            request.target.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return "the target must begin with '/' and hold printable ASCII without spaces" }
        if let proxy = request.via?.proxy, proxy.kind == .http,
            proxy.credentials?.isForHTTP == false
        {
            return "\(ProxyFault.colonInUser)"
        }
        switch (request.method, request.body) {
        case (.head, .bytes), (.head, .stream): return "a HEAD request cannot carry a body"
        case (_, .stream(let source)) where source.length == nil && request.version == .http10:
            return "HTTP/1.0 cannot carry a body of unknown length"
        case (_, .stream(let source)) where (source.length ?? 0) < 0:
            return "a body cannot have a negative length"
        default: break
        }
        return request.method.text == "CONNECT" ? "CONNECT is for proxies" : nil
    }
}
