import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

@Suite struct DNSFormTests {
    static let google = "/resolve?name=www.taobao.com&type=1"

    @Test func `each shape has its quirk`() async throws {
        let lab = try LabVendors()
        defer { lab.stop() }
        let start = #""TC":false,"RD":true,"RA":true,"AD":false,"CD":false,"#
        let bodies: [(LabJSONShape, String)] = [
            (
                .aliDNS,
                #"{"Status":0,"# + start + #""Question":{"name":"www.taobao.com","type":1},"#
                    + #""Answer":[{"name":"www.taobao.com.","type":1,"TTL":46,"#
                    + #""data":"192.0.2.20"}]}"#
            ),
            (
                .adGuard,
                "{" + start + #""Question":[{"name":"www.taobao.com.","type":1}],"#
                    + #""Answer":[{"name":"www.taobao.com.","type":1,"class":1,"TTL":46,"#
                    + #""data":"192.0.2.20"}]}"#
            ),
            (
                .dnsSB,
                #"{"Status":0,"# + start + #""Question":[{"name":"www.taobao.com.","type":1}],"#
                    + #""Answer":[{"name":"www.taobao.com.","type":1,"TTL":46,"#
                    + #""Expires":"in 46 seconds","data":"192.0.2.20"}]}"#
            ),
        ]
        for (shape, body) in bodies {
            lab.service.settings.shape = shape
            #expect(try await lab.get(Self.google).body == body)
        }
    }

    @Test func `Cloudflare's shape wants to be accepted, in a field or a parameter`()
        async throws
    {
        let lab = try LabVendors()
        defer { lab.stop() }
        let path = "/dns-query?name=www.taobao.com&type=a"
        #expect(try await lab.get(path).status == 400)
        for (more, fields) in [
            ("&ct=application/dns-json", []), ("", ["-H", "Accept: application/dns-json"]),
        ] {
            let heard = try await lab.get(path + more, fields)
            #expect(heard.status == 200)
            #expect(heard.text.contains("Content-Type: application/dns-json"))
            #expect(try heard.json()["Question"]?.array?.first?["name"] == "www.taobao.com")
        }
    }

    @Test func `Google's first parameter counts, and it can answer with a message`() async throws {
        let lab = try LabVendors()
        defer { lab.stop() }
        let twice = try await lab.get("/resolve?name=www.taobao.com&name=www.a.com")
        #expect(twice.body.contains("192.0.2.20"))
        let message = try await lab.get(Self.google + "&ct=application/dns-message")
        #expect(message.text.contains("Content-Type: application/dns-message"))
        #expect(message.bodyOctets.suffix(8) == [0, 0, 0, 46, 0, 4, 192, 0, 2, 20].suffix(8))
        let missing = try await lab.get("/resolve?name=no.example.com")
        #expect(missing.status == 200)
        #expect(try missing.json()["Status"] == 3)
        #expect(try missing.json()["Authority"]?.array?.first?["type"] == 6)
    }

    /// `www.example.com` A, number 0, with an OPT record of 1,232 octets and these options.
    private func query(_ options: [UInt8]) -> [UInt8] {
        [0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 3, 119, 119, 119, 7]
            + Array("example".utf8) + [3] + Array("com".utf8) + [0, 0, 1, 0, 1]
            + [0, 0, 41, 4, 208, 0, 0, 0, 0, 0, UInt8(options.count)] + options
    }

    @Test func `a padded query gets an answer padded to 468 octets, and its subnet is heard`()
        async throws
    {
        let lab = try LabVendors { settings in
            let name = try HostName("www.example.com")
            settings.table.entries[name]?.bySubnet = [
                try AddressBlock("198.51.100.0/24"): [try IPAddress("192.0.2.99")]
            ]
        }
        defer { lab.stop() }
        // Padding of 3 octets, and a client subnet of 198.51.100.0/24.
        // Source: RFC 7830 §3, RFC 7871 §6.
        let subnet: [UInt8] = [0, 8, 0, 7, 0, 1, 24, 0, 198, 51, 100]
        let padded = query([0, 12, 0, 3, 0, 0, 0] + subnet)
        let heard = try await lab.get("/dns-query?dns=\(Base64.urlEncoded(padded))")
        #expect(heard.bodyOctets.count == 468)
        #expect(heard.text.contains("Cache-Control: max-age=300"))
        #expect(Self.holds(heard.bodyOctets, [0, 4, 192, 0, 2, 99]))
        #expect(lab.service.events.map(\.client) == ["198.51.100.0/24"])
        let plain = try await lab.get("/dns-query?dns=\(Base64.urlEncoded(query([])))")
        #expect(plain.bodyOctets.count == 75)
        #expect(Self.holds(plain.bodyOctets, [0, 4, 192, 0, 2, 40]))
    }

    @Test func `options that run over their record are not read`() async throws {
        let lab = try LabVendors()
        defer { lab.stop() }
        for options: [UInt8] in [[0, 12, 0, 200], [0, 8, 0], [0, 8, 0, 2, 0, 1]] {
            let path = "/dns-query?dns=\(Base64.urlEncoded(query(options)))"
            #expect(try await lab.get(path).bodyOctets.count == 75)
        }
        #expect(lab.service.events.allSatisfy { $0.client == nil })
    }

    private static func holds(_ octets: [UInt8], _ part: [UInt8]) -> Bool {
        octets.indices.contains { octets[$0...].starts(with: part) }
    }
}
