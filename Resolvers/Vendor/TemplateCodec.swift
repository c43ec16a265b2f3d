internal import HTTPDNSDigest
internal import HTTPDNSExchange
package import HTTPDNSLookup
package import HTTPDNSNames
package import HTTPDNSProfiles
package import HTTPDNSWire

/// Any HTTP-DNS protocol that a profile's template describes.
package struct TemplateCodec: HTTPDNSCodec {
    /// What the user has from the provider.
    package struct Credentials: Sendable {
        package var account: String?
        package var secret: Secret?
        package var key: Secret?

        package init(account: String? = nil, secret: Secret? = nil, key: Secret? = nil) {
            self.account = account
            self.secret = secret
            self.key = key
        }
    }

    private let base: String
    let template: ProviderTemplate
    let credentials: Credentials
    private let payloadCipher: TemplateCipher?
    let responseCipher: TemplateCipher?
    private let types: Set<RecordType>?
    private let randomOctets: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - template: the protocol, from a profile.
    ///   - types: what the service answers for, where that is less than the template can ask for.
    ///   - base: the path before the template's own; empty for the provider's own servers.
    ///   - credentials: what the template uses must be there.
    /// - Throws: ``QueryFailure/misconfigured(_:)``.
    package init(
        _ template: ProviderTemplate, base: String = "", credentials: Credentials,
        types: Set<RecordType>? = nil,
        randomOctets: @escaping @Sendable (Int) -> [UInt8] = { Cipher.randomOctets($0) }
    ) throws(QueryFailure) {
        try Self.check(credentials, for: template)
        self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
        self.template = template
        self.credentials = credentials
        self.types = types
        self.randomOctets = randomOctets
        payloadCipher = try template.payload.map { payload throws(QueryFailure) in
            try TemplateCipher(payload.encryption, credentials)
        }
        responseCipher = try template.response.encryption.map { encryption throws(QueryFailure) in
            try TemplateCipher(encryption, credentials)
        }
    }

    private static func check(
        _ credentials: Credentials, for template: ProviderTemplate
    ) throws(QueryFailure) {
        let usesAccount = [ProviderTemplate.Variable.account, .accountFirst, .accountSecond]
            .contains { template.uses($0) }
        if usesAccount {
            guard let account = credentials.account, !account.isEmpty else {
                throw .misconfigured("it needs your account (`account`, --account)")
            }
            guard account.split("/").allSatisfy({ Account.isPlain($0) }) else {
                throw .misconfigured(
                    "the account may have letters, digits, \"-\" and \"_\", and one \"/\" where it "
                        + "has two parts")
            }
        }
        if template.uses(.accountFirst) || template.uses(.accountSecond) {
            guard credentials.account?.split("/").count == 2 else {
                throw .misconfigured(
                    "its account has two parts, written one/two (`account`, --account)")
            }
        } else if usesAccount, credentials.account?.contains("/") == true {
            throw .misconfigured("its account has one part, without \"/\"")
        }
        if template.uses(.secret), credentials.secret?.isEmpty ?? true {
            throw .misconfigured("it needs the secret that signs requests (`secret`, --secret-env)")
        }
        if template.uses(.key), credentials.key?.isEmpty ?? true {
            throw .misconfigured("it needs your key or token (`key`, --key-env)")
        }
    }

    package var supportedTypes: Set<RecordType>? {
        types ?? (template.response.form == .dnsJSON ? nil : [.a, .aaaa])
    }

    package var answerTransport: AnswerTransport {
        template.response.form == .dnsJSON ? .https : .httpdns
    }

    package var sendsSecret: Bool { template.sendsKey }
    package var encryptsAnswers: Bool { responseCipher != nil }

    package var batching: Batching {
        guard template.response.form != .dnsJSON else { return .none }
        let joins = template.types.map { $0.both != nil } ?? true
        return Batching(maximumNames: template.maximumNames, joinsFamilies: joins)
    }

    package func request(
        for question: Question, now: WallTime
    ) throws(QueryFailure) -> HTTPDNSRequest {
        try request(for: [question], now: now)
    }

    package func request(
        for questions: [Question], now: WallTime
    ) throws(QueryFailure) -> HTTPDNSRequest {
        var values = try TemplateValues(
            questions, template, credentials, now: now, nonce: nonce())
        if let payload = template.payload, let cipher = payloadCipher {
            let plain = Array(values.text(payload.text).utf8)
            values.set(
                .payload,
                try Signing.perform {
                    try cipher.sealed(plain, iv: randomOctets(cipher.ivOctets))
                })
        }
        if let signature = template.signature {
            values.set(.signature, try values.signature(signature, secret: credentials.secret))
        }
        var query = QueryString()
        for entry in template.parameters where !values.isEmpty(in: entry.value) {
            query.append(entry.name, list: values.text(entry.value).split(","))
        }
        let path = base + values.path(template.path)
        var request = HTTPDNSRequest(
            target: query.text.isEmpty ? path : path + "?" + query.text, accept: template.accept)
        request.fields = template.headers.filter { !values.isEmpty(in: $0.value) }.map {
            HTTPDNSRequest.Field(name: $0.name, value: values.text($0.value))
        }
        request.privateValues = values.privateValues(template) + EchoMask.parts(of: base)
        return request
    }

    /// Letters and digits, from the system's generator.
    private func nonce() -> String {
        String(decoding: randomOctets(12).map { Self.letters[Int($0) % 32] }, as: UTF8.self)
    }

    /// Because: 32 of them, so that a random octet picks each equally often.
    private static let letters = Array("abcdefghijkmnpqrstuvwxyz23456789".utf8)

    package func remedy(for failure: QueryFailure, in response: HTTPDNSResponse?) -> Remedy {
        if case .rejected(let code) = failure, let rule = template.response.code,
            rule.switching.contains(where: { (rule.meanings[$0] ?? $0) == code })
        {
            return .switchServer
        }
        return Remedy.usual(for: failure)
    }
}

/// The variables of one request.
private struct TemplateValues {
    private var values: [ProviderTemplate.Variable: String] = [:]

    init(
        _ questions: [Question], _ template: ProviderTemplate,
        _ credentials: TemplateCodec.Credentials, now: WallTime, nonce: String
    ) throws(QueryFailure) {
        var names: [HostName] = []
        for question in questions where !names.contains(question.name) {
            names.append(question.name)
        }
        guard let first = questions.first, names.count <= template.maximumNames else {
            throw .unexpected("TemplateValues: \(names.count) names for one request")
        }
        let expiry = now.secondsSince1970 &+ template.lifetimeSeconds
        let parts = (credentials.account ?? "").split("/")
        let subnet = first.clientSubnet
        values = [
            .host: first.name.text,
            .hosts: names.map(\.text).joined(separator: template.namesJoiner),
            .account: credentials.account ?? "", .accountFirst: parts.first ?? "",
            .accountSecond: parts.count > 1 ? parts[1] : "",
            .secret: credentials.secret?.revealed ?? "", .key: credentials.key?.revealed ?? "",
            .expirySeconds: String(expiry), .expiryMilliseconds: String(expiry &* 1_000),
            .nowSeconds: String(now.secondsSince1970),
            .nowMilliseconds: String(now.secondsSince1970 &* 1_000), .nonce: nonce,
            .clientSubnet: subnet?.description ?? "",
            .clientAddress: subnet?.address.description ?? "",
            .types: try Self.types(of: questions, template),
        ]
    }

    private static func types(
        of questions: [Question], _ template: ProviderTemplate
    ) throws(QueryFailure) -> String {
        let types = Set(questions.map(\.type))
        let isDNS = template.response.form == .dnsJSON
        for type in types where !isDNS && type.addressFamily == nil {
            throw .unsupportedType(type)
        }
        guard let words = template.types else {
            return types.first.map { String($0.rawValue) } ?? ""
        }
        if types.count > 1, let both = words.both { return both }
        switch types.first {
        case .aaaa: return words.ipv6
        case .a: return words.ipv4
        case let type: return type.map { String($0.rawValue) } ?? ""
        }
    }

    mutating func set(_ variable: ProviderTemplate.Variable, _ value: String) {
        values[variable] = value
    }

    /// What a request of this template holds that is between the account and the service.
    func privateValues(_ template: ProviderTemplate) -> [String] {
        let texts =
            [template.path] + template.parameters.map(\.value) + template.headers.map(\.value)
        let known: Set<ProviderTemplate.Variable> = [
            .account, .accountFirst, .accountSecond, .secret, .key, .nonce, .payload, .signature,
        ]
        return known.intersection(texts.flatMap(\.variables)).compactMap { values[$0] }
    }

    func text(_ text: ProviderTemplate.Text) -> String {
        text.pieces.reduce(into: "") { result, piece in
            switch piece {
            case .literal(let literal): result += literal
            case .variable(let variable): result += values[variable] ?? ""
            }
        }
    }

    /// The text with every value fit to stand in a path.
    func path(_ text: ProviderTemplate.Text) -> String {
        text.pieces.reduce(into: "") { result, piece in
            switch piece {
            case .literal(let literal): result += literal
            case .variable(let variable): result += QueryString.encoded(values[variable] ?? "")
            }
        }
    }

    /// True when a variable in it has no value.
    func isEmpty(in text: ProviderTemplate.Text) -> Bool {
        text.variables.contains { values[$0]?.isEmpty ?? true }
    }

    func signature(
        _ signature: ProviderTemplate.Signature, secret: Secret?
    ) throws(QueryFailure) -> String {
        let pieces = signature.pieces.filter { !signature.dropsEmpty || !isEmpty(in: $0) }
        var texts = pieces.map(text)
        if signature.order == .ascending {
            texts.sort { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
        }
        let message = Array(texts.joined(separator: signature.joiner).utf8)
        return try Signing.perform {
            let octets =
                switch signature.algorithm {
                case .md5: try Digest.md5(message)
                case .sha256: try Digest.sha256(message)
                case .hmacSHA256:
                    try Digest.hmacSHA256(
                        key: TemplateCipher.octets(secret, signature.keyEncoding) ?? [],
                        message: message)
                }
            return signature.encoding == .hex ? Hex.encoded(octets) : Base64.encoded(octets)
        }
    }
}

/// A cipher as a template describes it.
struct TemplateCipher: Sendable {
    private let cipher: Cipher
    private let encoding: ProviderTemplate.TextEncoding

    init(
        _ encryption: ProviderTemplate.Encryption, _ credentials: TemplateCodec.Credentials
    ) throws(QueryFailure) {
        guard let algorithm = Cipher.Algorithm(rawValue: encryption.cipher) else {
            throw .misconfigured("the profile's cipher \(encryption.cipher) is unknown")
        }
        let secret = encryption.key == .key ? credentials.key : credentials.secret
        guard var key = Self.octets(secret, encryption.keyEncoding), !key.isEmpty else {
            throw .misconfigured("the key of the cipher is not hexadecimal, or missing")
        }
        let missing = algorithm.keyOctets - key.count
        if encryption.keyEncoding == .pkcs7, missing > 0 {
            // Source: RFC 5652 §6.3, which help.yunaq.com/faq/2006 fills keys up by.
            key += [UInt8](repeating: UInt8(truncatingIfNeeded: missing), count: missing)
        }
        do throws(CipherError) {
            cipher = try Cipher(algorithm, key: key)
            _ = try cipher.sealed([], iv: [UInt8](repeating: 0, count: algorithm.ivOctets))
        } catch {
            throw .misconfigured("\(error)")
        }
        encoding = encryption.encoding
    }

    static func octets(_ secret: Secret?, _ encoding: ProviderTemplate.KeyEncoding) -> [UInt8]? {
        guard let text = secret?.revealed else { return nil }
        return encoding == .hex ? Hex.decoded(text) : Array(text.utf8)
    }

    var ivOctets: Int { cipher.algorithm.ivOctets }

    func sealed(_ plain: [UInt8], iv: [UInt8]) throws(CipherError) -> String {
        let sealed = try cipher.sealed(plain, iv: iv)
        return encoding == .hex ? Hex.encoded(sealed) : Base64.encoded(sealed)
    }

    /// The plain octets of a body: in the stated encoding, else in the other, else as they are.
    ///
    /// Because: documents that say how a body is encrypted seldom say how it is written.
    func opened(_ body: [UInt8]) throws(CipherError) -> [UInt8] {
        let texts =
            encoding == .hex
            ? [CipherText.hex(body), CipherText.base64(body)]
            : [CipherText.base64(body), CipherText.hex(body)]
        for case let sealed? in texts {
            if let plain = try? cipher.opened(sealed) { return plain }
        }
        return try cipher.opened(body)
    }
}
