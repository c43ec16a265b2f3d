import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

/// A question that is refused, with the code and the status of its vendor.
struct RefusedCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// `{N}` stands for the MD5, `{H}` for the Authorization of `signed`.
    let path: String
    let signed: String
    let fields: [String]
    let status: Int
    let sign: String

    init(
        _ name: String, _ path: String, fields: [String] = [], _ status: Int, _ sign: String
    ) {
        self.init(name, path, "", fields: fields, status, sign)
    }

    init(
        _ name: String, _ path: String, _ signed: String, fields: [String] = [], _ status: Int,
        _ sign: String
    ) {
        testDescription = name
        self.path = path
        self.signed = signed
        self.fields = fields
        self.status = status
        self.sign = sign
    }
}

@Suite struct SignatureTests {
    /// It is 1,750,000,000 seconds after 1970; `{N}` in a path is the MD5 of what is signed.
    @Test(arguments: aliyun + schedule + second + tencent + volcengine + baidu + qiniu)
    func `a wrong question is refused with the vendor's code and status`(
        one: RefusedCase
    ) async throws {
        try await check(one)
    }

    @Test(arguments: ucloud + yunaq + open)
    func `so is one in the forms of others`(one: RefusedCase) async throws {
        try await check(one)
    }

    func check(_ one: RefusedCase) async throws {
        let lab = try LabVendors()
        defer { lab.stop() }
        let code = one.signed.isEmpty ? "" : try await digest(one.signed)
        let filled = { (text: String) in
            text.split(separator: "{N}", omittingEmptySubsequences: false).joined(separator: code)
        }
        let heard = try await lab.get(filled(one.path), one.fields.map(filled))
        #expect(heard.status == one.status, "\(heard.text)")
        #expect(
            one.sign.isEmpty ? heard.body.isEmpty : heard.body.contains(one.sign), "\(heard.text)")
        #expect(lab.service.events.map(\.verdict) != ["success"])
    }

    static let aliyun = [
        RefusedCase(
            "aliyun: expired", "/139450/sign_d?host=www.aliyun.com&t=1749999999&s={N}",
            "www.aliyun.com-IAmASecret-1749999999", 403, #"{"code":"SignatureExpired"}"#),
        RefusedCase(
            "aliyun: more than a day", "/139450/sign_d?host=www.aliyun.com&t=1750086401&s={N}",
            "www.aliyun.com-IAmASecret-1750086401", 403, #"{"code":"InvalidDuration"}"#),
        RefusedCase(
            "aliyun: wrong", "/139450/sign_d?host=www.aliyun.com&t=1750000600&s={N}",
            "www.aliyun.com-IAmNoSecret-1750000600", 403, #"{"code":"InvalidSignature"}"#),
        RefusedCase(
            "aliyun: another's host", "/139450/sign_d?host=www.taobao.com&t=1750000600&s={N}",
            "www.aliyun.com-IAmASecret-1750000600", 403, #"{"code":"InvalidSignature"}"#),
        RefusedCase(
            "aliyun: unknown", "/999999/d?host=www.aliyun.com", 403,
            #"{"code":"InvalidAccount"}"#),
        RefusedCase(
            "aliyun: unsigned", "/7/d?host=www.aliyun.com", 403,
            #"{"code":"UnsignedInterfaceDisabled"}"#),
        RefusedCase(
            "aliyun: six hosts", "/139450/resolve?host=a.com,b.com,c.com,d.com,e.com,f.com", 400,
            #"{"code":"TooManyHosts"}"#),
        RefusedCase(
            "aliyun: two hosts for one", "/139450/d?host=a.com,b.com", 400,
            #"{"code":"TooManyHosts"}"#),
        RefusedCase(
            "aliyun: hosts and clients",
            "/139450/resolve?host=a.com,b.com&ip=192.0.2.1,192.0.2.2", 400, "TooManyHosts"),
        RefusedCase("aliyun: nothing asked", "/139450/d", 400, #"{"code":"MissingArgument"}"#),
        RefusedCase("aliyun: no name", "/139450/d?host=a..b", 400, #"{"code":"InvalidHost"}"#),
        RefusedCase(
            "aliyun: POST", "/139450/d?host=a.com", fields: ["-d", "x=y"], 405,
            #"{"code":"MethodNotAllowed"}"#),
        RefusedCase(
            "aliyun: bad sdns", "/139450/d?host=a.com&sdns-a=b%20c", 400,
            #"{"code":"SdnsNotSupported"}"#),
    ]

    static let schedule = [
        RefusedCase("ss: unsigned", "/7/ss", 403, "UnsignedInterfaceDisabled"),
        RefusedCase(
            "ss: old", "/7/ss?n=abcdef2345&t=1749999849&s={N}", "abcdef2345-123456-1749999849", 403,
            "SignatureExpired"),
        RefusedCase(
            "ss: ahead", "/7/ss?n=abcdef2345&t=1750000301&s={N}", "abcdef2345-123456-1750000301",
            403, "InvalidDuration"),
        RefusedCase(
            "ss: wrong", "/7/ss?n=abcdef2345&t=1750000000&s={N}", "abcdef2345-654321-1750000000",
            403, "InvalidSignature"),
        RefusedCase(
            "ss: a nonce of no digits", "/7/ss?n=ghijklmnop&t=1750000000&s={N}",
            "ghijklmnop-123456-1750000000", 400, "MissingArgument"),
    ]

    static let second = [
        RefusedCase(
            "v2: one octet changed",
            "/v2/d?id=100000&m=0&dn=www.aliyun.com,www.taobao.com&q=4,6&cip=42.120.74.197"
                + "&sdns-mykey=abc&v=1.0&exp=1750000000"
                + "&s=331ca1cec9243f7d8c3d5864cd4292006320b29ea5aacf9de0a52f4dea697aed",
            403, #"{"code":"InvalidSignature"}"#),
        RefusedCase("v2: unknown", "/v2/d?id=5&m=0&dn=a.com", 403, #"{"code":"InvalidAccount"}"#),
        RefusedCase(
            "v2: six names", "/v2/d?id=100000&m=0&dn=a.com,b.com,c.com,d.com,e.com,f.com", 400,
            #"{"code":"TooManyHosts"}"#),
        RefusedCase("v2: no names", "/v2/d?id=100000&m=0", 400, #"{"code":"MissingArgument"}"#),
        RefusedCase("v2: unsigned", "/v2/d?id=7&m=0&dn=a.com", 403, "UnsignedInterfaceDisabled"),
        RefusedCase(
            "v2: not what the key sealed",
            "/v2/d?id=100000&m=2&enc=" + String(repeating: "00", count: 40), 403,
            #"{"code":"InvalidSignature"}"#),
    ]

    static let tencent = [
        RefusedCase("tencent: unknown", "/d?dn=00&id=77", 401, ""),
        RefusedCase(
            "tencent: not what the key sealed", "/d?dn=87ae992c1321f299&id=2&alg=aes", 401, ""),
        RefusedCase("tencent: nine names", "/d?dn=a,b,c,d,e,f,g,h,i", 404, ""),
        RefusedCase("tencent: nothing asked", "/d", 404, ""),
        RefusedCase("tencent: PUT", "/d?dn=a.com", fields: ["-X", "PUT"], 501, ""),
        RefusedCase(
            "tencent: over", "/d?id=2&alg=aes&dn=" + sealedLongAgo, 401, ""),
    ]

    /// Made by the openssl tool: AES-128-CBC of `www.dnspod.cn;1700000000` with a vector of zeros.
    static let sealedLongAgo =
        "000000000000000000000000000000009f98cd8a41cea9138c3ec0d595e5082d"
        + "9e1b54d19baa430ecadf8a3be9bb58e3"

    static let volcengine = [
        RefusedCase(
            "volcengine: over",
            "/resolve?domain=www.a.com&account_id=1023&timestamp=1749999999000&sign={N}",
            "__1023_1749999999000_QlgAuFMwNUwN_www.a.com", 403, ""),
        RefusedCase(
            "volcengine: wrong",
            "/resolve?domain=www.a.com&account_id=1023&timestamp=1750000600000&sign={N}",
            "__1023_1750000600000_QlgAuFMwNUwN_www.b.com", 403, ""),
        RefusedCase(
            "volcengine: POST", "/resolve?domain=www.a.com&account_id=1023", fields: ["-d", "a=b"],
            405, ""),
    ]

    static let baidu = [
        RefusedCase(
            "baidu: over",
            "/v4/resolve?account_id=107080&dn=www.baidu.com&t=1749999999&sign={N}",
            "www.baidu.com-1234567890-1749999999", 403,
            #"{"msg":"SignatureExpired","clientip":"203.0.113.7","timestamp":1750000000}"#),
        RefusedCase(
            "baidu: wrong", "/v4/resolve?account_id=107080&dn=www.baidu.com&t=1750000600&sign={N}",
            "www.baidu.com-0-1750000600", 403, #""msg":"SignatureInvalid""#),
        RefusedCase(
            "baidu: names and a tag",
            "/v4/resolve?account_id=107080&dn=www.baidu.com&tag=x&t=1750000600&sign={N}",
            "www.baidu.com-1234567890-1750000600", 400, "ParameterInvalid"),
    ]

    static let qiniu = [
        RefusedCase(
            "qiniu: wrong", "/resolve?domain=a.com&t=1750000600&accountId=q&sign={N}",
            "a.com-otherKey-1750000600", 400, #""code":400006"#),
        RefusedCase(
            "qiniu: no time", "/resolve?domain=a.com&t=soon&accountId=q&sign={N}",
            "a.com-accountKey-soon", 400, #""code":400007"#),
        RefusedCase(
            "qiniu: over", "/resolve?domain=a.com&t=1749999999&accountId=q&sign={N}",
            "a.com-accountKey-1749999999", 400, #""code":400008"#),
        RefusedCase(
            "qiniu: type", "/resolve?domain=a.com&t=1750000600&type=MX&accountId=q&sign={N}",
            "a.com-accountKey-1750000600", 400, #""code":400009"#),
        RefusedCase(
            "qiniu: eleven names",
            "/resolve?domain=a,b,c,d,e,f,g,h,i,j,k&t=1750000600&accountId=q&sign={N}",
            "a,b,c,d,e,f,g,h,i,j,k-accountKey-1750000600", 400, #""code":400010"#),
    ]

    static let ucloud = [
        RefusedCase(
            "ucloud: 61 seconds old", "/u/resolve?app_id=a1&host=b1&timestamp=1749999939",
            "a1-b1-1749999939-secret", fields: ["-H", "Authorization: {N}"], 401,
            #"{"status":401,"code":"UNAUTHORIZED""#),
        RefusedCase(
            "ucloud: 61 seconds ahead", "/u/resolve?app_id=a1&host=b1&timestamp=1750000061",
            "a1-b1-1750000061-secret", fields: ["-H", "Authorization: {N}"], 401, "UNAUTHORIZED"),
        RefusedCase(
            "ucloud: nobody", "/u/resolve?app_id=a1&host=b1&timestamp=1750000000", 401,
            "UNAUTHORIZED"),
        RefusedCase(
            "ucloud: no address", "/u/resolve?app_id=a1&host=b2&timestamp=1750000000",
            "a1-b2-1750000000-secret", fields: ["-H", "Authorization: {N}"], 404,
            #""code":"FAIL_TO_RESOLVE""#),
    ]

    static let yunaq = [
        RefusedCase(
            "yunaq: over", "/?host=www.yunaq.com&account_id=y&t=1749999999&sign={N}",
            "www.yunaq.com-oB1q6EF8rGUpd1qxBtcm-1749999999", 403, #"{"code":"SignatureExpired"}"#),
        RefusedCase(
            "yunaq: 601 seconds", "/?host=www.yunaq.com&account_id=y&t=1750000601&sign={N}",
            "www.yunaq.com-oB1q6EF8rGUpd1qxBtcm-1750000601", 403, "InvalidDuration"),
    ]

    /// AliDNS's `ts` in milliseconds, and forms without accounts.
    static let open = [
        RefusedCase(
            "alidns: wrong",
            "/resolve?name=a.com&uid=100001&ak=AKID&ts=1750000000&key=00", 403,
            #"{"code":"InvalidSignature"}"#),
        RefusedCase("json: no name", "/resolve?name=a..b", 400, "error"),
        RefusedCase("json: type 0", "/resolve?name=a.com&type=0", 400, "error"),
        RefusedCase("json: not in ASCII", "/resolve?name=b%C3%BCcher.example", 400, "error"),
        RefusedCase("json: POST", "/resolve?name=a.com", fields: ["-d", "a=b"], 501, "error"),
        RefusedCase("json: HEAD", "/resolve?name=a.com", fields: ["-I"], 400, ""),
        RefusedCase("cloudflare: no Accept", "/dns-query?name=a.com", 400, "error"),
        RefusedCase("message: no type", "/dns-query", fields: ["-d", "a=b"], 415, ""),
        RefusedCase("message: not Base64", "/dns-query?dns=***", 400, ""),
        RefusedCase(
            "message: PUT", "/dns-query?dns=AAAB", fields: ["-X", "PUT"], 405, ""),
    ]
}
