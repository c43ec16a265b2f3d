internal import HTTPDNSDigest
internal import HTTPDNSExchange
internal import HTTPDNSJSON
package import HTTPDNSLookup
package import HTTPDNSNames

/// Baidu Cloud HTTPDNS: `/v4/resolve`, and the older `/v3/resolve`, up to ten names.
///
/// Names are members of `data`; in the third version with the addresses directly, in the fourth with
/// one object a family. A request dated wrongly is answered with the service's own time, by which it
/// is dated anew and asked once more.
///
/// Source: cloud.baidu.com/doc/HTTPDNS/s/Vjwvxm96x and the vendor's SDK.
package struct BaiduCodec: AddressCodec {
    private let path: String
    private let account: String
    private let secret: Secret

    /// - Parameters:
    ///   - path: `/v4/resolve` or `/v3/resolve`; may have a query.
    ///   - account: the account number, as the console shows it.
    ///   - secret: signs requests.
    /// - Throws: ``QueryFailure/misconfigured(_:)``.
    package init(
        path: String = "/v4/resolve", account: String, secret: Secret
    ) throws(QueryFailure) {
        guard Account.isPlain(account) else {
            throw .misconfigured("the Baidu account is its number in the console, such as 100000")
        }
        guard !secret.isEmpty else { throw .misconfigured("the Baidu secret is empty") }
        self.path = path.isEmpty || path == "/" ? "/v4/resolve" : path
        self.account = account
        self.secret = secret
    }

    package var sendsSecret: Bool { false }
    package var batching: Batching { Batching(maximumNames: 10, joinsFamilies: true) }

    /// How long a signature is good for. Because: as with the other services; this one wants ten
    /// digits and names no limit.
    static let signatureLifetimeSeconds: Int64 = 600

    package func request(
        for questions: [Question], now: WallTime
    ) throws(QueryFailure) -> HTTPDNSRequest {
        let asked = try AskedNames(questions, maximumNames: batching.maximumNames)
        let expiry = String(now.secondsSince1970 &+ Self.signatureLifetimeSeconds)
        let message = "\(asked.joined)-\(secret.revealed)-\(expiry)"
        var query = QueryString()
        query.append("account_id", account)
        query.append("dn", list: asked.names.map(\.text))
        query.append("t", expiry)
        let signature = try Signing.perform { try Digest.md5Hex(message.utf8) }
        query.append("sign", signature)
        query.append("type", list: asked.families.map { $0 == .ipv4 ? "ipv4" : "ipv6" })
        if let subnet = asked.clientSubnet { query.append("ip", subnet.address.description) }
        return HTTPDNSRequest(
            target: query.appended(to: path), accept: "application/json",
            privateValues: [account, signature] + EchoMask.parts(of: path))
    }

    package func answers(
        in response: HTTPDNSResponse, to questions: [Question]
    ) throws(QueryFailure) -> AddressAnswers {
        let body = try JSONBody.object(of: response)
        if let message = body["msg"]?.string, message != "ok" {
            throw .rejected(code: try JSONBody.checked(code: message))
        }
        guard response.isSuccess else { throw .httpStatus(response.status) }
        guard let names = body["data"]?.object else {
            throw response.malformed("data is \(body["data"]?.kind ?? "missing"), not an object")
        }
        var answers = AddressAnswers()
        answers.clientAddress = body["clientip"]?.string.flatMap { try? IPAddress($0) }
        for member in names.members {
            guard let name = try? HostName(member.name) else {
                answers.skip(
                    .malformed("data has \(ServerText.shown(member.name)), no host name"))
                continue
            }
            answers.add(for: name) { () throws(QueryFailure) in try Self.answer(member.value) }
        }
        return answers
    }

    private static func answer(_ value: JSONValue) throws(QueryFailure) -> NamedAnswer {
        var answer = NamedAnswer()
        if value.isNull { return answer }
        guard let object = value.object else {
            throw .malformed("a name's answer is \(value.kind), not an object")
        }
        if object["ip"] != nil {
            let both = try AddressText.mixed(object["ip"], named: "ip")
            answer.seconds = try AddressText.statedSeconds(object["ttl"])
            answer.ipv4 = both.ipv4
            answer.ipv6 = both.ipv6
            answer.ipv4?.seconds = answer.seconds
            answer.ipv6?.seconds = answer.seconds
        }
        if let ipv4 = family(object["ipv4"], .ipv4, named: "ipv4") { answer.ipv4 = ipv4 }
        if let ipv6 = family(object["ipv6"], .ipv6, named: "ipv6") { answer.ipv6 = ipv6 }
        return answer
    }

    private static func family(
        _ value: JSONValue?, _ family: IPAddress.Family, named member: String
    ) -> FamilyAnswer? {
        guard let value, !value.isNull else { return nil }
        guard let object = value.object else {
            return FamilyAnswer(fault: .malformed("\(member) is \(value.kind), not an object"))
        }
        var answer = AddressText.list(object["ip"], family, named: member + ".ip")
        do throws(QueryFailure) {
            answer.seconds = try AddressText.statedSeconds(object["ttl"])
        } catch {
            answer.fault = answer.fault ?? error
        }
        return answer
    }

    package func remedy(for failure: QueryFailure, in response: HTTPDNSResponse?) -> Remedy {
        guard case .rejected(let code) = failure else { return Remedy.usual(for: failure) }
        guard code == "SignatureExpired", let response, let time = serviceTime(in: response)
        else { return .none }
        return .correctClock(time)
    }

    package func serviceTime(in response: HTTPDNSResponse) -> WallTime? {
        guard let seconds = (try? JSONValue.parse(response.body))?["timestamp"]?.integer,
            Self.plausibleSeconds.contains(seconds)
        else { return nil }
        return WallTime(secondsSince1970: seconds)
    }

    /// Ten digits, which is what the service takes. Because: 2001 to 2286.
    private static let plausibleSeconds: ClosedRange<Int64> = 1_000_000_000...9_999_999_999
}
