internal import HTTPDNSNames
internal import HTTPDNSWire

// Volcengine's JSON: `/resolve?domain=`. Source: Volcengine, HTTPDNS, documents 6758/113991 and 174756.
extension ServiceExchange {
    mutating func volcengine() throws(LabRefusal) -> LabResponse {
        guard request.method == "GET" else { throw .wrongMethod }
        let account = try account(try required("account_id"))
        let list = try required("domain")
        try checkVolcengineSignature(account, list)
        let names = list.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        // Because: the vendor publishes no limit; that of its neighbours holds a client to some.
        try hear(names: names, atMost: 10)
        hear(client: parameters["ip"])
        event.custom["Am-Tag"] = request.value(of: "Am-Tag")
        var elements: [String] = []
        for name in listed(names) { elements.append(try volcengineElement(name)) }
        guard elements.count > 1 else { return .json(elements.joined()) }
        let array = JSONText.array(elements)
        return .json(faults.contains(.wrapsBatch) ? JSONText.object([("dns", array)]) : array)
    }

    /// The MD5 of six values, sorted, with `_` between; one that is not sent is empty. `timestamp` is
    /// the millisecond it ends.
    private mutating func checkVolcengineSignature(
        _ account: LabAccount, _ list: String
    ) throws(LabRefusal) {
        let text = try required("timestamp")
        guard let sign = parameters["sign"] else { throw .unsigned }
        event.isSigned = true
        let values = [
            account.secret.revealed, text, account.identifier, list, parameters["ip"] ?? "",
            parameters["type"] ?? "",
        ]
        let joined = values.sorted(by: Self.isBefore).joined(separator: "_")
        guard sign == LabDigest.md5(joined) else { throw .wrongSignature }
        guard let end = Int64(text) else { throw .missingArgument }
        guard end > now.multipliedReportingOverflow(by: 1_000).partialValue else { throw .expired }
    }

    /// Both families stand in one list, IPv6 first, unless one was asked for.
    private func volcengineElement(_ name: String) throws(LabRefusal) -> String {
        let four = try found(name, .a)
        let six = try found(name, .aaaa)
        let told =
            switch parameters["type"]?.uppercased() ?? "" {
            case "A", "1", "IPV4": four.addresses
            case "AAAA", "28", "IPV6": six.addresses
            default: six.addresses + four.addresses
            }
        return JSONText.object([
            ("cip", JSONText.string(clientText)), ("host", JSONText.string(spelled(name))),
            ("ips", addresses(told)), ("ttl", ttl(min(four.ttlSeconds, six.ttlSeconds))),
        ])
    }
}
