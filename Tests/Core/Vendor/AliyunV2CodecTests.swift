import HTTPDNSJSON
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSVendor
import HTTPDNSWire
import Testing

@Suite struct AliyunV2CodecTests {
    private static let secret = "00112233445566778899aabbccddeeff"
    private static let key = "0f0e0d0c0b0a09080706050403020100"

    private func codec(_ mode: AliyunV2Codec.Mode) throws -> AliyunV2Codec {
        try AliyunV2Codec(
            base: "", account: "100000", keys: (Secret(Self.secret), Secret(Self.key)), mode: mode,
            randomOctets: Vendor.counting)
    }

    private let now = Vendor.at(1_750_000_000 - 600)

    @Test func `a plain request is signed over its sorted parameters`() throws {
        var questions = try Vendor.both("www.aliyun.com", "www.taobao.com")
        for index in questions.indices {
            questions[index].clientSubnet = AddressBlock(
                try IPAddress("42.120.74.196"), prefixBits: 32)
            questions[index].serviceParameters = try ServiceParameters([("mykey", "abc")])
        }
        let target = try codec(.plain).request(for: questions, now: now).target
        #expect(target.contains("dn=www.aliyun.com,www.taobao.com&q=4,6&cip=42.120.74.196"))
        #expect(
            target.hasSuffix(
                "&s=331ca1cec9243f7d8c3d5864cd4292006320b29ea5aacf9de0a52f4dea697aed"))
    }

    @Test(arguments: [
        (
            AliyunV2Codec.Mode.cbc,
            "000102030405060708090a0b0c0d0e0f13d66c2eee1dce342dd96b281836a7be7ab6597ccff3b8c1"
                + "44611e7d3426eb17b0d037026f80830879107681db171011",
            "a659cf62484bddf996b27dbba6cd36902781df7c97959cbb1255e3fa7dd414d0"
        ),
        (
            .gcm,
            "000102030405060708090a0b0fc93ebcfc1f846b909fabbed5623fc302cc842571170b9629f55a1a"
                + "6c0b751033822cdf648cc96e6d8d929bd7ed0b81ec",
            "dc68d0cc4437469669d594776d1748306879113335854cfa65b1fd5e92b54a0b"
        ),
    ])
    func `an encrypted request hides the names and is signed`(
        mode: AliyunV2Codec.Mode, enc: String, signature: String
    ) throws {
        let target = try codec(mode).request(
            for: Vendor.both("www.aliyun.com"), now: now
        ).target
        #expect(
            target == "/v2/d?id=100000&m=\(mode.rawValue)&v=1.0&exp=1750000000&enc=\(enc)"
                + "&s=\(signature)")
    }

    private static let cbcBody =
        #"{"code": "success", "mode": 1, "data": "AAECAwQFBgcICQoLDA0OD2zB52D83ExR7/RJ0E+SobiiKC"#
        + "CPvz/xSM3wI0eN02vqy6cQ19sgU1l6VpWNiECiZA13QFVctVmXDKL7LpiNwaQdGy1XFuPKEGe+xiSMeAD9ROe3LF"
        + "VeQdrQMaeUaRd2/Pv1YlMYpU22pvtJFdmVJM9UVKCPlzP4DYyqGmeHsMHUIuFkjtHiJHubkO0y5e9gag==\"}"
    private static let gcmBody =
        #"{"code": "success", "mode": 2, "data": "AAECAwQFBgcICQoLD8k5u64HnD7T2qvuiztogVjM1nMqFw"#
        + "uWObkTTz1VMBB0kkAeBpKZw+YAoMoK/CKgdUMxU6fZk26nEsuoDeRn44E1cPXf91o6KTX/gIifryKtvbjgtBpmwM"
        + "vr3nFhSE8dpybvA7h9tk47jy+Q3S0sOOPQ0v/cVPG6La9v1uAov2dL875Azq/azLvLHH+oo1vweqaNruolYg==\"}"

    @Test(arguments: [cbcBody, gcmBody], [AliyunV2Codec.Mode.cbc, .gcm])
    func `an encrypted answer is read in either cipher`(
        body: String, mode: AliyunV2Codec.Mode
    ) throws {
        let questions = try Vendor.both("www.aliyun.com")
        #expect(
            Vendor.outcomes(try codec(mode), body, questions)
                == ["192.0.2.10 60", "2001:db8::10 60"])
        let broken = body.replacing("AAEC", with: "AAED", maxReplacements: 1)
        let truncated = body.replacing("==", with: "", maxReplacements: 1)
        let newlines = body.replacing("CQoL", with: #"CQ\r\noL"#, maxReplacements: 1)
        #expect(
            Vendor.outcomes(try codec(mode), newlines, questions)
                == ["192.0.2.10 60", "2001:db8::10 60"])
        #expect(
            Vendor.outcomes(try codec(mode), truncated, questions).allSatisfy {
                $0 == "malformed" || $0.hasPrefix("192.0") || $0.hasPrefix("2001")
            })
        if body == Self.gcmBody {
            #expect(
                Vendor.outcomes(try codec(mode), broken, questions) == ["malformed", "malformed"])
        }
    }

    @Test func `another key opens no answer`() throws {
        let other = try AliyunV2Codec(
            account: "100000", secret: nil, key: Secret(String(Self.key.reversed())), mode: .cbc)
        for body in [Self.cbcBody, Self.gcmBody] {
            #expect(
                Vendor.outcomes(other, body, try Vendor.both("www.aliyun.com"))
                    == ["malformed", "malformed"])
        }
    }

    private static let clear =
        #"{"code":"success","mode":0,"data":{"cip":"203.0.113.9","answers":[{"dn":"www.aliyun.com","#
        + #""v4":{"ips":["192.0.2.10"],"ttl":60,"extra":"s"},"#
        + #""v6":{"no_ip_code":"RRNotExist","ttl":60}}]}}"#

    @Test func `what was asked in secret is not taken from an answer in clear`() throws {
        let questions = try Vendor.both("www.aliyun.com")
        #expect(
            Vendor.outcomes(try codec(.gcm), Self.clear, questions)
                == ["malformed", "malformed"])
        #expect(
            Vendor.outcomes(try codec(.plain), Self.clear, questions)
                == ["192.0.2.10 60", "none 60"])
    }

    @Test(arguments: [
        (clear.replacing(#""mode":0,"#, with: ""), ["192.0.2.10 60", "none 60"]),
        (clear.replacing(#""mode":0,"#, with: #""mode":1,"#), ["192.0.2.10 60", "none 60"]),
        (clear.replacing(#""ttl":60"#, with: #""ttl":0"#), ["192.0.2.10 60", "none 60"]),
        (clear.replacing(#""ttl":60"#, with: #""ttl":-1"#), ["192.0.2.10 60", "none 60"]),
        (clear.replacing(#""ttl":60"#, with: #""ttl":"7""#), ["192.0.2.10 7", "none 7"]),
        (clear.replacing("www.aliyun.com", with: "WWW.aliyun.com."), ["192.0.2.10 60", "none 60"]),
        (clear.replacing("www.aliyun.com", with: "other.test"), ["malformed", "malformed"]),
        (clear.replacing("192.0.2.10", with: "2001:db8::1"), ["malformed", "none 60"]),
        (#"{"code":"success","data":{"answers":[]}}"#, ["malformed", "malformed"]),
        (#"{"code":"success"}"#, ["malformed", "malformed"]),
        (#"{"code":"success","data":"AAAA"}"#, ["malformed", "malformed"]),
        (#"{"code":"success","mode":9,"data":"AAAA"}"#, ["malformed", "malformed"]),
        (#"{"code":"InvalidHost"}"#, ["rejected InvalidHost", "rejected InvalidHost"]),
        ("", ["malformed", "malformed"]),
    ])
    func `a plain answer is read whatever is missing or odd`(
        body: String, expected: [String]
    ) throws {
        #expect(
            Vendor.outcomes(try codec(.plain), body, try Vendor.both("www.aliyun.com"))
                == expected)
    }

    @Test func `in a batch an entry that is wrong or silent is so for itself`() throws {
        let body =
            #"{"code":"success","data":{"answers":[7,{"dn":"a.test","v4":7,"#
            + #""v6":{"ips":[],"ttl":5}},{"dn":"b.test","v4":{"ips":["192.0.2.2"],"ttl":7}}]}}"#
        #expect(
            Vendor.outcomes(try codec(.plain), body, try Vendor.both("a.test", "b.test"))
                == ["malformed", "none 5", "192.0.2.2 7", "not_covered"])
    }

    @Test func `a refusal keeps its code whatever its status`() throws {
        let body = #"{"code":"InvalidAccount"}"#
        #expect(
            Vendor.outcomes(
                try codec(.plain), body, [try Vendor.question()], status: 403)
                == ["rejected InvalidAccount"])
    }

    @Test(arguments: [("xyz", key), (secret, "0011"), (secret, "zz" + key.dropFirst(2)), ("", key)])
    func `keys that are not the console's are refused at once`(secret: String, key: String) {
        #expect(throws: QueryFailure.self) {
            try AliyunV2Codec(
                account: "1", secret: Secret(secret), key: Secret(key), mode: .cbc)
        }
    }

    @Test func `encrypting without a key is refused, and no key shows`() throws {
        #expect(throws: QueryFailure.self) {
            try AliyunV2Codec(account: "1", secret: Secret(Self.secret), mode: .cbc)
        }
        var text = "\(try codec(.gcm))"
        dump(try codec(.gcm), to: &text)
        #expect(!text.contains(Self.secret) && !text.contains("[0, 17, 34"))
        #expect(!text.contains("- 170"))
    }

    @Test(
        .enabled(if: ProviderVectors.value != nil, "no ../shared/vectors/providers.json"))
    func `requests agree with the shared vectors`() throws {
        for (name, mode) in [("aliyun_v2_m1", AliyunV2Codec.Mode.cbc), ("aliyun_v2_m2", .gcm)] {
            let vector = try #require(ProviderVectors.value?[name])
            let target = try codec(mode).request(
                for: Vendor.both("www.aliyun.com"), now: now
            ).target
            #expect(target.contains("enc=" + (vector["enc"]?.string ?? "?")))
            #expect(target.hasSuffix("s=" + (vector["s"]?.string ?? "?")))
        }
    }
}
