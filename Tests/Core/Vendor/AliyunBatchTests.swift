import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSVendor
import HTTPDNSWire
import Testing

@Suite struct AliyunBatchTests {
    private let plain: AliyunCodec
    private let signing: AliyunCodec

    init() throws {
        plain = try AliyunCodec(account: "100000", secret: nil)
        signing = try AliyunCodec(account: "100000", secret: Secret("IAmASecret"))
    }

    @Test func `both families of a name are asked in one request`() throws {
        let request = try plain.request(for: Vendor.both("www.example.test"), now: Vendor.now)
        #expect(request.target == "/100000/d?host=www.example.test&query=4,6")
    }

    @Test func `several names go to the batch call, signed as the vendor published`() throws {
        let questions = [
            try Vendor.question("www.aliyun.com"), try Vendor.question("www.taobao.com"),
        ]
        let request = try signing.request(for: questions, now: Vendor.now)
        #expect(
            request.target == "/100000/sign_resolve?host=www.aliyun.com,www.taobao.com&query=4"
                + "&t=1534316400&s=12a3f6b1b14a46ca813ca6439beb59a4")
        let unsigned = try plain.request(for: questions, now: Vendor.now)
        #expect(unsigned.target.hasPrefix("/100000/resolve?host="))
    }

    @Test func `subnet and parameters travel unsigned`() throws {
        var question = try Vendor.question("www.aliyun.com")
        question.clientSubnet = AddressBlock(try IPAddress("198.51.100.0"), prefixBits: 24)
        question.serviceParameters = try ServiceParameters([("b", "2"), ("a", "1=")])
        let request = try signing.request(for: question, now: Vendor.now)
        #expect(
            request.target.contains("&query=4&ip=198.51.100.0&sdns-a=1%3D&sdns-b=2&t=1534316400"))
        #expect(request.target.hasSuffix("&s=60c71e98b6d7fcbb366243e224eab457"))
    }

    @Test func `more names than the service takes are a fault of ours, not a request`() throws {
        let questions = try (1...6).map { try Vendor.question("a\($0).example.test") }
        #expect(throws: QueryFailure.self) { try plain.request(for: questions, now: Vendor.now) }
    }

    @Test(arguments: [
        (
            #"{"dns":[{"host":"a.test","ips":["192.0.2.1"],"ipsv6":["2001:db8::1"],"ttl":10},"#
                + #"{"host":"b.test","ips":["192.0.2.2"],"ttl":20}]}"#,
            ["192.0.2.1 10", "2001:db8::1 10", "192.0.2.2 20", "not_covered"]
        ),
        // Two elements of a host, with types, in another order than asked.
        (
            #"{"dns":[{"host":"b.test","ips":["192.0.2.2"],"ttl":20,"type":1},"#
                + #"{"host":"a.test.","ips":["2001:db8::1"],"ttl":9,"type":28},"#
                + #"{"host":"A.test","ips":["192.0.2.1"],"ttl":10,"type":1}]}"#,
            ["192.0.2.1 10", "2001:db8::1 9", "192.0.2.2 20", "not_covered"]
        ),
        // One host is missing, one stands twice.
        (
            #"{"dns":[{"host":"a.test","ips":["192.0.2.1"],"ttl":10},"#
                + #"{"host":"a.test","ips":["192.0.2.1","192.0.2.9"],"ttl":5}]}"#,
            ["192.0.2.1 5, 192.0.2.9 5", "not_covered", "not_covered", "not_covered"]
        ),
        // A list that cannot be read spoils its own family alone.
        (
            #"{"dns":[{"host":"a.test","ips":["192.0.2.1"],"ipsv6":["x"],"ttl":10},"#
                + #"{"host":"b.test","ips":[],"ipsv6":[],"ttl":300}]}"#,
            ["192.0.2.1 10", "malformed", "none 300", "none 300"]
        ),
        // A list that is there and empty says "none"; one that is not says nothing.
        (
            #"{"dns":[{"host":"a.test","ips":[],"ttl":30},{"host":"b.test","ttl":30}]}"#,
            ["none 30", "not_covered", "not_covered", "not_covered"]
        ),
        // What is wrong with one entry is no other's fault.
        (
            #"{"dns":[7,{"host":"a b","ips":[]},{"host":"b.test","ips":["192.0.2.2"],"ttl":"x"},"#
                + #"{"host":"a.test","ips":["192.0.2.1"],"ipsv6":[],"ttl":10}]}"#,
            ["192.0.2.1 10", "none 10", "malformed", "malformed"]
        ),
        (#"{"dns":[]}"#, ["malformed", "malformed", "malformed", "malformed"]),
        (#"{"dns":[7]}"#, ["malformed", "malformed", "malformed", "malformed"]),
        (#"{"dns":{}}"#, ["malformed", "malformed", "malformed", "malformed"]),
    ])
    func `a batch is read for each name and family`(body: String, expected: [String]) throws {
        #expect(
            Vendor.outcomes(plain, body, try Vendor.both("a.test", "b.test")) == expected)
    }

    @Test func `what the service adds reaches the caller, unescaped`() throws {
        let body =
            #"{"host":"www.example.test","ips":["192.0.2.1"],"client_ip":"203.0.113.9","#
            + #""extra":"{&quot;a&quot;:&lt;1&gt; &amp;amp;}"}"#
        let testimony = try plain.testimony(
            from: Vendor.response(body), for: Vendor.question(), source: Vendor.source)
        #expect(testimony.source.extra == #"{"a":<1> &amp;}"#)
        #expect(testimony.source.clientAddress == (try IPAddress("203.0.113.9")))
    }

    @Test(arguments: [
        ("ServiceLevelDeny", Remedy.switchServer), ("InternalError", .switchServer),
        ("SomethingNew", .switchServer), ("InvalidAccount", .rest(seconds: 3_600)),
        ("UnsignedInterfaceDisabled", .rest(seconds: 3_600)),
        ("AccountNotExists", .rest(seconds: 3_600)), ("SignatureExpired", .none),
        ("InvalidSignature", .none), ("InvalidDuration", .none), ("InvalidHost", .none),
        ("MissingArgument", .none), ("TooManyHosts", .none), ("MethodNotAllowed", .none),
        ("SdnsNotSupported", .none),
    ])
    func `each refusal has the remedy of the vendor's SDK`(code: String, remedy: Remedy) {
        #expect(plain.remedy(for: .rejected(code: code), in: nil) == remedy)
    }

    @Test(arguments: [
        (QueryFailure.timedOut(tries: 1), Remedy.switchServer), (.unreachable("x"), .switchServer),
        (.httpStatus(502), .switchServer), (.httpStatus(404), .none), (.httpStatus(302), .none),
        (.malformed("x"), .switchServer), (.cancelled, .none),
    ])
    func `faults of a server are worth another one`(failure: QueryFailure, remedy: Remedy) {
        #expect(plain.remedy(for: failure, in: nil) == remedy)
    }
}
