import CHTTPDNSSystem
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport
import Testing

/// One datagram that came back.
struct Arrival: Sendable {
    let port: UInt16
    let octets: [UInt8]
    let atMilliseconds: Int64

    var number: Int { octets.count > 1 ? Int(octets[0]) << 8 | Int(octets[1]) : -1 }
    /// TC. Source: RFC 1035 §4.1.1.
    var isTruncated: Bool { octets.count > 2 && octets[2] & 2 != 0 }
    var code: UInt8 { octets.count > 3 ? octets[3] & 15 : 255 }
    /// The last four octets: the address, when the last record is an A.
    var address: [UInt8] { octets.suffix(4) }
}

@Suite struct LabDNSBehaviourTests {
    static let lie = LabAddress.ipv4(host: 66)

    func served() throws -> LabDNSServer {
        let server = try LabDNSServer { $0.answer([LabAddress.ipv4(host: 7)]) }
        try server.start()
        return server
    }

    /// `shop.example.test` A, number 0x1234, without EDNS.
    static let query: [UInt8] =
        [0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 4] + Array("shop".utf8) + [7]
        + Array("example".utf8) + [4] + Array("test".utf8) + [0, 0, 1, 0, 1]

    /// All that comes back to one socket for one query: at most `count`, within the time.
    func arrivals(
        _ server: LabDNSServer, atMost count: Int, withinMilliseconds limit: Int64 = 2_000
    ) async throws -> [Arrival] {
        let (address, port) = (server.address.octets, server.port.number)
        return try await offPool {
            let clock = SystemMonotonicClock()
            let raw = httpdns_socket_bound(0, address, address.count, 0)
            defer { close(raw) }
            var to = httpdns_endpoint()
            to.count = UInt8(address.count)
            to.port = port
            withUnsafeMutableBytes(of: &to.octets) { $0.copyBytes(from: address) }
            let start = clock.now()
            guard httpdns_datagram_send(raw, Self.query, Self.query.count, &to) > 0 else {
                return []
            }
            var arrivals: [Arrival] = []
            let deadline = start.adding(milliseconds: limit)
            while arrivals.count < count {
                var polled = [pollfd(fd: raw, events: Int16(POLLIN), revents: 0)]
                let left = Int32(deadline.millisecondsLeft(from: clock.now()))
                guard left > 0, poll(&polled, 1, left) > 0 else { break }
                var octets = [UInt8](repeating: 0, count: 2_048)
                var from = httpdns_endpoint()
                let got = httpdns_datagram_receive(raw, &octets, octets.count, &from)
                guard got > 0 else { break }
                arrivals.append(
                    Arrival(
                        port: from.port, octets: Array(octets.prefix(Int(got))),
                        atMilliseconds: clock.now().milliseconds(since: start)))
            }
            return arrivals
        }
    }

    /// What kdig says over TCP, in lower case.
    func overTCP(_ server: LabDNSServer) async throws -> String {
        let result = try await run(
            "kdig",
            [
                "@\(server.address)", "-p", "\(server.port)", "+retry=0", "+timeout=1", "+tcp",
                "shop.example.test",
            ])
        return (result.outputText + result.errorText).lowercased()
    }

    /// Whether nobody has the server's port.
    func isFree(_ server: LabDNSServer, stream: Int32) -> Bool {
        let socket = httpdns_socket_bound(stream, server.address.octets, 4, server.port.number)
        guard socket >= 0 else { return false }
        close(socket)
        return true
    }

    @Test func `a healthy server answers once, from its port, under the number asked`()
        async throws
    {
        let server = try served()
        defer { server.stop() }
        #expect(server.behaviour == .healthy)
        let all = try await arrivals(server, atMost: 2, withinMilliseconds: 200)
        #expect(all.map(\.address) == [[127, 0, 0, 7]])
        #expect(all.map(\.number) == [0x1234])
        #expect(all.map(\.port) == [server.port.number])
    }

    @Test(arguments: [
        (LabDNSBehaviour.fails, UInt8(2)), (.refuses, 5), (.lies([lie]), 0),
    ])
    func `a code and a lie are told over UDP and TCP, until the server is healthy again`(
        behaviour: LabDNSBehaviour, code: UInt8
    ) async throws {
        let server = try served()
        defer { server.stop() }
        try server.behave(behaviour)
        #expect(server.behaviour == behaviour)
        let all = try await arrivals(server, atMost: 1)
        #expect(all.map(\.code) == [code])
        #expect(all.map(\.address) != [[127, 0, 0, 7]])
        if code == 0 { #expect(all.map(\.address) == [[127, 0, 0, 66]]) }
        let seen = try await overTCP(server)
        let signs: [UInt8: String] = [2: "servfail", 5: "refused", 0: "127.0.0.66"]
        #expect(seen.contains(try #require(signs[code])), "\(seen)")
        try server.behave(.healthy)
        let after = try await arrivals(server, atMost: 1)
        #expect(after.map(\.address) == [[127, 0, 0, 7]])
    }

    @Test func `a slow server takes its time`() async throws {
        let server = try served()
        defer { server.stop() }
        try server.behave(.slow(milliseconds: 150))
        let all = try await arrivals(server, atMost: 1)
        #expect(all.map { $0.atMilliseconds >= 150 } == [true])
    }

    @Test func `a dead server hears and says nothing`() async throws {
        let server = try served()
        defer { server.stop() }
        try server.behave(.dead)
        #expect(try await arrivals(server, atMost: 1, withinMilliseconds: 200).isEmpty)
        #expect(try await overTCP(server).contains("timeout"))
        #expect(server.queries.map(\.question.isTCP) == [false, true])
        server.forget()
        #expect(server.queries.isEmpty)
    }

    @Test func `a dying server is refused by the system, and lives again on its port`()
        async throws
    {
        let server = try served()
        defer { server.stop() }
        let port = server.port
        for _ in 0..<3 {
            #expect(try await overTCP(server).contains("127.0.0.7"))
            try server.behave(.dying)
            #expect(try await arrivals(server, atMost: 1, withinMilliseconds: 100).isEmpty)
            #expect(try await overTCP(server).contains("can't connect"))
            for stream: Int32 in [0, 1] { #expect(isFree(server, stream: stream)) }
            try server.behave(.healthy)
            #expect(try await arrivals(server, atMost: 1).map(\.port) == [port.number])
        }
        #expect(server.queries.count == 6)
    }

    @Test(arguments: [true, false])
    func `a truncating server sets TC, and serves TCP or has none`(
        servesTCP: Bool
    ) async throws {
        let server = try served()
        defer { server.stop() }
        try server.behave(.truncates(servesTCP: servesTCP))
        let all = try await arrivals(server, atMost: 1)
        #expect(all.map(\.isTruncated) == [true])
        #expect(all.first?.octets.count == Self.query.count)
        let seen = try await overTCP(server)
        #expect(isFree(server, stream: 0) == false)
        #expect(isFree(server, stream: 1) != servesTCP)
        #expect(seen.contains(servesTCP ? "127.0.0.7" : "can't connect"), "\(seen)")
        try server.behave(.healthy)
        #expect(try await overTCP(server).contains("127.0.0.7"))
    }

    @Test func `a wrong number, a wrong question and a wrong port are each all that is wrong`()
        async throws
    {
        let server = try served()
        defer { server.stop() }
        let right = try #require(try await arrivals(server, atMost: 1).first)
        try server.behave(.mistakesNumber)
        let number = try #require(try await arrivals(server, atMost: 1).first)
        #expect(number.number != right.number)
        #expect(number.octets.dropFirst(2) == right.octets.dropFirst(2))
        try server.behave(.mistakesQuestion)
        let question = try #require(try await arrivals(server, atMost: 1).first)
        #expect(question.number == right.number && question.port == right.port)
        #expect(question.octets[12...].starts(with: [5] + Array("other".utf8)))
        try server.behave(.usesOtherPort)
        let port = try #require(try await arrivals(server, atMost: 1).first)
        #expect(port.port != right.port && port.octets == right.octets)
        #expect(try await overTCP(server).contains("127.0.0.7"))
    }

    @Test func `a forged answer comes first, the true one later`() async throws {
        let server = try served()
        defer { server.stop() }
        try server.behave(.forges([Self.lie], aheadMilliseconds: 100))
        let all = try await arrivals(server, atMost: 2)
        #expect(all.map(\.address) == [[127, 0, 0, 66], [127, 0, 0, 7]])
        #expect(all.map(\.number) == [0x1234, 0x1234])
        #expect(all.count == 2 && all[1].atMilliseconds >= 100)
        #expect(all[0].atMilliseconds < all[1].atMilliseconds)
    }

    @Test func `a duplicating server says the same twice`() async throws {
        let server = try served()
        defer { server.stop() }
        try server.behave(.duplicates)
        let all = try await arrivals(server, atMost: 3, withinMilliseconds: 300)
        #expect(all.count == 2 && all[0].octets == all[1].octets)
    }

    @Test func `a server that was dying can be stopped, and stays stopped`() throws {
        // Another process may take a port as soon as it is free; it will not do so each time.
        let isGone = try (0..<5).contains { _ in
            let server = try served()
            try server.behave(.dying)
            server.stop()
            try server.behave(.healthy)
            return isFree(server, stream: 0) && isFree(server, stream: 1)
        }
        #expect(isGone)
    }

    @Test func `a server that died and lived many times leaves no descriptor behind`() async {
        await #expect(processExitsWith: .success) {
            let warm = try LabDNSServer { $0.answer([LabAddress.ipv4]) }
            try warm.start()
            warm.stop()
            let before = openDescriptors()
            for _ in 0..<5 {
                let server = try LabDNSServer { $0.answer([LabAddress.ipv4]) }
                try server.start()
                for _ in 0..<5 {
                    try server.behave(.dying)
                    try server.behave(.truncates(servesTCP: false))
                    try server.behave(.healthy)
                }
                server.stop()
            }
            #expect(openDescriptors() == before)
        }
    }

    @Test func `behaviour changes under load without a loss of the server`() async throws {
        let server = try served()
        defer { server.stop() }
        async let asked: Void = {
            for _ in 0..<20 {
                _ = try await arrivals(server, atMost: 1, withinMilliseconds: 50)
            }
        }()
        for round in 0..<40 {
            try await offPool {
                try server.behave(round.isMultiple(of: 2) ? .dying : .slow(milliseconds: 1))
            }
        }
        try await asked
        let all = try await arrivals(server, atMost: 1)
        #expect(all.map(\.address) == [[127, 0, 0, 7]])
    }
}
