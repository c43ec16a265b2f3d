internal import HTTPDNSNames
internal import HTTPDNSWire

// Wangsu's JSON: `/v1/httpdns/clouddns`. Source: clients of others; the vendor publishes nothing.
extension ServiceExchange {
    mutating func wangsu() throws(LabRefusal) -> LabResponse {
        guard request.method == "GET" else { throw .wrongMethod }
        guard parameters["ws_ret_type"] ?? "json" == "json" else { throw .wrongType }
        let names = try required("ws_domain")
            .split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        // Because: no limit is known; that of the neighbours holds a client to some.
        try hear(names: names, atMost: 10)
        hear(client: parameters["ws_cli_IP"])
        var members: [(String, String?)] = []
        for name in listed(names) {
            let found = try found(name, .a)
            members.append(
                (
                    spelled(name),
                    JSONText.object([
                        ("ips", addresses(found.addresses)), ("ttl", ttl(found.ttlSeconds)),
                    ])
                ))
        }
        return .json(
            JSONText.object([
                ("msg", JSONText.string("ok")), ("data", JSONText.object(members)),
            ]))
    }
}
