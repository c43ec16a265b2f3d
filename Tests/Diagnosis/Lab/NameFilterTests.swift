import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

/// A box that reads the server name: what it lets pass, and what it reads.
@Suite(.timeLimit(.minutes(2))) struct NameFilterTests {
    private struct Filtered {
        let origin: LabServer
        let filter: NameFilter

        init(_ deed: NameFilter.Deed = .resets) throws {
            let identity = try TestAuthority().leaf(["hidden.hijack.test", "other.hijack.test"])
            origin = try LabServer(security: .tls(identity)) { _ in .text("passed\n") }
            filter = try NameFilter(
                to: origin, at: LabAddress.ipv4, hides: "Hidden.hijack.test", deed: deed)
            try origin.start()
            try filter.start()
        }

        func stop() {
            filter.stop()
            origin.stop()
        }

        func fetch(_ host: String) async throws -> CommandResult {
            try await run(
                "curl",
                [
                    "-sSk", "--max-time", "20", "--resolve",
                    "\(host):\(filter.port):\(filter.address)",
                    "https://\(host):\(filter.port)/",
                ])
        }
    }

    @Test func `What names another host passes, and so does what names none`() async throws {
        let filtered = try Filtered()
        defer { filtered.stop() }
        #expect(try await filtered.fetch("other.hijack.test").outputText == "passed\n")
        #expect(try await filtered.fetch("127.0.0.1").outputText == "passed\n")
        #expect(filtered.filter.names == ["other.hijack.test", ""])
    }

    @Test func `What names the host is reset, and nothing reaches the origin`() async throws {
        let filtered = try Filtered()
        defer { filtered.stop() }
        let result = try await filtered.fetch("hidden.hijack.test")
        #expect(result.status == 35, "\(result.errorText)")
        #expect(filtered.origin.record.connections == 0)
    }

    @Test func `What names the host is led elsewhere`() async throws {
        let identity = try TestAuthority().leaf(["page.hijack.test"])
        let page = try LabServer(security: .tls(identity)) { _ in .text("blocked\n") }
        try page.start()
        defer { page.stop() }
        let filtered = try Filtered(.diverts(to: page))
        defer { filtered.stop() }
        #expect(try await filtered.fetch("hidden.hijack.test").outputText == "blocked\n")
        #expect(try await filtered.fetch("other.hijack.test").outputText == "passed\n")
    }

    // MARK: Reading

    @Test func `The name is found however the message is cut into records`() {
        let whole = Hello.message(name: "www.hijack.test")
        for size in [1, 7, 64, 16_384] {
            let records = Hello.records(whole, size: size)
            #expect(ClientHello.reading(records).name == "www.hijack.test")
        }
        let upper = Hello.records(Hello.message(name: "WWW.Hijack.TEST"), size: 512)
        #expect(ClientHello.reading(upper).name == "www.hijack.test")
        #expect(ClientHello.reading(Hello.records(Hello.message(name: nil), size: 512)).name == "")
    }

    @Test func `A message that is not whole is waited for`() {
        let records = Hello.records(Hello.message(name: "www.hijack.test"), size: 20)
        for count in 0..<records.count {
            #expect(ClientHello.reading(Array(records.prefix(count))) == .unfinished)
        }
    }

    @Test func `Whatever octets come, it is read or refused`() {
        let records = Hello.records(Hello.message(name: "www.hijack.test"), size: 16_384)
        #expect(ClientHello.reading(Array("GET / HTTP/1.1\r\n".utf8)) == .foreign)
        for index in records.indices {
            for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
                var damaged = records
                damaged[index] = value
                // It must not trap; what it says of damage is its own affair.
                _ = ClientHello.reading(damaged)
            }
        }
        // Without an end: records of a message that claims to be as long as can be.
        let endless = Hello.records(
            [1, 0x01, 0, 0] + [UInt8](repeating: 0, count: 70_000), size: 16_384)
        #expect(ClientHello.reading(endless) != .unfinished)
    }
}

/// Writes the first message of a client. Source: RFC 8446 §4.1.2.
private enum Hello {
    static func message(name: String?) -> [UInt8] {
        var extensions: [UInt8] = [0, 43, 0, 3, 2, 3, 4]
        if let name {
            let octets = Array(name.utf8)
            let entry = [0] + counted(octets)
            extensions += [0, 0] + counted(counted(entry))
        }
        let body =
            [3, 3] + [UInt8](repeating: 7, count: 32) + [0] + counted([0x13, 0x01]) + [1, 0]
            + counted(extensions)
        return [1, 0] + counted(body)
    }

    static func records(_ message: [UInt8], size: Int) -> [UInt8] {
        var rest = message[...]
        var records: [UInt8] = []
        while !rest.isEmpty {
            let part = Array(rest.prefix(size))
            rest = rest.dropFirst(size)
            records += [22, 3, 1] + counted(part)
        }
        return records
    }

    private static func counted(_ octets: [UInt8]) -> [UInt8] {
        [UInt8(octets.count >> 8 & 0xFF), UInt8(octets.count & 0xFF)] + octets
    }
}

extension ClientHello.Reading {
    fileprivate var name: String? {
        if case .read(let hello) = self { hello.serverName ?? "" } else { nil }
    }
}
