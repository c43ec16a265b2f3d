internal import HTTPDNSNames

// Aliyun's service addresses: `/{account}/ss`. Source: Alibaba Cloud, HTTPDNS, scheduling; the ports
// and the status as its Android library reads them.
extension ServiceExchange {
    mutating func aliyunSchedule() throws(LabRefusal) -> LabResponse {
        let account = try account(request.path.split(separator: "/").first.map { String($0) })
        guard request.method == "GET" else { throw .wrongMethod }
        if parameters["s"] != nil || !account.allowsUnsigned {
            try checkScheduleSignature(account)
        }
        let schedule = told()
        let four = schedule.addresses.filter { $0.family == .ipv4 }
        let six = schedule.addresses.filter { $0.family == .ipv6 }
        return .json(
            JSONText.object([
                ("service_ip", addresses(four)), ("service_ipv6", addresses(six)),
                ("service_ip_port", ports(schedule, four)),
                ("service_ipv6_port", ports(schedule, six)),
                ("service_status", schedule.status.map { JSONText.string($0) }),
            ]))
    }

    /// `s` is the MD5 of `n-secret-t`: the text of the documents says HMAC, their number does not.
    /// `t` is about now: up to 150 seconds old, or up to 300 ahead.
    private mutating func checkScheduleSignature(_ account: LabAccount) throws(LabRefusal) {
        guard parameters["s"] != nil else { throw .unsigned }
        event.isSigned = true
        let signature = try required("s")
        let nonce = try required("n")
        let text = try required("t")
        guard let time = Int64(text) else { throw .missingArgument }
        guard (8...16).contains(nonce.utf8.count), nonce.allSatisfy(\.isHexDigit) else {
            throw .missingArgument
        }
        guard signature == LabDigest.md5("\(nonce)-\(account.secret.revealed)-\(text)") else {
            throw .wrongSignature
        }
        guard time >= now &- 150 else { throw .expired }
        guard time <= now &+ 300 else { throw .tooFarAhead }
    }

    private func told() -> LabSchedule {
        var schedule = settings.schedule ?? LabSchedule([place.address], port: place.port)
        for case .schedule(let kind) in faults {
            switch kind {
            case .dead:
                // Loopback addresses where nobody listens refuse at once.
                schedule.addresses = [LabAddress.ipv4(host: 253), LabAddress.ipv4(host: 254)]
            case .empty: schedule.addresses = []
            case .disabled: schedule.status = "disable"
            case .changing:
                schedule.addresses = [LabAddress.ipv4(host: UInt8(1 + schedulesTold % 250))]
            }
        }
        return schedule
    }

    private func ports(_ schedule: LabSchedule, _ addresses: [IPAddress]) -> String? {
        guard let port = schedule.port else { return nil }
        return JSONText.array(addresses.map { _ in String(port.number) })
    }
}
