internal import HTTPDNSNames
internal import HTTPDNSWire

// Qiniu's JSON: `/resolve?domain=`. Source: Qiniu, CDN HTTPDNS, fusion/11875.
extension ServiceExchange {
    mutating func qiniu() throws(LabRefusal) -> LabResponse {
        guard request.method == "GET" else { throw .wrongMethod }
        let account = try account(parameters["accountId"])
        let list = try required("domain")
        try checkQiniuSignature(list, account)
        let type: RecordType
        switch parameters["type"]?.uppercased() ?? "A" {
        case "A": type = .a
        case "AAAA": type = .aaaa
        default: throw .wrongType
        }
        let names = list.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        // Source: Qiniu, CDN HTTPDNS: ten names.
        try hear(names: names, atMost: 10)
        hear(client: parameters["cip"])
        var elements: [String] = []
        for name in listed(names) {
            let found = try found(name, type)
            elements.append(
                JSONText.object([
                    ("domain", JSONText.string(spelled(name))), ("ip", addresses(found.addresses)),
                    ("ttl", ttl(found.ttlSeconds)),
                ]))
        }
        return .json(
            JSONText.object([
                ("code", "0"), ("client_ip", JSONText.string(clientText)),
                ("data", JSONText.array(elements)),
            ]))
    }

    /// `sign` is the MD5 of `domain-key-t`, `t` the second it ends.
    private mutating func checkQiniuSignature(
        _ list: String, _ account: LabAccount
    ) throws(LabRefusal) {
        let text = try required("t")
        guard let sign = parameters["sign"] else { throw .unsigned }
        event.isSigned = true
        guard sign == LabDigest.md5("\(list)-\(account.secret.revealed)-\(text)") else {
            throw .wrongSignature
        }
        guard let expiry = Int64(text) else { throw .tooFarAhead }
        try checkExpiry(expiry)
    }
}
