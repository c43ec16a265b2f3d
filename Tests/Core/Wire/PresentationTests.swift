import HTTPDNSNames
import HTTPDNSWire
import Testing

@Suite struct PresentationTests {
    @Test func `records are shown as zone files have them`() throws {
        let messages = [
            GoldenMessages.oldTypes, GoldenMessages.service, GoldenMessages.unknowns,
            GoldenMessages.noSuchName,
        ]
        let shown = try messages.flatMap { wire in
            let message = try Message(decoding: wire)
            return (message.answers + message.authorities).map {
                "\($0.type) \($0.data.presentation(type: $0.type))"
            }
        }
        #expect(
            shown == [
                "MX 10 mail.example.com.", #"TXT "v=spf1" "a\"b\000""#,
                "SRV 1 2 5222 srv.example.com.", #"CAA 0 issue "letsencrypt.org""#,
                "NS ns1.example.com.", "PTR xy.example.com.",
                "HTTPS 0 svc.net.",
                "HTTPS 1 . mandatory=alpn alpn=h2,h3 port=8443 ipv4hint=192.0.2.1 ech=AQID "
                    + "ipv6hint=2001:db8::1",
                ##"TYPE65280 \# 3 010203"##, ##"A \# 6 0161C00C0001"##, ##"A \# 0"##,
                "SOA ns.example.com. hostmaster.example.com. 2023993801 7200 3600 1209600 300",
            ])
    }

    @Test(arguments: [
        (43, "60485d 05 01 2bb1", "24648 93 5 012BB1"), (43, "6048 05 01", ##"\# 4 60480501"##),
        (52, "03 01 01 a0b1", "3 1 1 A0B1"), (52, "03 01 01", ##"\# 3 030101"##),
        (65_280, "ab", ##"\# 1 AB"##),
    ])
    func `opaque data has the form of its type where that is simple`(
        type: UInt16, data: String, text: String
    ) {
        let type = RecordType(rawValue: type)
        #expect(RecordData.opaque(octets(data)).presentation(type: type) == text)
    }

    @Test func `no octet of the network reaches the text as it is`() {
        let all = Array(UInt8.min...UInt8.max)
        let name = WireName(
            labels: stride(from: 0, to: 248, by: 62).map { Array(all[$0..<($0 + 62)]) })
        let data: [RecordData] = [
            .name(name ?? .root), .txt([Array(all[0..<128]), Array(all[128...])]),
            .caa(flags: 255, tag: all, value: all), .opaque(all),
            .service(
                ServiceBinding(
                    priority: 1, target: name ?? .root,
                    parameters: (0...9).map { .init(key: $0, value: all) })),
        ]
        #expect(name != nil)
        for item in data {
            let text = item.presentation(type: .txt)
            #expect(text.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        }
    }

    @Test(arguments: [
        ("AAAA", 28), ("https", 65), ("TYPE65", 65), ("type1234", 1_234), ("ANY", 255),
        ("CAA", 257),
    ])
    func `a type is known by its name in any case`(name: String, number: UInt16) {
        #expect(RecordType(name: name)?.rawValue == number)
    }

    @Test(arguments: ["", "TYPE", "TYPE65536", "TYPE+1", "TYPE-1", "AAAAA", "TYPE 1", "ﬀ", "12"])
    func `what names no type is nil`(name: String) {
        #expect(RecordType(name: name) == nil)
    }

    @Test func `every number has a name that leads back to it`() {
        for number in UInt16.min...UInt16.max {
            let type = RecordType(rawValue: number)
            #expect(RecordType(name: type.name) == type)
        }
    }

    @Test(arguments: [
        (0, "NOERROR"), (1, "FORMERR"), (2, "SERVFAIL"), (3, "NXDOMAIN"), (4, "NOTIMP"),
        (5, "REFUSED"), (16, "BADVERS"), (23, "BADCOOKIE"), (3_841, "RCODE3841"),
    ])
    func `a response code has its name`(number: UInt16, name: String) {
        #expect(ResponseCode(rawValue: number).name == name)
    }
}

@Suite struct WireNameTests {
    @Test(arguments: [
        ("www.Example.com", "www.Example.com"), ("www.example.com.", "www.example.com"),
        (".", "."), (#"a\.b.c"#, #"a\.b.c"#), (#"\097\000"#, #"a\000"#),
        (#"a\ b.\@"#, #"a\032b.\@"#),
    ])
    func `presentation text is read and written`(text: String, written: String) throws {
        let name = try #require(WireName(text: text))
        #expect(name.description == written)
        #expect(WireName(text: name.absoluteText) == name)
    }

    @Test(arguments: [
        "", "a..b", ".a", "..", #"a\"#, #"a\25"#, #"a\256"#, String(repeating: "a", count: 64),
    ])
    func `what is not a name is nil`(text: String) {
        #expect(WireName(text: text) == nil)
    }

    @Test func `names compare without case, and octets beyond ASCII as they are`() throws {
        let name = try #require(WireName(text: "WWW.example.COM"))
        #expect(name == WireName(try HostName("www.EXAMPLE.com")))
        #expect(Set([name, WireName(try HostName("www.example.com"))]).count == 1)
        #expect(WireName(labels: [[0xC1]]) != WireName(labels: [[0xE1]]))
        #expect(WireName(labels: [Array("a.b".utf8)]) != WireName(labels: [[0x61], [0x62]]))
    }

    @Test func `a name is under a zone only on a label boundary`() throws {
        let name = try #require(WireName(text: "api.Example.com"))
        for zone in ["example.com", "COM", ".", "api.example.com"] {
            #expect(name.isSameOrUnder(try #require(WireName(text: zone))))
        }
        for zone in ["xample.com", "a.api.example.com", "org", "pi.example.com"] {
            #expect(!name.isSameOrUnder(try #require(WireName(text: zone))))
        }
        // The octets of "3com" end "x3com" spelt as labels; the boundary is what counts.
        let trick = try #require(WireName(labels: [Array("x\u{3}com".utf8)]))
        #expect(!trick.isSameOrUnder(try #require(WireName(text: "com"))))
    }

    @Test func `labels and host names come back`() throws {
        let name = try #require(WireName(labels: [Array("www".utf8), Array("test".utf8)]))
        #expect(name.labels.map { String(decoding: $0, as: UTF8.self) } == ["www", "test"])
        #expect(name.hostName == (try HostName("www.test")))
        #expect(WireName(labels: [Array("a.b".utf8), Array("test".utf8)])?.hostName == nil)
        #expect(WireName.root.hostName == nil)
        let label = [UInt8](repeating: 0x61, count: 63)
        #expect(WireName(labels: [label, label, label, Array(label.prefix(61))]) != nil)
        #expect(WireName(labels: [label, label, label, Array(label.prefix(62))]) == nil)
    }
}
