internal import HTTPDNSJSON

// Names, addresses and DNS messages
extension ConformanceAdapter {
    static let nameOperations: [String: Operation] = [
        "dns.parse": { (request) throws(ConformanceRequest.Fault) in
            guard let message = DNSOperations.parse(wire: try request.octets("wire")) else {
                return refused
            }
            return [
                "ok": true, "rcode": .integer(Int64(message.rcode)),
                "tc": .bool(message.isTruncated), "qr": .bool(message.isResponse),
                "answers": .array(message.answers.map(row)),
            ]
        },
        "doh.decode": { (request) throws(ConformanceRequest.Fault) in
            let wire = try request.octets("wire")
            guard let found = DNSOperations.decodeDoH(wire: wire, qtype: try type(request)) else {
                return refused
            }
            let addresses = found.map { answer -> JSONValue in
                [.string(answer.address), .integer(Int64(answer.ttlSeconds))]
            }
            return ["ok": true, "addresses": .array(addresses)]
        },
        "dns.encode": { (request) throws(ConformanceRequest.Fault) in
            let name = try request.text("name")
            guard let wire = DNSOperations.encode(name: name, qtype: try type(request)) else {
                return refused
            }
            return ["ok": true, "wire": .string(hexadecimal(wire))]
        },
        "doh.encode64url": { (request) throws(ConformanceRequest.Fault) in
            let name = try request.text("name")
            return text(
                "b64", DNSOperations.encodeBase64URL(name: name, qtype: try type(request)))
        },
        "ip.literal": { (request) throws(ConformanceRequest.Fault) in
            let family = try request.optionalInteger("family")
            guard family == nil || family == 4 || family == 6 else {
                return skipped("an address is of family 4 or 6")
            }
            let input = try request.text("input")
            guard let octets = NameOperations.ipLiteral(input, family: family.map { Int($0) })
            else { return refused }
            return ["ok": true, "bytes": .string(hexadecimal(octets))]
        },
        "host.toascii": { (request) throws(ConformanceRequest.Fault) in
            let verifies = try request.flag("verify_dns_length")
            let input = try request.text("input")
            return text(
                "output", NameOperations.hostToASCII(input, verifyDNSLength: verifies))
        },
        "idna.toascii_n": { (request) throws(ConformanceRequest.Fault) in
            text("output", NameOperations.toASCIIStrictly(try request.text("input")))
        },
        "psl.registrable": { (request) throws(ConformanceRequest.Fault) in
            text("domain", NameOperations.registrable(try request.text("host")))
        },
    ]

    /// `ok` and the text, or a refusal where there is none.
    static func text(_ name: String, _ text: String?) -> JSONObject {
        guard let text else { return refused }
        var answer: JSONObject = ["ok": true]
        answer[name] = .string(text)
        return answer
    }

    private static func type(
        _ request: ConformanceRequest
    ) throws(ConformanceRequest.Fault) -> UInt16 {
        guard let type = UInt16(exactly: try request.integer("qtype")) else {
            throw ConformanceRequest.Fault(description: "qtype is not in 0...65535")
        }
        return type
    }

    private static func row(_ record: DNSOperations.ParsedRecord) -> JSONValue {
        [
            .string(record.name), .integer(Int64(record.type)),
            .integer(Int64(record.recordClass)), .integer(Int64(record.ttlSeconds)),
            .string(record.value),
        ]
    }

    private static func hexadecimal(_ octets: [UInt8]) -> String {
        octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
