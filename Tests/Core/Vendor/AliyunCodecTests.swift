import Foundation
import HTTPDNSJSON
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSVendor
import HTTPDNSWire
import Testing

/// Signatures that providers published, kept beside the repository.
enum ProviderVectors {
    static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../../shared/vectors/providers.json").standardizedFileURL
    static let value: JSONValue? = (try? Data(contentsOf: file)).flatMap {
        try? JSONValue.parse(Array($0))
    }
}

@Suite struct AliyunCodecTests {
    private let plain: AliyunCodec
    private let signing: AliyunCodec

    init() throws {
        plain = try AliyunCodec(account: "100000", secret: nil)
        signing = try AliyunCodec(account: "100000", secret: Secret("IAmASecret"))
    }

    @Test(arguments: [
        (RecordType.a, "/100000/d?host=www.example.test&query=4"),
        (.aaaa, "/100000/d?host=www.example.test&query=6"),
    ])
    func `an unsigned request asks for one family`(type: RecordType, target: String) throws {
        let request = try plain.request(
            for: Vendor.question("www.example.test", type), now: Vendor.now)
        #expect(request.target == target)
    }

    @Test func `a signed request is dated ten minutes ahead`() throws {
        let request = try signing.request(
            for: Vendor.question("www.aliyun.com"), now: Vendor.now)
        #expect(
            request.target == "/100000/sign_d?host=www.aliyun.com&query=4&t=1534316400"
                + "&s=60c71e98b6d7fcbb366243e224eab457")
    }

    @Test(
        .enabled(if: ProviderVectors.value != nil, "no ../shared/vectors/providers.json"))
    func `the signature is the one that the vendor published`() throws {
        let published = try #require(ProviderVectors.value?["aliyun_legacy"]?["sign_d"]?.string)
        let request = try signing.request(
            for: Vendor.question("www.aliyun.com"), now: Vendor.now)
        #expect(request.target.hasSuffix("&s=" + published))
    }

    @Test func `a base path stands before the account`() throws {
        let codec = try AliyunCodec(base: "/proxy/", account: "1", secret: nil)
        let request = try codec.request(for: Vendor.question(), now: Vendor.now)
        #expect(request.target.hasPrefix("/proxy/1/d?"))
    }

    @Test func `a type other than A and AAAA is not asked`() throws {
        let question = try Vendor.question("www.example.test", .txt)
        #expect(throws: QueryFailure.unsupportedType(.txt)) {
            try plain.request(for: question, now: Vendor.now)
        }
    }

    @Test(arguments: ["", "1/../2", "1?a=b", "1 2", "1%2F", "ä", String(repeating: "1", count: 65)])
    func `an account that could change the path is refused`(account: String) {
        #expect(throws: QueryFailure.self) { try AliyunCodec(account: account, secret: nil) }
    }

    @Test func `an empty secret is refused`() {
        #expect(throws: QueryFailure.self) { try AliyunCodec(account: "1", secret: Secret("")) }
    }

    @Test func `a secret shows in no text made of the codec`() throws {
        var dumped = ""
        dump(signing, to: &dumped)
        #expect(!(dumped + "\(signing)" + String(reflecting: signing)).contains("IAmASecret"))
    }

    @Test(arguments: [
        (
            #"{"host":"www.example.test","ips":["192.0.2.1","192.0.2.2"],"ttl":57,"origin_ttl":60}"#,
            "192.0.2.1 57, 192.0.2.2 57"
        ),
        (#"{"host":"WWW.Example.test.","ips":["192.0.2.1"],"ttl":57}"#, "192.0.2.1 57"),
        (#"{"ips":["192.0.2.1"],"ttl":57}"#, "192.0.2.1 57"),
        (#"{"host":"www.example.test","ips":["192.0.2.1"]}"#, "192.0.2.1 60"),
        (#"{"host":"www.example.test","ips":["192.0.2.1"],"ttl":null}"#, "192.0.2.1 60"),
        (#"{"host":"www.example.test","ips":["192.0.2.1"],"ttl":0}"#, "192.0.2.1 0"),
        (#"{"host":"www.example.test","ips":["192.0.2.1"],"ttl":-1}"#, "192.0.2.1 0"),
        (
            #"{"host":"www.example.test","ips":["192.0.2.1"],"ttl":2147483647}"#,
            "192.0.2.1 2147483647"
        ),
        (#"{"host":"www.example.test","ips":["192.0.2.1"],"ttl":2147483648}"#, "192.0.2.1 0"),
        (#"{"host":"www.example.test","ips":["192.0.2.1"],"ttl":1e300}"#, "192.0.2.1 0"),
        (#"{"host":"www.example.test","ips":["192.0.2.1"],"ttl":"57"}"#, "192.0.2.1 57"),
        (#"{"host":"www.example.test","ips":[],"ttl":300}"#, "code 0"),
        (#"{"host":"www.example.test","ipsv6":["2001:db8::1"],"ttl":300}"#, "code 0"),
        (#"{"host":"www.example.test","ips":null}"#, "code 0"),
        (#"{"host":"www.example.test"}"#, "code 0"),
    ])
    func `what the service answers is read`(body: String, outcome: String) throws {
        #expect(Vendor.outcome(plain, Vendor.response(body), try Vendor.question()) == outcome)
    }

    @Test(arguments: [
        "", " ", "null", "[]", "{}", "7", #""192.0.2.1""#, "<html>Log in</html>", "{",
        #"{"status":"ok"}"#, #"{"host":"other.example.test","ips":["192.0.2.1"],"ttl":5}"#,
        #"{"host":7,"ips":["192.0.2.1"]}"#, #"{"host":"www.example.test","ips":""}"#,
        #"{"host":"www.example.test","ips":"192.0.2.1"}"#,
        #"{"host":"www.example.test","ips":{"0":"192.0.2.1"}}"#,
        #"{"host":"www.example.test","ips":["192.0.2.1","junk"]}"#,
        #"{"host":"www.example.test","ips":[""]}"#, #"{"host":"www.example.test","ips":[1]}"#,
        #"{"host":"www.example.test","ips":[null]}"#,
        #"{"host":"www.example.test","ips":["2001:db8::1"]}"#,
        #"{"host":"www.example.test","ips":["127.1"]}"#,
        #"{"host":"www.example.test","ips":["192.0.2.01"]}"#,
        #"{"host":"www.example.test","ips":["192.0.2.1"],"ttl":"soon"}"#,
        #"{"host":"www.example.test","ips":["192.0.2.1"],"ttl":[]}"#,
        #"{"host":"www.example.test","ips":["192.0.2.1"],"ttl":true}"#,
        #"{"code":""}"#, #"{"code":"a b"}"#,
    ])
    func `what is not an answer is malformed`(body: String) throws {
        #expect(
            Vendor.outcome(plain, Vendor.response(body), try Vendor.question()) == "malformed")
    }

    @Test(arguments: [
        (403, #"{"code":"InvalidSignature"}"#, "rejected InvalidSignature"),
        (400, #"{"code":"MissingArgument"}"#, "rejected MissingArgument"),
        (200, #"{"code":"ServiceLevelDeny"}"#, "rejected ServiceLevelDeny"),
        (500, #"{"code":"InternalError"}"#, "rejected InternalError"),
        (503, "busy", "status 503"), (302, "", "status 302"), (404, "[]", "status 404"),
        (301, #"{"host":"www.example.test","ips":["192.0.2.1"]}"#, "status 301"),
    ])
    func `a refusal names the service's reason`(
        status: Int, body: String, outcome: String
    ) throws {
        let response = Vendor.response(body, status: status)
        #expect(Vendor.outcome(plain, response, try Vendor.question()) == outcome)
    }

    @Test func `a question for AAAA reads only the IPv6 list`() throws {
        let body =
            #"{"host":"www.example.test","ips":["192.0.2.1"],"ipsv6":["2001:db8::1"],"ttl":9}"#
        let question = try Vendor.question("www.example.test", .aaaa)
        #expect(Vendor.outcome(plain, Vendor.response(body), question) == "2001:db8::1 9")
    }

    @Test func `our address as the service saw it is kept`() throws {
        let body = #"{"host":"www.example.test","ips":[],"client_ip":"203.0.113.9"}"#
        let testimony = try plain.testimony(
            from: Vendor.response(body), for: Vendor.question(), source: Vendor.source)
        #expect(testimony.source.clientAddress == (try IPAddress("203.0.113.9")))
        #expect(testimony.negativeTTLSeconds == nil)
    }

    @Test(arguments: [
        (#"{"host":"www.example.test","ips":[],"ttl":300}"#, UInt32?.some(300)),
        (#"{"host":"www.example.test","ipsv6":["2001:db8::1"],"ttl":300}"#, 300),
        (#"{"host":"www.example.test","ips":[],"ttl":-1}"#, 0),
        (#"{"host":"www.example.test","ips":[],"ttl":null}"#, nil),
        (#"{"host":"www.example.test","ips":["192.0.2.1"],"ttl":300}"#, nil),
    ])
    func `no address holds as long as the answer says`(body: String, seconds: UInt32?) throws {
        let testimony = try plain.testimony(
            from: Vendor.response(body), for: Vendor.question(), source: Vendor.source)
        #expect(testimony.negativeTTLSeconds == seconds)
    }

    @Test func `a page for people is called that`() throws {
        let response = Vendor.response("<html>", contentType: "text/html; charset=utf-8")
        #expect {
            try plain.testimony(
                from: response, for: Vendor.question(), source: Vendor.source)
        } throws: { error in
            "\(error)".contains("log-in page")
        }
    }
}
