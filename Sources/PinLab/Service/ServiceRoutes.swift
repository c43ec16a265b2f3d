internal import CHTTPDNSOpenSSL
internal import HTTPDNSNames
internal import HTTPDNSWire

/// Answers one request of a service from a table.
struct ServiceRoutes {
    let table: LabTable
    let account: LabAccount
    let shape: LabJSONShape
    /// False: answers leave out their TTL.
    let statesTTL: Bool
    let now: WallTime

    func answer(_ request: LabRequest) -> LabResponse {
        let segments = request.path.split(separator: "/", omittingEmptySubsequences: false)
            .dropFirst().map { String($0) }
        switch (segments.first, segments.last, segments.count) {
        case ("dns-query", _, 1): return query(request)
        case ("resolve", _, 1): return json(request, shape)
        case ("d", _, 1): return dnspod(request)
        case (let account?, "d", 2): return aliyun(request, account, isSigned: false)
        case (let account?, "sign_d", 2): return aliyun(request, account, isSigned: true)
        default: return .text("no such path\n", status: 404)
        }
    }
}

// Aliyun's first interface. Source: Alibaba Cloud, HTTPDNS "resolve a domain name".
extension ServiceRoutes {
    private func aliyun(
        _ request: LabRequest, _ identifier: String, isSigned: Bool
    ) -> LabResponse {
        let query = request.query
        guard identifier == account.identifier else { return fault("InvalidAccount", 403) }
        guard isSigned || account.allowsUnsigned else {
            return fault("UnsignedInterfaceDisabled", 403)
        }
        guard request.method == "GET" else { return fault("MethodNotAllowed", 405) }
        guard let host = query["host"] else { return fault("MissingArgument", 400) }
        guard (try? HostName(host)) != nil else { return fault("InvalidHost", 400) }
        if isSigned, let refusal = refusal(host: host, query) { return refusal }
        let families = (query["query"] ?? "4").split(separator: ",")
        let four = table.lookup(host, .a)
        let six = table.lookup(host, .aaaa)
        let ttl = four?.ttl ?? ServiceRoutes.negativeTTL
        return .json(
            JSONText.object([
                ("host", JSONText.string(host)),
                ("ips", families.contains("4") ? quoted(four?.addresses) : nil),
                ("ipsv6", families.contains("6") ? quoted(six?.addresses) : nil),
                ("ttl", statesTTL ? String(ttl) : nil),
                ("origin_ttl", statesTTL ? String(ttl) : nil),
                ("client_ip", JSONText.string("127.0.0.1")),
            ]))
    }

    /// Why the signature is refused: `s` is the MD5 of `host-secret-t` in hexadecimal digits, `t`
    /// the second it expires, at most a day ahead.
    private func refusal(host: String, _ query: [String: String]) -> LabResponse? {
        guard let text = query["t"], let signature = query["s"], let expiry = Int64(text) else {
            return fault("MissingArgument", 400)
        }
        guard signature == ServiceRoutes.md5("\(host)-\(account.secret)-\(text)") else {
            return fault("InvalidSignature", 403)
        }
        guard expiry >= now.secondsSince1970 else { return fault("SignatureExpired", 403) }
        guard expiry - now.secondsSince1970 <= 86_400 else {
            return fault("InvalidDuration", 403)
        }
        return nil
    }

    private func fault(_ code: String, _ status: Int) -> LabResponse {
        .json(JSONText.object([("code", JSONText.string(code))]), status: status)
    }

    private func quoted(_ addresses: [IPAddress]?) -> String {
        JSONText.array((addresses ?? []).map { JSONText.string($0.description) })
    }

    static func md5(_ text: String) -> String {
        let octets = Array(text.utf8)
        var digest = [UInt8](repeating: 0, count: 16)
        guard httpdns_lab_md5(octets, octets.count, &digest) == 1 else { return "" }
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Because: a provider's usual TTL for a name without addresses.
    private static let negativeTTL: UInt32 = 300
}

// DNSPod's text. Source: Tencent Cloud, HTTPDNS "query over HTTP".
extension ServiceRoutes {
    private func dnspod(_ request: LabRequest) -> LabResponse {
        let query = request.query
        guard let host = query["dn"], (try? HostName(host)) != nil else {
            return .text("", status: 404)
        }
        let wantsTTL = query["ttl"] == "1" && statesTTL
        let types: [RecordType] =
            switch query["type"]?.lowercased() {
            case "aaaa": [.aaaa]
            case "addrs": [.a, .aaaa]
            default: [.a]
            }
        let lists = types.map { type in
            let found = table.lookup(host, type) ?? ([], 0)
            guard !found.addresses.isEmpty else { return types.count > 1 ? "0" : "" }
            let joined = found.addresses.map(\.description).joined(separator: ";")
            return wantsTTL ? "\(joined),\(found.ttl)" : joined
        }
        let text = lists.joined(separator: "-")
        let client = query["clientip"] == "1" && !text.isEmpty ? "|127.0.0.1" : ""
        return .text(text + client)
    }
}

// DNS over HTTPS. Source: RFC 8484; the JSON forms of Google, Cloudflare and AliDNS.
extension ServiceRoutes {
    private enum Dialect {
        case google
        case cloudflare
        case aliDNS
    }

    private func query(_ request: LabRequest) -> LabResponse {
        let message: [UInt8]
        switch (request.method, request.query["dns"]) {
        case ("POST", _):
            guard request.value(of: "Content-Type") == "application/dns-message" else {
                return .text("", status: 415)
            }
            message = request.body
        case ("GET", let text?):
            guard let octets = Base64.urlDecoded(text) else {
                return .text("", status: 400)
            }
            message = octets
        case ("GET", nil): return json(request, dialect: .cloudflare)
        default: return .text("", status: 405)
        }
        guard let query = LabQuery(message, isTCP: true) else { return .text("", status: 400) }
        let answer = table.answer(query.question)
        var fields = [LabField("Content-Type", "application/dns-message")]
        let lifetimes = (answer.answers + answer.authorities).map(\.ttlSeconds)
        if statesTTL, let least = lifetimes.min() {
            fields.append(LabField("Cache-Control", "max-age=\(least)"))
        }
        return LabResponse(fields: fields, body: query.replies(answer).first ?? [])
    }

    private func json(_ request: LabRequest, _ shape: LabJSONShape) -> LabResponse {
        switch shape {
        case .google: json(request, dialect: .google)
        case .aliDNS: json(request, dialect: .aliDNS)
        }
    }

    private func json(_ request: LabRequest, dialect: Dialect) -> LabResponse {
        let query = request.query
        guard let text = query["name"], let host = try? HostName(text),
            let type = ServiceRoutes.type(query["type"] ?? "A")
        else { return .json("{\"error\":\"Invalid query\"}", status: 400) }
        let question = LabQuestion(name: WireName(host), type: type, isTCP: true)
        let answer = table.answer(question)
        let dot = dialect == .cloudflare ? "" : "."
        let asked = JSONText.object([
            ("name", JSONText.string(host.text + dot)), ("type", String(type.rawValue)),
        ])
        let records = answer.answers.map { json($0, dot: dot) }
        let authorities = answer.authorities.map { json($0, dot: dot) }
        let body = JSONText.object([
            ("Status", String(answer.code.rawValue)), ("TC", "false"), ("RD", "true"),
            ("RA", "true"), ("AD", "false"), ("CD", "false"),
            ("Question", dialect == .aliDNS ? asked : JSONText.array([asked])),
            ("Answer", records.isEmpty ? nil : JSONText.array(records)),
            ("Authority", authorities.isEmpty ? nil : JSONText.array(authorities)),
            ("Comment", dialect == .google ? JSONText.string("Response from 127.0.0.1.") : nil),
        ])
        let media = dialect == .cloudflare ? "application/dns-json" : "application/json"
        return .text(body, type: media)
    }

    private func json(_ record: ResourceRecord, dot: String) -> String {
        JSONText.object([
            ("name", JSONText.string(record.name.description + dot)),
            ("type", String(record.type.rawValue)),
            ("TTL", statesTTL ? String(record.ttlSeconds) : nil),
            ("data", JSONText.string(ServiceRoutes.presented(record.data))),
        ])
    }

    /// Names in data end in a dot in all three dialects.
    private static func presented(_ data: RecordData) -> String {
        switch data {
        case .address(let address): address.description
        case .name(let name): name.description + "."
        case .soa(let soa):
            "\(soa.primary). \(soa.mailbox). \(soa.serial) \(soa.refreshSeconds) "
                + "\(soa.retrySeconds) \(soa.expireSeconds) \(soa.minimumSeconds)"
        default: ""
        }
    }

    private static func type(_ text: String) -> RecordType? {
        switch text.uppercased() {
        case "A": .a
        case "AAAA": .aaaa
        case "CNAME": .cname
        default: UInt16(text).map { RecordType(rawValue: $0) }
        }
    }
}
