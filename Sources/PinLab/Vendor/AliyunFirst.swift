internal import HTTPDNSNames
internal import HTTPDNSWire

// Aliyun's first interface: `/{account}/d`, `sign_d`, `resolve`, `sign_resolve`.
// Source: Alibaba Cloud, HTTPDNS, "resolve a domain name" and "resolve multiple domain names".
extension ServiceExchange {
    mutating func aliyun() throws(LabRefusal) -> LabResponse {
        let segments = request.path.split(separator: "/").map { String($0) }
        let account = try account(segments.first)
        let action = segments.last ?? ""
        let isSigned = action.hasPrefix("sign_")
        let isBatch = action.hasSuffix("resolve")
        guard isSigned || account.allowsUnsigned else { throw .unsigned }
        guard request.method == "GET" else { throw .wrongMethod }
        let hosts = try required("host")
        let names = hosts.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard isBatch || names.count == 1 else { throw .tooManyNames }
        try hear(names: names, atMost: Self.mostNames)
        try hearCustom(parameters)
        if isSigned { try checkFirstSignature(hosts, account) }
        return isBatch ? try batch(names) : try single(hosts)
    }

    /// `s` is the MD5 of `hosts-secret-t`; `t` is the second it ends, at most a day ahead.
    private mutating func checkFirstSignature(
        _ hosts: String, _ account: LabAccount
    ) throws(LabRefusal) {
        event.isSigned = true
        let text = try required("t")
        let signature = try required("s")
        guard let expiry = Int64(text) else { throw .missingArgument }
        guard signature == LabDigest.md5("\(hosts)-\(account.secret.revealed)-\(text)") else {
            throw .wrongSignature
        }
        try checkExpiry(expiry)
    }

    /// An end of validity: not over, and at most a day ahead. Source: `InvalidDuration`.
    func checkExpiry(_ expiry: Int64) throws(LabRefusal) {
        guard expiry >= now else { throw .expired }
        let (ahead, overflow) = expiry.subtractingReportingOverflow(now)
        guard !overflow, ahead <= 86_400 else { throw .tooFarAhead }
    }

    /// Notes `sdns-` parameters. Source: Alibaba Cloud: keys of letters, digits, `_` and `-`, values
    /// also with `=`, 1,000 octets in all.
    mutating func hearCustom(_ parameters: [String: String]) throws(LabRefusal) {
        let custom = parameters.filter { $0.key.hasPrefix("sdns-") }
        event.custom.merge(custom) { $1 }
        let octets = custom.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        let areWellFormed = custom.allSatisfy { key, value in
            key.utf8.allSatisfy(Self.isWordOctet)
                && value.utf8.allSatisfy { Self.isWordOctet($0) || $0 == 0x3D }
        }
        guard octets <= 1_000, areWellFormed else { throw .wrongCustomParameters }
    }

    private static func isWordOctet(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
    }

    private mutating func single(_ name: String) throws(LabRefusal) -> LabResponse {
        hear(client: parameters["ip"])
        let wanted = Self.families(parameters["query"])
        let four = try found(name, .a)
        let six = try found(name, .aaaa)
        let members: [(String, String?)] = [
            ("host", JSONText.string(spelled(name))),
            ("ips", wanted.four ? addresses(four.addresses) : nil),
            ("ipsv6", wanted.six ? addresses(six.addresses) : nil),
        ]
        return .json(JSONText.object(members + closing(wanted.four ? four : six)))
    }

    /// One element a name, or, for one name, one element a client address.
    private mutating func batch(_ names: [String]) throws(LabRefusal) -> LabResponse {
        let clients = request.queryParameters.filter { $0.name == "ip" }
            .flatMap { $0.value.split(separator: ",").map { String($0) } }
        guard clients.count <= 1 || names.count == 1, clients.count <= Self.mostNames else {
            throw .tooManyNames
        }
        var elements: [String] = []
        for client in clients.isEmpty ? [nil] : clients.map(Optional.some) {
            hear(client: client)
            for name in listed(names) { elements += try batchElements(name) }
        }
        return .json(JSONText.object([("dns", JSONText.array(elements))]))
    }

    /// One element, or with `type` one for each family that was asked for.
    private func batchElements(_ name: String) throws(LabRefusal) -> [String] {
        let wanted = Self.families(parameters["query"])
        let four = try found(name, .a)
        let six = try found(name, .aaaa)
        let host = ("host", Optional(JSONText.string(spelled(name))))
        guard faults.contains(.addsType) else {
            let members = [
                host, ("ips", wanted.four ? addresses(four.addresses) : nil),
                ("ipsv6", wanted.six ? addresses(six.addresses) : nil),
            ]
            return [JSONText.object(members + closing(wanted.four ? four : six))]
        }
        var elements: [String] = []
        for (isWanted, found, type) in [(wanted.four, four, "1"), (wanted.six, six, "28")]
        where isWanted {
            elements.append(
                JSONText.object(
                    [host, ("type", type), ("ips", addresses(found.addresses))] + closing(found)))
        }
        return elements
    }

    private func closing(_ found: Found) -> [(String, String?)] {
        [
            ("ttl", ttl(found.ttlSeconds)),
            ("origin_ttl", faults.contains(.leavesOutOriginTTL) ? nil : ttl(found.ttlSeconds)),
            ("client_ip", JSONText.string(clientText)),
            ("extra", found.extra.map { JSONText.string(Self.escaped($0)) }),
        ]
    }

    /// `4`, `6` or `4,6`; `4` where nothing is said.
    static func families(_ text: String?) -> (four: Bool, six: Bool) {
        let families = (text ?? "4").split(separator: ",")
        return (families.contains("4"), families.contains("6"))
    }

    /// `extra` arrives as HTML would have it.
    static func escaped(_ text: String) -> String {
        text.map { character in
            switch character {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            default: String(character)
            }
        }.joined()
    }

    /// Source: Alibaba Cloud, HTTPDNS: five names or five client addresses in one question.
    static let mostNames = 5
}
