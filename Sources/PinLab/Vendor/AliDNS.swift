internal import HTTPDNSNames

// AliDNS's JSON for customers: `/resolve?name=&uid=&ak=&ts=&key=`. Source: Alibaba Cloud, DNS,
// "httpdns-doh-json-api"; the formula of `key` as clients of others have it.
extension ServiceExchange {
    mutating func aliDNS() throws(LabRefusal) -> LabResponse {
        guard request.method == "GET" else { throw .wrongMethod }
        let account = try account(try required("uid"))
        let accessKey = try required("ak")
        guard accessKey == account.accessKey else { throw .unknownAccount }
        let name = try required("name")
        let text = try required("ts")
        guard let key = parameters["key"] else { throw .unsigned }
        event.isSigned = true
        event.custom["did"] = parameters["did"]
        let secret = account.secret.revealed
        let signed = account.identifier + secret + text + name + accessKey
        guard key == LabDigest.sha256(signed), let time = Int64(text) else {
            throw .wrongSignature
        }
        // Because: the vendor publishes no bound; ten minutes tell milliseconds from seconds.
        guard time >= now &- 600 else { throw .expired }
        guard time <= now &+ 600 else { throw .tooFarAhead }
        return try json(as: .aliDNS)
    }
}
