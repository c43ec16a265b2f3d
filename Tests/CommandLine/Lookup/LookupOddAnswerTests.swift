import HTTPDNSCLI
import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSWire
import TestSupport
import Testing

/// A server whose answers are legal and strange.
private func oddServer() throws -> RawDNSServer {
    try RawDNSServer { arrival in
        guard var reply = arrival.message, let question = reply.questions.first else { return [] }
        reply.flags.isResponse = true
        reply.edns = EDNS()
        let addresses = { (texts: [String], ttl: UInt32) in
            texts.compactMap { try? IPAddress($0) }.map {
                ResourceRecord(
                    name: question.name, type: question.type, ttlSeconds: ttl, data: .address($0))
            }
        }
        switch question.name.description {
        case ".":
            reply.answers = ["a", "b"].compactMap { WireName(text: "\($0).root.test") }.map {
                ResourceRecord(
                    name: .root, type: question.type, ttlSeconds: 3_600, data: .name($0))
            }
        case "ttl.test": reply.answers = addresses(["127.0.0.1"], .max)
        case "edge.test": reply.answers = addresses(["127.0.0.1"], 0x7FFF_FFFF)
        case "two.example.com": reply.answers = addresses(["0.0.0.0", "10.0.0.1"], 30)
        case "many.example.com":
            reply.answers = addresses((1...8).map { "10.0.0.\($0)" } + ["8.8.8.8"], 30)
        case "refused.test":
            reply.code = .refused
            reply.edns?.options = [
                .extendedError(code: 18, text: "not \u{1B}[2J you"),
                .extendedError(code: 4_711, text: ""),
            ]
        case "stale.test":
            reply.answers = addresses(["127.0.0.1"], 30)
            reply.edns?.options = [.extendedError(code: 3, text: "from yesterday")]
        default:
            return (try? reply.encode()).map { [.send($0 + [0])] } ?? []
        }
        return (try? reply.encode()).map { [.send($0)] } ?? []
    }
}

@Suite struct LookupOddAnswerTests {
    let server: RawDNSServer
    var place: String { "\(server.endpoint)" }
    var resolver: String { "@" + place }

    init() throws { server = try oddServer() }

    @Test(arguments: [["."], ["--name", "."]])
    func `the root is a name`(words: [String]) async throws {
        let result = try await run(Tool.path, ["lookup", "NS", resolver, "--short"] + words)
        #expect(result.lines.sorted() == ["a.root.test", "b.root.test"])
        #expect(result.status == 0)
        #expect(server.arrivals.first?.message?.questions.first?.name == .root)
        let tcp = try await httpdns("lookup", ".", "NS", resolver, "--json")
        #expect(try tcp.objects.first?["name"]?.string == ".")
        #expect(try tcp.objects.first?["answers"]?.array?.first?["name"]?.string == ".")
    }

    @Test func `a TTL that is none is told, not shown as 0 in silence`() async throws {
        let result = try await httpdns("lookup", "ttl.test", "A", resolver)
        #expect(result.lines[1].squeezed.hasPrefix("ttl.test A 0s 127.0.0.1"))
        #expect(
            result.errorText
                == "note: a TTL of 4294967295 was sent, which is out of range (above 2147483647) "
                + "and counts as 0 (RFC 2181, section 8)\n")
        #expect(result.status == 0)
        let edge = try await httpdns("lookup", "edge.test", "A", resolver, "--json")
        #expect(edge.errorText == "")
        #expect(try edge.objects.first?["answers"]?.array?.first?["ttl"]?.integer == 2_147_483_647)
    }

    @Test func `each address that no public name can have is noted`() async throws {
        let two = try await httpdns("lookup", "two.example.com", "A", resolver)
        #expect(
            two.errorText
                == "note: 0.0.0.0 is the null address, 10.0.0.1 is private: they cannot be right "
                + "for a public name such as two.example.com\n")
        let many = try await httpdns("lookup", "many.example.com", "A", resolver)
        #expect(many.complaints.count == 1)
        #expect(many.errorText.contains("10.0.0.5 is private and 3 more: they cannot be right"))
    }

    @Test func `why a server refuses is told, escaped`() async throws {
        let result = try await httpdns("lookup", "refused.test", "A", resolver)
        #expect(
            Array(result.complaints.dropFirst()) == [
                "note: \(place) says EDE 18 (Prohibited): \"not \\u{1b}[2J you\"",
                "note: \(place) says EDE 4711",
            ])
        #expect(result.status == 3)
        let json = try await httpdns("lookup", "refused.test", "A", resolver, "--json")
        #expect(
            try json.objects.first?["ede"]?.array == [
                ["code": 18, "name": "Prohibited", "text": "not \u{1B}[2J you"],
                ["code": 4_711, "name": .null, "text": ""],
            ])
        #expect(json.output.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A })
    }

    @Test func `what a server adds to an answer is told, in the steps too`() async throws {
        let result = try await httpdns("lookup", "stale.test", "A", resolver, "--explain")
        let reason = "EDE 3 (Stale Answer): \"from yesterday\""
        #expect(result.errorText == "note: \(place) says \(reason)\n")
        #expect(result.lines[1].contains(", \(reason), in "))
        #expect(result.status == 0)
    }

    @Test func `a malformed answer names its server once`() async throws {
        let result = try await httpdns("lookup", "extra.test", "A", resolver)
        #expect(
            result.errorText.hasPrefix(
                "extra.test: \(place): its answer is malformed: octets follow "))
        #expect(result.errorText.split(separator: place).count == 2)
        #expect(result.status == 3)
    }

    @Test func `a web page instead of an answer is called one`() async throws {
        let root = try TestAuthority("Portal Root")
        let portal = try LabServer(security: .tls(try root.leaf([.address(LabAddress.ipv4)]))) {
            request in
            request.target.hasPrefix("/moved")
                ? LabResponse(status: 302, fields: [LabField("Location", "/login")])
                : LabResponse(
                    status: 200, fields: [LabField("Content-Type", "text/html")],
                    body: Array("<p>".utf8))
        }
        try portal.start()
        defer { portal.stop() }
        let directory = try TemporaryDirectory()
        let file = try directory.write("root.pem", root.certificatePEM)
        for path in ["dns-query", "moved"] {
            let result = try await httpdns(
                "lookup", "ok.test", "A", "@https://127.0.0.1:\(portal.port)/\(path)", "--cacert",
                file)
            #expect(
                result.errorText.contains(
                    ": a log-in page of this network (captive portal) may be answering"))
            #expect(result.status == 3)
        }
    }
}
