internal import HTTPDNSDigest
internal import HTTPDNSExchange
internal import HTTPDNSJSON
package import HTTPDNSLookup
package import HTTPDNSNames

/// Aliyun EMAS HTTPDNS, second form: `/v2/d`, plain or encrypted, up to five names.
///
/// The signature is an HMAC-SHA-256 over the parameters that take part, sorted by key, joined as
/// `k=v` with `&`, values as they are before any percent-encoding. Encrypted, the question travels in
/// `enc` as hexadecimal; the answer comes back as base64.
///
/// Source: help.aliyun.com/document_detail/2978980 and `SignService` of the vendor's Android SDK.
package struct AliyunV2Codec: AddressCodec {
    /// The raw value is the parameter `m`.
    package enum Mode: Int, Sendable, Hashable, CaseIterable {
        case plain = 0
        case cbc = 1
        case gcm = 2

        var algorithm: Cipher.Algorithm? {
            switch self {
            case .plain: nil
            case .cbc: .aes128CBC
            case .gcm: .aes128GCM
            }
        }
    }

    package var encryptsAnswers: Bool { mode != .plain }

    private let base: String
    private let account: String
    private let signingKey: SigningKey?
    private let mode: Mode
    private let ciphers: Ciphers
    private let randomOctets: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - base: the path before `/v2/d`; empty for the vendor's own servers.
    ///   - account: the account number, as the console shows it.
    ///   - secret: the signing key, hexadecimal; without it the service must allow unsigned requests.
    ///   - key: the AES key, 32 hexadecimal digits; encrypts where the mode says so.
    ///   - mode: whether and how names are encrypted.
    /// - Throws: ``QueryFailure/misconfigured(_:)``.
    package init(
        base: String = "", account: String, secret: Secret?, key: Secret? = nil,
        mode: Mode = .plain
    ) throws(QueryFailure) {
        try self.init(
            base: base, account: account, keys: (secret, key), mode: mode,
            randomOctets: { Cipher.randomOctets($0) })
    }

    /// Takes the generator of initialization vectors as well.
    package init(
        base: String, account: String, keys: (secret: Secret?, key: Secret?), mode: Mode,
        randomOctets: @escaping @Sendable (Int) -> [UInt8]
    ) throws(QueryFailure) {
        guard Account.isPlain(account) else {
            throw .misconfigured(
                "the Aliyun account is its number in the console, such as 100000")
        }
        self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
        self.account = account
        self.mode = mode
        self.randomOctets = randomOctets
        signingKey = try keys.secret.map { secret throws(QueryFailure) in
            try SigningKey(hexadecimal: secret)
        }
        ciphers = try Ciphers(hexadecimal: keys.key)
        guard mode == .plain || ciphers.areKnown else {
            throw .misconfigured(
                "encrypting needs the AES key of the Aliyun console (`key`, --key-env)")
        }
    }

    package var sendsSecret: Bool { false }
    package var batching: Batching { Batching(maximumNames: 5, joinsFamilies: true) }

    /// How long a signature is good for. Source: the vendor's SDKs.
    static let signatureLifetimeSeconds: Int64 = 600

    package func request(
        for questions: [Question], now: WallTime
    ) throws(QueryFailure) -> HTTPDNSRequest {
        let asked = try AskedNames(questions, maximumNames: batching.maximumNames)
        var signed: [(key: String, value: String)] = [
            ("id", account), ("m", String(mode.rawValue)), ("v", "1.0"),
        ]
        if signingKey != nil {
            let expiry = now.secondsSince1970 &+ Self.signatureLifetimeSeconds
            signed.append(("exp", String(expiry)))
        }
        let question = Self.parameters(asked)
        if mode == .plain {
            signed += question
        } else {
            signed.append(("enc", try encrypted(question)))
        }
        var query = QueryString()
        for (key, value) in signed { query.append(key, list: value.split(",")) }
        var privateValues = [account] + EchoMask.parts(of: base)
        privateValues += signed.filter { $0.key == "enc" }.map(\.value)
        if let signingKey {
            let signature = try signingKey.signature(over: signed)
            query.append("s", signature)
            privateValues.append(signature)
        }
        return HTTPDNSRequest(
            target: base + "/v2/d?" + query.text, accept: "application/json",
            privateValues: privateValues)
    }

    /// What is asked: the part that is encrypted.
    private static func parameters(_ asked: AskedNames) -> [(key: String, value: String)] {
        var parameters = [(key: "dn", value: asked.joined)]
        let families = asked.families.map { $0 == .ipv4 ? "4" : "6" }
        parameters.append(("q", families.joined(separator: ",")))
        if let subnet = asked.clientSubnet {
            parameters.append(("cip", subnet.address.description))
        }
        for entry in asked.serviceParameters.entries where !entry.value.isEmpty {
            parameters.append(("sdns-" + entry.key, entry.value))
        }
        return parameters
    }

    private func encrypted(
        _ parameters: [(key: String, value: String)]
    ) throws(QueryFailure) -> String {
        var object = JSONObject()
        for (key, value) in parameters { object[key] = .string(value) }
        let plain = JSONWriter.octets(.object(object))
        return try Signing.perform {
            guard let cipher = ciphers[mode] else { throw CipherError.truncated }
            return Hex.encoded(
                try cipher.sealed(plain, iv: randomOctets(cipher.algorithm.ivOctets)))
        }
    }

    package func remedy(for failure: QueryFailure, in response: HTTPDNSResponse?) -> Remedy {
        AliyunCode.remedy(for: failure)
    }
}

// Reading
extension AliyunV2Codec {
    package func answers(
        in response: HTTPDNSResponse, to questions: [Question]
    ) throws(QueryFailure) -> AddressAnswers {
        let body = try JSONBody.object(of: response)
        if let code = body["code"]?.string, code != "success" {
            throw .rejected(code: try JSONBody.checked(code: code))
        }
        guard response.isSuccess else { throw .httpStatus(response.status) }
        let data = try data(in: body)
        guard let entries = data["answers"]?.array else {
            throw .malformed("data.answers is \(data["answers"]?.kind ?? "missing")")
        }
        var answers = AddressAnswers()
        answers.clientAddress = data["cip"]?.string.flatMap { try? IPAddress($0) }
        for (index, entry) in entries.enumerated() {
            guard let name = entry["dn"]?.string.flatMap({ try? HostName($0) }) else {
                answers.skip(.malformed("data.answers[\(index)].dn is no host name"))
                continue
            }
            var answer = NamedAnswer()
            answer.ipv4 = Self.family(entry["v4"], .ipv4, named: "v4")
            answer.ipv6 = Self.family(entry["v6"], .ipv6, named: "v6")
            answers.add(answer, for: name)
        }
        return answers
    }

    /// The answer itself, decrypted. One who asked in secret takes no answer in clear: over http
    /// anyone could have written it.
    private func data(in body: JSONObject) throws(QueryFailure) -> JSONObject {
        guard let data = body["data"], !data.isNull else { throw .malformed("data is missing") }
        if let object = data.object {
            guard mode == .plain else {
                throw .malformed("it answers in clear what was asked encrypted")
            }
            return object
        }
        guard let text = data.string else {
            throw .malformed("data is \(data.kind), neither an object nor a string")
        }
        let stated = body["mode"]?.integer ?? Int64(mode.rawValue)
        guard let used = Mode(rawValue: Int(clamping: stated)), used != .plain else {
            throw .malformed("data is a string, but mode is \(stated)")
        }
        guard let cipher = ciphers[used] else {
            throw .malformed("it answers encrypted, and there is no key")
        }
        guard let sealed = CipherText.base64(text.utf8) else {
            throw .malformed("data is not base64")
        }
        let plain: [UInt8]
        do throws(CipherError) { plain = try cipher.opened(sealed) } catch {
            throw .malformed("data: \(error)")
        }
        guard let object = (try? JSONValue.parse(plain))?.object else {
            throw .malformed("data holds no JSON object when decrypted")
        }
        return object
    }

    /// A family that was not asked may be missing; one without addresses may give a reason.
    private static func family(
        _ value: JSONValue?, _ family: IPAddress.Family, named member: String
    ) -> FamilyAnswer? {
        guard let value, !value.isNull else { return nil }
        guard let object = value.object else {
            return FamilyAnswer(fault: .malformed("\(member) is \(value.kind), not an object"))
        }
        var answer = AddressText.list(object["ips"], family, named: member + ".ips")
        do throws(QueryFailure) {
            let stated = try AddressText.statedSeconds(object["ttl"])
            answer.seconds = stated == 0 ? AnswerLifetime.defaultSeconds : stated
        } catch {
            answer.fault = answer.fault ?? error
        }
        answer.extra = object["extra"]?.string.map(EscapedText.plain)
        return answer
    }
}

/// The key that signs; hexadecimal in the console, octets in the algorithm.
private struct SigningKey: Sendable, CustomReflectable {
    private let octets: [UInt8]

    init(hexadecimal secret: Secret) throws(QueryFailure) {
        guard let octets = Hex.decoded(secret.revealed), !octets.isEmpty else {
            throw .misconfigured(
                "the Aliyun secret of the second form is hexadecimal, as the console shows it")
        }
        self.octets = octets
    }

    /// Parameters without a value do not take part.
    func signature(over parameters: [(key: String, value: String)]) throws(QueryFailure) -> String {
        let message = parameters.filter { !$0.value.isEmpty }
            .sorted { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }
            .map { $0.key + "=" + $0.value }.joined(separator: "&")
        return try Signing.perform {
            Hex.encoded(try Digest.hmacSHA256(key: octets, message: message.utf8))
        }
    }

    var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// The account's AES key in both algorithms: a service may answer in the other one.
private struct Ciphers: Sendable {
    private let cbc: Cipher?
    private let gcm: Cipher?

    init(hexadecimal key: Secret?) throws(QueryFailure) {
        guard let key else {
            cbc = nil
            gcm = nil
            return
        }
        guard let octets = Hex.decoded(key.revealed),
            let cbc = try? Cipher(.aes128CBC, key: octets),
            let gcm = try? Cipher(.aes128GCM, key: octets)
        else {
            throw .misconfigured("the AES key of the Aliyun console has 32 hexadecimal digits")
        }
        self.cbc = cbc
        self.gcm = gcm
    }

    var areKnown: Bool { cbc != nil }

    subscript(mode: AliyunV2Codec.Mode) -> Cipher? {
        switch mode {
        case .plain: nil
        case .cbc: cbc
        case .gcm: gcm
        }
    }
}

extension String {
    /// The parts between separators, empty ones too.
    func split(_ separator: Character) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}
