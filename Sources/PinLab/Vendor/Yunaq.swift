internal import HTTPDNSNames
internal import HTTPDNSWire

// Yunaq's JSON or text: `/?host=`. Source: Yunaq help, faq/2006.
extension ServiceExchange {
    mutating func yunaq() throws(LabRefusal) -> LabResponse {
        guard request.method == "GET" else { throw .wrongMethod }
        let account = try account(try required("account_id"))
        let sent = try required("host")
        let cipher = parameters["encrypt"] == "1" ? Self.yunaqCipher(account) : nil
        guard cipher != nil || parameters["encrypt"] != "1" else { throw .wrongSignature }
        var name = sent
        // The encoding is not published: hexadecimal digits and Base64 are taken, and the answer
        // comes as the question did.
        let sealed = cipher.flatMap { _ in Hex.decoded(sent) ?? Base64.decoded(sent) }
        if let opened = sealed.flatMap({ cipher?.opened($0) }) {
            event.isEncrypted = true
            name = String(decoding: opened, as: UTF8.self)
        }
        try checkYunaqSignature(name, account)
        try hear(names: [name], atMost: 1)
        hear(client: parameters["ip"])
        let text = try yunaqText(name)
        guard let cipher else { return parameters["out"] == "text" ? .text(text) : .json(text) }
        let isHex = Hex.decoded(sent) != nil
        return .text(isHex ? try sealedHex(text, cipher) : try sealedBase64(text, cipher))
    }

    /// AES-256-ECB; the key is padded to 32 octets as a message would be.
    private static func yunaqCipher(_ account: LabAccount) -> LabCipher? {
        let key = Array((account.cipherKey ?? account.secret).revealed.utf8)
        guard key.count <= 32 else { return nil }
        let missing = 32 - key.count
        return LabCipher(
            .aes256ECB, key: key + [UInt8](repeating: UInt8(missing), count: missing))
    }

    /// `sign` is the MD5 of `host-secret-t`; `t` is the second it ends, at most 600 ahead.
    private mutating func checkYunaqSignature(
        _ name: String, _ account: LabAccount
    ) throws(LabRefusal) {
        let text = try required("t")
        guard let sign = parameters["sign"] else { throw .unsigned }
        event.isSigned = true
        guard sign == LabDigest.md5("\(name)-\(account.secret.revealed)-\(text)") else {
            throw .wrongSignature
        }
        guard let expiry = Int64(text) else { throw .missingArgument }
        guard expiry >= now else { throw .expired }
        guard expiry <= now &+ 600 else { throw .tooFarAhead }
    }

    private func yunaqText(_ name: String) throws(LabRefusal) -> String {
        let isSix = ["AAAA", "28"].contains(parameters["qtype"]?.uppercased() ?? "A")
        let found = try found(name, isSix ? .aaaa : .a)
        let ttl = parameters["ttl"] == "0" ? nil : ttl(found.ttlSeconds, inText: isText)
        guard isText else {
            guard !found.addresses.isEmpty else { return "{}" }
            return JSONText.object([
                (isSix ? "ipsv6" : "ips", addresses(found.addresses)), ("ttl", ttl),
                ("host", JSONText.string(spelled(name))),
            ])
        }
        guard !found.addresses.isEmpty else { return "" }
        let list = found.addresses.map(\.description).joined(separator: ",")
        return list + (ttl.map { ";" + $0 } ?? "")
            + (faults.contains(.trailingSemicolon) ? ";" : "")
    }

    private var isText: Bool { parameters["out"] == "text" }
}
