internal import HTTPDNSExchange
internal import HTTPDNSJSON
package import HTTPDNSLookup
package import HTTPDNSNames
package import HTTPDNSWire

/// DNS answers as JSON, in the shapes that Google, Cloudflare and AliDNS send.
///
/// There is no standard, so what is not needed is not believed nor required:
/// 1. `Question` may be an array, an object or missing; when it can be read it must be ours.
/// 2. `Status` may be missing; then there must be a record of the type that was asked for.
/// 3. A record of the asked type, or an alias, whose data cannot be read spoils the answer; any
///    other record that cannot be read is passed over.
/// 4. HTML, other JSON and everything else that a captive portal serves is malformed.
///
/// Source: the pages named in the profiles google-json, cloudflare-json and alidns-json.
package struct JSONDoHCodec: HTTPDNSCodec {
    private let path: String
    private let wirePath: String?

    /// - Parameters:
    ///   - path: `/resolve` (Google, AliDNS), `/dns-query` (Cloudflare); may have a query.
    ///   - wirePath: where the same service answers in DNS messages, to which a question goes once
    ///     more when its JSON cannot be read. Because: Cloudflare has sent TXT data with quotes that
    ///     were not escaped.
    package init(path: String, wirePath: String? = nil) {
        self.path = path
        self.wirePath = wirePath
    }

    package var supportedTypes: Set<RecordType>? { nil }
    package var answerTransport: AnswerTransport { .https }
    package var sendsSecret: Bool { false }

    package func request(
        for question: Question, now: WallTime
    ) throws(QueryFailure) -> HTTPDNSRequest {
        var query = QueryString()
        query.append("name", question.name.text)
        query.append("type", String(question.type.rawValue))
        if question.wantsDNSSEC { query.append("do", "1") }
        // Source: developers.google.com/speed/public-dns/docs/doh/json; AliDNS has it too, and others
        // do not look.
        if let subnet = question.clientSubnet {
            query.append("edns_client_subnet", subnet.description)
        }
        // Cloudflare answers in JSON only when asked so; the others do not look.
        return HTTPDNSRequest(
            target: query.appended(to: path), accept: "application/dns-json",
            privateValues: EchoMask.parts(of: path))
    }

    package func otherRequest(for questions: [Question]) -> HTTPDNSRequest? {
        guard let wirePath, let question = questions.first,
            let message = try? question.query(id: 0).encode(
                padTo: QueryOptions.paddingBlockOctets)
        else { return nil }
        var query = QueryString()
        query.append("dns", Base64.urlEncoded(message))
        return HTTPDNSRequest(
            target: query.appended(to: wirePath), accept: Self.messageType,
            privateValues: EchoMask.parts(of: wirePath))
    }

    /// Source: RFC 8484 §6.
    private static let messageType = "application/dns-message"

    package func testimony(
        from response: HTTPDNSResponse, for question: Question, source: Testimony.Source
    ) throws(QueryFailure) -> Testimony {
        if wirePath != nil, response.isSuccess,
            response.contentType?.lowercased().hasPrefix(Self.messageType) == true
        {
            return try HTTPDNSLookup.testimony(
                fromWire: response.body, for: question, source: source)
        }
        return try Self.testimony(inJSON: response, for: question, source: source)
    }

    /// The answer in Google's shape, for every service that has it.
    static func testimony(
        inJSON response: HTTPDNSResponse, for question: Question, source: Testimony.Source
    ) throws(QueryFailure) -> Testimony {
        let body = try Self.object(in: response)
        guard Self.asks(body["Question"], question) else {
            throw .malformed(
                "it answers another question: \(ServerText.shown(body["Question"].shown))")
        }
        // What came must not be taken for the whole. Source: RFC 2181 §9.
        guard body["TC"]?.bool != true else { throw .malformed("a truncated answer (TC)") }
        var message = Message(
            id: 0,
            questions: [
                Message.Question(name: WireName(question.name), type: question.type)
            ])
        message.flags.isResponse = true
        message.flags.isAuthenticData = body["AD"]?.bool == true
        message.answers = try Self.records(in: body["Answer"], for: question)
        let hasAnswer = message.answers.contains {
            $0.type == question.type || question.type == .any
        }
        message.code = try Self.code(body["Status"], hasAnswer: hasAnswer, in: body)
        message.authorities = Self.authorities(body["Authority"])
        return try HTTPDNSLookup.testimony(from: message, for: question, source: source)
    }

    private static func object(
        in response: HTTPDNSResponse
    ) throws(QueryFailure) -> JSONObject {
        guard response.isSuccess else {
            // AliDNS says why: {"code":"…"}.
            if let code = (try? JSONValue.parse(response.body))?["code"]?.string,
                (1...64).contains(code.utf8.count),
                code.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            {
                throw .rejected(code: code)
            }
            throw .httpStatus(response.status)
        }
        let value: JSONValue
        do {
            value = try JSONValue.parse(response.body)
        } catch {
            throw response.malformed(error.description)
        }
        guard let object = value.object else {
            throw response.malformed("a JSON object was expected, not \(value.kind)")
        }
        return object
    }

    /// False when the echoed question can be read and is not the one we asked.
    private static func asks(_ echoed: JSONValue?, _ question: Question) -> Bool {
        let echo = echoed?.array?.first ?? echoed
        if let name = echo?["name"]?.string.flatMap({ try? HostName($0) }), name != question.name {
            return false
        }
        if let type = echo?["type"]?.integer, type != Int64(question.type.rawValue) {
            return false
        }
        return true
    }

    private static func code(
        _ status: JSONValue?, hasAnswer: Bool, in body: JSONObject
    ) throws(QueryFailure) -> ResponseCode {
        switch status {
        case nil, .null:
            guard hasAnswer else {
                throw .malformed("neither a Status nor a record of the type asked for")
            }
            return .noError
        case .integer(let number):
            // Twelve bits with EDNS. Source: RFC 6895 §2.3.
            guard (0...0xFFF).contains(number) else {
                throw .malformed("Status \(number) is no response code")
            }
            // `{"Status":0}` alone is what any service may say of itself.
            guard
                hasAnswer || body["Question"] != nil || body["Answer"] != nil
                    || body["Authority"] != nil || number == 3
            else { throw .malformed("a Status without a question or an answer") }
            return ResponseCode(rawValue: UInt16(number))
        case .some(let other):
            throw .malformed("Status is \(other.kind), not a number")
        }
    }

    private static func records(
        in section: JSONValue?, for question: Question
    ) throws(QueryFailure) -> [ResourceRecord] {
        guard let section, !section.isNull else { return [] }
        guard let entries = section.array else {
            throw .malformed("Answer is \(section.kind), not an array")
        }
        var records: [ResourceRecord] = []
        for (index, entry) in entries.enumerated() {
            if let record = try record(entry, at: index, for: question) { records.append(record) }
        }
        return records
    }

    /// Nil for a record that is neither of the asked type nor an alias and cannot be read.
    private static func record(
        _ entry: JSONValue, at index: Int, for question: Question
    ) throws(QueryFailure) -> ResourceRecord? {
        guard let number = entry["type"]?.integer, let number = UInt16(exactly: number) else {
            throw .malformed("Answer[\(index)] has no type")
        }
        let type = RecordType(rawValue: number)
        let name = entry["name"]?.string.flatMap { WireName(text: $0) }
        let data = entry["data"]?.string.flatMap { RecordText.data($0, of: type) }
        guard let name, let data else {
            guard type == question.type || type == .cname else { return nil }
            throw .malformed(
                "Answer[\(index)] has the \(name == nil ? "name" : "data") "
                    + ServerText.shown(entry[name == nil ? "name" : "data"].shown))
        }
        return ResourceRecord(
            name: name, type: type, ttlSeconds: try AnswerLifetime.seconds(json: entry["TTL"]),
            data: data)
    }

    /// The SOA records that can be read: they date a negative answer.
    private static func authorities(_ section: JSONValue?) -> [ResourceRecord] {
        (section?.array ?? []).compactMap { entry in
            guard entry["type"]?.integer == Int64(RecordType.soa.rawValue),
                let name = entry["name"]?.string.flatMap({ WireName(text: $0) }),
                let data = entry["data"]?.string.flatMap({ RecordText.data($0, of: .soa) }),
                let seconds = try? AnswerLifetime.seconds(json: entry["TTL"])
            else { return nil }
            return ResourceRecord(name: name, type: .soa, ttlSeconds: seconds, data: data)
        }
    }
}

extension JSONValue? {
    /// What to say of a member that may be missing.
    fileprivate var shown: String { self?.description ?? "missing" }
}
