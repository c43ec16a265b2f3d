import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSTrust
import HTTPDNSWire
import TestSupport

/// A DNS server on loopback whose names say what they do.
final class ZoneServer: Sendable {
    let server: LabDNSServer
    /// `127.0.0.1:PORT`.
    let place: String
    /// `@127.0.0.1:PORT`.
    var resolver: String { "@" + place }

    init(address: IPAddress = LabAddress.ipv4, truth: IPAddress = LabAddress.ipv4) throws {
        server = try LabDNSServer(address: address) { Zone.answer($0, truth: truth) }
        place = server.endpoint
        try server.start()
    }

    deinit { server.stop() }
}

private enum Zone {
    @Sendable static func answer(_ question: LabQuestion, truth: IPAddress) -> LabAnswer {
        switch question.text {
        case "ok.example.test", "xn--bcher-kva.test", "localhost":
            question.answer([truth], ttlSeconds: 30)
        case "both.example.test":
            question.answer([truth, LabAddress.ipv6], ttlSeconds: 30)
        case "zero.example.test": question.answer([truth], ttlSeconds: 0)
        case "hijacked.example.com": question.answer([truth])
        case "nodata.example.test": question.answer([])
        case "servfail.example.test": .serverFailure
        case "refused.example.test": .refused
        case "drop.example.test": .drop
        case "half.example.test":
            question.type == .aaaa ? .drop : question.answer([truth], ttlSeconds: 30)
        case "cut.example.test":
            question.isTCP
                ? question.answer([truth])
                : question.answer([truth]).conducting(.truncates)
        case "chain.example.test": chain(question, truth)
        case "_dmarc.example.test": text(question, [Array("v=DMARC1".utf8)])
        case "evil.example.test": text(question, [[0x1B, 0x5B, 0x32, 0x4A, 0x0A, 0x07, 0xFF]])
        case "1.0.0.127.in-addr.arpa":
            record(question, .name(try? WireName(HostName("localhost.example.test"))))
        default: question.noSuchName(minimumSeconds: 5)
        }
    }

    private static func chain(_ question: LabQuestion, _ truth: IPAddress) -> LabAnswer {
        guard let alias = try? HostName("cdn.example.test") else { return .serverFailure }
        let end = LabQuestion(name: WireName(alias), type: question.type, isTCP: question.isTCP)
        var answer = end.answer([truth], ttlSeconds: 5)
        answer.answers.insert(
            ResourceRecord(
                name: question.name, type: .cname, ttlSeconds: 30, data: .name(WireName(alias))),
            at: 0)
        return answer
    }

    private static func text(_ question: LabQuestion, _ strings: [[UInt8]]) -> LabAnswer {
        question.type == .txt ? record(question, .txt(strings)) : question.answer([])
    }

    private static func record(_ question: LabQuestion, _ data: RecordData) -> LabAnswer {
        LabAnswer(answers: [
            ResourceRecord(
                name: question.name, type: question.type, ttlSeconds: 300, data: data)
        ])
    }
}

extension RecordData {
    fileprivate static func name(_ name: WireName?) -> RecordData {
        name.map { .name($0) } ?? .opaque([])
    }
}

/// An HTTP-DNS service over TLS with a root of its own.
final class ServiceServer: Sendable {
    let server: LabHTTPDNSServer
    let authority: TestAuthority
    let identity: TestIdentity
    private let directory: TemporaryDirectory

    init(_ names: [TestName] = ["dns.example.test", .address(LabAddress.ipv4)]) throws {
        authority = try TestAuthority("Command Line Root")
        identity = try authority.leaf(names, commonName: "Lab resolver")
        directory = try TemporaryDirectory()
        try directory.write("root.pem", authority.certificatePEM)
        let host = try HostName("ok.example.test")
        server = try LabHTTPDNSServer(
            security: .tls(identity), table: LabTable(host, [LabAddress.ipv4], ttlSeconds: 30))
        try server.start()
    }

    deinit { server.stop() }

    var rootFile: String { directory.path + "/root.pem" }
    var port: Port { server.port }
    /// `https://dns.example.test:PORT`.
    var base: String { "https://dns.example.test:\(port)" }
}
