import HTTPDNSExchange
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSTransport
import Testing

@testable import HTTPDNSVendor

/// What an observer sees of a service that says the request back.
@Suite struct ReplyReportTests {
    private let question: Question

    init() throws { question = try Vendor.question() }

    private func shown(_ codec: any HTTPDNSCodec, _ body: (HTTPDNSRequest) -> String) throws
        -> String
    {
        let request = try codec.request(for: [question], now: Vendor.now)
        let octets = Array(body(request).utf8)
        let url = HTTPURL(
            origin: Origin(scheme: .https, host: .name(try HostName("dns.example.test"))),
            target: request.target)
        let collected = CollectedResponse(
            head: ResponseHead(url: url, status: 404, version: .http11, fields: HTTPFields()),
            body: octets)
        let reply = ReplyReport(codec: codec, request: request, questions: [question])
            .received(collected, HTTPDNSResponse(status: 404, body: octets))
        return String(decoding: reply.raw.octets, as: UTF8.self)
    }

    /// The target as pages and messages write it.
    private static let writings: [@Sendable (String) -> String] = [
        { $0 },
        { $0.replacing("/", with: "\\/").replacing("&", with: "\\u0026") },
        { $0.replacing("&", with: "&amp;") },
        { $0.replacing("%", with: "%25").replacing("/", with: "%2f").replacing("=", with: "%3d") },
    ]

    @Test func `an account of letters, a signature and a base path are taken out`() throws {
        let secret = Secret("0123456789abcdef0123456789abcdef")
        let aliyun = try AliyunCodec(base: "/Front-Door/", account: "my-account_x", secret: secret)
        let baidu = try BaiduCodec(path: "/Front-Door/", account: "my-account_x", secret: secret)
        let volcengine = try VolcengineCodec(
            path: "/Front-Door/", account: "my-account_x", secret: secret)
        let v2 = try AliyunV2Codec(
            base: "/Front-Door", account: "my-account_x", secret: secret)
        for codec in [aliyun, baidu, volcengine, v2] as [any HTTPDNSCodec] {
            let request = try codec.request(for: [question], now: Vendor.now)
            let signature = try #require(
                request.target.split(separator: "&").first {
                    $0.hasPrefix("s=") || $0.hasPrefix("sign=")
                }?.split(separator: "=").last)
            for writing in Self.writings {
                let page = try shown(codec) { "<p>\(writing($0.target)) is not here</p>" }
                #expect(page.contains("REDACTED") && page.contains("is not here"))
                #expect(!page.contains("Front-Door") && !page.contains("my-account_x"), "\(page)")
                #expect(!page.contains(signature), "\(page)")
                #expect(page.contains("www.example.test"), "\(page)")
            }
        }
    }

    @Test func `a short account is taken out where it stands by itself`() throws {
        let codec = try AliyunCodec(account: "42", secret: nil)
        #expect(
            try shown(codec) { _ in "no account 42 (ttl 420)" } == "no account REDACTED (ttl 420)")
    }

    @Test func `a token that is written in another way is taken out`() throws {
        let codec = try DNSPodCodec(token: Secret("to/ken=1"))
        for text in ["to%2Fken%3D1", "to%2fken%3d1", "to\\/ken=1", "to&#x2F;ken=1"] {
            #expect(try shown(codec) { _ in "token \(text) is wrong" } == "token REDACTED is wrong")
        }
    }

    @Test func `a path of JSON over HTTPS is taken out, what it asks for is not`() throws {
        let codec = JSONDoHCodec(path: "/Some-Token/resolve?key=ab")
        let page = try shown(codec) { "cannot resolve \($0.target)" }
        #expect(
            page.hasPrefix("cannot resolve /REDACTED/resolve?key=REDACTED&name=www.example.test"))
    }
}
