internal import HTTPDNSNames
internal import HTTPDNSWire

// Tencent's text: `/d` and `/conf`. Source: Tencent Cloud, HTTPDNS, documents 379/95497 and 3530/95499;
// the end of validity after the names as its iOS library 1.12 writes it.
extension ServiceExchange {
    /// By what a question is known to be a customer's.
    private enum Access {
        case free
        case token(LabAccount?)
        case encrypted(LabAccount, LabCipher)
    }

    mutating func tencent() throws(LabRefusal) -> LabResponse {
        guard request.method == "GET" || request.method == "POST" else { throw .wrongMethod }
        let access = try tencentAccess()
        if request.path == "/conf" { return try tencentConfiguration(access) }
        let names = try tencentNames(access)
        hear(client: tencentClient(access))
        let lines = try tencentLines(names)
        return try tencentAnswer(lines, access)
    }

    private mutating func tencentAccess() throws(LabRefusal) -> Access {
        if let token = parameters["token"] {
            // Tokens are for HTTPS alone: on plain HTTP anybody could take one.
            guard request.isSecure else { throw .wrongSignature }
            let found = settings.accounts.first { $0.token?.revealed == token }
            guard found != nil || settings.accounts.allSatisfy({ $0.token == nil }) else {
                throw .wrongSignature
            }
            event.isSigned = true
            return .token(found)
        }
        guard let identifier = parameters["id"] else { return .free }
        let account = try account(identifier)
        let cipher = try tencentCipher(account)
        event.isEncrypted = true
        return .encrypted(account, cipher)
    }

    /// DES with the first 8 octets of the key; AES with the 16 characters of the key as they
    /// are, a shorter one filled up with `0`.
    private func tencentCipher(_ account: LabAccount) throws(LabRefusal) -> LabCipher {
        let key = Array((account.cipherKey ?? account.secret).revealed.utf8)
        let cipher: LabCipher?
        switch parameters["alg"]?.lowercased() ?? "des" {
        case "des": cipher = LabCipher(.des, key: Array(key.prefix(8)))
        case "aes":
            let zeros = [UInt8](repeating: 0x30, count: max(0, 16 - key.count))
            cipher = LabCipher(.aes128CBC, key: key + zeros)
        default: throw .wrongType
        }
        guard let cipher else { throw .wrongSignature }
        guard cipher.isAvailable else { throw .broken }
        return cipher
    }

    /// `name,name` or `name,name;end`, encrypted or not.
    private mutating func tencentNames(_ access: Access) throws(LabRefusal) -> [String] {
        var text = try required("dn")
        var account: LabAccount?
        var isCustomer = true
        switch access {
        case .free: isCustomer = false
        case .token(let known): account = known
        case .encrypted(let known, let cipher):
            guard let sealed = Hex.decoded(text), let plain = cipher.opened(sealed) else {
                throw .wrongSignature
            }
            account = known
            text = String(decoding: plain, as: UTF8.self)
        }
        if isCustomer, let mark = text.lastIndex(of: ";") {
            guard let expiry = Int64(text[text.index(after: mark)...]) else {
                throw .wrongSignature
            }
            try checkExpiry(expiry)
            event.isSigned = true
            text = String(text[..<mark])
        } else if account?.demandsTimestamp == true {
            throw .unsigned
        }
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        // Source: Tencent Cloud, HTTPDNS: eight names.
        try hear(names: names, atMost: 8)
        return names
    }

    /// The documents want `ip` encrypted as `dn` is, the vendor's libraries send it as it is.
    private func tencentClient(_ access: Access) -> String? {
        guard let text = parameters["ip"], case .encrypted(_, let cipher) = access,
            let plain = Hex.decoded(text).flatMap(cipher.opened)
        else { return parameters["ip"] }
        return String(decoding: plain, as: UTF8.self)
    }

    private func tencentLines(_ names: [String]) throws(LabRefusal) -> String {
        let isNamed =
            names.count > 1 || parameters["query"] == "1"
            || faults.contains(.answersEmptyAs(.namedZero))
        let told = listed(names)
        var lines: [String] = []
        for (index, name) in told.enumerated() {
            let isLast = index == told.count - 1
            let line = try tencentLine(name, isNamed: isNamed)
            let wantsClient =
                parameters["clientip"] == "1" && !line.isEmpty && !line.contains("|")
                && (isLast || !faults.contains(.clientOnLastLine))
            lines.append(line + (wantsClient ? "|" + clientText : ""))
        }
        return lines.joined(separator: "\n")
    }

    private func tencentLine(_ name: String, isNamed: Bool) throws(LabRefusal) -> String {
        let types: [RecordType] =
            switch parameters["type"]?.lowercased() {
            case "aaaa": [.aaaa]
            case "addrs": [.a, .aaaa]
            default: [.a]
            }
        var lists: [String] = []
        var isEmpty = true
        for type in types {
            let found = try found(name, type)
            isEmpty = isEmpty && found.addresses.isEmpty
            lists.append(tencentList(found, orZero: isNamed || types.count > 1))
        }
        if isEmpty, faults.contains(.answersEmptyAs(.zero)) { return "0" }
        if isEmpty, faults.contains(.answersEmptyAs(.nameAndClient)) {
            return "\(name)|\(clientText)"
        }
        let list = lists.joined(separator: "-")
        return isNamed ? "\(spelled(name, endsInDot: true)):\(list)" : list
    }

    private func tencentList(_ found: Found, orZero: Bool) -> String {
        guard !found.addresses.isEmpty else { return orZero ? "0" : "" }
        let list =
            found.addresses.map(\.description).joined(separator: ";")
            + (faults.contains(.trailingSemicolon) ? ";" : "")
        guard parameters["ttl"] == "1", let ttl = ttl(found.ttlSeconds, inText: true) else {
            return list
        }
        return "\(list),\(ttl)"
    }

    private func tencentAnswer(
        _ text: String, _ access: Access
    ) throws(LabRefusal) -> LabResponse {
        guard !text.isEmpty, case .encrypted(_, let cipher) = access else { return .text(text) }
        return .text(try sealedHex(text, cipher))
    }

    /// Source: the configuration that its libraries read.
    private func tencentConfiguration(_ access: Access) throws(LabRefusal) -> LabResponse {
        let addresses = (settings.schedule ?? LabSchedule([place.address])).addresses
            .map(\.description).joined(separator: ";")
        return try tencentAnswer("log:1|domain:0|ip:\(addresses)|ttl:60", access)
    }
}
