import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSVendor
import HTTPDNSWire
import Testing

@Suite struct VolcengineCodecTests {
    private let codec: VolcengineCodec

    init() throws {
        codec = try VolcengineCodec(account: "1023", secret: Secret("QlgAuFMwNUwN"))
    }

    @Test func `the signature is the one that the vendor published`() throws {
        let questions = [try Vendor.question("www.a.com"), try Vendor.question("www.b.com")]
        let request = try codec.request(
            for: questions, now: Vendor.at(1_566_808_387 - 600))
        #expect(
            request.target
                == "/resolve?domain=www.a.com,www.b.com&account_id=1023"
                + "&timestamp=1566808387000&sign=4b00a808d49a334991b7e50d324a9287")
    }

    @Test(arguments: [
        (
            #"{"cip":"203.0.113.9","host":"a.test","ips":["fec0::1","192.0.2.1"],"ttl":52}"#,
            ["192.0.2.1 52", "fec0::1 52"]
        ),
        (#"[{"host":"a.test","ips":["192.0.2.1"],"ttl":52}]"#, ["192.0.2.1 52", "none 52"]),
        (#"{"dns":[{"host":"A.test.","ips":["192.0.2.1"]}]}"#, ["192.0.2.1 60", "none -"]),
        (#"{"host":"a.test","ips":[],"ttl":9}"#, ["none 9", "none 9"]),
        (#"{"host":"a.test","ips":["x"]}"#, ["malformed", "malformed"]),
        (#"{"host":"other.test","ips":["192.0.2.1"]}"#, ["malformed", "malformed"]),
        (#"{"status":"ok"}"#, ["malformed", "malformed"]), ("7", ["malformed", "malformed"]),
        ("[[]]", ["malformed", "malformed"]), ("", ["malformed", "malformed"]),
    ])
    func `families that stand mixed are told apart`(body: String, expected: [String]) throws {
        #expect(Vendor.outcomes(codec, body, try Vendor.both("a.test")) == expected)
    }

    @Test(arguments: [
        (
            #"[{"host":"a.test","ips":["192.0.2.1"],"ttl":9},{"host":"b.test","ips":[],"ttl":"x"}]"#,
            ["192.0.2.1 9", "none 9", "malformed", "malformed"]
        ),
        (
            #"[7,{"host":"a b","ips":[]},{"host":"a.test","ips":["192.0.2.1"],"ttl":9}]"#,
            ["192.0.2.1 9", "none 9", "not_covered", "not_covered"]
        ),
        (
            #"{"dns":[{"host":"a.test","ttl":9},{"host":"b.test","ips":[],"ttl":9}]}"#,
            ["not_covered", "not_covered", "none 9", "none 9"]
        ),
    ])
    func `in a batch an entry that is wrong or silent is so for itself`(
        body: String, expected: [String]
    ) throws {
        #expect(Vendor.outcomes(codec, body, try Vendor.both("a.test", "b.test")) == expected)
    }

    @Test(arguments: [403, 405, 429, 500])
    func `a refusal by status stays one`(status: Int) throws {
        #expect(
            Vendor.outcome(codec, Vendor.response("{}", status: status), try Vendor.question())
                == "status \(status)")
    }
}

@Suite struct BaiduCodecTests {
    private let codec: BaiduCodec

    init() throws { codec = try BaiduCodec(account: "107080", secret: Secret("1234567890")) }

    @Test func `the signature is the one that the vendor published`() throws {
        let request = try codec.request(
            for: [try Vendor.question("www.baidu.com")], now: Vendor.at(1_513_602_734 - 600))
        #expect(
            request.target
                == "/v4/resolve?account_id=107080&dn=www.baidu.com&t=1513602734"
                + "&sign=9d4eac35c33b8fa1610476ff1532643d&type=ipv4")
    }

    @Test(arguments: [
        (
            #"{"msg":"ok","data":{"a.test":{"ipv4":{"ip":["192.0.2.1"],"ttl":300},"#
                + #""ipv6":{"ip":["2001:db8::1"],"ttl":30}}},"clientip":"203.0.113.9"}"#,
            ["192.0.2.1 300", "2001:db8::1 30"]
        ),
        (
            #"{"msg":"ok","data":{"a.test":{"ip":["192.0.2.1"],"ttl":300}}}"#,
            ["192.0.2.1 300", "none 300"]
        ),
        (#"{"msg":"ok","data":{"a.test":{}}}"#, ["none -", "none -"]),
        (#"{"msg":"ok","data":{"a.test":null}}"#, ["none -", "none -"]),
        (
            #"{"msg":"ok","data":{"a.test":{"ipv4":{"ip":[],"ttl":9},"ipv6":{"ip":"x"}}}}"#,
            ["none 9", "malformed"]
        ),
        (#"{"msg":"ok","data":{}}"#, ["malformed", "malformed"]),
        (#"{"msg":"ok","data":[]}"#, ["malformed", "malformed"]),
        (#"{"msg":"TagNotExist"}"#, ["rejected TagNotExist", "rejected TagNotExist"]),
        (#"{"msg":"a b"}"#, ["malformed", "malformed"]), ("", ["malformed", "malformed"]),
    ])
    func `both shapes of an answer are read`(body: String, expected: [String]) throws {
        #expect(Vendor.outcomes(codec, body, try Vendor.both("a.test")) == expected)
    }

    @Test(arguments: [
        // A lifetime that is none, in either version.
        (
            #"{"a.test":{"ipv4":{"ip":["192.0.2.1"],"ttl":"x"},"ipv6":{"ip":[],"ttl":5}},"#
                + #""b.test":{"ipv4":{"ip":["192.0.2.2"],"ttl":7},"ipv6":7}}"#,
            ["malformed", "none 5", "192.0.2.2 7", "malformed"]
        ),
        (
            #"{"a.test":{"ip":["192.0.2.1"],"ttl":{}},"b.test":{"ip":["192.0.2.2"],"ttl":7}}"#,
            ["malformed", "malformed", "192.0.2.2 7", "none 7"]
        ),
        (
            #"{"a b":{"ip":[]},"a.test":7,"b.test":{"ip":["192.0.2.2"],"ttl":7}}"#,
            ["malformed", "malformed", "192.0.2.2 7", "none 7"]
        ),
        (
            #"{"a.test":null,"b.test":{"ipv4":{"ip":["192.0.2.2"],"ttl":7}}}"#,
            ["not_covered", "not_covered", "192.0.2.2 7", "not_covered"]
        ),
    ])
    func `in a batch what is wrong or silent is so for itself`(
        data: String, expected: [String]
    ) throws {
        let body = #"{"msg":"ok","data":\#(data)}"#
        #expect(Vendor.outcomes(codec, body, try Vendor.both("a.test", "b.test")) == expected)
    }

    @Test(arguments: [
        (
            #"{"msg":"SignatureExpired","timestamp":1531407249}"#,
            Remedy.correctClock(
                WallTime(secondsSince1970: 1_531_407_249))
        ),
        (#"{"msg":"SignatureExpired"}"#, .none),
        (#"{"msg":"SignatureExpired","timestamp":-9223372036854775808}"#, .none),
        (#"{"msg":"SignatureExpired","timestamp":"x"}"#, .none),
        (#"{"msg":"InvalidSignature","timestamp":1531407249}"#, .none),
    ])
    func `the service's own time corrects the clock, when it can be one`(
        body: String, remedy: Remedy
    ) throws {
        let response = Vendor.response(body)
        do throws(QueryFailure) {
            let question: Question
            do { question = try Vendor.question() } catch { throw .unexpected("\(error)") }
            _ = try codec.testimony(from: response, for: question, source: Vendor.source)
            Issue.record("no failure")
        } catch {
            #expect(codec.remedy(for: error, in: response) == remedy)
        }
    }
}

/// What every codec must bear: good bodies cut short anywhere, and bodies of other services.
@Suite struct HostileBodyTests {
    static let good = [
        #"{"host":"a.test","ips":["192.0.2.1"],"ipsv6":["2001:db8::1"],"ttl":57}"#,
        #"{"dns":[{"host":"a.test","ips":["192.0.2.1"],"ttl":10,"type":1}]}"#,
        #"{"code":"success","mode":0,"data":{"answers":[{"dn":"a.test","v4":{"ips":["192.0.2.1"]}}]}}"#,
        #"{"msg":"ok","data":{"a.test":{"ipv4":{"ip":["192.0.2.1"],"ttl":300}}}}"#,
        #"{"Status":0,"Answer":[{"name":"a.test","type":1,"TTL":9,"data":"192.0.2.1"}]}"#,
        "a.test.:192.0.2.1;192.0.2.2,60-2001:db8::1,60|203.0.113.7",
    ]

    private func codecs() throws -> [any HTTPDNSCodec] {
        [
            try AliyunCodec(account: "1", secret: nil),
            try AliyunV2Codec(account: "1", secret: nil),
            try VolcengineCodec(account: "1", secret: Secret("s")),
            try BaiduCodec(account: "1", secret: Secret("s")), JSONDoHCodec(path: "/"),
            try DNSPodCodec(token: Secret("1")),
        ]
    }

    @Test(arguments: good)
    func `every beginning of a good body is an error, nothing, or the same answer`(
        body: String
    ) throws {
        let question = try Vendor.question("a.test")
        for codec in try codecs() {
            let whole = Vendor.outcome(codec, Vendor.response(body), question)
            for count in 0..<body.utf8.count {
                let outcome = Vendor.outcome(
                    codec, Vendor.response(String(body.prefix(count))), question)
                let isText = codec is DNSPodCodec
                // A line of text has no end mark: cut short, it may be a shorter list.
                #expect(
                    outcome == "malformed" || outcome == whole || isText,
                    "\(type(of: codec)) \(count): \(outcome)")
            }
        }
    }

    @Test(arguments: [
        "", "\u{0}", "null", "true", "[]", "{}", "<html>", String(repeating: "[", count: 10_000),
        #"{"dns":null,"data":null,"host":null,"ips":null,"msg":null,"code":null}"#,
        #"{"host":{},"ips":{},"ttl":{},"data":{"answers":{}},"msg":{},"code":{}}"#,
        #"{"host":"a.test","ips":[null,1,{}],"ttl":1e999}"#,
        #"{"host":"a.test","ips":["192.0.2.1%eth0"],"ttl":99999999999999999999}"#,
    ])
    func `nothing that is no answer gives an address`(body: String) throws {
        for codec in try codecs() {
            let outcome = Vendor.outcome(
                codec, Vendor.response(body), try Vendor.question("a.test"))
            #expect(!outcome.contains("192.0"), "\(type(of: codec)): \(outcome)")
        }
    }
}
