internal import HTTPDNSDigest
internal import HTTPDNSExchange
package import HTTPDNSLookup
package import HTTPDNSNames
package import HTTPDNSWire

/// Tencent / DNSPod HTTPDNS: `/d?dn=a,b&ttl=1`, up to eight names, answered in plain text or, with a
/// key, in the hexadecimal of its ciphertext. ``DNSPodAnswer`` has the grammar.
///
/// Source: cloud.tencent.com/document/product/379/95497, 17669 and the vendor's SDKs.
package struct DNSPodCodec: HTTPDNSCodec {
    /// How the service knows the account.
    package enum Access: Sendable {
        /// It does not: the free service.
        case open
        /// By a number that is sent, over https only.
        case token(Secret)
        /// By the encryption of the names. DES takes the first eight octets of the key.
        case des(id: String, key: Secret)
        /// AES-128-CBC; the key's text is the key, filled up with `0` to 16 octets.
        case aes(id: String, key: Secret)
    }

    /// What the vendor's SDKs and documents disagree on.
    package struct Options: Sendable {
        /// Adds `;{expiry}` to the names. Source: the vendor's iOS SDK 1.12.0; others do not.
        package var datesNames = false
        /// Encrypts the client's address too, as the documents say. The SDKs send it in clear.
        package var encryptsClientAddress = false

        package init() {}
    }

    let path: String
    let token: Secret?
    let encryption: Encryption?
    private let options: Options
    private let randomOctets: @Sendable (Int) -> [UInt8]

    /// An account's cipher, and how it is named in requests.
    struct Encryption: Sendable {
        let id: String
        let name: String
        let cipher: Cipher
    }

    /// - Parameters:
    ///   - path: `/d` for the vendor's own servers; may have a query.
    ///   - token: the number that the enterprise service wants over HTTPS.
    /// - Throws: ``QueryFailure/misconfigured(_:)``.
    package init(path: String = "/d", token: Secret? = nil) throws(QueryFailure) {
        try self.init(path: path, access: token.map { .token($0) } ?? .open)
    }

    /// - Throws: ``QueryFailure/misconfigured(_:)``.
    package init(
        path: String = "/d", access: Access, options: Options = Options(),
        randomOctets: @escaping @Sendable (Int) -> [UInt8] = { Cipher.randomOctets($0) }
    ) throws(QueryFailure) {
        self.path = path.isEmpty || path == "/" ? "/d" : path
        self.options = options
        self.randomOctets = randomOctets
        switch access {
        case .open:
            token = nil
            encryption = nil
        case .token(let given):
            guard !given.isEmpty else {
                throw .misconfigured("the DNSPod token is empty: give it, or leave it out")
            }
            token = given
            encryption = nil
        case .des(let id, let key):
            token = nil
            encryption = try Self.encryption(id, "des", .desECB, Array(key.revealed.utf8.prefix(8)))
        case .aes(let id, let key):
            token = nil
            var octets = Array(key.revealed.utf8.prefix(16))
            // Source: the vendor's Android SDK.
            if !octets.isEmpty {
                octets += [UInt8](repeating: 0x30, count: 16 - octets.count)
            }
            encryption = try Self.encryption(id, "aes", .aes128CBC, octets)
        }
    }

    private static func encryption(
        _ id: String, _ name: String, _ algorithm: Cipher.Algorithm, _ key: [UInt8]
    ) throws(QueryFailure) -> Encryption {
        guard !id.isEmpty, id.utf8.count <= 10, id.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else {
            throw .misconfigured(
                "encrypting needs the DNSPod authorization ID, a number (`account`, --account)")
        }
        do throws(CipherError) {
            let cipher = try Cipher(algorithm, key: key)
            // Tells now, not at the first question, when this system has no DES.
            _ = try cipher.sealed([], iv: [UInt8](repeating: 0, count: algorithm.ivOctets))
            return Encryption(id: id, name: name, cipher: cipher)
        } catch .keyLength {
            throw .misconfigured("the DNSPod key is empty or too short: copy it from the console")
        } catch {
            throw .misconfigured("\(error)")
        }
    }

    package var supportedTypes: Set<RecordType>? { [.a, .aaaa] }
    package var answerTransport: AnswerTransport { .httpdns }
    package var sendsSecret: Bool { token != nil }

    /// The free service answers for one name and one family.
    package var batching: Batching {
        token == nil && encryption == nil
            ? .none : Batching(maximumNames: 8, joinsFamilies: true)
    }

    package var encryptsAnswers: Bool { encryption != nil }

    /// How far ahead the names are dated. Source: the vendor's iOS SDK 1.12.0.
    static let dateLifetimeSeconds: Int64 = 600

    package func request(
        for question: Question, now: WallTime
    ) throws(QueryFailure) -> HTTPDNSRequest {
        try request(for: [question], now: now)
    }

    package func request(
        for questions: [Question], now: WallTime
    ) throws(QueryFailure) -> HTTPDNSRequest {
        let asked = try AskedNames(questions, maximumNames: batching.maximumNames)
        var names = asked.joined
        if options.datesNames {
            names += ";" + String(now.secondsSince1970 &+ Self.dateLifetimeSeconds)
        }
        var query = QueryString()
        let sent = try encrypted(names)
        query.append("dn", list: sent.split(","))
        var privateValues = EchoMask.parts(of: path)
        if let encryption {
            query.append("id", encryption.id)
            query.append("alg", encryption.name)
            privateValues += [encryption.id, sent]
        }
        if let token {
            query.append("token", token.revealed)
            privateValues.append(token.revealed)
        }
        query.append("ttl", "1")
        query.append("clientip", "1")
        if asked.wantsBoth {
            query.append("type", "addrs")
        } else if asked.families == [.ipv6] {
            query.append("type", "aaaa")
        }
        if let subnet = asked.clientSubnet {
            let address = subnet.address.description
            query.append("ip", options.encryptsClientAddress ? try encrypted(address) : address)
        }
        return HTTPDNSRequest(
            target: query.appended(to: path), accept: "text/plain, */*;q=0.1",
            privateValues: privateValues)
    }

    private func encrypted(_ text: String) throws(QueryFailure) -> String {
        guard let cipher = encryption?.cipher else { return text }
        return try Signing.perform {
            Hex.encoded(
                try cipher.sealed(
                    Array(text.utf8), iv: randomOctets(cipher.algorithm.ivOctets)))
        }
    }
}

// Reading
extension DNSPodCodec {
    package func testimony(
        from response: HTTPDNSResponse, for question: Question, source: Testimony.Source
    ) throws(QueryFailure) -> Testimony {
        let scope = DNSPodAnswer.Scope(wantsBoth: false, isBatch: false)
        return try testimony(
            reading: try text(of: response), of: response, for: question, in: scope, source)
    }

    package func testimonies(
        from response: HTTPDNSResponse, for questions: [Question], source: Testimony.Source
    ) -> [Result<Testimony, QueryFailure>] {
        let text: String
        do throws(QueryFailure) { text = try self.text(of: response) } catch {
            return questions.map { _ in .failure(error) }
        }
        let scope = DNSPodAnswer.Scope(
            wantsBoth: Set(questions.map(\.type)).count > 1,
            isBatch: Set(questions.map(\.name)).count > 1)
        return questions.map { question in
            do throws(QueryFailure) {
                return .success(
                    try testimony(
                        reading: text, of: response, for: question, in: scope, source))
            } catch {
                return .failure(error)
            }
        }
    }

    package func isLegible(_ response: HTTPDNSResponse) -> Bool {
        (try? text(of: response)).map { DNSPodCodec.isLine(Array($0.utf8)) } ?? false
    }

    /// False for what no answer in text begins with: a page of HTML, or JSON.
    static func isLine(_ body: [UInt8]) -> Bool {
        let first = body.first { $0 != 0x20 && !(0x09...0x0D).contains($0) }
        return first.map { !Array("<{[".utf8).contains($0) && $0 < 0x80 } ?? true
    }

    /// The answer in clear.
    func text(of response: HTTPDNSResponse) throws(QueryFailure) -> String {
        guard response.isSuccess else { throw .httpStatus(response.status) }
        guard response.body.count <= Self.maximumOctets,
            response.body.allSatisfy({ $0 < 0x80 && $0 != 0 })
        else { throw response.malformed("the body is not a line of ASCII text") }
        let isBlank = response.body.allSatisfy { $0 == 0x20 || (0x09...0x0D).contains($0) }
        guard let encryption, !isBlank else {
            return String(decoding: response.body, as: UTF8.self)
        }
        guard let sealed = CipherText.hex(response.body) else {
            throw response.malformed("the body is not the hexadecimal text of an encrypted answer")
        }
        let plain: [UInt8]
        do throws(CipherError) { plain = try encryption.cipher.opened(sealed) } catch {
            throw response.malformed("the answer: \(error)")
        }
        guard plain.allSatisfy({ $0 < 0x80 && $0 != 0 }) else {
            throw response.malformed("the decrypted answer is not ASCII text")
        }
        return String(decoding: plain, as: UTF8.self)
    }

    private func testimony(
        reading text: String, of response: HTTPDNSResponse, for question: Question,
        in scope: DNSPodAnswer.Scope, _ source: Testimony.Source
    ) throws(QueryFailure) -> Testimony {
        guard let family = question.type.addressFamily else {
            throw .unsupportedType(question.type)
        }
        let answer: DNSPodAnswer
        do throws(QueryFailure) {
            answer = try DNSPodAnswer(
                text, to: (question.name, family), in: scope, response)
        } catch {
            // The error would quote it.
            guard !repeatsToken(text) else {
                throw .malformed("the body is not an answer; it repeats what we sent")
            }
            throw error
        }
        var source = source
        source.clientAddress = answer.clientAddress
        let name = WireName(question.name)
        let records = answer.addresses.map { address in
            ResourceRecord(
                name: name, type: question.type, ttlSeconds: answer.lifetimeSeconds,
                data: .address(address))
        }
        return Testimony(question: question, code: .noError, answers: records, source: source)
    }

    /// Login pages and debugging proxies send requests back, and with them the token.
    private func repeatsToken(_ text: String) -> Bool {
        guard let token = token?.revealed else { return false }
        return [token, QueryString.encoded(token)].contains { text.contains($0) }
    }

    /// Because: 4 096 addresses of 15 octets, more than a DNS message holds.
    static let maximumOctets = 65_536
}

extension RecordType {
    /// The family that an address type holds; nil for every other type.
    var addressFamily: IPAddress.Family? {
        switch self {
        case .a: .ipv4
        case .aaaa: .ipv6
        default: nil
        }
    }
}
