import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

/// A fault by its name, a question on which it shows, and what a client sees only while it holds.
struct FaultCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let path: String
    let fields: [String]
    let sign: @Sendable (Heard) -> Bool

    init(
        _ name: String, _ path: String, _ fields: [String] = [],
        shows sign: @escaping @Sendable (Heard) -> Bool
    ) {
        testDescription = name
        self.path = path
        self.fields = fields
        self.sign = sign
    }

    init(_ name: String, _ path: String, _ fields: [String] = [], body: String) {
        self.init(name, path, fields) { $0.body == body }
    }

    init(_ name: String, _ path: String, _ fields: [String] = [], has part: String) {
        self.init(name, path, fields) { $0.text.contains(part) }
    }
}

@Suite struct ServiceFaultTests {
    static let cases = told + fields + batches + authority + transport

    @Test(arguments: cases)
    func `a fault shows while it holds, and only then`(one: FaultCase) async throws {
        let lab = try LabVendors()
        defer { lab.stop() }
        let fault = try #require(LabServiceFault.named(one.testDescription))
        lab.service.misbehave([fault], first: 1)
        let bad = try await lab.get(one.path, one.fields)
        #expect(one.sign(bad), "\(bad.exit) \(bad.text)")
        let good = try await lab.get(one.path, one.fields)
        #expect(!one.sign(good), "\(good.text)")
        #expect(lab.service.events.map(\.faults) == [[one.testDescription], []])
    }

    @Test func `every fault of the catalogue has a name of its own and a test`() {
        let names = LabServiceFault.catalogue.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(LabServiceFault.catalogue.allSatisfy { $0.fault.name == $0.name })
        #expect(LabServiceFault.named("no such fault") == nil)
        // Ciphers are damaged in CipherTests; what takes several requests is in FaultScriptTests.
        let elsewhere = names.filter {
            ["wrong-key", "truncated-iv", "bad-padding", "flipped-tag"].contains($0)
                || $0.hasPrefix("certificate-") || $0 == "schedule-changing"
        }
        let tested = Set(Self.cases.map(\.testDescription)).union(elsewhere)
        #expect(Set(names).subtracting(tested) == [])
        #expect(tested.subtracting(names) == [])
    }

    static let single = "/139450/d?host=www.aliyun.com&query=4,6"
    static let batch = "/139450/resolve?host=www.aliyun.com,www.taobao.com"
    static let second = "/v2/d?id=100000&m=0&dn=www.taobao.com&q=4,6"
    static let text = "/d?dn=www.dnspod.cn&ttl=1&clientip=1"
    static let texts = "/d?dn=www.dnspod.cn,www.a.com&ttl=1&clientip=1"
    static let google = "/resolve?name=www.taobao.com"
    /// `www.example.com` A over HTTP. Source: RFC 8484 §4.1.1.
    static let wire = "/dns-query?dns=AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB"
    static let cloudflare = ["-H", "Accept: application/dns-json"]

    static let told = [
        FaultCase("empty", single, has: #""ips":[],"ipsv6":[],"ttl":60"#),
        FaultCase("denied", google) {
            $0.body.hasPrefix(#"{"Status":3,"#) && $0.body.contains(#""type":6,"TTL":30"#)
        },
        FaultCase("lies-loopback", single, has: #""ips":["127.0.0.66"],"ipsv6":[]"#),
        FaultCase("lies-private", text, body: "10.0.0.1,60|203.0.113.7"),
        FaultCase("lies-zero", google, has: #""data":"0.0.0.0""#),
        FaultCase("lies-benchmark", wire) { $0.bodyOctets.suffix(4) == [198, 18, 0, 1] },
        FaultCase("lies-search-page", second, has: #""v4":{"ips":["203.0.113.66"]"#),
        FaultCase("lies-by-server", single, has: #""ips":["127.99."#),
        FaultCase(
            "rewrites-missing", "/139450/d?host=no.example.com", has: #""ips":["203.0.113.66"]"#),
        FaultCase("empty-nothing", text) { $0.status == 200 && $0.bodyOctets.isEmpty },
        FaultCase("empty-zero", text, body: "0|203.0.113.7"),
        FaultCase("empty-named-zero", text, body: "www.dnspod.cn.:0|203.0.113.7"),
        FaultCase(
            "empty-name-and-client", "/d?dn=www.dnspod.cn", body: "www.dnspod.cn|203.0.113.7"),
        FaultCase("empty-absent", single) {
            $0.status == 200 && $0.body.contains("ttl") && !$0.body.contains("ips")
        },
    ]

    static let fields = [
        FaultCase("no-ttl", second) { $0.status == 200 && !$0.body.contains("ttl") },
        FaultCase("no-origin-ttl", single) {
            $0.body.contains(#""ttl":60"#) && !$0.body.contains("origin_ttl")
        },
        FaultCase("no-mode", second) {
            $0.body.hasPrefix(#"{"code":"success","data":{"#)
        },
        FaultCase("no-status", google) {
            $0.body.hasPrefix(#"{"TC":false"#) && $0.body.contains("192.0.2.20")
        },
        FaultCase("no-data", google) {
            $0.body.contains(#""TTL":46}"#) && !$0.body.contains("data")
        },
        FaultCase("question-object", google, has: #""Question":{"name":"www.taobao.com.""#),
        FaultCase("extra-expires", google, has: #""Expires":"in 46 seconds""#),
        FaultCase("extra-class", google, has: #""class":1"#),
        FaultCase("extra-type", batch + "&query=4,6") {
            $0.body.contains(#"{"host":"www.aliyun.com","type":1,"ips":["192.0.2.10"]"#)
                && $0.body.contains(#"{"host":"www.aliyun.com","type":28,"ips":["2001:db8::10"]"#)
        },
        FaultCase("refusal-200", "/999999/d?host=www.aliyun.com") {
            $0.status == 200 && $0.body == #"{"code":"InvalidAccount"}"#
        },
        FaultCase("ttl-zero", google, has: #""TTL":0,"#),
        FaultCase("ttl-negative", text, body: "192.0.2.1;192.0.2.2,-1|203.0.113.7"),
        FaultCase("ttl-huge", wire) {
            $0.bodyOctets.suffix(10) == [0x80, 0, 0, 0, 0, 4, 192, 0, 2, 40]
        },
        FaultCase("ttl-text", second, has: #""ttl":"46""#),
        FaultCase("upper-hex", sealedText) {
            $0.body.count == 96 && $0.body == $0.body.uppercased()
        },
        FaultCase("base64-lines", sealedSecond) {
            ($0.data?.split(separator: "\n").count ?? 0) > 5
                && $0.data?.contains("\n") == true
        },
        FaultCase("plain-data", sealedSecond, has: #""mode":1,"data":{"cip":"#),
    ]

    /// Source: the vectors of Tencent's AES; its answer is 19 octets in two blocks behind a vector.
    static let sealedText =
        "/d?id=2&alg=aes&dn=000102030405060708090a0b0c0d0e0f556fad2b1e6696ecb7b748a48d600025"

    /// Source: the vector of Aliyun's mode 1.
    static let sealedSecond =
        "/v2/d?id=100000&m=1&enc=000102030405060708090a0b0c0d0e0f13d66c2eee1dce342dd96b281836a7be"
        + "7ab6597ccff3b8c144611e7d3426eb17b0d037026f80830879107681db171011"

    static let batches = [
        FaultCase("batch-reversed", batch, has: #"{"dns":[{"host":"www.taobao.com""#),
        FaultCase("batch-twice", texts) {
            $0.body.split(separator: "\n").map { $0.prefix(9) }
                == ["www.dnspo", "www.dnspo", "www.a.com", "www.a.com"]
        },
        FaultCase("batch-missing", batch) {
            $0.body.contains("www.aliyun.com") && !$0.body.contains("www.taobao.com")
        },
        FaultCase("batch-wrapped", volcengine, has: #"{"dns":[{"cip""#),
        FaultCase(
            "client-last-line", texts,
            body: "www.dnspod.cn.:192.0.2.1;192.0.2.2,60\nwww.a.com.:192.0.2.30,52|203.0.113.7"),
        FaultCase("toggled-dot", single, has: #""host":"www.aliyun.com.""#),
        FaultCase("trailing-semicolon", text, body: "192.0.2.1;192.0.2.2;,60|203.0.113.7"),
    ]

    /// The MD5 of `__1023_1750000600000_QlgAuFMwNUwN_www.a.com,www.b.com`.
    static let volcengine =
        "/resolve?domain=www.a.com,www.b.com&account_id=1023&timestamp=1750000600000"
        + "&sign=417a1b1b6b3504284a4f5b1989e59985"

    static let authority =
        [
            // Right until 1,750,000,600: long over for a clock that is ahead.
            FaultCase("clock-ahead", signed, has: "SignatureExpired"),
            FaultCase("clock-behind", yunaq, has: "InvalidDuration"),
            FaultCase("schedule-dead", "/139450/ss", has: #"["127.0.0.253","127.0.0.254"]"#),
            FaultCase("schedule-empty", "/139450/ss", has: #""service_ip":[]"#),
            FaultCase("schedule-disabled", "/139450/ss", has: #""service_status":"disable""#),
        ]
        + LabRefusal.allCases.map { why in
            FaultCase("refuses-" + why.rawValue, single) { $0.status >= 400 && $0.status != 404 }
        }

    static let signed =
        "/139450/sign_d?host=www.aliyun.com&t=1750000600&s=a4af05eb4f8a8f08540d6689917ff20f"
    static let yunaq =
        "/?host=www.yunaq.com&account_id=y&t=1750000600&sign=5bfc939396b057ce41851507e31e7541"

    static let transport = [
        FaultCase("redirect-http", single) {
            $0.status == 302 && $0.text.contains("Location: http://127.0.0.1:9/")
        },
        FaultCase("captive-portal", single) {
            $0.status == 200 && $0.text.contains("text/html") && $0.body.contains("<title>")
        },
        FaultCase("other-json", single) {
            $0.status == 200 && $0.body.contains(#""message":"hello""#)
        },
        FaultCase("truncated", single) { $0.exit == 18 && $0.bodyOctets.count > 10 },
        FaultCase("slow-loris", single, ["--max-time", "1"]) {
            $0.exit == 28 && !$0.octets.isEmpty && $0.octets.count < 60
        },
        FaultCase("late", single, ["--max-time", "1"]) { $0.exit == 28 && $0.octets.isEmpty },
        FaultCase("silent", single, ["--max-time", "1"]) { $0.exit == 28 && $0.octets.isEmpty },
        FaultCase("huge", single) { $0.bodyOctets.count == 2_097_152 },
        FaultCase("gzip", single, ["--compressed"]) {
            $0.text.contains("Content-Encoding: gzip") && $0.body.contains("192.0.2.10")
        },
        FaultCase("chunked-trailers", single, ["--raw"]) {
            $0.body.hasSuffix("0\r\nX-Lab-Trailer: end\r\n\r\n")
                && $0.text.contains("Transfer-Encoding: chunked")
        },
        FaultCase("aged", wire) {
            $0.text.contains("Age: 30\r\n") && $0.text.contains("Cache-Control: max-age=300")
        },
        FaultCase("status-413", single) { $0.status == 413 },
        FaultCase("status-429", single) {
            $0.status == 429 && $0.text.contains("Retry-After: 2\r\n")
        },
        FaultCase("status-500", single) { $0.status == 500 },
        FaultCase("status-503", single) {
            $0.status == 503 && $0.text.contains("Retry-After: 2\r\n")
        },
        FaultCase("reset-after-head", single) {
            $0.exit == 56 && $0.status == 200 && $0.bodyOctets.isEmpty
        },
        FaultCase("closed", single) { $0.exit == 52 },
    ]
}

extension Heard {
    /// The text of `data` in a JSON body.
    fileprivate var data: String? { (try? json())?["data"]?.string }
}
