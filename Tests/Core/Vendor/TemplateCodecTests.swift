import HTTPDNSJSON
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSProfiles
import HTTPDNSVendor
import HTTPDNSWire
import Testing

@Suite struct TemplateCodecTests {
    private func codec(
        _ id: String, account: String? = nil, secret: String? = nil, key: String? = nil
    ) throws -> TemplateCodec {
        let profile = try #require(Profiles.named(id))
        return try TemplateCodec(
            try #require(profile.template),
            credentials: TemplateCodec.Credentials(
                account: account, secret: secret.map { Secret($0) }, key: key.map { Secret($0) }),
            types: profile.supportedTypes, randomOctets: Vendor.counting)
    }

    private func qiniu() throws -> TemplateCodec {
        try codec("qiniu", account: "42", secret: "accountKey")
    }

    private func yunaq(_ id: String = "yunaq") throws -> TemplateCodec {
        try codec(
            id, account: "21de58ae91bf3ab77e32aeb8fae95291", secret: "oB1q6EF8rGUpd1qxBtcm")
    }

    @Test func `Qiniu is a profile: its signature is the known one`() throws {
        let request = try qiniu().request(
            for: [try Vendor.question("www.example.com", .aaaa)],
            now: Vendor.at(1_750_000_000 - 600))
        #expect(
            request.target
                == "/resolve?accountId=42&domain=www.example.com"
                + "&sign=b758550c141901af2984174c2b173de9&t=1750000000&type=AAAA")
    }

    @Test func `UCloud is a profile: it signs in a header`() throws {
        let codec = try codec("ucloud", account: "auth/a1", secret: "secret")
        let request = try codec.request(
            for: [try Vendor.question("b1")], now: Vendor.at(1_750_000_000))
        #expect(request.target == "/auth/resolve?app_id=a1&host=b1&timestamp=1750000000")
        // Computed with `md5sum` over a1-b1-1750000000-secret.
        #expect(
            request.fields.map { "\($0.name): \($0.value)" }
                == ["Authorization: ebbf5f644d530332e87a0561c6d28c50"])
    }

    @Test func `Yunaq is a profile: its signature is the published one`() throws {
        let request = try yunaq().request(
            for: [try Vendor.question("www.yunaq.com")], now: Vendor.at(1_576_468_800 - 300))
        #expect(request.target.contains("&sign=1f8c93f4853b8a9cc179b54ea7e0e2f6&t=1576468800"))
        #expect(request.target.contains("qtype=A"))
        #expect(!request.target.contains("&ip="))
    }

    @Test func `AliDNS with an account is a profile: its key is the known one`() throws {
        let codec = try codec("alidns-paid", account: "100000", secret: "SECRET", key: "AKID")
        let request = try codec.request(
            for: Vendor.question("www.taobao.com"), now: Vendor.at(1_614_927_253))
        #expect(
            request.target.contains(
                "key=a3694231b1ea214991af5e99c9fae305f02658c5e15db6e2400c459fbc6c93ca"))
        #expect(codec.sendsSecret)
        let body =
            #"{"Status":0,"Answer":[{"name":"www.taobao.com","type":1,"TTL":9,"data":"192.0.2.1"}]}"#
        let question = try Vendor.question("www.taobao.com")
        #expect(Vendor.outcome(codec, Vendor.response(body), question) == "192.0.2.1 9")
        #expect(
            Vendor.outcome(codec, Vendor.response(#"{"code":"AkDisabled"}"#), question)
                == "rejected AkDisabled")
    }

    @Test func `a service that knows IPv4 alone never says that a name has no IPv6`() throws {
        #expect(try codec("wangsu").supportedTypes == [.a])
        #expect(
            try codec("ucloud", account: "auth/a1", secret: "secret").supportedTypes == [.a])
        #expect(try yunaq().supportedTypes == [.a, .aaaa])
    }

    @Test func `Wangsu is a profile without Swift of its own`() throws {
        let codec = try codec("wangsu")
        let request = try codec.request(
            for: [try Vendor.question("a.test"), try Vendor.question("b.test")], now: Vendor.now)
        #expect(
            request.target
                == "/v1/httpdns/clouddns?ws_domain=a.test%3Bb.test&ws_ret_type=json")
        let body =
            #"{"msg":"ok","data":{"a.test":{"ips":["192.0.2.1"],"ttl":7},"b.test":{"ips":[]}}}"#
        let questions = [try Vendor.question("a.test"), try Vendor.question("b.test")]
        #expect(Vendor.outcomes(codec, body, questions) == ["192.0.2.1 7", "none -"])
    }

    @Test(arguments: [
        (
            #"{"code":0,"client_ip":"203.0.113.9","data":[{"domain":"a.test","ip":["192.0.2.1"],"#
                + #""ttl":50},{"domain":"b.test","ip":[],"ttl":5}]}"#, ["192.0.2.1 50", "none 5"]
        ),
        (
            #"{"code":"0","data":[{"domain":"a.test","ip":["192.0.2.1"]}]}"#,
            ["192.0.2.1 60", "not_covered"]
        ),
        // An entry that is wrong is so for itself.
        (
            #"{"code":0,"data":[{"domain":"a b","ip":[]},{"domain":"b.test","ip":7},"#
                + #"{"domain":"a.test","ip":["192.0.2.1"],"ttl":50}]}"#,
            ["192.0.2.1 50", "malformed"]
        ),
        (
            #"{"code":0,"data":[{"domain":"a.test","ip":[]},{"domain":"b.test"}]}"#,
            ["none -", "not_covered"]
        ),
        (#"{"code":400008}"#, ["rejected SignatureExpired", "rejected SignatureExpired"]),
        (#"{"code":500000}"#, ["rejected 500000", "rejected 500000"]),
        (#"{"code":0}"#, ["malformed", "malformed"]),
        (#"{"code":0,"data":[{}]}"#, ["malformed", "malformed"]),
        (#"{"code":0,"data":7}"#, ["malformed", "malformed"]), ("", ["malformed", "malformed"]),
        ("<html>", ["malformed", "malformed"]),
    ])
    func `entries are read by their paths, codes by their meanings`(
        body: String, expected: [String]
    ) throws {
        let questions = [try Vendor.question("a.test"), try Vendor.question("b.test")]
        #expect(Vendor.outcomes(try qiniu(), body, questions) == expected)
    }

    @Test(arguments: [
        (#"{"ips":["192.0.2.1"],"ttl":144,"host":"a.test"}"#, "192.0.2.1 144"),
        (#"{"ipsv6":["2001:db8::1"],"ttl":144,"host":"a.test"}"#, "code 0"), ("{}", "code 0"),
        (#"{"code":"SignatureExpired"}"#, "rejected SignatureExpired"),
        (#"{"host":"other.test","ips":["192.0.2.1"]}"#, "malformed"),
    ])
    func `the shapes of Yunaq are read`(body: String, expected: String) throws {
        #expect(
            Vendor.outcome(try yunaq(), Vendor.response(body), try Vendor.question("a.test"))
                == expected)
    }

    @Test(arguments: [
        ("192.0.2.1,192.0.2.2;187", "192.0.2.1 187, 192.0.2.2 187"), ("192.0.2.1", "192.0.2.1 60"),
        ("", "code 0"), ("0", "code 0"), ("192.0.2.1,x;1", "malformed"),
        ("192.0.2.1;x", "malformed"),
        (#"{"code":"InvalidSignature"}"#, "rejected InvalidSignature"), ("<html>", "malformed"),
    ])
    func `text is read by its separators`(body: String, expected: String) throws {
        let codec = try yunaq("yunaq-text")
        #expect(
            Vendor.outcome(codec, Vendor.response(body), try Vendor.question("a.test"))
                == expected)
    }

    @Test func `an encrypted body is read as base64, hexadecimal and plain octets`() throws {
        // openssl enc -aes-256-ecb of {"ips":["192.0.2.1"],"ttl":5,"host":"a.test"} with the secret
        // filled up by twelve 0x0c.
        let hex =
            "73490034b03e1e65380c54b77ae495e3d24924a878f85c6a701094e32af9a9e3"
            + "5874165d9ee159f6a9993ad6a71f9c4a"
        let codec = try yunaq("yunaq-encrypted")
        let question = try Vendor.question("a.test")
        let octets = try #require(Hex.decoded(hex))
        for body in [Array(hex.utf8), Array(Base64.encoded(octets).utf8), octets] {
            let response = HTTPDNSResponse(status: 200, body: body)
            #expect(Vendor.outcome(codec, response, question) == "192.0.2.1 5")
        }
        let refusal = Vendor.response(#"{"code":"InvalidSignature"}"#)
        #expect(Vendor.outcome(codec, refusal, question) == "rejected InvalidSignature")
        #expect(Vendor.outcome(codec, Vendor.response("x"), question) == "malformed")
    }

    @Test(
        arguments: [
            ("qiniu", nil, "s", nil), ("qiniu", "1", nil, nil), ("qiniu", "1", "", nil),
            ("qiniu", "1/2", "s", nil), ("ucloud", "1", "s", nil), ("ucloud", "1/../2", "s", nil),
            ("alidns-paid", "1", "s", nil),
        ] as [(String, String?, String?, String?)])
    func `what is missing is told before anything is asked`(
        id: String, account: String?, secret: String?, key: String?
    ) {
        #expect {
            try codec(id, account: account, secret: secret, key: key)
        } throws: { ($0 as? QueryFailure)?.label == "misconfigured" }
    }

    @Test func `the client's network goes where the template has a place for it`() throws {
        var question = try Vendor.question("a.test")
        question.clientSubnet = AddressBlock(try IPAddress("198.51.100.0"), prefixBits: 24)
        #expect(
            try qiniu().request(for: question, now: Vendor.now).target.contains(
                "cip=198.51.100.0&"))
        let paid = try codec("alidns-paid", account: "1", secret: "S", key: "K")
        #expect(
            try paid.request(for: question, now: Vendor.now).target.contains(
                "edns_client_subnet=198.51.100.0%2F24"))
    }

    @Test(arguments: [
        #"{"code":"{key}"}"#, #"{"code":0,"data":[{"domain":"{key}","ip":[]}]}"#, "<html>{key}",
        #"{"code":0,"data":[{"domain":"a.test","ip":["192.0.2.1"],"ttl":"{key}"}]}"#,
        "<a href='/resolve?token=k%2By%2Fsecret'>",
    ])
    func `a key that a response repeats shows in no error`(body: String) throws {
        let profile = try Profile.parse(
            file: "echo.json",
            text: #"""
                {"id":"echo","title":"Echo","kind":"template","url":"https://dns.example.test",
                "bootstrap":{"ipv4":["192.0.2.53"],"ipv6":[]},"needs":["key"],
                "supports":["A","AAAA"],"source":"https://example.test","date":"2026-11-30",
                "template":{"path":"/resolve","parameters":{"domain":"{hosts}","token":"{key}"},
                "response":{"form":"json","code":{"path":"code","success":["0"]},"entries":"data",
                "name":"domain","addresses":["ip"],"ttl":"ttl"}}}
                """#)
        let codec = try TemplateCodec(
            try #require(profile.template),
            credentials: TemplateCodec.Credentials(key: Secret("k+y/secret")))
        let response = Vendor.response(body.replacing("{key}", with: "k+y/secret"))
        for result in codec.testimonies(
            from: response, for: [try Vendor.question("a.test")], source: Vendor.source)
        {
            let failure = #expect(throws: QueryFailure.self) { try result.get() }
            #expect(failure?.label == "malformed")
            #expect(failure?.description.contains("secret") == false)
        }
        #expect(
            throws: QueryFailure.malformed("the body is not an answer; it repeats what we sent")
        ) {
            try codec.testimony(
                from: Vendor.response("<html>k+y/secret"), for: Vendor.question("a.test"),
                source: Vendor.source)
        }
    }

    @Test(arguments: ["path", "parameters", "headers"])
    func `the secret of an account stands in nothing that is sent`(place: String) {
        let texts = [
            "path": #""path":"/{host}/{secret}""#,
            "parameters": #""path":"/{host}","parameters":{"s":"{secret}"}"#,
            "headers": #""path":"/{host}","headers":{"X-S":"{secret}"}"#,
        ]
        let error = #expect(throws: ProfileError.self) {
            try Profile.parse(
                file: "leak.json",
                text: #"""
                    {"id":"leak","title":"Leak","kind":"template",
                    "url":"https://dns.example.test","needs":["secret"],
                    "bootstrap":{"ipv4":["192.0.2.53"],"ipv6":[]},
                    "supports":["A","AAAA"],"source":"https://example.test","date":"2026-11-30",
                    "template":{\#(texts[place] ?? ""),"response":{"form":"addresses"}}}
                    """#)
        }
        #expect(error.map { "\($0)" }?.contains("{secret} must not stand here") == true)
    }

    @Test func `no secret shows in a codec or a request`() throws {
        let codec = try qiniu()
        var text = "\(codec)" + "\(try codec.request(for: Vendor.question(), now: Vendor.now))"
        dump(codec, to: &text)
        #expect(!text.contains("accountKey"))
    }
}

/// A protocol that no shipped profile has: everything a template can do, in one.
@Suite struct TemplatePayloadTests {
    private func template() throws -> ProviderTemplate {
        let text = """
            {"id":"all","title":"All","kind":"template","url":"https://dns.example.test",
            "bootstrap":{"ipv4":["192.0.2.53"],"ipv6":[]},
            "template":{"path":"/v1/{account}/d","names":{"maximum":5,"joiner":","},
            "types":{"A":"4","AAAA":"6","both":"4,6"},
            "parameters":{"enc":"{payload}","exp":"{expiry_s}","id":"{account}","m":"2","v":"1.0",
            "s":"{signature}"},
            "payload":{"text":"{{\\"dn\\":\\"{hosts}\\",\\"q\\":\\"{types}\\"}}",
            "cipher":"aes-128-gcm","key":"key","keyEncoding":"hex"},
            "signature":{"pieces":["v=1.0","m=2","cip={clientAddress}","id={account}",
            "exp={expiry_s}","enc={payload}"],"joiner":"&","order":"ascending","dropsEmpty":true,
            "algorithm":"hmac-sha256","keyEncoding":"hex"},
            "response":{"form":"json","entries":"data","keyedByName":true,
            "addresses":["four","six"],"ttl":"ttl","clientAddress":"me.ip"}},
            "needs":["account","secret","key"],"supports":["A","AAAA"],
            "source":"https://example.test","date":"2026-11-30"}
            """
        return try #require(try Profile.parse(file: "all.json", text: text).template)
    }

    @Test func `a template alone makes the requests of Aliyun's second form`() throws {
        let codec = try TemplateCodec(
            template(),
            credentials: TemplateCodec.Credentials(
                account: "100000", secret: Secret("00112233445566778899aabbccddeeff"),
                key: Secret("0f0e0d0c0b0a09080706050403020100")),
            randomOctets: Vendor.counting)
        let request = try codec.request(
            for: Vendor.both("www.aliyun.com"), now: Vendor.at(1_750_000_000 - 600))
        #expect(request.target.hasPrefix("/v1/100000/d?enc=000102030405060708090a0b0fc93ebc"))
        #expect(
            request.target.contains(
                "s=dc68d0cc4437469669d594776d1748306879113335854cfa65b1fd5e92b54a0b"))
        let body =
            #"{"me":{"ip":"203.0.113.9"},"data":{"www.aliyun.com":{"four":["192.0.2.1"],"#
            + #""six":["2001:db8::1"],"ttl":3}}}"#
        #expect(
            Vendor.outcomes(codec, body, try Vendor.both("www.aliyun.com"))
                == ["192.0.2.1 3", "2001:db8::1 3"])
    }
}

/// AliDNS with `short=1`: a bare array of addresses.
@Suite struct TemplateAddressListTests {
    private func codec() throws -> TemplateCodec {
        let text = """
            {"id":"short","title":"Short","kind":"template","url":"https://192.0.2.53",
            "bootstrap":{"ipv4":["192.0.2.53"],"ipv6":[]},
            "template":{"path":"/resolve","types":{"A":"1","AAAA":"28"},
            "parameters":{"name":"{host}","type":"{types}","short":"1"},
            "response":{"form":"addresses","code":{"path":"code"}}},
            "needs":[],"supports":["A","AAAA"],"source":"https://example.test",
            "date":"2026-11-30"}
            """
        let profile = try Profile.parse(file: "short.json", text: text)
        return try TemplateCodec(
            try #require(profile.template), credentials: TemplateCodec.Credentials())
    }

    @Test(arguments: [
        (#"["192.0.2.1","192.0.2.2"]"#, "192.0.2.1 60, 192.0.2.2 60"), ("[]", "code 0"),
        (#"["2001:db8::1"]"#, "code 0"), (#"["alias.test.","192.0.2.1"]"#, "malformed"),
        (#"{"code":"InvalidTimestamp"}"#, "rejected InvalidTimestamp"), ("{}", "malformed"),
        (#"["192.0.2.1""#, "malformed"), ("<html>", "malformed"),
    ])
    func `a bare list of addresses is read`(body: String, expected: String) throws {
        let codec = try codec()
        let question = try Vendor.question("a.test")
        #expect(
            try codec.request(for: question, now: Vendor.now).target
                == "/resolve?name=a.test&short=1&type=1")
        #expect(Vendor.outcome(codec, Vendor.response(body), question) == expected)
    }
}
