internal import HTTPDNSExchange
package import HTTPDNSLookup
internal import HTTPDNSNames
package import HTTPDNSSecureStream
package import HTTPDNSTransport
internal import HTTPDNSWire

/// The two ways to ask. Source: RFC 8484 §4.1.
package enum DoHMethod: String, Sendable, Hashable, CaseIterable {
    /// Can be cached by HTTP.
    case get = "GET"
    /// Shorter on the wire, and the question stays out of servers' access logs.
    case post = "POST"
}

/// DNS over HTTPS without the I/O: questions to calls, responses to testimony.
///
/// Source: RFC 8484. The ID is 0, so that equal questions are equal URLs (§4.1); queries are padded
/// so that their length says nothing of the name (RFC 8467 §4.1); redirects are not followed.
package struct DoHMessages: Sendable, Hashable {
    private let target: String
    private let method: DoHMethod
    /// What stands before the query in the path of a GET.
    private let pathStart: [UInt8]

    /// Asks at that path and query, without the `{?dns}` of a template.
    package init(target: String, method: DoHMethod) {
        self.target = target
        self.method = method
        pathStart = Array((target + (target.contains("?") ? "&dns=" : "?dns=")).utf8)
    }

    static let mediaType = "application/dns-message"

    /// What to ask the server.
    ///
    /// - Throws: ``QueryFailure/unexpected(_:)``.
    package func call(for question: Question) throws(QueryFailure) -> HTTPService.Call {
        let query = try query(for: question)
        do {
            var call = HTTPService.Call(target: target)
            switch method {
            case .get:
                call.target = String(decoding: pathStart, as: UTF8.self) + Base64.urlEncoded(query)
            case .post:
                call.method = .post
                call.body = .bytes(query)
                try call.fields.set("Content-Type", Self.mediaType)
            }
            try call.fields.set("Accept", Self.mediaType)
            return call
        } catch {
            throw .unexpected("DoHMessages.call: \(error)")
        }
    }

    /// What to send to a ``StreamClient`` of ``head(authority:)``: the body, or the whole path.
    ///
    /// - Throws: ``QueryFailure/unexpected(_:)``.
    package func payload(for question: Question) throws(QueryFailure) -> [UInt8] {
        let query = try query(for: question)
        switch method {
        case .get:
            var path = pathStart
            Base64.appendURLEncoded(query, to: &path)
            return path
        case .post: return query
        }
    }

    /// What all requests of a connection have in common.
    package func head(authority: String) -> HTTP2Head {
        HTTP2Head(
            authority: authority, path: target, isPost: method == .post, mediaType: Self.mediaType)
    }

    private func query(for question: Question) throws(QueryFailure) -> [UInt8] {
        do {
            return try question.paddedQuery()
        } catch {
            throw .unexpected("DoHMessages.query: \(error)")
        }
    }

    /// What the server said, over libcurl.
    ///
    /// - Throws: ``QueryFailure/httpStatus(_:)``, ``QueryFailure/malformed(_:)``.
    package func testimony(
        from response: CollectedResponse, for question: Question, source: Testimony.Source
    ) throws(QueryFailure) -> Testimony {
        try testimony(
            from: Response(
                status: response.head.status,
                contentType: response.head.fields.first("Content-Type"),
                age: response.head.fields.first("Age"), body: response.body),
            for: question, source: source)
    }

    /// What the server said, over our own HTTP/2.
    ///
    /// - Throws: ``QueryFailure/httpStatus(_:)``, ``QueryFailure/malformed(_:)``.
    package func testimony(
        from reply: StreamReply, for question: Question, resolver: String
    ) throws(QueryFailure) -> Testimony {
        try testimony(
            from: Response(
                status: reply.status, contentType: reply.contentType, age: reply.age,
                body: reply.octets),
            for: question,
            source: Testimony.Source(
                resolver: resolver, transport: .https, server: reply.server, tries: reply.tries))
    }

    /// What came, for who wants to see it: a DNS message by its media type, else any body.
    package func received(_ reply: StreamReply) -> ReceivedReply {
        received(reply.octets, reply.contentType, date: reply.date, age: reply.age)
    }

    /// The same over libcurl.
    package func received(_ response: CollectedResponse) -> ReceivedReply {
        let fields = response.head.fields
        return received(
            response.body, fields.first("Content-Type"), date: fields.first("Date"),
            age: fields.first("Age"))
    }

    private func received(
        _ body: [UInt8], _ contentType: String?, date: String?, age: String?
    ) -> ReceivedReply {
        let told = ToldTime(date: date.flatMap { CookieDate.parse($0) }, age: age)
        let isDNS = Self.isDNS(contentType)
        // A page that calls itself DNS may say a token in the URL back, as any page may.
        let isMessage = isDNS && (try? Message(decoding: body)) != nil
        let shown =
            isMessage ? body : EchoMask(hiding: EchoMask.parts(of: target)).masked(body)
        return ReceivedReply(
            RawReply(isDNS ? .dnsMessage : .body, shown), times: told.map { [$0] } ?? [])
    }

    /// The parts of an HTTP response that decide.
    private struct Response {
        let status: Int
        let contentType: String?
        let age: String?
        let body: [UInt8]
    }

    /// Only a 2xx response of the DNS media type is DNS.
    private func testimony(
        from response: Response, for question: Question, source: Testimony.Source
    ) throws(QueryFailure) -> Testimony {
        guard (200...299).contains(response.status) else {
            throw .httpStatus(response.status)
        }
        let contentType = response.contentType
        guard Self.isDNS(contentType) else {
            throw .malformed(
                "the Content-Type is \(Self.shown(contentType)), not \(Self.mediaType)"
                    + (Self.isPage(contentType) ? Self.pageHint : ""))
        }
        guard response.body.count <= Message.maximumOctets else {
            throw .malformed("\(response.body.count) octets; a DNS message has at most 65535")
        }
        // HTTPS has room for every message: the rest was lost behind the server, and what came must
        // not be taken for the whole. Source: RFC 2181 §9.
        if let header = try? MessageHeader(response.body), header.flags.isTruncated {
            throw .malformed("a truncated answer over HTTPS")
        }
        let testimony = try HTTPDNSLookup.testimony(
            fromWire: response.body, for: question, source: source)
        guard let age = response.age else { return testimony }
        return testimony.aged(seconds: Self.ageSeconds(age))
    }

    /// Parameters are ignored. Source: RFC 8484 §6, RFC 9110 §8.3.1 (type names have no case).
    private static func isDNS(_ contentType: String?) -> Bool {
        guard let contentType else { return false }
        if contentType == mediaType { return true }
        let type = contentType.prefix { $0 != ";" && $0 != " " && $0 != "\t" }
        return type.lowercased() == mediaType
    }

    /// A page for people came instead of an answer.
    private static func isPage(_ contentType: String?) -> Bool {
        contentType?.lowercased().hasPrefix("text/html") == true
    }

    private static let pageHint =
        ": a log-in page of this network (captive portal) may be answering"

    private static func shown(_ contentType: String?) -> String {
        guard let contentType else { return "missing" }
        let octets = contentType.utf8.prefix(60).map { (0x20...0x7E).contains($0) ? $0 : 0x3F }
        return String(decoding: octets, as: UTF8.self)
    }

    /// How long an HTTP cache has held the answer. The first value counts; one that is no number
    /// says nothing. Source: RFC 9111 §5.1.
    private static func ageSeconds(_ text: String) -> UInt32 {
        guard !text.isEmpty,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return 0 }
        // Too large a number is an answer that has expired. Source: RFC 9111 §1.2.2.
        return UInt32(text) ?? .max
    }
}

extension Testimony {
    /// The answer as it is after so many seconds in an HTTP cache. Source: RFC 8484 §5.1.
    func aged(seconds: UInt32) -> Testimony {
        guard seconds > 0 else { return self }
        func left(_ ttl: UInt32) -> UInt32 { ttl > seconds ? ttl - seconds : 0 }
        var aged = Testimony(
            question: question, code: code,
            answers: answers.map { record in
                ResourceRecord(
                    name: record.name, type: record.type, recordClass: record.recordClass,
                    ttlSeconds: left(record.ttlSeconds), data: record.data)
            },
            negativeTTLSeconds: negativeTTLSeconds.map(left), isAuthenticData: isAuthenticData,
            source: source)
        aged.extendedErrors = extendedErrors
        aged.excessiveTTLSeconds = excessiveTTLSeconds
        return aged
    }
}
