internal import HTTPDNSDigest
internal import HTTPDNSExchange
internal import HTTPDNSJSON
package import HTTPDNSLookup
package import HTTPDNSNames

/// Volcengine HTTPDNS: `/resolve?domain=a,b`.
///
/// `ips` holds both families, told apart by reading them, so `type` is never sent. For several names
/// no document shows the answer's shape: an array, an array under `dns`, and one object are read.
///
/// Source: volcengine.com/docs/6758/113991 and 174756.
package struct VolcengineCodec: AddressCodec {
    private let path: String
    private let account: String
    private let secret: Secret

    /// - Parameters:
    ///   - path: `/resolve` for the vendor's own servers; may have a query.
    ///   - account: the service ID of the console.
    ///   - secret: signs requests.
    /// - Throws: ``QueryFailure/misconfigured(_:)``.
    package init(
        path: String = "/resolve", account: String, secret: Secret
    ) throws(QueryFailure) {
        guard Account.isPlain(account) else {
            throw .misconfigured("the Volcengine account is the service ID of its console")
        }
        guard !secret.isEmpty else { throw .misconfigured("the Volcengine secret is empty") }
        self.path = path.isEmpty || path == "/" ? "/resolve" : path
        self.account = account
        self.secret = secret
    }

    package var sendsSecret: Bool { false }
    /// Because: the vendor's SDK refreshes ten names at a time (volcengine.com/docs/6758/788435).
    package var batching: Batching { Batching(maximumNames: 10, joinsFamilies: true) }

    /// How long a signature is good for. Because: as with the other services; this one wants a moment
    /// in the future and names no limit.
    static let signatureLifetimeSeconds: Int64 = 600

    package func request(
        for questions: [Question], now: WallTime
    ) throws(QueryFailure) -> HTTPDNSRequest {
        let asked = try AskedNames(questions, maximumNames: batching.maximumNames)
        let seconds = now.secondsSince1970 &+ Self.signatureLifetimeSeconds
        let expiry = String(seconds &* 1_000)
        let client = asked.clientSubnet?.address.description ?? ""
        var query = QueryString()
        query.append("domain", list: asked.names.map(\.text))
        query.append("account_id", account)
        query.append("timestamp", expiry)
        let signature = try self.signature([expiry, account, asked.joined, client, ""])
        query.append("sign", signature)
        if !client.isEmpty { query.append("ip", client) }
        return HTTPDNSRequest(
            target: query.appended(to: path), accept: "application/json",
            privateValues: [account, signature] + EchoMask.parts(of: path))
    }

    /// The six values, secret among them, sorted as octets and joined by `_`; one that is not sent
    /// takes part as an empty text.
    private func signature(_ values: [String]) throws(QueryFailure) -> String {
        let message = (values + [secret.revealed])
            .sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
            .joined(separator: "_")
        return try Signing.perform { try Digest.md5Hex(message.utf8) }
    }

    package func answers(
        in response: HTTPDNSResponse, to questions: [Question]
    ) throws(QueryFailure) -> AddressAnswers {
        guard response.isSuccess else { throw .httpStatus(response.status) }
        let body = try JSONBody.value(of: response)
        var answers = AddressAnswers()
        for entry in try Self.entries(of: body, response) {
            guard let object = entry.object, object["host"] != nil || object["ips"] != nil else {
                answers.skip(response.malformed("an entry has neither host nor ips"))
                continue
            }
            do throws(QueryFailure) {
                let name = try Self.host(object["host"])
                answers.add(for: name) { () throws(QueryFailure) in try Self.answer(of: object) }
            } catch {
                answers.skip(error)
            }
            answers.clientAddress =
                answers.clientAddress ?? object["cip"]?.string.flatMap { try? IPAddress($0) }
        }
        answers.clientAddress =
            answers.clientAddress ?? body["cip"]?.string.flatMap { try? IPAddress($0) }
        return answers
    }

    private static func answer(of object: JSONObject) throws(QueryFailure) -> NamedAnswer {
        var answer = NamedAnswer()
        answer.seconds = try AddressText.statedSeconds(object["ttl"])
        guard object["ips"] != nil else { return answer }
        let both = try AddressText.mixed(object["ips"], named: "ips")
        answer.ipv4 = both.ipv4
        answer.ipv6 = both.ipv6
        answer.ipv4?.seconds = answer.seconds
        answer.ipv6?.seconds = answer.seconds
        return answer
    }

    private static func entries(
        of body: JSONValue, _ response: HTTPDNSResponse
    ) throws(QueryFailure) -> [JSONValue] {
        if let array = body.array { return array }
        guard body.object != nil else {
            throw response.malformed("JSON \(body.kind) is no answer")
        }
        if let list = body["dns"]?.array { return list }
        return [body]
    }

    private static func host(_ value: JSONValue?) throws(QueryFailure) -> HostName? {
        guard let value, !value.isNull else { return nil }
        guard let host = value.string.flatMap({ try? HostName($0) }) else {
            throw .malformed("it answers for \(ServerText.shown(value.description)), no host name")
        }
        return host
    }
}
