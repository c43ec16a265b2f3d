import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSWire
import TestSupport
import Testing

/// The short answer of kdig, line by line.
func kdig(
    _ address: IPAddress, _ port: Port, _ arguments: [String]
) async throws -> [String] {
    let result = try await run(
        "kdig", ["@\(address)", "-p", "\(port)", "+short", "+retry=0", "+timeout=2"] + arguments)
    return result.outputText.split(separator: "\n").map { String($0) }
        .filter { !$0.hasPrefix(";;") }
}

@Suite struct LabDNSServerTests {
    func served(_ zone: @escaping LabDNSServer.Zone) throws -> LabDNSServer {
        let server = try LabDNSServer(zone: zone)
        try server.start()
        return server
    }

    /// Everything kdig prints for one question, with its notes.
    func asked(
        _ server: LabDNSServer, _ arguments: [String] = [], type: String = "A"
    ) async throws -> String {
        let result = try await run(
            "kdig",
            ["@\(server.address)", "-p", "\(server.port)", "+retry=0", "+timeout=1"] + arguments
                + ["shop.example.test", type])
        return result.outputText + result.errorText
    }

    @Test func `a table is told over UDP and TCP on one port`() async throws {
        let name = try HostName("shop.example.test")
        let alias = try HostName("www.example.test")
        var table = LabTable(name, [LabAddress.ipv4(host: 7), LabAddress.ipv6])
        table.entries[alias] = LabTable.Entry(alias: name)
        let server = try LabDNSServer(table: table)
        try server.start()
        defer { server.stop() }
        for transport in ["+notcp", "+tcp"] {
            let four = try await kdig(
                server.address, server.port, [transport, "www.example.test", "A"])
            #expect(four == ["shop.example.test.", "127.0.0.7"])
            let six = try await kdig(
                server.address, server.port, [transport, "shop.example.test", "AAAA"])
            #expect(six == ["::1"])
        }
        #expect(server.queries.map(\.question.isTCP) == [false, false, true, true])
        #expect(server.queries.filter { $0.sourcePort == nil }.count == 2)
    }

    @Test func `a name that is not there and a type that is not there come with an SOA`()
        async throws
    {
        let table = LabTable(try HostName("shop.example.test"), [LabAddress.ipv4])
        let server = try LabDNSServer(table: table)
        try server.start()
        defer { server.stop() }
        let noData = try await asked(server, type: "AAAA")
        #expect(noData.contains("status: NOERROR") && noData.contains("SOA"), "\(noData)")
        let other = try await run(
            "kdig", ["@127.0.0.1", "-p", "\(server.port)", "other.example.test"])
        #expect(other.outputText.contains("NXDOMAIN"))
        #expect(other.outputText.contains("SOA"))
    }

    @Test(arguments: [
        (LabAnswer.serverFailure, "SERVFAIL"), (.refused, "REFUSED"),
        (.drop, "timeout"), (LabAnswer().conducting(.mistakesNumber), "timeout"),
        (LabAnswer().conducting(.mistakesQuestion), "question"),
        (LabAnswer().conducting(.writes([1, 2, 3])), "malformed"),
    ])
    func `an answer fails in the way asked for`(answer: LabAnswer, sign: String) async throws {
        let server = try served { _ in answer }
        defer { server.stop() }
        let seen = try await asked(server).lowercased()
        #expect(seen.contains(sign.lowercased()), "\(seen)")
        #expect(server.queries.count == 1)
    }

    @Test func `a truncated answer is whole over TCP`() async throws {
        let server = try served { $0.answer([LabAddress.ipv4]).conducting(.truncates) }
        defer { server.stop() }
        let seen = try await asked(server)
        #expect(seen.contains("truncated reply") && seen.contains("127.0.0.1"), "\(seen)")
        #expect(server.queries.map(\.question.isTCP) == [false, true])
    }

    @Test func `an answer too large for UDP is truncated unasked`() async throws {
        let many = (0..<100).map { LabAddress.ipv4(host: $0) }
        let server = try served { $0.answer(many) }
        defer { server.stop() }
        let seen = try await asked(server, ["+noedns"])
        #expect(seen.contains("truncated reply") && seen.contains("127.0.0.99"))
    }

    @Test func `a delayed answer holds up no other, and a forged one comes first`() async throws {
        let forged = LabAddress.ipv4(host: 66)
        let server = try served { question in
            guard question.text == "shop.example.test" else {
                return question.answer([LabAddress.ipv4]).delayed(milliseconds: 60_000)
            }
            let lie = question.answer([forged]).answers
            return question.answer([LabAddress.ipv4]).conducting(.forgesFirst(lie))
        }
        async let late = kdig(server.address, server.port, ["slow.example.test", "A"])
        #expect(await eventually { server.queries.count == 1 })
        let early = try await asked(server)
        #expect(early.contains("127.0.0.66"))
        server.stop()
        #expect(try await late.isEmpty)
    }

    @Test func `only AAAA is dropped when a zone says so`() async throws {
        let server = try served {
            $0.type == .aaaa ? .drop : $0.answer([LabAddress.ipv4])
        }
        defer { server.stop() }
        #expect(try await asked(server).contains("127.0.0.1"))
        #expect(try await asked(server, type: "AAAA").contains("timeout"))
    }
}
