internal import HTTPDNSNames
internal import HTTPDNSWire

// DNS in JSON: `/resolve?name=`, `/dns-query?name=`. Source: Google, "JSON API for DNS over HTTPS";
// Cloudflare, "dns-json"; the others' shapes as they were seen.
extension ServiceExchange {
    mutating func json() throws(LabRefusal) -> LabResponse {
        let isQuery = request.path == "/dns-query"
        let own = settings.shape == .adGuard || settings.shape == .dnsSB
        let shape = isQuery && !own ? .cloudflare : settings.shape
        if shape == .cloudflare {
            let accepted = request.value(of: "Accept")?.lowercased() ?? ""
            guard
                accepted.contains("application/dns-json")
                    || parameters["ct"] == "application/dns-json"
            else { throw .missingArgument }
        }
        return try json(as: shape)
    }

    mutating func json(as shape: LabJSONShape) throws(LabRefusal) -> LabResponse {
        guard request.method == "GET" else { throw .wrongMethod }
        let question = try jsonQuestion()
        hear(client: parameters["edns_client_subnet"])
        let answer = table.answer(question)
        if shape == .google, parameters["ct"] == "application/dns-message" {
            return try wireAnswer(question, answer)
        }
        if shape == .aliDNS, parameters["short"] == "1" {
            let data = answer.answers.compactMap { record -> String? in
                guard case .address(let address) = record.data else { return nil }
                return JSONText.string(address.description)
            }
            return .json(JSONText.array(data))
        }
        let media = shape == .cloudflare ? "application/dns-json" : "application/json"
        return .text(JSONText.object(jsonMembers(question, answer, shape)), type: media)
    }

    /// The first `name` counts. Source: Google, "JSON API": of duplicates the first value.
    private mutating func jsonQuestion() throws(LabRefusal) -> LabQuestion {
        var text = request.queryParameters.first { $0.name == "name" }?.value ?? ""
        event.names = [text]
        if text.count > 1, text.hasSuffix(".") { text.removeLast() }
        guard let host = try? HostName(text), text.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw .wrongName
        }
        let written = request.queryParameters.first { $0.name == "type" }?.value ?? "A"
        guard let type = Self.recordType(written) else { throw .wrongType }
        return LabQuestion(name: WireName(host), type: type, isTCP: true)
    }

    private func jsonMembers(
        _ question: LabQuestion, _ answer: LabAnswer, _ shape: LabJSONShape
    ) -> [(String, String?)] {
        let hasDot = shape == .google || shape == .dnsSB || shape == .adGuard
        let asked = JSONText.object([
            ("name", JSONText.string(spelled(question.text, endsInDot: hasDot))),
            ("type", String(question.type.rawValue)),
        ])
        let isObject = shape == .aliDNS || faults.contains(.questionAsObject)
        let isSilent = shape == .adGuard || faults.contains(.leavesOutStatus)
        let records = answer.answers.map { jsonRecord($0, shape) }
        let authorities = answer.authorities.map { jsonRecord($0, shape) }
        let subnet = event.client.map { JSONText.string($0) }
        return [
            ("Status", isSilent ? nil : String(answer.code.rawValue)), ("TC", "false"),
            ("RD", "true"), ("RA", "true"), ("AD", "false"), ("CD", "false"),
            ("Question", isObject ? asked : JSONText.array([asked])),
            ("Answer", records.isEmpty ? nil : JSONText.array(records)),
            ("Authority", authorities.isEmpty ? nil : JSONText.array(authorities)),
            ("edns_client_subnet", shape == .google ? subnet : nil),
            (
                "Comment",
                shape == .google ? JSONText.string("Response from \(place.address).") : nil
            ),
        ]
    }

    private func jsonRecord(_ record: ResourceRecord, _ shape: LabJSONShape) -> String {
        let hasDot = shape != .cloudflare
        let expiry = JSONText.string("in \(record.ttlSeconds) seconds")
        let name = spelled(record.name.description, endsInDot: hasDot)
        let data = JSONText.string(Self.presented(record.data))
        return JSONText.object([
            ("name", JSONText.string(name)), ("type", String(record.type.rawValue)),
            (
                "class",
                shape == .adGuard || faults.contains(.addsClass)
                    ? String(record.recordClass) : nil
            ),
            ("TTL", ttl(record.ttlSeconds)),
            ("Expires", shape == .dnsSB || faults.contains(.addsExpires) ? expiry : nil),
            ("data", faults.contains(.leavesOutData) ? nil : data),
        ])
    }

    /// Names in data end in a dot in all shapes.
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

    private static func recordType(_ text: String) -> RecordType? {
        switch text.uppercased() {
        case "A": .a
        case "AAAA": .aaaa
        case "CNAME": .cname
        case "TXT": .txt
        case "HTTPS": .https
        default:
            UInt16(text).flatMap { $0 == 0 ? nil : RecordType(rawValue: $0) }
        }
    }
}
