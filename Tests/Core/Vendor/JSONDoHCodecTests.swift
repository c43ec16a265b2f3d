import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSVendor
import HTTPDNSWire
import Testing

@Suite struct JSONDoHCodecTests {
    private let codec = JSONDoHCodec(path: "/resolve")

    private func body(
        status: String = #""Status":0,"#,
        question: String = #"[{"name":"www.example.test.","type":1}]"#,
        answer: String, rest: String = ""
    ) -> String {
        #"{\#(status)"Question":\#(question),"Answer":\#(answer)\#(rest)}"#
    }

    private func answer(_ data: String, ttl: String = "57", type: Int = 1) -> String {
        #"[{"name":"www.example.test.","type":\#(type),"TTL":\#(ttl),"data":"\#(data)"}]"#
    }

    @Test(arguments: [
        ("/resolve", "/resolve?name=www.example.test&type=28"),
        ("/resolve?uid=7", "/resolve?uid=7&name=www.example.test&type=28"),
        ("/dns-query?", "/dns-query?name=www.example.test&type=28"),
    ])
    func `a request names the type by number and wants JSON`(path: String, target: String) throws {
        let request = try JSONDoHCodec(path: path).request(
            for: Vendor.question("www.example.test", .aaaa), now: Vendor.now)
        #expect(request.target == target)
        #expect(request.accept == "application/dns-json")
    }

    @Test func `DNSSEC data is asked for when it is wanted`() throws {
        var question = try Vendor.question()
        question.wantsDNSSEC = true
        let request = try codec.request(for: question, now: Vendor.now)
        #expect(request.target.hasSuffix("&do=1"))
    }

    @Test(arguments: ["57", "\"57\""])
    func `Google's shape is read`(ttl: String) throws {
        let text = body(answer: answer("192.0.2.1", ttl: ttl), rest: #","AD":true,"Comment":"x""#)
        let testimony = try codec.testimony(
            from: Vendor.response(text), for: Vendor.question(), source: Vendor.source)
        #expect(testimony.isAuthenticData)
        #expect(testimony.answers.map(\.ttlSeconds) == [57])
        #expect(testimony.answers.map(\.data) == [.address(try IPAddress("192.0.2.1"))])
    }

    @Test(arguments: [("true", "malformed"), ("false", "192.0.2.1 57")])
    func `a truncated answer is malformed`(isTruncated: String, outcome: String) throws {
        let text = body(answer: answer("192.0.2.1"), rest: #","TC":\#(isTruncated)"#)
        #expect(Vendor.outcome(codec, Vendor.response(text), try Vendor.question()) == outcome)
    }

    @Test(arguments: [
        #"{"name":"www.example.test","type":1}"#, "[]", "null", "7", #""x""#, #"[{"name":7}]"#,
    ])
    func `the echoed question may have any shape`(question: String) throws {
        let text = body(question: question, answer: answer("192.0.2.1"))
        #expect(
            Vendor.outcome(codec, Vendor.response(text), try Vendor.question()) == "192.0.2.1 57")
    }

    @Test(arguments: [
        #"[{"name":"other.test.","type":1}]"#, #"[{"name":"www.example.test.","type":28}]"#,
        #"{"name":"other.test","type":1}"#,
    ])
    func `an answer to another question is malformed`(question: String) throws {
        let text = body(question: question, answer: answer("192.0.2.1"))
        #expect(Vendor.outcome(codec, Vendor.response(text), try Vendor.question()) == "malformed")
    }

    @Test func `AdGuard's shape without a Status is read`() throws {
        let text =
            #"{"Answer":[{"name":"www.example.test.","class":1,"type":1,"TTL":5,"#
            + #""data":"192.0.2.1","Expires":"Mon, 01 Jan 2035"}]}"#
        #expect(
            Vendor.outcome(codec, Vendor.response(text), try Vendor.question()) == "192.0.2.1 5")
    }

    @Test(arguments: [
        ("0", "0"), ("-1", "0"), ("2147483647", "2147483647"), ("2147483648", "0"),
        ("1e300", "0"), ("null", "60"),
    ])
    func `a lifetime out of range is not kept`(ttl: String, seconds: String) throws {
        let text = body(answer: answer("192.0.2.1", ttl: ttl))
        #expect(
            Vendor.outcome(codec, Vendor.response(text), try Vendor.question())
                == "192.0.2.1 \(seconds)")
    }

    @Test(arguments: [
        (#"[{"name":"www.example.test.","type":5,"TTL":9,"data":"cdn.example.test."},"#
            + #"{"name":"cdn.example.test.","type":1,"TTL":3,"data":"192.0.2.1"}]"#)
    ])
    func `an alias chain keeps its order`(answer: String) throws {
        let testimony = try codec.testimony(
            from: Vendor.response(body(answer: answer)), for: Vendor.question(),
            source: Vendor.source)
        #expect(testimony.answers.map(\.type) == [.cname, .a])
        #expect(
            testimony.answers.first?.data == .name(WireName(try HostName("cdn.example.test"))))
        #expect(
            testimony.answers.map(\.name.description)
                == ["www.example.test", "cdn.example.test"])
    }

    @Test(arguments: [
        (#"3"#, "900", 900 as UInt32), ("3", "20", 20), ("0", "900", 900),
    ])
    func `a negative answer holds as long as its SOA says`(
        status: String, ttl: String, seconds: UInt32
    ) throws {
        let text =
            #"{"Status":\#(status),"Question":[],"Authority":[{"name":"test.","type":6,"#
            + #""TTL":\#(ttl),"data":"a.test. b.test. 1714 1800 900 604800 86400"}]}"#
        let testimony = try codec.testimony(
            from: Vendor.response(text), for: Vendor.question(), source: Vendor.source)
        #expect(testimony.code.rawValue == UInt16(status))
        #expect(testimony.negativeTTLSeconds == seconds)
        #expect(testimony.answers.isEmpty)
    }

    @Test(arguments: ["2", "5", "3", "4095"])
    func `a failure that the server states is testimony`(status: String) throws {
        let text = #"{"Status":\#(status),"Question":[{"name":"www.example.test.","type":1}]}"#
        #expect(
            Vendor.outcome(codec, Vendor.response(text), try Vendor.question()) == "code \(status)")
    }

    @Test(arguments: [
        "", "<html>Log in</html>", "null", "[]", "7", "{}", #"{"status":"ok"}"#,
        #"{"code":"success","data":{}}"#, #"{"Status":0}"#, #"{"Status":"0","Question":[]}"#,
        #"{"Status":-1,"Question":[]}"#, #"{"Status":4096,"Question":[]}"#,
        #"{"Status":0.5,"Question":[]}"#, #"{"Status":0,"Answer":{}}"#,
        #"{"Status":0,"Answer":""}"#, #"{"Status":0,"Answer":[1]}"#, #"{"Status":0,"Answer":[{}]}"#,
        #"{"Status":0,"Answer":[{"name":"www.example.test.","type":1,"TTL":5}]}"#,
        #"{"Status":0,"Answer":[{"name":"www.example.test.","type":1,"TTL":5,"data":""}]}"#,
        #"{"Status":0,"Answer":[{"name":"www.example.test.","type":1,"TTL":5,"data":"::1"}]}"#,
        #"{"Status":0,"Answer":[{"name":"www.example.test.","type":1,"TTL":5,"data":"127.1"}]}"#,
        #"{"Status":0,"Answer":[{"name":"www.example.test.","type":65537,"data":"127.0.0.1"}]}"#,
        #"{"Status":0,"Answer":[{"name":"a..b","type":1,"TTL":5,"data":"192.0.2.1"}]}"#,
        #"{"Status":0,"Answer":[{"type":1,"TTL":5,"data":"192.0.2.1"}]}"#,
        #"{"Status":0,"Answer":[{"name":"www.example.test.","type":5,"TTL":5,"data":"a b"}]}"#,
        #"{"Status":0,"Answer":[{"name":"www.example.test.","type":1,"TTL":{},"data":"192.0.2.1"}]}"#,
        #"{"Answer":[{"name":"www.example.test.","type":16,"TTL":5,"data":"hello"}]}"#,
    ])
    func `what is not an answer is malformed`(body: String) throws {
        #expect(Vendor.outcome(codec, Vendor.response(body), try Vendor.question()) == "malformed")
    }

    @Test(arguments: [
        (302, "", "status 302"), (400, "<html>", "status 400"), (429, "{}", "status 429"),
        (403, #"{"code":"Forbidden.Key"}"#, "rejected Forbidden.Key"),
        (400, #"{"code":"no such\u001b thing"}"#, "status 400"),
    ])
    func `a refusal is told`(status: Int, body: String, outcome: String) throws {
        let response = Vendor.response(body, status: status)
        #expect(Vendor.outcome(codec, response, try Vendor.question()) == outcome)
    }

    @Test func `a record of another type that cannot be read is passed over`() throws {
        let text = body(
            answer: #"[{"name":"www.example.test.","type":46,"TTL":5,"data":"A 8 3 60"},"#
                + #"{"name":"www.example.test.","type":1,"TTL":5,"data":"192.0.2.1"}]"#)
        #expect(
            Vendor.outcome(codec, Vendor.response(text), try Vendor.question()) == "192.0.2.1 5")
    }
}

@Suite struct RecordTextTests {
    private func data(_ text: String, _ type: RecordType) throws -> RecordData? {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let body =
            #"{"Status":0,"Answer":[{"name":"x.test.","type":\#(type.rawValue),"#
            + #""TTL":5,"data":"\#(escaped)"}]}"#
        let question = Question(name: try HostName("x.test"), type: type)
        return try? JSONDoHCodec(path: "/").testimony(
            from: Vendor.response(body), for: question, source: Vendor.source
        ).answers.first?.data
    }

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test func `mail, service and authority records are read`() throws {
        let mail = try #require(WireName(text: "mail.x.test."))
        #expect(try data("10 mail.x.test.", .mx) == .mx(preference: 10, exchange: mail))
        #expect(
            try data("1 2 443 mail.x.test.", .srv)
                == .srv(priority: 1, weight: 2, port: 443, target: mail))
        #expect(try data("mail.x.test.", .ns) == .name(mail))
        #expect(
            try data("0 issue \"ca.test; a=b\"", .caa)
                == .caa(flags: 0, tag: bytes("issue"), value: bytes("ca.test; a=b")))
    }

    @Test(arguments: [
        ("v=spf1 -all", ["v=spf1 -all"]), (#""v=spf1 -all""#, ["v=spf1 -all"]),
        (#""a b" "c\"d" "\065""#, ["a b", "c\"d", "A"]), (#"say "hi""#, [#"say "hi""#]),
        (#""open"#, [#""open"#]), ("", [""]),
    ])
    func `text comes quoted, bare or with broken quotes`(
        text: String, strings: [String]
    ) throws {
        #expect(try data(text, .txt) == .txt(strings.map(bytes)))
    }

    @Test func `long bare text becomes several strings`() throws {
        let text = String(repeating: "a", count: 600)
        guard case .txt(let strings) = try data(text, .txt) else {
            Issue.record("no text")
            return
        }
        #expect(strings.map(\.count) == [255, 255, 90])
    }

    @Test func `service bindings are read in words and in octets`() throws {
        let words = try data("1 . alpn=\"h2,h3\" port=8443 ipv4hint=192.0.2.1", .https)
        let octets = try data(
            "\\# 27 0001 00 0001 0006 026832 026833 0003 0002 20fb 0004 0004 c0000201", .https)
        guard case .service(let binding) = words else {
            Issue.record("no binding")
            return
        }
        #expect(binding.priority == 1)
        #expect(binding.parameters.map(\.key) == [1, 3, 4])
        #expect(words == octets)
    }

    @Test func `an unknown type is read in octets only`() throws {
        #expect(try data("\\# 2 ABcd", RecordType(rawValue: 999)) == .opaque([0xAB, 0xCD]))
        #expect(try data("\\# 0", RecordType(rawValue: 999)) == .opaque([]))
        #expect(try data("abcd", RecordType(rawValue: 999)) == nil)
    }

    @Test(arguments: [
        ("10", RecordType.mx), ("65536 a.test.", .mx), ("10 a..b", .mx), ("1 2 3", .srv),
        ("x issue \"a\"", .caa), ("0 issue", .caa), ("a.test. b.test. 1 2 3 4", .soa),
        ("a.test. b.test. 1 2 3 4 x", .soa), ("\\# 4 0a0000", .a), ("\\# 3 0a0000", .a),
        ("\\# 5 0a00000001", .a), ("\\# 70000 00", .txt), ("\\#", .a), ("\\# x y", .a),
        ("1 . alpn", .https), ("1 . alpn=h2 alpn=h3", .https), ("1 . port=70000", .https),
        ("1 . ipv4hint=::1", .https), ("1 . mandatory=port", .https), ("1", .https),
        ("1 . nonsense=1", .https), ("1 . alpn=\"h2", .https), ("", .a), ("a b", .cname),
    ])
    func `data that breaks its type's form is refused`(text: String, type: RecordType) throws {
        #expect(try data(text, type) == nil)
    }
}
