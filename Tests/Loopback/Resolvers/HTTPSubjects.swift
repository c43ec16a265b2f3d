import HTTPDNSDoH
import HTTPDNSExchange
import HTTPDNSJSON
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSTransport
import HTTPDNSVendor
import HTTPDNSWire
import TestSupport

/// One transport for all, as in an application.
let sharedTransport = Transport()

/// The back-ends that ask over HTTP, each against a server of ``ContractZone``.
let httpSubjects: [ContractSubject] = [
    ContractSubject("DoH by GET") { try openDoH(.get) },
    ContractSubject("DoH by POST") { try openDoH(.post) },
    ContractSubject("JSON DoH") {
        try openVendor(JSONDoHCodec(path: "/resolve"), JSONContract.response)
    },
    ContractSubject("Aliyun", without: addressesOnly.subtracting([.negativeTTL])) {
        try openVendor(
            AliyunCodec(account: "100000", secret: Secret("s")), AliyunContract.response)
    },
    ContractSubject("DNSPod", without: addressesOnly) {
        try openVendor(DNSPodCodec(), DNSPodContract.response)
    },
]

/// What protocols that tell addresses alone cannot say.
private let addressesOnly: Set<ContractSubject.Ability> = [
    .aliases, .noSuchName, .negativeTTL, .responseCodes,
]

/// A lab server ends with the back-end that asks it.
final class RunningServer: Sendable {
    let server: LabServer

    init(_ server: LabServer) throws {
        self.server = server
        try server.start()
    }
}

private func openDoH(_ method: DoHMethod) throws -> OpenedSubject {
    let lab = try TrustedLab()
    let identity = try lab.root.leaf(["dns.example.test"], commonName: "Lab resolver")
    let running = try RunningServer(
        LabServer(security: .tls(identity)) { request in
            let message =
                request.method == "POST"
                ? request.body : Base64URL.decoded(request.query["dns"] ?? "")
            guard let octets = ContractZone.octets(answering: message) else { return .never }
            return LabResponse(
                fields: [LabField("Content-Type", "application/dns-message")], body: octets)
        })
    let origin = Origin(
        scheme: .https, host: .name(try HostName("dns.example.test")), port: running.server.port)
    let settings = DoHBackend.Settings(
        bootstrap: [running.server.address], verifier: lab.verifier, method: method)
    return OpenedSubject(
        try DoHBackend(
            url: HTTPURL(origin: origin, target: "/dns-query"), settings: settings,
            transport: sharedTransport), keeping: running)
}

private func openVendor(
    _ codec: any HTTPDNSCodec, _ respond: @escaping @Sendable (LabRequest) -> LabResponse
) throws -> OpenedSubject {
    let running = try RunningServer(LabServer(handler: respond))
    let origin = Origin(
        scheme: .http, host: .address(running.server.address), port: running.server.port)
    let service = try HTTPService(origin: origin, bootstrap: [], verifier: nil)
    return OpenedSubject(
        try HTTPDNSBackend(
            label: origin.description, codec: codec, service: service,
            transport: sharedTransport), keeping: running)
}

/// The alphabet of RFC 4648 §5, for the server's side.
enum Base64URL {
    static func decoded(_ text: String) -> [UInt8] {
        let alphabet = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var bits = ""
        for octet in text.utf8 {
            guard let value = alphabet.firstIndex(of: octet) else { return [] }
            let digits = String(value, radix: 2)
            bits += String(repeating: "0", count: 6 - digits.count) + digits
        }
        let digits = Array(bits)
        return stride(from: 0, to: digits.count - digits.count % 8, by: 8).compactMap {
            UInt8(String(digits[$0..<$0 + 8]), radix: 2)
        }
    }
}

/// ``ContractZone`` in the words of a vendor's protocol.
private enum JSONContract {
    @Sendable static func response(_ request: LabRequest) -> LabResponse {
        let query = request.query
        guard let host = try? HostName(query["name"] ?? ""),
            let number = UInt16(query["type"] ?? "")
        else { return .json("{}", status: 400) }
        if case .hostile(let kind) = ContractZone.behaviour(of: host.text) {
            return HostileBodies.response(kind)
        }
        let type = RecordType(rawValue: number)
        var query1 = Message(id: 0, questions: [.init(name: WireName(host), type: type)])
        query1.flags.wantsRecursion = true
        guard let reply = ContractZone.reply(to: query1) else { return .never }
        let body: JSONValue = [
            "Status": .integer(Int64(reply.code.rawValue)),
            "Question": [["name": .string(host.text + "."), "type": .integer(Int64(number))]],
            "Answer": .array(reply.answers.map(json)),
            "Authority": .array(reply.authorities.map(json)),
        ]
        return .json(body.description)
    }

    private static func json(_ record: ResourceRecord) -> JSONValue {
        let data: String
        switch record.data {
        case .address(let address): data = address.description
        case .name(let name): data = name.absoluteText
        case .soa(let soa):
            data =
                "\(soa.primary.absoluteText) \(soa.mailbox.absoluteText) \(soa.serial) "
                + "\(soa.refreshSeconds) \(soa.retrySeconds) \(soa.expireSeconds) "
                + "\(soa.minimumSeconds)"
        default: data = ""
        }
        return [
            "name": .string(record.name.absoluteText),
            "type": .integer(Int64(record.type.rawValue)),
            "TTL": .integer(Int64(record.ttlSeconds)), "data": .string(data),
        ]
    }
}

private enum AliyunContract {
    @Sendable static func response(_ request: LabRequest) -> LabResponse {
        guard let host = request.query["host"] else { return .json("{}", status: 400) }
        let isIPv6 = request.query["query"] == "6"
        switch ContractZone.behaviour(of: host) {
        case .addresses(let all), .alias(_, let all):
            let texts = all.filter { $0.contains(":") == isIPv6 }
            let body: JSONValue = [
                "host": .string(host),
                isIPv6 ? "ipsv6" : "ips": .array(texts.map { .string($0) }),
                "ttl": .integer(Int64(ContractZone.addressTTLSeconds)),
            ]
            return .json(body.description)
        case .noSuchName, .noData:
            let seconds = ContractZone.negativeTTLSeconds
            return .json(#"{"host":"\#(host)","ips":[],"ipsv6":[],"ttl":\#(seconds)}"#)
        case .code: return .json(#"{"code":"InternalError"}"#, status: 500)
        case .silence: return .never
        case .hostile(let kind): return HostileBodies.response(kind)
        }
    }
}

private enum DNSPodContract {
    @Sendable static func response(_ request: LabRequest) -> LabResponse {
        guard let host = request.query["dn"] else { return .text("", status: 404) }
        let isIPv6 = request.query["type"] == "aaaa"
        switch ContractZone.behaviour(of: host) {
        case .addresses(let all), .alias(_, let all):
            let texts = all.filter { $0.contains(":") == isIPv6 }
            return .text(
                texts.joined(separator: ";") + ",\(ContractZone.addressTTLSeconds)|127.0.0.1")
        case .noSuchName, .noData: return .text("")
        case .code: return .text("", status: 500)
        case .silence: return .never
        case .hostile(let kind): return HostileBodies.response(kind)
        }
    }
}

/// Bodies that are no answer in any of the vendors' protocols.
private enum HostileBodies {
    static func response(_ kind: Int) -> LabResponse {
        switch kind {
        case 0: .text("<!DOCTYPE html><title>Log in</title>", type: "text/html")
        case 1: .json(#"{"host":"other.test","ips":["192.0.2.1"],"Status":0,"Answer":[7]}"#)
        case 2: .json(String(repeating: "[", count: 100_000))
        case 3: LabResponse(body: (0...255).map { UInt8($0) })
        default: LabResponse(body: [UInt8](repeating: 0x20, count: 1_000_000) + [0x7B])
        }
    }
}
