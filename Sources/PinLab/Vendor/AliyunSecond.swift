internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSWire

// Aliyun's second interface: `/v2/d`. Source: Alibaba Cloud, HTTPDNS, document 2978980; what is
// signed as its Android library has it.
extension ServiceExchange {
    mutating func aliyun2() throws(LabRefusal) -> LabResponse {
        guard request.method == "GET" else { throw .wrongMethod }
        let account = try account(try required("id"))
        let mode = parameters["m"] ?? "0"
        let cipher = try secondCipher(mode, account)
        try checkSecondSignature(account, isEncrypted: cipher != nil)
        let asked = try cipher.map { cipher throws(LabRefusal) in try payload(cipher) }
        event.isEncrypted = asked != nil
        let values = asked ?? parameters
        guard let list = values["dn"], !list.isEmpty else { throw .missingArgument }
        let names = list.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        try hear(names: names, atMost: Self.mostNames)
        try hearCustom(values)
        event.custom["tags"] = values["tags"]
        hear(client: values["cip"])
        let data = try secondData(listed(names), Self.families(values["q"]))
        return .json(try secondBody(data, mode: mode, cipher))
    }

    /// Nil for the plain mode.
    private func secondCipher(
        _ mode: String, _ account: LabAccount
    ) throws(LabRefusal) -> LabCipher? {
        let algorithm: LabCipher.Algorithm
        switch mode {
        case "0": return nil
        case "1": algorithm = .aes128CBC
        case "2": algorithm = .aes128GCM
        default: throw .missingArgument
        }
        guard let text = account.cipherKey?.revealed, let key = Hex.decoded(text),
            let cipher = LabCipher(algorithm, key: key)
        else { throw .wrongSignature }
        return cipher
    }

    /// HMAC-SHA-256 over the parameters that take part, sorted by name, as they are before
    /// percent-encoding.
    private mutating func checkSecondSignature(
        _ account: LabAccount, isEncrypted: Bool
    ) throws(LabRefusal) {
        guard parameters["s"] != nil else {
            guard account.allowsUnsigned else { throw .unsigned }
            return
        }
        event.isSigned = true
        let signature = try required("s")
        guard let expiry = Int64(try required("exp")) else { throw .missingArgument }
        let names: Set =
            isEncrypted
            ? ["enc", "exp", "id", "m", "v"]
            : ["id", "m", "dn", "cip", "q", "exp", "tags", "v"]
        let signed = parameters.filter { name, value in
            !value.isEmpty && (names.contains(name) || !isEncrypted && name.hasPrefix("sdns-"))
        }
        let text = signed.sorted { Self.isBefore($0.key, $1.key) }
            .map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        let code = LabDigest.hmacSHA256(hexKey: account.secret.revealed, text)
        guard !code.isEmpty, signature == code else { throw .wrongSignature }
        try checkExpiry(expiry)
    }

    /// By octets, whatever a language thinks of their order.
    static func isBefore(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    /// The members of the object in `enc`, all of them strings.
    private func payload(_ cipher: LabCipher) throws(LabRefusal) -> [String: String] {
        guard let sealed = Hex.decoded(try required("enc")), let octets = cipher.opened(sealed),
            let object = try? JSONValue.parse(octets).object
        else { throw .wrongSignature }
        return Dictionary(
            object.members.compactMap { member in
                member.value.string.map { (member.name, $0) }
            }
        ) { $1 }
    }

    private func secondData(
        _ names: [String], _ wanted: (four: Bool, six: Bool)
    ) throws(LabRefusal) -> String {
        var answers: [String] = []
        for name in names {
            let four = try found(name, .a)
            let six = try found(name, .aaaa)
            answers.append(
                JSONText.object([
                    ("dn", JSONText.string(spelled(name))),
                    ("v4", wanted.four ? family(four) : nil),
                    ("v6", wanted.six ? family(six) : nil),
                ]))
        }
        return JSONText.object([
            ("cip", JSONText.string(clientText)), ("answers", JSONText.array(answers)),
        ])
    }

    private func family(_ found: Found) -> String {
        let isEmpty = found.addresses.isEmpty
        let isSilent = faults.contains(.answersEmptyAs(.absent))
        return JSONText.object([
            ("ips", isEmpty ? nil : addresses(found.addresses)),
            ("ttl", ttl(found.ttlSeconds)),
            ("extra", found.extra.map { JSONText.string(Self.escaped($0)) }),
            ("no_ip_code", isEmpty && !isSilent ? JSONText.string("RRNotExist") : nil),
        ])
    }

    private func secondBody(
        _ data: String, mode: String, _ cipher: LabCipher?
    ) throws(LabRefusal) -> String {
        var told = data
        if let cipher, !faults.contains(.plainData) {
            told = JSONText.string(try sealedBase64(data, cipher))
        }
        return JSONText.object([
            ("code", JSONText.string("success")),
            ("mode", faults.contains(.leavesOutMode) ? nil : mode), ("data", told),
        ])
    }
}
