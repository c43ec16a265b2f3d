import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

/// One question in a vendor's form, made by hand, and the whole body that answers it.
struct VendorCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let time: Int64
    let path: String
    let fields: [String]
    let body: String

    init(
        _ name: String, at time: Int64 = 1_750_000_000, _ path: String, _ body: String,
        fields: [String] = []
    ) {
        testDescription = name
        self.time = time
        self.path = path
        self.fields = fields
        self.body = body
    }
}

@Suite struct VendorProtocolTests {
    @Test(arguments: aliyun + tencent + others + yunaq)
    func `a question made by hand is answered in the vendor's words`(
        one: VendorCase
    ) async throws {
        let lab = try LabVendors(at: one.time)
        defer { lab.stop() }
        let heard = try await lab.get(one.path, one.fields)
        #expect(heard.body == one.body)
        #expect(heard.status == 200)
        #expect(lab.service.events.map(\.verdict) == ["success"])
    }

    @Test func `AliDNS answers who knows the key, in short or in full`() async throws {
        let lab = try LabVendors(at: 1_614_927_253) { settings in
            var account = LabAccount("100000", secret: "SECRET")
            account.accessKey = "AKID"
            settings.accounts = [account]
        }
        defer { lab.stop() }
        let key = try await digest("100000SECRET1614927253www.taobao.comAKID", ["-sha256"])
        if ProviderVectors.arePresent {
            #expect(key == (try ProviderVectors.text("alidns_json", "key")))
        }
        let path =
            "/resolve?name=www.taobao.com&type=A&uid=100000&ak=AKID&ts=1614927253&key=\(key)"
        #expect(try await lab.get(path + "&short=1").body == #"["192.0.2.20"]"#)
        let full = try await lab.get(path + "&edns_client_subnet=1.2.3.0/24&did=afck0100")
        #expect(try full.json()["Question"]?["name"] == "www.taobao.com")
        #expect(try full.json()["Answer"]?.array?.first?["data"] == "192.0.2.20")
        let event = try #require(lab.service.events.last)
        #expect(event.client == "1.2.3.0/24")
        #expect(event.custom == ["did": "afck0100"])
        #expect(event.isSigned)
    }

    @Test func `ss tells the service itself, or what it is told to`() async throws {
        // Source: Alibaba Cloud's own number for this nonce, secret and time.
        let path =
            "/7/ss?region=global&n=abcdef2345&t=1632912372&s=de7be63a9f19cf11e9d455d7d4f23cb4"
        let lab = try LabVendors(at: 1_632_912_400)
        defer { lab.stop() }
        let port = lab.service.port
        #expect(
            try await lab.get(path).body
                == #"""
                {"service_ip":["127.0.0.1"],"service_ipv6":[],\#
                "service_ip_port":[\#(port)],"service_ipv6_port":[]}
                """#)
        lab.service.settings.schedule = LabSchedule(
            [LabAddress.ipv4(host: 2), LabAddress.ipv6], status: "disable")
        #expect(
            try await lab.get(path).body
                == #"""
                {"service_ip":["127.0.0.2"],"service_ipv6":["::1"],\#
                "service_status":"disable"}
                """#)
        let unsigned = try await lab.get("/139450/ss")
        #expect(unsigned.status == 200)
        #expect(lab.service.events.map(\.isSigned) == [true, true, false])
    }

    @Test func `UCloud answers who writes the right Authorization`() async throws {
        let lab = try LabVendors()
        defer { lab.stop() }
        let code = try await digest("a1-b1-1750000010-secret")
        let heard = try await lab.get(
            "/u/resolve?timestamp=1750000010&host=b1&app_id=a1", ["-H", "Authorization: \(code)"])
        #expect(
            heard.body == #"""
                {"host":"b1","client_ip":"203.0.113.7",\#
                "ip_list":["192.0.2.40"],"ttl":300}
                """#)
        let service = try await digest("a1-1750000010-secret")
        let nodes = try await lab.get(
            "/u/service?app_id=a1&timestamp=1750000010", ["-H", "Authorization: \(service)"])
        #expect(
            nodes.body == #"""
                {"auth_id":"u","client_ip":"203.0.113.7",\#
                "best_service_node":"127.0.0.1","service_node_list":["127.0.0.1"]}
                """#)
        #expect(try await digest("a1-b1-c1-secret") == "c6527c3c630f13bbfae7960ffcc36640")
    }

    @Test func `Tencent's token counts over TLS alone`() async throws {
        let identity = try TestAuthority().leaf([.address(LabAddress.ipv4)])
        for (security, status) in [(LabSecurity.plain, 401), (.tls(identity), 200)] {
            let lab = try LabVendors(security: security)
            let heard = try await lab.get("/d?dn=www.dnspod.cn&token=800654663&ttl=1", ["-k"])
            #expect(heard.status == status)
            #expect(heard.body == (status == 200 ? "192.0.2.1;192.0.2.2,60" : ""))
            #expect(try await lab.get("/d?dn=www.dnspod.cn&token=1", ["-k"]).status == 401)
            lab.stop()
        }
    }

    @Test func `a server that speaks one form refuses in its words, and knows no other path`()
        async throws
    {
        let lab = try LabVendors { $0.forms = [.qiniu] }
        defer { lab.stop() }
        #expect(try await lab.get("/resolve?name=a.example").body.contains("400006"))
        #expect(try await lab.get("/139450/d?host=www.aliyun.com").status == 404)
        #expect(lab.service.events.map(\.form) == [.qiniu, nil])
    }

    @Test func `answers follow the subnet, and the log tells where clients said they are`()
        async throws
    {
        let lab = try LabVendors { settings in
            let name = try HostName("www.taobao.com")
            settings.table.entries[name]?.bySubnet = [
                try AddressBlock("198.51.100.0/24"): [try IPAddress("192.0.2.99")],
                try AddressBlock("198.51.0.0/16"): [try IPAddress("192.0.2.98")],
            ]
            settings.table.entries[name]?.extra = #"a<b&"c""#
        }
        defer { lab.stop() }
        let near = try await lab.get("/139450/d?host=www.taobao.com&ip=198.51.100.9&sdns-a=b=")
        #expect(near.body.contains("192.0.2.99"))
        #expect(near.body.contains(#""extra":"a&lt;b&amp;&quot;c&quot;""#))
        let far = try await lab.get("/resolve?name=www.taobao.com&edns_client_subnet=198.51.7.0/24")
        #expect(far.body.contains("192.0.2.98"))
        #expect(far.body.contains(#""edns_client_subnet":"198.51.7.0/24""#))
        let wangsu = "/v1/httpdns/clouddns?ws_domain=www.taobao.com&ws_cli_IP=2001:db8::1"
        #expect(try await lab.get(wangsu).body.contains("192.0.2.20"))
        let events = lab.service.events
        #expect(events.map(\.client) == ["198.51.100.9", "198.51.7.0/24", "2001:db8::1"])
        #expect(events[0].custom == ["sdns-a": "b="])
        #expect(!"\(events)\(lab.service.settings)".contains("IAmASecret"))
    }

    static let taobao =
        #"""
        {"host":"www.taobao.com","ips":["192.0.2.20"],"ttl":46,"origin_ttl":46,\#
        "client_ip":"203.0.113.7"}
        """#
    static let aliyunCom =
        #"""
        {"host":"www.aliyun.com","ips":["192.0.2.10"],"ttl":60,"origin_ttl":60,\#
        "client_ip":"203.0.113.7"}
        """#

    /// Signatures as Alibaba Cloud publishes them.
    static let aliyun = [
        VendorCase(
            "sign_d", at: 1_534_316_000,
            "/139450/sign_d?host=www.aliyun.com&t=1534316400"
                + "&s=60c71e98b6d7fcbb366243e224eab457", aliyunCom),
        VendorCase(
            "sign_resolve", at: 1_534_316_000,
            "/139450/sign_resolve?host=www.aliyun.com,www.taobao.com&t=1534316400"
                + "&s=12a3f6b1b14a46ca813ca6439beb59a4", #"{"dns":[\#(aliyunCom),\#(taobao)]}"#),
        VendorCase(
            "resolve for two clients",
            "/139450/resolve?host=www.taobao.com&ip=198.51.100.1,198.51.100.2",
            #"""
            {"dns":[\#
            {"host":"www.taobao.com","ips":["192.0.2.20"],"ttl":46,"origin_ttl":46,\#
            "client_ip":"198.51.100.1"},\#
            {"host":"www.taobao.com","ips":["192.0.2.20"],"ttl":46,"origin_ttl":46,\#
            "client_ip":"198.51.100.2"}]}
            """#),
        VendorCase(
            "v2 plain, signed",
            "/v2/d?id=100000&m=0&dn=www.aliyun.com,www.taobao.com&q=4,6&cip=42.120.74.196"
                + "&sdns-mykey=abc&v=1.0&exp=1750000000&sid=x&net=wifi"
                + "&s=331ca1cec9243f7d8c3d5864cd4292006320b29ea5aacf9de0a52f4dea697aed",
            #"""
            {"code":"success","mode":0,"data":{"cip":"42.120.74.196","answers":[\#
            {"dn":"www.aliyun.com","v4":{"ips":["192.0.2.10"],"ttl":60},\#
            "v6":{"ips":["2001:db8::10"],"ttl":60}},\#
            {"dn":"www.taobao.com","v4":{"ips":["192.0.2.20"],"ttl":46},\#
            "v6":{"ttl":46,"no_ip_code":"RRNotExist"}}]}}
            """#),
    ]

    static let tencent = [
        VendorCase("no flags", "/d?dn=www.dnspod.cn", "192.0.2.1;192.0.2.2"),
        VendorCase(
            "TTL and client", "/d?dn=www.dnspod.cn&ttl=1&clientip=1",
            "192.0.2.1;192.0.2.2,60|203.0.113.7"),
        VendorCase(
            "both families", "/d?dn=www.a.com&ttl=1&clientip=1&type=addrs",
            "192.0.2.30,52-2001:db8::30,52|203.0.113.7"),
        VendorCase("AAAA", "/d?dn=www.a.com&type=AAAA", "2001:db8::30"),
        VendorCase(
            "named", "/d?dn=www.a.com&ttl=1&clientip=1&query=1&ip=1.2.3.4",
            "www.a.com.:192.0.2.30,52|1.2.3.4"),
        VendorCase(
            "batch", "/d?dn=www.a.com,no.example.com&ttl=1&clientip=1",
            "www.a.com.:192.0.2.30,52|203.0.113.7\nno.example.com.:0|203.0.113.7"),
        VendorCase(
            "named miss, both families", "/d?dn=no.example.com&query=1&type=addrs&clientip=1",
            "no.example.com.:0-0|203.0.113.7"),
        VendorCase("miss", "/d?dn=no.example.com&ttl=1&clientip=1", ""),
        VendorCase(
            "POST", "/d", "192.0.2.1;192.0.2.2,60", fields: ["-d", "dn=www.dnspod.cn&ttl=1"]),
    ]

    /// Signatures of Volcengine and Baidu as they publish them.
    static let others = [
        VendorCase(
            "volcengine", at: 1_566_808_000,
            "/resolve?domain=www.a.com,www.b.com&account_id=1023&timestamp=1566808387000"
                + "&sign=4b00a808d49a334991b7e50d324a9287",
            #"""
            [{"cip":"203.0.113.7","host":"www.a.com",\#
            "ips":["2001:db8::30","192.0.2.30"],"ttl":52},\#
            {"cip":"203.0.113.7","host":"www.b.com",\#
            "ips":["2001:db8::40","192.0.2.40"],"ttl":300}]
            """#),
        VendorCase(
            "baidu v4", at: 1_513_602_700,
            "/v4/resolve?account_id=107080&dn=www.baidu.com&t=1513602734"
                + "&sign=9d4eac35c33b8fa1610476ff1532643d&type=ipv4,ipv6",
            #"""
            {"msg":"ok","data":{"www.baidu.com":{"ipv4":{"ip":["192.0.2.40"],"ttl":300},\#
            "ipv6":{"ip":["2001:db8::40"],"ttl":300}}},"clientip":"203.0.113.7",\#
            "timestamp":1513602700}
            """#),
        VendorCase(
            "baidu v3", at: 1_513_602_700,
            "/v3/resolve?account_id=107080&dn=www.baidu.com&t=1513602734"
                + "&sign=9d4eac35c33b8fa1610476ff1532643d",
            #"""
            {"msg":"ok","data":{"www.baidu.com":{"ip":["192.0.2.40"],"ttl":300}},\#
            "clientip":"203.0.113.7","timestamp":1513602700}
            """#),
        VendorCase(
            "qiniu",
            "/resolve?domain=www.example.com&t=1750000000&type=AAAA&accountId=q"
                + "&sign=b758550c141901af2984174c2b173de9",
            #"""
            {"code":0,"client_ip":"203.0.113.7","data":[\#
            {"domain":"www.example.com","ip":["2001:db8::40"],"ttl":300}]}
            """#),
        VendorCase(
            "wangsu",
            "/v1/httpdns/clouddns?ws_domain=www.a.com;no.example.com"
                + "&ws_ret_type=json&ws_cli_IP=1.2.3.4",
            #"""
            {"msg":"ok","data":{"www.a.com":{"ips":["192.0.2.30"],"ttl":52},\#
            "no.example.com":{"ips":[],"ttl":300}}}
            """#),
    ]

    /// A signature as Yunaq publishes it.
    static let yunaq = [
        VendorCase(
            "yunaq JSON", at: 1_576_468_700, yunaqPath,
            #"""
            {"ips":["192.0.2.40"],\#
            "ttl":300,"host":"www.yunaq.com"}
            """#),
        VendorCase(
            "yunaq text, IPv6", at: 1_576_468_700, yunaqPath + "&out=text&qtype=AAAA",
            "2001:db8::40;300"),
    ]

    static let yunaqPath =
        "/?host=www.yunaq.com&account_id=y&t=1576468800&sign=1f8c93f4853b8a9cc179b54ea7e0e2f6"
}
