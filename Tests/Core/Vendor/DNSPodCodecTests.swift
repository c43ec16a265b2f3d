import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSVendor
import HTTPDNSWire
import Testing

@Suite struct DNSPodCodecTests {
    private let codec: DNSPodCodec

    init() throws { codec = try DNSPodCodec() }

    @Test(arguments: [
        (RecordType.a, "/d?dn=www.example.test&ttl=1&clientip=1"),
        (.aaaa, "/d?dn=www.example.test&ttl=1&clientip=1&type=aaaa"),
    ])
    func `a request asks for one family and its lifetime`(type: RecordType, target: String) throws {
        let request = try codec.request(
            for: Vendor.question("www.example.test", type), now: Vendor.now)
        #expect(request.target == target)
    }

    @Test func `a token is percent-encoded and asks for a secure way`() throws {
        let codec = try DNSPodCodec(path: "/d?x=1", token: Secret("1&dn=evil"))
        let request = try codec.request(for: Vendor.question(), now: Vendor.now)
        #expect(
            request.target
                == "/d?x=1&dn=www.example.test&token=1%26dn%3Devil&ttl=1&clientip=1")
        #expect(codec.sendsSecret)
    }

    @Test(arguments: [
        ("192.0.2.1;192.0.2.2,60|203.0.113.7", "192.0.2.1 60, 192.0.2.2 60"),
        ("192.0.2.1;192.0.2.2", "192.0.2.1 60, 192.0.2.2 60"),
        ("192.0.2.1,300\n", "192.0.2.1 300"), (" 192.0.2.1 , 300 \r\n", "192.0.2.1 300"),
        ("192.0.2.1;,5", "192.0.2.1 5"), ("192.0.2.1,", "192.0.2.1 60"),
        ("192.0.2.1,0", "192.0.2.1 0"), ("192.0.2.1,4294967296", "192.0.2.1 0"),
        ("192.0.2.1,99999999999999999999", "192.0.2.1 0"),
        ("192.0.2.1,60-2001:db8::1;2001:db8::2,120|203.0.113.7", "192.0.2.1 60"),
        ("www.example.test.:192.0.2.1,60|203.0.113.7", "192.0.2.1 60"),
        ("www.example.test:192.0.2.1,60", "192.0.2.1 60"),
        ("a.test.:192.0.2.9,60\nWWW.example.test.:192.0.2.1,60\n", "192.0.2.1 60"),
        ("", "code 0"), ("\r\n \n", "code 0"), ("0", "code 0"), ("0|203.0.113.7", "code 0"),
        ("0,0", "code 0"), ("www.example.test.:0", "code 0"),
        ("www.example.test.:0-0|203.0.113.7", "code 0"),
        ("www.example.test|203.0.113.7", "code 0"), ("www.example.test.", "code 0"),
    ])
    func `what the service answers is read`(body: String, outcome: String) throws {
        #expect(Vendor.outcome(codec, Vendor.response(body), try Vendor.question()) == outcome)
    }

    @Test(arguments: [
        ("2001:db8::1;2001:db8::2,60|203.0.113.7", "2001:db8::1 60, 2001:db8::2 60"),
        ("::1,60", "::1 60"), ("1::2", "1::2 60"), ("abcd:1:2:3:4:5:6:7", "abcd:1:2:3:4:5:6:7 60"),
        ("192.0.2.1,60-2001:db8::1,120|203.0.113.7", "2001:db8::1 120"),
        ("www.example.test.:2001:db8::1,60", "2001:db8::1 60"),
        ("192.0.2.1,60-0", "code 0"), ("192.0.2.1,60", "malformed"),
    ])
    func `what the service answers for AAAA is read`(body: String, outcome: String) throws {
        let question = try Vendor.question("www.example.test", .aaaa)
        #expect(Vendor.outcome(codec, Vendor.response(body), question) == outcome)
    }

    @Test(arguments: [
        "<html>Log in</html>", "junk", "127.1", "192.0.2.1,abc", "192.0.2.1,-1", "192.0.2.1,6,7",
        "192.0.2.1|a|b", "2001:db8::1,60", "192.0.2.1 192.0.2.2", "192.0.2.300", "0;192.0.2.1",
        "other.test.:192.0.2.1,60", "other.test|1.2.3.4", "\u{0}", "192.0.2.1\u{0},60",
        "１９２.0.2.1", "87ae992c1321f299da3c0210a9900ae7", "a-b-c", "|", "fe80::1%eth0",
        #"{"ips":["192.0.2.1"]}"#,
    ])
    func `what is not an answer is malformed or empty, never an address`(body: String) throws {
        let outcome = Vendor.outcome(codec, Vendor.response(body), try Vendor.question())
        #expect(outcome == (body == "|" ? "code 0" : "malformed"))
    }

    @Test(arguments: ["GET /d?dn=a&token=k%267 HTTP/1.1", "k&7", "<p>k&7</p>,"])
    func `a service that sends our request back does not put the token in an error`(
        body: String
    ) throws {
        let codec = try DNSPodCodec(token: Secret("k&7"))
        let question = try Vendor.question()
        #expect {
            try codec.testimony(
                from: Vendor.response(body), for: question, source: Vendor.source)
        } throws: { error in
            let text = "\(error)"
            return text.contains("malformed") && !text.contains("k&7") && !text.contains("k%267")
        }
    }

    @Test(arguments: [301, 302, 401, 404, 429, 501, 503])
    func `a status other than success is told`(status: Int) throws {
        let response = Vendor.response("192.0.2.1,60", status: status)
        #expect(Vendor.outcome(codec, response, try Vendor.question()) == "status \(status)")
    }

    @Test func `a name with hyphens that means no address is not taken for two lists`() throws {
        let question = try Vendor.question("a-b.example.test")
        #expect(Vendor.outcome(codec, Vendor.response("a-b.example.test|"), question) == "code 0")
    }

    @Test func `a body larger than any answer is refused`() throws {
        let body = String(repeating: "192.0.2.1;", count: 10_000)
        #expect(
            Vendor.outcome(codec, Vendor.response(body), try Vendor.question()) == "malformed")
    }

    @Test func `our address as the service saw it is kept`() throws {
        let testimony = try codec.testimony(
            from: Vendor.response("192.0.2.1,60|203.0.113.7"), for: Vendor.question(),
            source: Vendor.source)
        #expect(testimony.source.clientAddress == (try IPAddress("203.0.113.7")))
    }
}
