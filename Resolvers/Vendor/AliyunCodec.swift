internal import HTTPDNSDigest
internal import HTTPDNSJSON
package import HTTPDNSLookup
package import HTTPDNSNames
package import HTTPDNSWire

/// Aliyun EMAS HTTPDNS, one name a request: `/{account}/d` and, signed, `/{account}/sign_d`.
///
/// Source: help.aliyun.com/document_detail/435283 and the vendor's SDKs; wire facts, vectors and
/// quirks are listed in Resolvers/README.md.
package struct AliyunCodec: HTTPDNSCodec {
    private let base: String
    private let account: String
    private let secret: Secret?

    /// - Parameters:
    ///   - base: the path before the account; empty for the vendor's own servers.
    ///   - account: the account number, as the console shows it.
    ///   - secret: signs requests; without it the service must allow unsigned ones.
    /// - Throws: ``QueryFailure/misconfigured(_:)``.
    package init(base: String = "", account: String, secret: Secret?) throws(QueryFailure) {
        guard (1...64).contains(account.utf8.count),
            account.utf8.allSatisfy({
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0)
                    || (0x61...0x7A).contains($0) || $0 == 0x5F || $0 == 0x2D
            })
        else {
            throw .misconfigured(
                "the Aliyun account is its number in the console, such as 100000")
        }
        guard secret?.revealed.isEmpty != true else {
            throw .misconfigured("the Aliyun secret is empty: give it, or leave it out")
        }
        self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
        self.account = account
        self.secret = secret
    }

    package var supportedTypes: Set<RecordType>? { [.a, .aaaa] }
    package var answerTransport: AnswerTransport { .httpdns }
    /// The secret only enters a digest.
    package var sendsSecret: Bool { false }

    /// How long a signature is good for. Source: the vendor's iOS and Android SDKs; the service
    /// refuses more than 24 h.
    static let signatureLifetimeSeconds: Int64 = 600

    package func request(
        for question: Question, now: WallTime
    ) throws(QueryFailure) -> HTTPDNSRequest {
        guard let family = AliyunFamily(question.type) else {
            throw .unsupportedType(question.type)
        }
        var query = QueryString()
        query.append("host", question.name.text)
        query.append("query", family.queryValue)
        if let secret {
            let expiry = String(now.secondsSince1970 &+ Self.signatureLifetimeSeconds)
            query.append("t", expiry)
            query.append(
                "s", try Self.signature(host: question.name.text, secret: secret, expiry: expiry))
        }
        let path = base + "/" + account + (secret == nil ? "/d" : "/sign_d")
        return HTTPDNSRequest(target: path + "?" + query.text, accept: "application/json")
    }

    /// `md5("{host}-{secret}-{t}")` in lower-case hexadecimal.
    static func signature(
        host: String, secret: Secret, expiry: String
    ) throws(QueryFailure) -> String {
        do {
            return try Digest.md5Hex("\(host)-\(secret.revealed)-\(expiry)".utf8)
        } catch {
            throw .misconfigured("the request cannot be signed: \(error)")
        }
    }

    package func testimony(
        from response: HTTPDNSResponse, for question: Question, source: Testimony.Source
    ) throws(QueryFailure) -> Testimony {
        guard let family = AliyunFamily(question.type) else {
            throw .unsupportedType(question.type)
        }
        let body = try Self.object(in: response)
        if let code = body["code"]?.string, body["host"] == nil {
            throw .rejected(code: try Self.checked(code))
        }
        guard response.isSuccess else { throw .httpStatus(response.status) }
        try Self.checkHost(in: body, for: question.name)
        var source = source
        source.clientAddress = body["client_ip"]?.string.flatMap { try? IPAddress($0) }
        let records = try Self.records(in: body, family, for: question)
        return Testimony(
            question: question, code: .noError, answers: records,
            negativeTTLSeconds: records.isEmpty ? try Self.statedSeconds(body["ttl"]) : nil,
            source: source)
    }

    private static func object(
        in response: HTTPDNSResponse
    ) throws(QueryFailure) -> JSONObject {
        let value: JSONValue
        do {
            value = try JSONValue.parse(response.body)
        } catch {
            guard response.isSuccess else { throw .httpStatus(response.status) }
            throw response.malformed(error.description)
        }
        guard let object = value.object else {
            guard response.isSuccess else { throw .httpStatus(response.status) }
            throw response.malformed("a JSON object was expected, not \(value.kind)")
        }
        return object
    }

    /// A code is shown to people and kept in statistics, so it must look like one.
    private static func checked(_ code: String) throws(QueryFailure) -> String {
        guard (1...64).contains(code.utf8.count),
            code.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw .malformed("the error code is \(ServerText.shown(code))") }
        return code
    }

    /// An answer names its host or at least has lists of addresses; other JSON is not an answer.
    private static func checkHost(
        in body: JSONObject, for name: HostName
    ) throws(QueryFailure) {
        guard let given = body["host"] else {
            guard body["ips"] != nil || body["ipsv6"] != nil else {
                throw .malformed("the JSON object has neither host nor ips nor ipsv6")
            }
            return
        }
        guard let text = given.string, let host = try? HostName(text), host == name else {
            throw .malformed("it answers for \(ServerText.shown(given.description)), not \(name)")
        }
    }

    /// How long "no address" holds: as long as the answer says, nil where it does not say.
    private static func statedSeconds(_ value: JSONValue?) throws(QueryFailure) -> UInt32? {
        guard let value, !value.isNull else { return nil }
        return try AnswerLifetime.seconds(json: value)
    }

    /// No list or an empty one means no address of that family; the name itself may exist.
    private static func records(
        in body: JSONObject, _ family: AliyunFamily, for question: Question
    ) throws(QueryFailure) -> [ResourceRecord] {
        guard let list = body[family.member], !list.isNull else { return [] }
        guard let texts = list.array else {
            throw .malformed("\(family.member) is \(list.kind), not an array")
        }
        let seconds = try AnswerLifetime.seconds(json: body["ttl"])
        var records: [ResourceRecord] = []
        for (index, text) in texts.enumerated() {
            guard let address = text.string.flatMap({ try? IPAddress($0) }),
                address.family == family.addressFamily, address.zone == nil
            else {
                throw .malformed(
                    "\(family.member)[\(index)] is \(ServerText.shown(text.description)), "
                        + "not an address of its family")
            }
            records.append(
                ResourceRecord(
                    name: WireName(question.name), type: question.type, ttlSeconds: seconds,
                    data: .address(address)))
        }
        return records
    }
}

/// The two families that the protocol knows, and its words for them.
private enum AliyunFamily {
    case ipv4
    case ipv6

    init?(_ type: RecordType) {
        switch type {
        case .a: self = .ipv4
        case .aaaa: self = .ipv6
        default: return nil
        }
    }

    var queryValue: String {
        switch self {
        case .ipv4: "4"
        case .ipv6: "6"
        }
    }

    var member: String {
        switch self {
        case .ipv4: "ips"
        case .ipv6: "ipsv6"
        }
    }

    var addressFamily: IPAddress.Family {
        switch self {
        case .ipv4: .ipv4
        case .ipv6: .ipv6
        }
    }
}
