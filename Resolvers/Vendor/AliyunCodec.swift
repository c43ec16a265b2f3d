internal import HTTPDNSDigest
internal import HTTPDNSExchange
internal import HTTPDNSJSON
package import HTTPDNSLookup
package import HTTPDNSNames

/// Aliyun EMAS HTTPDNS, legacy form: `/{account}/d` for one name and `/{account}/resolve` for up to
/// five; signed, `/sign_d` and `/sign_resolve`.
///
/// Source: help.aliyun.com/document_detail/435283, 52679, 52680 and the vendor's SDKs; quirks are
/// listed in Resolvers/README.md.
package struct AliyunCodec: AddressCodec {
    private let base: String
    private let account: String
    private let secret: Secret?

    /// - Parameters:
    ///   - base: the path before the account; empty for the vendor's own servers.
    ///   - account: the account number, as the console shows it.
    ///   - secret: signs requests; without it the service must allow unsigned ones.
    /// - Throws: ``QueryFailure/misconfigured(_:)``.
    package init(base: String = "", account: String, secret: Secret?) throws(QueryFailure) {
        guard Account.isPlain(account) else {
            throw .misconfigured(
                "the Aliyun account is its number in the console, such as 100000")
        }
        guard secret?.isEmpty != true else {
            throw .misconfigured("the Aliyun secret is empty: give it, or leave it out")
        }
        self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
        self.account = account
        self.secret = secret
    }

    /// The secret only enters a digest.
    package var sendsSecret: Bool { false }
    package var batching: Batching { Batching(maximumNames: 5, joinsFamilies: true) }

    /// How long a signature is good for. Source: the vendor's iOS and Android SDKs; the service
    /// refuses more than 24 h.
    static let signatureLifetimeSeconds: Int64 = 600

    package func request(
        for questions: [Question], now: WallTime
    ) throws(QueryFailure) -> HTTPDNSRequest {
        let asked = try AskedNames(questions, maximumNames: batching.maximumNames)
        var query = QueryString()
        query.append("host", list: asked.names.map(\.text))
        query.append("query", list: asked.families.map { $0 == .ipv4 ? "4" : "6" })
        if let subnet = asked.clientSubnet { query.append("ip", subnet.address.description) }
        for entry in asked.serviceParameters.entries {
            query.append("sdns-" + entry.key, entry.value)
        }
        var privateValues = [account] + EchoMask.parts(of: base)
        if let secret {
            let expiry = String(now.secondsSince1970 &+ Self.signatureLifetimeSeconds)
            let signature = try Self.signature(asked.joined, secret: secret, expiry: expiry)
            query.append("t", expiry)
            query.append("s", signature)
            privateValues.append(signature)
        }
        let call = asked.names.count == 1 ? "d" : "resolve"
        let path = base + "/" + account + (secret == nil ? "/" : "/sign_") + call
        return HTTPDNSRequest(
            target: path + "?" + query.text, accept: "application/json",
            privateValues: privateValues)
    }

    /// `md5("{hosts}-{secret}-{t}")` in lower-case hexadecimal, hosts as they stand in the request.
    static func signature(
        _ hosts: String, secret: Secret, expiry: String
    ) throws(QueryFailure) -> String {
        try Signing.perform {
            try Digest.md5Hex("\(hosts)-\(secret.revealed)-\(expiry)".utf8)
        }
    }

    package func answers(
        in response: HTTPDNSResponse, to questions: [Question]
    ) throws(QueryFailure) -> AddressAnswers {
        if response.isSuccess,
            let answers = AliyunScan.answers(in: response.body, to: questions)
        {
            return answers
        }
        return try fullAnswers(in: response)
    }

    /// Every shape of answer, at leisure.
    package func fullAnswers(
        in response: HTTPDNSResponse
    ) throws(QueryFailure) -> AddressAnswers {
        let body = try JSONBody.object(of: response)
        if let code = body["code"]?.string, body["host"] == nil, body["dns"] == nil {
            throw .rejected(code: try JSONBody.checked(code: code))
        }
        guard response.isSuccess else { throw .httpStatus(response.status) }
        var answers = AddressAnswers()
        guard let list = body["dns"], !list.isNull else {
            try Self.add(body, to: &answers)
            return answers
        }
        guard let entries = list.array else {
            throw .malformed("dns is \(list.kind), not an array")
        }
        for (index, entry) in entries.enumerated() {
            guard let entry = entry.object else {
                answers.skip(.malformed("dns[\(index)] is \(entry.kind), not an object"))
                continue
            }
            do throws(QueryFailure) { try Self.add(entry, to: &answers) } catch {
                answers.skip(error)
            }
        }
        return answers
    }

    /// One name's entry; in the single form, the whole body.
    private static func add(
        _ entry: JSONObject, to answers: inout AddressAnswers
    ) throws(QueryFailure) {
        let name = try host(of: entry)
        answers.clientAddress =
            answers.clientAddress ?? entry["client_ip"]?.string.flatMap { try? IPAddress($0) }
        answers.add(for: name) { () throws(QueryFailure) in try answer(of: entry) }
    }

    private static func answer(of entry: JSONObject) throws(QueryFailure) -> NamedAnswer {
        let seconds = try AddressText.statedSeconds(entry["ttl"])
        var answer = NamedAnswer()
        answer.seconds = seconds
        answer.extra = entry["extra"]?.string.map(EscapedText.plain)
        // A type speaks only where there is one list: with it, that list may hold the other family.
        if entry["type"]?.integer == 28, entry["ipsv6"] == nil {
            answer.ipv6 = AddressText.list(entry["ips"], .ipv6, named: "ips")
        } else {
            if entry["ips"] != nil {
                answer.ipv4 = AddressText.list(entry["ips"], .ipv4, named: "ips")
            }
            if entry["ipsv6"] != nil {
                answer.ipv6 = AddressText.list(entry["ipsv6"], .ipv6, named: "ipsv6")
            }
        }
        answer.ipv4?.seconds = seconds
        answer.ipv6?.seconds = seconds
        return answer
    }

    /// An answer names its host or at least has lists of addresses; other JSON is not an answer.
    private static func host(of entry: JSONObject) throws(QueryFailure) -> HostName? {
        guard let given = entry["host"] else {
            guard entry["ips"] != nil || entry["ipsv6"] != nil else {
                throw .malformed("the JSON object has neither host nor ips nor ipsv6")
            }
            return nil
        }
        guard let text = given.string, let host = try? HostName(text) else {
            throw .malformed("it answers for \(ServerText.shown(given.description)), no host name")
        }
        return host
    }

    package func remedy(for failure: QueryFailure, in response: HTTPDNSResponse?) -> Remedy {
        AliyunCode.remedy(for: failure)
    }
}

/// The service's refusals, and what they ask for.
///
/// Source: help.aliyun.com/document_detail/435283, and `HttpException` of the vendor's Android SDK.
enum AliyunCode {
    static func remedy(for failure: QueryFailure) -> Remedy {
        guard case .rejected(let code) = failure else { return Remedy.usual(for: failure) }
        switch code {
        case "ServiceLevelDeny", "InternalError": return .switchServer
        case "UnsignedInterfaceDisabled", "InvalidAccount", "AccountNotExists":
            return .rest(seconds: refusedAccountSeconds)
        case "SignatureExpired", "InvalidSignature", "InvalidDuration", "InvalidHost",
            "MissingArgument", "TooManyHosts", "MethodNotAllowed", "SdnsNotSupported":
            return .none
        default: return .switchServer
        }
    }

    /// How long an account that the service does not accept is left alone.
    ///
    /// Source: the vendor's Android SDK, which keeps the refusal for an hour.
    static let refusedAccountSeconds: Int64 = 3_600
}

/// Text in which a service has escaped what HTML would read.
enum EscapedText {
    /// Source: the vendor's C SDK, which turns back these four.
    static func plain(_ text: String) -> String {
        guard text.contains("&") else { return text }
        var plain = ""
        var rest = text[...]
        while let first = rest.first {
            if let (name, character) = names.first(where: { rest.hasPrefix($0.0) }) {
                plain += character
                rest = rest.dropFirst(name.count)
            } else {
                plain.append(first)
                rest = rest.dropFirst()
            }
        }
        return plain
    }

    private static let names = [
        ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"),
    ]
}

/// What an account may look like that stands in a path.
enum Account {
    static func isPlain(_ account: String) -> Bool {
        (1...64).contains(account.utf8.count)
            && account.utf8.allSatisfy({
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0)
                    || (0x61...0x7A).contains($0) || $0 == 0x5F || $0 == 0x2D
            })
    }
}
