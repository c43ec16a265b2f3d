import Testing

@testable import HTTPDNSCapture

/// A secret that no text holds by chance; what is found again has leaked.
private let secret = "Zq9vR7xKm2Lw8TnB4cYd"

private func leaks(_ octets: [UInt8], _ secret: String = secret) -> Bool {
    String(decoding: octets, as: UTF8.self).contains(secret.prefix(6))
}

@Suite struct RedactionListTests {
    private let redactor = Redactor(CaptureRedaction())

    @Test(arguments: [
        (
            "https://a.test/oauth/token: no address could be connected to: 192.0.2.1: refused",
            "https://a.test/oauth/token: no address could be connected to: 192.0.2.1: refused"
        ),
        ("https://u:\(secret)@a.test/auth: timed out", "https://REDACTED@a.test/auth: timed out"),
        ("https://a.test/?token=\(secret): failed", "https://a.test/?token=REDACTED: failed"),
        ("https://a.test/sid: token: \(secret)", "https://a.test/sid: token: REDACTED"),
        ("rule \"my token\": blocked", "rule \"my token\": blocked"),
        ("header Cookie: what goes out", "header Cookie: what goes out"),
        ("token: \(secret)", "token: REDACTED"), ("a token: \(secret)", "a token: REDACTED"),
        ("\"token\": \"\(secret)\"", "\"token\": \"REDACTED\""),
    ])
    func `what a message is about is no name of a value`(message: String, shown: String) {
        #expect(redactor.message(message) == shown)
    }

    @Test(arguments: [
        ("Authorization", "Bearer \(secret)", "Bearer REDACTED"),
        ("authorization", "Basic \(secret)", "Basic REDACTED"),
        ("Authorization", secret, "REDACTED"),
        ("Proxy-Authorization", "Digest username=\"a\", response=\"\(secret)\"", "Digest REDACTED"),
        ("Cookie", "sid=\(secret); theme=\(secret)", "sid=REDACTED; theme=REDACTED"),
        ("Cookie", secret, "REDACTED"),
        ("Set-Cookie", "sid=\(secret); Path=/; HttpOnly", "sid=REDACTED; Path=/; HttpOnly"),
        ("X-Api-Key", secret, "REDACTED"), ("x-auth-token", secret, "REDACTED"),
        ("X-CSRF-Token", secret, "REDACTED"), ("X-Amz-Security-Token", secret, "REDACTED"),
        ("X-Goog-Signature", secret, "REDACTED"), ("X-Secret", secret, "REDACTED"),
        ("Authentication-Info", "nextnonce=\"\(secret)\"", "REDACTED"),
        ("Location", "https://a.test/cb?code=\(secret)&x=1", "https://a.test/cb?code=REDACTED&x=1"),
        (
            "Location", "https://a.test/cb#access_token=\(secret)&x=1",
            "https://a.test/cb#access_token=REDACTED&x=1"
        ),
        ("Referer", "https://me:\(secret)@a.test/x?y=1", "https://REDACTED@a.test/x?y=1"),
        ("Referer", "https://a.test/?token=\(secret)", "https://a.test/?token=REDACTED"),
        (
            "Link", "<https://a.test/?sig=\(secret)>; rel=\"next\"",
            "<https://a.test/?sig=REDACTED>; rel=\"next\""
        ),
        ("Refresh", "3; url=/x?session_id=\(secret)", "3; url=/x?session_id=REDACTED"),
        ("X-Debug", "user logged in with Bearer \(secret)", "user logged in with Bearer REDACTED"),
        ("Session", secret, "REDACTED"), ("Key", "\"\(secret)\"", "\"REDACTED\""),
        ("X-Secret", "correct \(secret)", "REDACTED"),
        ("X-Auth", "short", "REDACTED"), ("X-Functions-Key", secret, "REDACTED"),
        ("Ocp-Apim-Subscription-Key", secret, "REDACTED"), ("authId", secret, "REDACTED"),
        ("X-Error", "invalid JWT [eyJhbGciOiJIUzI1NiJ9.\(secret)]", "invalid JWT [REDACTED]"),
        (
            "X-Next", "see https://a.test/?u=https%3A%2F%2Fb%2F%3Ftoken%3D\(secret)",
            "see https://a.test/?u=https%3A%2F%2Fb%2F%3Ftoken%3DREDACTED"
        ),
        (
            "X-Fault", "<ns:token a='1'>\(secret)</ns:token> is wrong",
            "<ns:token a='1'>REDACTED</ns:token> is wrong"
        ),
        (
            "Location", "/in?token=\(secret)&u=http://a.test/",
            "/in?token=REDACTED&u=http://a.test/"
        ),
    ])
    func `a header field keeps no secret`(name: String, value: String, shown: String) {
        #expect(redactor.value(of: name, value) == shown)
    }

    @Test(arguments: [
        ("Content-Type", "application/json; charset=utf-8"),
        ("Cache-Control", "max-age=60, private"),
        ("ETag", "\"33a64df551425fcc55e4d42a148795d9f25f89d4\""),
        ("Date", "Tue, 10 Feb 2015 07:33:16 GMT"),
        ("WWW-Authenticate", "Basic realm=\"shop\""), ("Access-Control-Allow-Credentials", "true"),
        ("Strict-Transport-Security", "max-age=31536000; includeSubDomains"),
        ("Location", "/next?page=2&keyword=shoes"),
        ("User-Agent", "curl/8.1 (x86_64; basic build)"),
        ("Key", "short"), ("Session", "a b"), ("Surrogate-Key", "product-listing-of-shoes"),
        ("X-Error-Code", "no_such_article_was_found"), ("X-Rate", "100% of 5 < 6"),
    ])
    func `a header field without a secret stays as it is`(name: String, value: String) {
        #expect(redactor.value(of: name, value) == value)
    }

    @Test func `a host that is a token is one`() {
        #expect(!leaks(Array(redactor.url("https://x.eyJhbGciOiJI.\(secret)/").utf8)))
    }

    @Test(arguments: [
        "https://a.test/?access_token=SECRET", "https://a.test/?x=1&Access-Token=SECRET&y=2",
        "https://a.test/?access%5Ftoken=SECRET", "https://user:SECRET@a.test/",
        "https://a.test/?api_key=SECRET", "https://a.test/?key=SECRET", "/x?password=SECRET",
        "https://a.test/?X-Amz-Signature=SECRET&X-Amz-Credential=SECRET",
        "https://a.test/?sig=SECRET&se=2027", "https://a.test/x;jsessionid=SECRET?y=1",
        "https://a.test/?redirect=https%3A%2F%2Fb.test%2F%3Ftoken%3DSECRET%26a%3D1",
        "https://a.test/?data=%7B%22password%22%3A%22SECRET%22%7D",
        "https://a.test/?token=a%26SECRET&x=1", "https://a.test/?token=a;SECRET",
        "https://a.test/?filter[token]=SECRET",
        // What HTTP-DNS services call their signatures and keys. Source: their documentation.
        "http://203.0.113.1/100000/sign_d?host=a.test&t=1534316400&s=60c71e98b6d7fcbb366243e224eab457",
        "http://203.0.113.1/v2/d?id=1&dn=a.test&exp=1&enc=SECRET&s=SECRET",
        "https://203.0.113.1/resolve?name=a.test&uid=1&ak=SECRET&ts=1&key=SECRET",
        "https://203.0.113.1/d?dn=a.test&token=SECRET&ttl=1",
        "http://203.0.113.1/d?dn=87ae992c1321f299da3c0210a9900ae7&id=1",
        "http://a.test/resolve?domain=b.test&account_id=1&timestamp=1&sign=SECRET",
        "https://a.test/v4/resolve?account_id=1&dn=b.test&t=1&sign=SECRET",
        "https://a.test/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.SECRET/x",
        "https://a.test/%22eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.SECRET%22/x",
        "https://a.test/x-eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.SECRET",
        "https://a.test/?url=https%3A%2F%2Fu%3ASECRET%40b.test%2F&x=1",
        "https://a.test/?url=https%253A%252F%252Fu%253ASECRET%2540b.test%252F",
        "https://a.test/https://u:SECRET@b.test/", "https://a.test/https:%2F%2Fu:SECRET@b.test/",
        "https://a.test/?u=https%253A%252F%252Fb%252F%253Ftoken%253DSECRET%2526a%253D1",
        "https://a.test/to/https%3A%2F%2Fb.test%2F%3Ftoken%3DSECRET",
        "/in?token=SECRET&u=http://b.test/", "https://a.test/?user[pass]=SECRET",
        "https://a.test/?user%5Bpass%5D=SECRET", "https://a.test/?userPwd=SECRET&x=1",
        "https://a.test/?u=a%3Fpassword%3Dab%2520SECRET", "https://a.test/?subscription-key=SECRET",
        "https://a.test/?d={%22token%22:%22a%2522SECRET%22}",
        "https://a.test/?d=%3Ctoken%20a%3D%221%22%3ESECRET%3C%2Ftoken%3E&x=1",
    ])
    func `a URL keeps no secret`(url: String) {
        let shown = redactor.url(url.replacing("SECRET", with: secret))
        #expect(!leaks(Array(shown.utf8)), "\(shown)")
        #expect(shown.contains("REDACTED"))
        #expect(!shown.contains("60c71e98") && !shown.contains("87ae992c"))
    }

    @Test(arguments: [
        "https://key.token.test:8443/shop/shoes", "http://127.0.0.1:8080/", "https://a.test",
        "https://[::1]:8443/x", "/shop/honey", "https://a.test/shop?page=2",
        "https://a.test/", "https://a.test/search?q=token+ring&page=2&s=shoes&key=color",
        "https://a.test/?dn=www.example.com&q=4,6", "/relative?a=b#part", "http://[::1]:8080/x?y",
        "https://a.test/a%20b?c=%zz&d=%", "", "https://a.test/100%25/a%2525b?c=%25&d=%252",
        "https://a.test/?lang_sk=slovak&passenger=2&monkey=a&countryCode=DE",
        "https://a.test/?u=https%3A%2F%2Fb.test%2F%3Fmail%3Da", "/a//b?c=d//e",
    ])
    func `a URL without a secret stays as it is`(url: String) {
        #expect(redactor.url(url) == url)
    }

    @Test func `what is added and revealed by name counts`() {
        var redaction = CaptureRedaction()
        redaction.names = ["member-no"]
        redaction.fields = ["X-Customer"]
        redaction.revealed = ["page_token", "X-Request-Token"]
        let redactor = Redactor(redaction)
        #expect(
            redactor.url("/?memberNo=123&page_token=7&token=8")
                == "/?memberNo=REDACTED&page_token=7&token=REDACTED")
        #expect(redactor.value(of: "x-customer", "Ann") == "REDACTED")
        #expect(redactor.value(of: "X-Request-Token", "12") == "12")
    }

    @Test func `nothing is taken out only where somebody says so`() {
        let redactor = Redactor(.dangerouslyNothing(because: "a test"))
        #expect(redactor.value(of: "Authorization", "Bearer \(secret)") == "Bearer \(secret)")
        #expect(redactor.url("https://a:b@c/?token=d") == "https://a:b@c/?token=d")
    }
}

@Suite struct BodyRedactionTests {
    /// All of a body at once, and octet by octet: what is kept must not depend on it.
    private func scanned(
        _ body: String, _ type: String?, upTo limit: Int? = nil
    ) -> [[UInt8]] {
        let octets = Array(body.utf8)
        let kept = limit.map { Array(octets.prefix($0)) } ?? octets
        let names = Redactor(CaptureRedaction()).names
        let fields = type.map { [CaptureRecord.Field("Content-Type", $0)] } ?? []
        return [kept.count, 1, 7].map { size in
            var scanner = BodyScanner(BodyForm(fields: fields, isDecoded: true), names)
            var out: [UInt8] = []
            for start in stride(from: 0, to: kept.count, by: max(size, 1)) {
                out += scanner.take(Array(kept[start..<min(start + size, kept.count)]))
            }
            return out + scanner.finish(isWhole: limit == nil)
        }
    }

    private static let multipart = """
        --b1\r
        Content-Disposition: form-data; name="note"\r
        \r
        hello\r
        --b1\r
        Content-Disposition: form-data; name="password"\r
        \r
        SECRET\r
        --b1\r
        Content-Disposition: form-data; name="meta"\r
        Content-Type: application/json\r
        \r
        {"token":"SECRET","page":1}\r
        --b1--\r

        """

    private static let parts = """
        --b1\r
        Content-Disposition: form-data; name="a"\r
        Content-Type: application/soap+xml\r
        \r
        <s:a><s:password t="1">SECRET</s:password></s:a>\r
        --b1\r
        Content-Disposition: form-data; name="b"\r
        Content-Type: application/x-www-form-urlencoded\r
        \r
        a=1&token=SECRET\r
        --b1\r
        Content-Disposition: form-data; name="c"\r
        Content-Type: application/octet-stream\r
        \r
        {"token":"SECRET"}\r
        --b1--\r

        """

    static let bodies: [(type: String?, body: String, shown: String)] = [
        ("application/json", #"{"token":"SECRET","page":1}"#, #"{"token":"REDACTED","page":1}"#),
        (
            "application/json", #"{"user":{"Password" : "SECRET"}}"#,
            #"{"user":{"Password" : "REDACTED"}}"#
        ),
        (
            "application/json", #"{"pin":1,"secret":12345678,"x":2}"#,
            #"{"pin":1,"secret":"REDACTED","x":2}"#
        ),
        (
            "application/json", #"{"token":{"value":"SECRET","a":["}"]},"b":1}"#,
            #"{"token":"REDACTED","b":1}"#
        ),
        (
            "application/json", #"{"tokens":["SECRET","SECRET"],"b":1}"#,
            #"{"tokens":"REDACTED","b":1}"#
        ),
        ("application/json", #"{"a_token":"x\"SECRET\\","b":1}"#, #"{"a_token":"REDACTED","b":1}"#),
        (
            "application/json", #"{"has_token":true,"token":null,"b":1}"#,
            #"{"has_token":true,"token":null,"b":1}"#
        ),
        ("application/json", #"{"tok\u0065n":"SECRET"}"#, #"{"tok\u0065n":"REDACTED"}"#),
        (
            "application/json", #"[{"next":"https://a.test/?token=SECRET&x=1"}]"#,
            #"[{"next":"https://a.test/?token=REDACTED&x=1"}]"#
        ),
        (
            "application/json", #"{"next":"/?a=1\u0026key=SECRET"}"#,
            #"{"next":"/?a=1\u0026key=REDACTED"}"#
        ),
        (
            "application/json", #"{"body":"{\"token\":\"SECRET\",\"a\":1}"}"#,
            #"{"body":"{\"token\":\"REDACTED\",\"a\":1}"}"#
        ),
        (
            "application/json", #"{"jwt_like":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.SECRET"}"#,
            #"{"jwt_like":"REDACTED"}"#
        ),
        (
            "application/json", #"{"id":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.SECRET"}"#,
            #"{"id":"REDACTED"}"#
        ),
        (
            "application/json", #"{"key":"SECRET","code":"not_found"}"#,
            #"{"key":"REDACTED","code":"not_found"}"#
        ),
        (
            "application/json", "{\"token\":\n\t\"SECRET\"}\n{\"token\":\"SECRET\"}\n",
            "{\"token\":\n\t\"REDACTED\"}\n{\"token\":\"REDACTED\"}\n"
        ),
        ("application/problem+json", #"{"token":"SECRET"}"#, #"{"token":"REDACTED"}"#),
        ("text/plain", #"{"token":"SECRET"}"#, #"{"token":"REDACTED"}"#),
        (nil, #" [{"token":"SECRET"}]"#, #" [{"token":"REDACTED"}]"#),
        // URLSession calls what has no type a form.
        ("application/x-www-form-urlencoded", #"{"token":"SECRET"}"#, #"{"token":"REDACTED"}"#),
        (
            "application/x-www-form-urlencoded", "user=ann&password=SECRET&x=1",
            "user=ann&password=REDACTED&x=1"
        ),
        (
            "application/x-www-form-urlencoded", "pass%77ord=SECRET%26SECRET&x",
            "pass%77ord=REDACTED&x"
        ),
        (
            "application/x-www-form-urlencoded", "d=%7B%22token%22%3A%22SECRET%22%7D&x=1",
            "d=%7B%22token%22%3A%22REDACTED%22%7D&x=1"
        ),
        ("text/plain", "login password=SECRET ok", "login password=REDACTED ok"),
        ("text/plain", "password: \"SECRET SECRET\" ok", "password: \"REDACTED\" ok"),
        (
            "application/xml", "<a><password>SECRET</password><b token=\"SECRET\"/></a>",
            "<a><password>REDACTED</password><b token=\"REDACTED\"/></a>"
        ),
        (
            "text/xml", #"<wsse:Password Type="a>b" x='1'>SECRET</wsse:Password><b>1</b>"#,
            #"<wsse:Password Type="a>b" x='1'>REDACTED</wsse:Password><b>1</b>"#
        ),
        (
            "application/xml", "<ns:token\n>SECRET</ns:token ><page>1</page>",
            "<ns:token\n>REDACTED</ns:token ><page>1</page>"
        ),
        (
            "application/xml", "<token><![CDATA[SECRET</a>]]></token><a>1</a>",
            "<token>REDACTED</token><a>1</a>"
        ),
        (
            "application/xml",
            "<credentials><u b='/'>SECRET</u><c/><!-- </x> -->SECRET</credentials><a>1</a>",
            "<credentials>REDACTED</credentials><a>1</a>"
        ),
        (
            "application/xml", "<token a='1'/><b>1</b><key n='1'>SECRET</key><key>short</key>",
            "<token a='1'/><b>1</b><key n='1'>REDACTED</key><key>short</key>"
        ),
        (
            "application/xml", "<key><![CDATA[SECRET]]></key>", "<key><![CDATA[REDACTED]]></key>"
        ),
        (
            "application/json", #"{"x":"\u003ca:token b=\"1\"\u003eSECRET\u003c/a:token\u003e"}"#,
            #"{"x":"\u003ca:token b=\"1\"\u003eREDACTED\u003c/a:token\u003e"}"#
        ),
        (
            "application/json",
            #"{"log":"was:\npwd=SECRET\tBearer SECRET\neyJhbGciOiJIUzI1NiJ9.e30"}"#,
            #"{"log":"was:\npwd=REDACTED\tBearer REDACTED\nREDACTED"}"#
        ),
        (
            "text/plain", "bad [eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.SECRET] userPwd=SECRET",
            "bad [REDACTED] userPwd=REDACTED"
        ),
        ("text/plain", "password=ab%20SECRET next", "password=REDACTED next"),
        (
            "multipart/form-data; boundary=b1", parts, parts.replacing("SECRET", with: "REDACTED")
        ),
        (
            "multipart/form-data; boundary=b1", multipart,
            multipart.replacing("SECRET", with: "REDACTED")
        ),
    ]

    @Test(arguments: bodies.indices)
    func `a body keeps no secret, however it comes`(place: Int) {
        let (type, body, shown) = BodyRedactionTests.bodies[place]
        for out in scanned(body.replacing("SECRET", with: secret), type) {
            #expect(String(decoding: out, as: UTF8.self) == shown, "\(body)")
        }
    }

    @Test(arguments: bodies.indices)
    func `a body that is cut anywhere keeps no secret`(place: Int) {
        let (type, body, _) = BodyRedactionTests.bodies[place]
        let whole = body.replacing("SECRET", with: secret)
        for limit in 1...whole.utf8.count {
            for out in scanned(whole, type, upTo: limit) {
                #expect(
                    !leaks(out), "\(body) cut at \(limit): \(String(decoding: out, as: UTF8.self))")
            }
        }
    }

    @Test(arguments: [
        (
            "application/json",
            #"{"a":"b","s":"shoes","max":3,"u":"https://a.test/?q=1","t":"a: b"}"#
        ),
        ("text/html", "<p>Your token: none</p><script>var token = load();</script>"),
        ("text/javascript", "function f(token){this.token=token;return{password:g}}"),
        ("text/csv", "a,b,c\n1,2,3\n"), ("application/x-www-form-urlencoded", "q=a+b&s=x&page=%31"),
    ])
    func `a body without a secret stays as it is`(type: String, body: String) {
        for out in scanned(body, type) { #expect(String(decoding: out, as: UTF8.self) == body) }
    }

    @Test func `binary bodies stay as they are`() {
        let octets = (0..<4_096).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var scanner = BodyScanner(
            BodyForm(fields: [.init("Content-Type", "image/png")], isDecoded: true),
            Redactor(CaptureRedaction()).names)
        #expect(scanner.take(octets) + scanner.finish(isWhole: true) == octets)
    }

    @Test func `text in wide characters, in which nothing can be found, is not kept`() {
        let wide = "{\"token\":\"\(secret)\"}".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        var scanner = BodyScanner(
            BodyForm(
                fields: [.init("Content-Type", "application/json; charset=utf-16")],
                isDecoded: true), Redactor(CaptureRedaction()).names)
        #expect(scanner.take(wide) + scanner.finish(isWhole: true) == [])
    }

    @Test func `a body with a coding is told from one without`() {
        let fields = [CaptureRecord.Field("Content-Encoding", "gzip")]
        #expect(BodyForm(fields: fields, isDecoded: false).isCoded)
        #expect(!BodyForm(fields: fields, isDecoded: true).isCoded)
    }
}
