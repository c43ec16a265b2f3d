import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

@Suite struct RefusalTests {
    /// A path of each form.
    static let paths: [LabServiceForm: String] = [
        .aliyun: "/139450/d?host=www.aliyun.com", .aliyunSchedule: "/139450/ss",
        .aliyun2: "/v2/d?id=100000&m=0&dn=www.aliyun.com", .aliDNS: "/resolve?name=a.com&uid=1",
        .tencent: "/d?dn=www.aliyun.com", .volcengine: "/resolve?domain=a.com&account_id=1",
        .baidu: "/v4/resolve?dn=a.com", .qiniu: "/resolve?domain=a.com",
        .ucloud: "/u/resolve?app_id=a1", .yunaq: "/?host=a.com",
        .wangsu: "/v1/httpdns/clouddns?ws_domain=www.aliyun.com",
        .json: "/resolve?name=www.aliyun.com", .message: "/dns-query?dns=AAAA",
    ]

    @Test(arguments: [
        (LabServiceForm.aliyun, 403, #"{"code":"SignatureExpired"}"#),
        (.aliyunSchedule, 403, #"{"code":"SignatureExpired"}"#),
        (.aliyun2, 403, #"{"code":"SignatureExpired"}"#),
        (.aliDNS, 403, #"{"code":"SignatureExpired"}"#), (.tencent, 401, ""),
        (.volcengine, 403, ""),
        (
            .baidu, 403,
            #"{"msg":"SignatureExpired","clientip":"203.0.113.7","timestamp":1750000000}"#
        ),
        (.qiniu, 400, #"{"code":400008,"error":"expired"}"#),
        (.ucloud, 401, #"{"status":401,"code":"UNAUTHORIZED","message":"expired"}"#),
        (.yunaq, 403, #"{"code":"SignatureExpired"}"#),
        (.wangsu, 400, #"{"error":"Invalid query"}"#), (.json, 400, #"{"error":"Invalid query"}"#),
        (.message, 400, ""),
    ])
    func `each form has its own word for what is over`(
        form: LabServiceForm, status: Int, body: String
    ) async throws {
        let lab = try LabVendors()
        defer { lab.stop() }
        lab.service.misbehave(.refuses(.expired))
        let heard = try await lab.get(try #require(Self.paths[form]))
        #expect(heard.status == status)
        #expect(heard.body == body)
        #expect(lab.service.events.map(\.form) == [form])
    }

    @Test(arguments: [
        (LabServiceForm.aliyun, 403), (.tencent, 429), (.volcengine, 429), (.baidu, 429),
        (.qiniu, 429), (.ucloud, 429), (.yunaq, 403), (.json, 429), (.message, 429),
    ])
    func `each form has its own status for too much`(
        form: LabServiceForm, status: Int
    ) async throws {
        let lab = try LabVendors { $0.forms = [form] }
        defer { lab.stop() }
        lab.service.misbehave(.refuses(.overloaded))
        #expect(try await lab.get(try #require(Self.paths[form])).status == status)
    }

    @Test func `a clock that moves makes a right signature an expired one`() async throws {
        let lab = try LabVendors()
        defer { lab.stop() }
        let sign = try await digest("www.aliyun.com-IAmASecret-1750000600")
        let path = "/139450/sign_d?host=www.aliyun.com&t=1750000600&s=\(sign)"
        for (seconds, code) in [
            (Int64(1_750_000_000), "success"), (1_750_000_600, "success"),
            (1_750_000_601, "SignatureExpired"), (1_749_914_200, "success"),
            (1_749_914_199, "InvalidDuration"),
        ] {
            lab.service.settings.time = .stopped(WallTime(secondsSince1970: seconds))
            _ = try await lab.get(path)
            #expect(lab.service.events.last?.verdict == code)
        }
    }

    @Test func `AliDNS's time is in seconds, for a time`() async throws {
        let lab = try LabVendors { $0.forms = [.aliDNS] }
        defer { lab.stop() }
        for (time, code) in [
            ("1750000000", "success"), ("1750000000000", "InvalidDuration"),
            ("1749999399", "SignatureExpired"), ("now", "InvalidSignature"),
        ] {
            let key = try await digest("100001SECRET\(time)www.a.comAKID", ["-sha256"])
            _ = try await lab.get(
                "/resolve?name=www.a.com&type=1&uid=100001&ak=AKID&ts=\(time)&key=\(key)")
            #expect(lab.service.events.last?.verdict == code)
        }
    }

    @Test func `Baidu's tag stands for its names, and its servers are told on request`()
        async throws
    {
        let lab = try LabVendors { $0.tags = ["shop": ["www.a.com", "www.b.com"]] }
        defer { lab.stop() }
        let sign = try await digest("shop-1234567890-1750000600")
        let heard = try await lab.get(
            "/v4/resolve?account_id=107080&tag=shop&t=1750000600&sign=\(sign)&alt_server_ip=true")
        #expect(try heard.json()["data"]?.object?.names == ["www.a.com", "www.b.com"])
        #expect(try heard.json()["serverip"]?["ipv4"] == ["127.0.0.1"])
        #expect(lab.service.events.map(\.names) == [["www.a.com", "www.b.com"]])
    }
}
