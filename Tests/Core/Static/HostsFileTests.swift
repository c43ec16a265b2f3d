import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSStatic
import HTTPDNSWire
import Testing

@Suite struct HostsFileTests {
    @Test func `comments, tabs, aliases, CR LF and zones are read`() throws {
        let file = try HostsFile.parse(
            "# a comment\r\n127.0.0.1\tlocalhost localhost.localdomain # and more\r\n\r\n"
                + "  \tfe80::1%eth0   Router.Example.Test. router\n::1 localhost\r192.0.2.1 last")
        #expect(file.entries.map { $0.line } == [2, 4, 5, 6])
        let table = file.table
        #expect(table[try HostName("localhost")]?.map { "\($0)" } == ["127.0.0.1", "::1"])
        #expect(table[try HostName("router.example.test")]?.map { "\($0)" } == ["fe80::1%eth0"])
        #expect(table[try HostName("router")]?.count == 1)
        #expect(table[try HostName("last")]?.count == 1)
    }

    @Test func `an address that is named twice is given once`() throws {
        let file = try HostsFile.parse("192.0.2.1 a.test\n192.0.2.1 b.test a.test\n")
        #expect(file.table[try HostName("a.test")]?.count == 1)
    }

    @Test(arguments: [
        ("192.0.2.1 ok.test\n0x7f.1 bad.test", 2, "0x7f.1"),
        ("192.0.2.1\n", 1, "has no name"),
        ("\n\n192.0.2.1 a..b", 3, "a..b"),
        ("192.0.2.1 1.2.3.4", 1, "1.2.3.4"),
        ("host.test 192.0.2.1", 1, "host.test"),
        ("192.0.2.1 b\u{1B}[31mad.test", 1, "b\\u{1b}[31mad.test"),
    ])
    func `the first bad line is an error that names it`(text: String, line: Int, word: String) {
        do {
            _ = try HostsFile.parse(text)
            Issue.record("accepted")
        } catch {
            #expect(error.line == line)
            #expect(error.description.contains(word))
        }
    }

    @Test func `a tolerant reading keeps what is good and tells the rest`() throws {
        let (file, faults) = HostsFile.parseTolerantly(
            "nonsense\n192.0.2.1 good.test bad..name also-good.test\n192.0.2.2\n")
        #expect(file.entries.map { $0.names.map { $0.text } } == [["good.test", "also-good.test"]])
        #expect(faults.map { $0.line } == [1, 2, 3])
    }
}

@Suite struct StaticBackendTests {
    let backend: StaticBackend

    init() throws {
        backend = StaticBackend(
            try HostsFile.parse("192.0.2.1 v4.test\n2001:db8::1 v6.test\n"), ttlSeconds: 9)
    }

    func ask(_ name: String, _ type: RecordType) async throws -> Testimony {
        try await backend.ask(
            Question(name: try HostName(name), type: type), deadline: .distantFuture)
    }

    @Test func `a name in the table is answered from it`() async throws {
        let testimony = try await ask("v4.test", .a)
        #expect(testimony.answers.map { $0.data } == [.address(try IPAddress("192.0.2.1"))])
        #expect(testimony.answers.map { $0.ttlSeconds } == [9])
        #expect(testimony.source.transport == .hosts)
    }

    @Test func `an address of the other family only is no data that stands`() async throws {
        let testimony = try await ask("v4.test", .aaaa)
        #expect(testimony.code == .noError)
        #expect(testimony.answers.isEmpty)
        #expect(testimony.negativeTTLSeconds == 9)
    }

    @Test func `a name that is not in the table is not claimed to be missing`() async {
        await #expect(throws: QueryFailure.notCovered) { try await ask("other.test", .a) }
    }

    @Test func `other types cannot be asked for`() async {
        await #expect(throws: QueryFailure.unsupportedType(.mx)) { try await ask("v4.test", .mx) }
    }
}
