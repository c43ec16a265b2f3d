internal import HTTPDNSDigest
internal import HTTPDNSJSON
package import HTTPDNSLookup
package import HTTPDNSNames

/// Aliyun's scheduling: `/{account}/ss` hands out the servers near us. No I/O.
///
/// Documents call the signature an HMAC; their own example is the plain MD5 of `{n}-{secret}-{t}`.
///
/// Source: help.aliyun.com/document_detail/111585, 2868209 and the vendor's SDKs.
package struct AliyunScheduleCodec: ServerListCodec {
    private let base: String
    private let account: String
    private let secret: Secret?
    private let randomOctets: @Sendable (Int) -> [UInt8]

    /// - Throws: ``QueryFailure/misconfigured(_:)``.
    package init(
        base: String = "", account: String, secret: Secret?,
        randomOctets: @escaping @Sendable (Int) -> [UInt8] = { Cipher.randomOctets($0) }
    ) throws(QueryFailure) {
        guard Account.isPlain(account) else {
            throw .misconfigured(
                "the Aliyun account is its number in the console, such as 100000")
        }
        self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
        self.account = account
        self.secret = secret?.isEmpty == true ? nil : secret
        self.randomOctets = randomOctets
    }

    /// How far ahead a request is dated. Because: documents want 30 s to 300 s, older ones less than
    /// 150 s.
    static let signatureLifetimeSeconds: Int64 = 60

    package func request(now: WallTime) throws(QueryFailure) -> HTTPDNSRequest {
        var query = QueryString()
        // Source: since 2024-06-12 the service itself picks what is near.
        query.append("region", "global")
        query.append("platform", "linux")
        query.append("sdk_version", "2.0.0")
        query.append("net", "unknown")
        if let secret {
            let nonce = Hex.encoded(randomOctets(5))
            let expiry = String(now.secondsSince1970 &+ Self.signatureLifetimeSeconds)
            query.append("n", nonce)
            query.append("t", expiry)
            query.append(
                "s", try Self.signature(nonce: nonce, secret: secret, expiry: expiry))
        }
        return HTTPDNSRequest(
            target: base + "/" + account + "/ss?" + query.text, accept: "application/json")
    }

    static func signature(
        nonce: String, secret: Secret, expiry: String
    ) throws(QueryFailure) -> String {
        try Signing.perform {
            try Digest.md5Hex("\(nonce)-\(secret.revealed)-\(expiry)".utf8)
        }
    }

    /// What the service says.
    ///
    /// - Parameter port: of servers for which it names none.
    package func list(
        in response: HTTPDNSResponse, port: Port
    ) throws(QueryFailure) -> ServiceSchedule.ServiceList {
        let body = try JSONBody.object(of: response)
        if let code = body["code"]?.string, body["service_ip"] == nil, body["service_ipv6"] == nil {
            throw .rejected(code: try JSONBody.checked(code: code))
        }
        guard response.isSuccess else { throw .httpStatus(response.status) }
        let isTurnedOff = body["service_status"]?.string == "disable"
        guard body["service_ip"] != nil || body["service_ipv6"] != nil || isTurnedOff else {
            throw response.malformed("the JSON object has neither service_ip nor service_ipv6")
        }
        let servers =
            try Self.servers(in: body, "service_ip", .ipv4, port)
            + Self.servers(in: body, "service_ipv6", .ipv6, port)
        return ServiceSchedule.ServiceList(servers: servers, isTurnedOff: isTurnedOff)
    }

    private static func servers(
        in body: JSONObject, _ member: String, _ family: IPAddress.Family, _ port: Port
    ) throws(QueryFailure) -> [Endpoint] {
        let list = AddressText.list(body[member], family, named: member)
        if let fault = list.fault { throw fault }
        guard list.addresses.count <= maximumServers else {
            throw .malformed("\(member) has \(list.addresses.count) servers")
        }
        var servers: [Endpoint] = []
        for (index, address) in list.addresses.enumerated() {
            let own = try Self.port(body[member + "_port"], at: index, named: member + "_port")
            servers.append(Endpoint(address: address, port: own ?? port))
        }
        return servers
    }

    /// One port for all, or one for each; 0 and none mean the usual one.
    private static func port(
        _ value: JSONValue?, at index: Int, named member: String
    ) throws(QueryFailure) -> Port? {
        guard let value, !value.isNull else { return nil }
        let own = value.array.map { $0.indices.contains(index) ? $0[index] : .null } ?? value
        if own.isNull || own.integer == 0 { return nil }
        guard let number = own.integer.flatMap({ UInt16(exactly: $0) }), let port = Port(number)
        else { throw .malformed("\(member) has \(ServerText.shown(own.description)), no port") }
        return port
    }

    /// Because: the service hands out a handful.
    private static let maximumServers = 64
}
