internal import HTTPDNSNames
internal import HTTPDNSWire

// Baidu's JSON: `/v4/resolve`, `/v3/resolve`. Source: Baidu Cloud, HTTPDNS, s/Vjwvxm96x.
extension ServiceExchange {
    mutating func baidu() throws(LabRefusal) -> LabResponse {
        guard request.method == "GET" else { throw .wrongMethod }
        let account = try account(try required("account_id"))
        let signed: String
        let names: [String]
        switch (parameters["dn"], parameters["tag"]) {
        case (let list?, nil):
            signed = list
            names = list.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        case (nil, let tag?):
            signed = tag
            names = settings.tags[tag] ?? []
        default: throw .missingArgument
        }
        try checkBaiduSignature(signed, account)
        // Source: Baidu Cloud, HTTPDNS: ten names; a tag may stand for more.
        try hear(names: names, atMost: parameters["tag"] == nil ? 10 : .max)
        hear(client: parameters["ip"])
        let isOld = request.path.hasPrefix("/v3/")
        var members: [(String, String?)] = []
        for name in listed(names) {
            members.append((spelled(name), try isOld ? baiduOld(name) : baiduNew(name)))
        }
        let body = JSONText.object([
            ("msg", JSONText.string("ok")), ("data", JSONText.object(members)),
            ("clientip", JSONText.string(clientText)), ("timestamp", String(now)),
            ("serverip", parameters["alt_server_ip"] == "true" ? baiduServers() : nil),
        ])
        // The vendor labels its JSON as text.
        return .text(body)
    }

    /// `sign` is the MD5 of `names-secret-t`, `t` the second it ends.
    private mutating func checkBaiduSignature(
        _ signed: String, _ account: LabAccount
    ) throws(LabRefusal) {
        let text = try required("t")
        guard let sign = parameters["sign"] else { throw .unsigned }
        event.isSigned = true
        guard sign == LabDigest.md5("\(signed)-\(account.secret.revealed)-\(text)") else {
            throw .wrongSignature
        }
        guard text.utf8.count == 10, let expiry = Int64(text) else { throw .missingArgument }
        try checkExpiry(expiry)
    }

    private func baiduOld(_ name: String) throws(LabRefusal) -> String {
        baiduFamily(try found(name, .a))
    }

    /// The families of `type`, or IPv4.
    private func baiduNew(_ name: String) throws(LabRefusal) -> String {
        let wanted = (parameters["type"] ?? "ipv4").lowercased()
        let four = try found(name, .a)
        let six = try found(name, .aaaa)
        return JSONText.object([
            ("ipv4", wanted.contains("ipv4") ? baiduFamily(four) : nil),
            ("ipv6", wanted.contains("ipv6") ? baiduFamily(six) : nil),
        ])
    }

    private func baiduFamily(_ found: Found) -> String {
        JSONText.object([
            ("ip", addresses(found.addresses)), ("ttl", ttl(found.ttlSeconds)),
        ])
    }

    private func baiduServers() -> String {
        let addresses = (settings.schedule ?? LabSchedule([place.address])).addresses
        return JSONText.object([
            ("ipv4", self.addresses(addresses.filter { $0.family == .ipv4 })),
            ("ipv6", self.addresses(addresses.filter { $0.family == .ipv6 })),
        ])
    }
}
