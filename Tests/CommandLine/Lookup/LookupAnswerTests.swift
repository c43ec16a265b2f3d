import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSWire
import TestSupport
import Testing

@Suite struct LookupAnswerTests {
    let zone: ZoneServer

    init() throws { zone = try ZoneServer() }

    @Test func `an answer is a table with a summary`() async throws {
        let result = try await httpdns("lookup", "chain.example.test", zone.resolver)
        let from = "udp://\(zone.place)"
        #expect(
            result.lines.map(\.squeezed.timeless) == [
                "NAME TYPE TTL DATA FROM",
                "chain.example.test CNAME 30s cdn.example.test \(from)",
                "cdn.example.test A 5s 127.0.0.1 \(from)",
                "2 records, usable for 5s, 0ms",
            ])
        #expect(result.errorText == "")
        #expect(result.status == 0)
    }

    @Test func `columns are as wide as their widest cell`() async throws {
        let lines = try await httpdns("lookup", "chain.example.test", zone.resolver).lines
        #expect(lines[0].hasPrefix("NAME                TYPE   TTL  DATA              FROM"))
        #expect(lines[2].hasPrefix("cdn.example.test    A      5s   127.0.0.1         udp://"))
    }

    @Test(
        arguments: [
            ("nope.example.test", "NXDOMAIN", "negative answer valid 5s", 1),
            ("nodata.example.test", "NODATA", "no A or AAAA record, negative answer valid 30s", 1),
            ("servfail.example.test", "SERVFAIL", "the server answered with a failure", 3),
            ("refused.example.test", "REFUSED", "the server answered with a failure", 3),
        ] as [(String, String, String, Int32)])
    func `an answer without records is one line that says which`(
        name: String, status: String, why: String, code: Int32
    ) async throws {
        let result = try await httpdns("lookup", name, zone.resolver)
        #expect(result.outputText == "")
        #expect(
            result.errorText.timeless == "\(name): \(status) (\(zone.place), udp, 0ms): \(why)\n")
        #expect(result.status == code)
    }

    @Test func `silence is no reply, with tries and time`() async throws {
        let result = try await httpdns(
            "lookup", "drop.example.test", zone.resolver, "--timeout", "1200ms")
        #expect(
            result.errorText
                == "drop.example.test: no reply from \(zone.place) (udp 2 tries, 1.2s)\n")
        #expect(result.outputText == "")
        #expect(result.status == 9)
    }

    @Test func `a closed port is no reply, with the system's word`() async throws {
        let port = try closedPort(address: LabAddress.ipv4)
        let result = try await httpdns("lookup", "ok.example.test", "@127.0.0.1:\(port)")
        #expect(
            result.errorText.timeless
                == "ok.example.test: no reply from 127.0.0.1:\(port) (udp, 0ms): "
                + "Connection refused\n")
        #expect(result.status == 9)
    }

    @Test func `one family is enough, and the silence of the other is told`() async throws {
        let result = try await httpdns(
            "lookup", "half.example.test", zone.resolver, "--timeout", "300ms")
        #expect(result.lines[1].squeezed.hasPrefix("half.example.test A 30s 127.0.0.1"))
        #expect(
            result.complaints.map(\.timeless) == [
                "half.example.test AAAA: no reply from \(zone.place) (udp 1 try, 0ms)"
            ])
        #expect(result.status == 0)
    }

    @Test func `an answer that was cut comes whole over TCP`() async throws {
        let result = try await httpdns("lookup", "cut.example.test", "A", zone.resolver, "--json")
        let object = try #require(try result.objects.first)
        #expect(object["transport"]?.string == "tcp")
        #expect(object["addresses"]?.array == ["127.0.0.1"])
    }

    @Test func `TCP alone when told so, in both spellings`() async throws {
        for arguments in [["@tcp://\(zone.place)"], [zone.resolver, "--tcp"]] {
            let result = try await run(
                Tool.path, ["lookup", "ok.example.test", "A", "--json"] + arguments)
            #expect(try result.objects.first?["transport"]?.string == "tcp")
        }
        #expect(zone.server.queries.allSatisfy { $0.question.isTCP })
    }

    @Test func `the port option moves the resolver`() async throws {
        let result = try await httpdns(
            "lookup", "ok.example.test", "@127.0.0.1", "--port=\(zone.server.port)", "--short")
        #expect(result.outputText == "127.0.0.1\n")
    }

    @Test func `short prints addresses or data alone`() async throws {
        let addresses = try await httpdns(
            "lookup", "both.example.test", zone.resolver, "--short")
        #expect(addresses.outputText == "127.0.0.1\n::1\n")
        let text = try await httpdns(
            "lookup", "TXT", "_dmarc.example.test", zone.resolver, "--short")
        #expect(text.outputText == "\"v=DMARC1\"\n")
    }

    @Test func `short follows the aliases`() async throws {
        let result = try await httpdns("lookup", "chain.example.test", zone.resolver, "--short")
        #expect(result.outputText == "127.0.0.1\n")
    }

    @Test func `seconds are whole numbers`() async throws {
        let result = try await httpdns(
            "lookup", "_dmarc.example.test", "txt", zone.resolver, "--seconds")
        #expect(result.lines[1].squeezed.contains(" TXT 300 "))
        let short = try await httpdns("lookup", "_dmarc.example.test", "txt", zone.resolver)
        #expect(short.lines[1].squeezed.contains(" TXT 5m "))
    }

    @Test func `an answer with TTL 0 is not to be kept`() async throws {
        let result = try await httpdns("lookup", "zero.example.test", zone.resolver)
        #expect(result.lines.last?.timeless == "1 record, not to be kept (TTL 0), 0ms")
    }

    @Test func `an address is looked up by its reverse name`() async throws {
        let result = try await httpdns("lookup", "-x", "127.0.0.1", zone.resolver, "--short")
        #expect(result.outputText == "localhost.example.test\n")
    }

    @Test func `an internationalised name is shown both ways`() async throws {
        let found = try await httpdns("lookup", "Bücher.test", zone.resolver)
        #expect(found.lines[1].hasPrefix("xn--bcher-kva.test"))
        #expect(found.lines[2].hasSuffix("; xn--bcher-kva.test is bücher.test"))
        let missing = try await httpdns("lookup", "bücher.example.test", zone.resolver)
        #expect(
            missing.errorText.hasPrefix(
                "bücher.example.test (xn--bcher-kva.example.test): NXDOMAIN "))
    }

    @Test func `octets of the network never reach the terminal`() async throws {
        for form in [[], ["--short"], ["--json"]] {
            let result = try await run(
                Tool.path, ["lookup", "evil.example.test", "TXT", zone.resolver] + form)
            #expect(result.status == 0)
            #expect(result.output.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A })
            #expect(result.outputText.contains("\\027"))
        }
    }

    @Test func `explicit types without records are told, and do not fail the rest`() async throws {
        let result = try await httpdns("lookup", "ok.example.test", "A", "AAAA", zone.resolver)
        #expect(
            result.errorText.timeless
                == "ok.example.test AAAA: NODATA (\(zone.place), udp, 0ms): no AAAA record, "
                + "negative answer valid 30s\n")
        #expect(result.status == 0)
    }

    @Test func `a type without a name is asked by number`() async throws {
        let result = try await httpdns("lookup", "ok.example.test", "TYPE65", zone.resolver)
        #expect(result.errorText.hasPrefix("ok.example.test: NODATA"))
        #expect(zone.server.queries.map(\.question.type.rawValue) == [65])
    }

    @Test func `several names are all asked, and the worst ending counts`() async throws {
        let result = try await httpdns(
            "lookup", "nope.example.test", "ok.example.test", "servfail.example.test",
            zone.resolver)
        #expect(result.lines[1].hasPrefix("ok.example.test"))
        #expect(result.complaints.count == 2)
        #expect(result.status == 3)
    }

    @Test func `an address that no public name can have is noted`() async throws {
        let result = try await httpdns("lookup", "hijacked.example.com", zone.resolver, "A")
        #expect(
            result.errorText
                == "note: 127.0.0.1 is loopback: it cannot be right for a public name such as "
                + "hijacked.example.com\n")
        #expect(result.status == 0)
    }

    @Test func `an entry of the hosts file is noted when another source was asked`() async throws {
        let result = try await httpdns("lookup", "localhost", zone.resolver)
        #expect(result.errorText.hasPrefix("note: /etc/hosts has "))
        #expect(result.errorText.hasSuffix(" here udp://\(zone.place) was asked\n"))
        let system = try await httpdns("lookup", "localhost", "@system")
        #expect(system.errorText == "")
        #expect(system.status == 0)
    }

    @Test func `without a resolver localhost needs no network`() async throws {
        let result = try await httpdns("lookup", "localhost", "--short")
        #expect(result.outputText == "127.0.0.1\n::1\n")
        #expect(result.errorText == "")
    }

    @Test func `the steps are told with their times`() async throws {
        let result = try await httpdns(
            "lookup", "ok.example.test", "A", zone.resolver, "--explain")
        #expect(
            result.lines.prefix(2).map(\.timeless) == [
                "0ms  ok.example.test A: asking udp://\(zone.place)",
                "0ms  ok.example.test A: udp://\(zone.place) answered NOERROR, 1 record, "
                    + "over udp from \(zone.place), in 0ms",
            ])
        let verbose = try await httpdns(
            "lookup", "ok.example.test", "A", zone.resolver, "--verbose")
        #expect(verbose.complaints.count == 2)
        #expect(verbose.lines.count == 3)
    }

    @Test func `the questions carry the flags that were asked for`() async throws {
        let server = try RawDNSServer { arrival in
            guard var reply = arrival.message else { return [] }
            reply.flags.isResponse = true
            reply.flags.isAuthenticData = true
            reply.answers = reply.questions.map {
                ResourceRecord(
                    name: $0.name, type: $0.type, ttlSeconds: 30, data: .address(LabAddress.ipv4))
            }
            return (try? reply.encode()).map { [.send($0)] } ?? []
        }
        defer { server.stop() }
        let result = try await httpdns(
            "lookup", "ok.example.test", "A", "@\(server.endpoint)", "--dnssec", "--no-recursion")
        let message = try #require(server.arrivals.first?.message)
        #expect(message.edns?.isDNSSECOK == true)
        #expect(!message.flags.wantsRecursion)
        #expect(
            result.lines.last?.timeless == "1 record, usable for 30s, authentic data (AD), 0ms")
    }
}
