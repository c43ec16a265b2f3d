internal import HTTPDNSNames
internal import HTTPDNSWire

// UCloud's JSON: `/{account}/resolve`, `/{account}/service`. Source: UCloud, httpdns, sdk/api.md.
extension ServiceExchange {
    mutating func ucloud() throws(LabRefusal) -> LabResponse {
        guard request.method == "GET" else { throw .wrongMethod }
        let segments = request.path.split(separator: "/").map { String($0) }
        let account = try account(segments.first)
        try checkUCloudSignature(account)
        guard segments.last == "resolve" else { return ucloudService(account) }
        _ = try required("app_id")
        let name = try required("host")
        try hear(names: [name], atMost: 1)
        let found = try found(name, .a)
        guard !found.addresses.isEmpty || faults.contains(.answersEmpty) else {
            throw .noAddress
        }
        return .json(
            JSONText.object([
                ("host", JSONText.string(spelled(name))),
                ("client_ip", JSONText.string(clientText)),
                ("ip_list", addresses(found.addresses)), ("ttl", ttl(found.ttlSeconds)),
            ]))
    }

    /// The header `Authorization` is the MD5 of the values, sorted by their names, and the secret,
    /// with `-` between. `timestamp` is now, a minute more or less.
    private mutating func checkUCloudSignature(_ account: LabAccount) throws(LabRefusal) {
        guard let code = request.value(of: "Authorization") else { throw .unsigned }
        event.isSigned = true
        let text = try required("timestamp")
        let values = parameters.sorted { Self.isBefore($0.key, $1.key) }.map(\.value)
        let joined = (values + [account.secret.revealed]).joined(separator: "-")
        guard code == LabDigest.md5(joined), let time = Int64(text) else {
            throw .wrongSignature
        }
        guard time >= now &- 60 else { throw .expired }
        guard time <= now &+ 60 else { throw .tooFarAhead }
    }

    private func ucloudService(_ account: LabAccount) -> LabResponse {
        let nodes = (settings.schedule ?? LabSchedule([place.address])).addresses
        return .json(
            JSONText.object([
                ("auth_id", JSONText.string(account.identifier)),
                ("client_ip", JSONText.string(clientText)),
                ("best_service_node", nodes.first.map { JSONText.string($0.description) }),
                ("service_node_list", addresses(nodes)),
            ]))
    }
}
