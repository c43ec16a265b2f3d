import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSVendor
import HTTPDNSWire
import Testing

@Suite struct DNSPodEncryptedTests {
    private let des: DNSPodCodec
    private let aes: DNSPodCodec

    init() throws {
        des = try DNSPodCodec(access: .des(id: "7", key: Secret("dnspodpass")))
        aes = try DNSPodCodec(
            access: .aes(id: "7", key: Secret("0123456789abcdef")),
            randomOctets: Vendor.counting)
    }

    @Test func `names are encrypted as the vendor published for DES`() throws {
        let request = try des.request(
            for: Vendor.question("www.dnspod.cn"), now: Vendor.now)
        #expect(
            request.target
                == "/d?dn=87ae992c1321f299da3c0210a9900ae7&id=7&alg=des&ttl=1&clientip=1")
    }

    @Test func `names are encrypted in AES behind their IV, and both families go together`()
        throws
    {
        let request = try aes.request(for: Vendor.both("www.dnspod.cn"), now: Vendor.now)
        #expect(
            request.target
                == "/d?dn=000102030405060708090a0b0c0d0e0f556fad2b1e6696ecb7b748a48d600025"
                + "&id=7&alg=aes&ttl=1&clientip=1&type=addrs")
    }

    @Test func `dated names are the option that one SDK has`() throws {
        var options = DNSPodCodec.Options()
        options.datesNames = true
        let codec = try DNSPodCodec(
            access: .aes(id: "7", key: Secret("0123456789abcdef")), options: options,
            randomOctets: Vendor.counting)
        let request = try codec.request(
            for: Vendor.question("www.dnspod.cn"), now: Vendor.at(1_750_000_000))
        #expect(
            request.target.contains(
                "dn=000102030405060708090a0b0c0d0e0f"
                    + "710502e2b3efa8044dc44060fa2887880d68dd63b9398ab0e0110dbc6b5a30f1&"))
        let token = try DNSPodCodec(access: .token(Secret("9")), options: options)
        let clear = try token.request(
            for: Vendor.question("www.dnspod.cn"), now: Vendor.at(1_750_000_000))
        #expect(clear.target.hasPrefix("/d?dn=www.dnspod.cn%3B1750000600&token=9"))
    }

    @Test func `the client's address goes in clear, or encrypted where that is chosen`() throws {
        var question = try Vendor.question("www.dnspod.cn")
        question.clientSubnet = AddressBlock(try IPAddress("1.2.3.0"), prefixBits: 24)
        #expect(try des.request(for: question, now: Vendor.now).target.hasSuffix("&ip=1.2.3.0"))
        var options = DNSPodCodec.Options()
        options.encryptsClientAddress = true
        let codec = try DNSPodCodec(
            access: .des(id: "7", key: Secret("dnspodpass")), options: options)
        #expect(!(try codec.request(for: question, now: Vendor.now).target.contains("1.2.3.0")))
    }

    private static let aesBody =
        "000102030405060708090a0b0c0d0e0f54ddbc202d1076e4ea7a2981ab784b0eb46c609369b389d6318d6ce82fd3"
        + "c1aa2a898cd5fdc506f90732d80a24dfbe65"
    private static let desBody =
        "523362ba93cdece1093655150dff1a2805fb45bed52cce9d6f866b47ebcf6493b86f14a4923112f0"

    @Test func `encrypted answers are read, in either case of letters`() throws {
        let expected = "192.0.2.1 60, 192.0.2.2 60"
        let question = try Vendor.question()
        for (codec, body) in [(des, Self.desBody), (aes, Self.aesBody)] {
            for text in [body, body.uppercased(), body + "\r\n"] {
                #expect(Vendor.outcome(codec, Vendor.response(text), question) == expected)
            }
        }
        let testimony = try aes.testimony(
            from: Vendor.response(Self.aesBody), for: question, source: Vendor.source)
        #expect(testimony.source.clientAddress == (try IPAddress("203.0.113.7")))
    }

    @Test(arguments: [
        "0", "zz", "192.0.2.1", "<html>", "00", String(repeating: "00", count: 16), "abc",
        String(repeating: "00", count: 32),
    ])
    func `what is no ciphertext is malformed`(body: String) throws {
        for codec in [des, aes] {
            #expect(
                Vendor.outcome(codec, Vendor.response(body), try Vendor.question()) == "malformed")
        }
    }

    @Test func `every beginning of a good answer is an error or no answer`() throws {
        for (codec, body) in [(des, Self.desBody), (aes, Self.aesBody)] {
            for count in 1..<body.utf8.count {
                let outcome = Vendor.outcome(
                    codec, Vendor.response(String(body.prefix(count))), try Vendor.question())
                #expect(outcome == "malformed", "\(count) octets: \(outcome)")
            }
            #expect(Vendor.outcome(codec, Vendor.response(""), try Vendor.question()) == "code 0")
        }
    }

    @Test func `a refusal by status stays one`() throws {
        #expect(
            Vendor.outcome(aes, Vendor.response("", status: 401), try Vendor.question())
                == "status 401")
    }

    @Test(arguments: [("", "dnspodpass"), ("x", "dnspodpass"), ("7", ""), ("7", "short")])
    func `an account that cannot encrypt is refused with advice`(id: String, key: String) {
        #expect(throws: QueryFailure.self) {
            try DNSPodCodec(access: .des(id: id, key: Secret(key)))
        }
    }

    @Test func `a short AES key is filled up as the vendor's SDK does`() throws {
        let short = try DNSPodCodec(
            access: .aes(id: "7", key: Secret("0123")), randomOctets: Vendor.counting)
        let filled = try DNSPodCodec(
            access: .aes(id: "7", key: Secret("0123000000000000")), randomOctets: Vendor.counting)
        let question = try Vendor.question()
        #expect(
            try short.request(for: question, now: Vendor.now)
                == filled.request(for: question, now: Vendor.now))
    }
}

/// Both families and several names in one text.
@Suite struct DNSPodBatchTests {
    private let codec: DNSPodCodec

    init() throws { codec = try DNSPodCodec(token: Secret("12345")) }

    @Test func `several names and both families are one request`() throws {
        let request = try codec.request(for: Vendor.both("a.test", "b.test"), now: Vendor.now)
        #expect(
            request.target
                == "/d?dn=a.test,b.test&token=12345&ttl=1&clientip=1&type=addrs")
    }

    @Test func `the free service is asked one question a time`() throws {
        #expect(try DNSPodCodec().batching == .none)
        #expect(codec.batching == Batching(maximumNames: 8, joinsFamilies: true))
    }

    @Test(arguments: [
        (
            "a.test.:192.0.2.1,60-2001:db8::1;2001:db8::2,120|203.0.113.7\nb.test.:0-0|203.0.113.7",
            ["192.0.2.1 60", "2001:db8::1 120, 2001:db8::2 120", "none -", "none -"]
        ),
        // The client's address on the last line only, another order, no dots, a semicolon.
        (
            "b.test:192.0.2.2;,9-0\na.test:0-2001:db8::1,5|203.0.113.7",
            ["none -", "2001:db8::1 5", "192.0.2.2 9", "none -"]
        ),
        ("a.test.:0|1.2.3.4\nb.test|1.2.3.4", ["none -", "none -", "none -", "none -"]),
        // One family alone, although both were asked.
        (
            "a.test.:192.0.2.1,60\nb.test.:2001:db8::2,60",
            ["192.0.2.1 60", "not_covered", "not_covered", "2001:db8::2 60"]
        ),
        (
            "a.test.:192.0.2.1,60",
            ["192.0.2.1 60", "not_covered", "not_covered", "not_covered"]
        ),
        // A line that names nobody is nobody else's fault.
        (
            "-.:192.0.2.9,60\na.test.:192.0.2.1,60-0\nb.test.:0",
            ["192.0.2.1 60", "none -", "none -", "none -"]
        ),
        // Without a name nobody knows whose it is.
        ("192.0.2.1,60", ["malformed", "malformed", "malformed", "malformed"]),
        ("", ["none -", "none -", "none -", "none -"]),
        ("a.test.:x\nb.test.:0", ["malformed", "malformed", "none -", "none -"]),
    ])
    func `lines are told apart by their names`(body: String, expected: [String]) throws {
        #expect(Vendor.outcomes(codec, body, try Vendor.both("a.test", "b.test")) == expected)
    }
}
