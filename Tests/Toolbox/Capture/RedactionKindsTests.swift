import Testing

@testable import HTTPDNSCapture

/// Secrets by where they stand: lines, URLs, pairs of name and value, what is indented, keys.
@Suite struct RedactionKindsTests {
    /// A secret that no text holds by chance; what is found again has leaked.
    static let secret = "Zq9vR7xKm2Lw8TnB4cYd"
    static let json = "application/json"

    /// All of a body at once, and in pieces: what is kept must not depend on it.
    static func scanned(
        _ body: String, _ type: String, upTo limit: Int? = nil
    ) -> [String] {
        let octets = Array(body.replacing("SECRET", with: secret).utf8)
        let kept = limit.map { Array(octets.prefix($0)) } ?? octets
        let names = Redactor(CaptureRedaction()).names
        return [kept.count, 1, 5].map { size in
            var scanner = BodyScanner(
                BodyForm(fields: [.init("Content-Type", type)], isDecoded: true), names)
            var out: [UInt8] = []
            for start in stride(from: 0, to: kept.count, by: max(size, 1)) {
                out += scanner.take(Array(kept[start..<min(start + size, kept.count)]))
            }
            return String(decoding: out + scanner.finish(isWhole: limit == nil), as: UTF8.self)
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let type: String
        let body: String
        let shown: String
        var testDescription: String { body }

        init(_ type: String, _ body: String, _ shown: String) {
            (self.type, self.body, self.shown) = (type, body, shown)
        }
    }

    private static let lines = [
        Case("text/plain", "Authorization: Basic SECRET\nX: 1", "Authorization: REDACTED\nX: 1"),
        Case("text/plain", "AUTHORIZATION:BASIC SECRET\nX: 1", "AUTHORIZATION:REDACTED\nX: 1"),
        Case("text/plain", "Authorization: Token SECRET", "Authorization: REDACTED"),
        Case("text/plain", "Authorization = ApiKey SECRET", "Authorization = REDACTED"),
        Case(
            "text/plain", "Proxy-Authorization: Digest username=\"u\", response=\"SECRET\"\nb",
            "Proxy-Authorization: REDACTED\nb"
        ),
        Case(
            "text/plain", "[12:00] Authorization: Digest username=\"u\", response=\"SECRET\"\nb",
            "[12:00] Authorization: REDACTED\nb"
        ),
        Case("text/plain", "Cookie: a=1; b=SECRET\r\nHost: a", "Cookie: REDACTED\r\nHost: a"),
        Case("text/plain", "Set-Cookie: sid=SECRET; Path=/", "Set-Cookie: REDACTED"),
        Case(
            "message/http", "GET / HTTP/1.1\r\nAuthorization: Basic\r\n SECRET\r\nHost: a\r\n\r\nx",
            "GET / HTTP/1.1\r\nAuthorization: REDACTED\r\n\r\nHost: a\r\n\r\nx"
        ),
        Case("text/plain", "password: hunter2 SECRET\nnext", "password: REDACTED\nnext"),
        Case("text/plain", "password: ;SECRET\nnext", "password: REDACTED\nnext"),
        Case(
            "text/plain", "curl -H 'Authorization: Basic SECRET' https://a.test/",
            "curl -H 'Authorization: REDACTED' https://a.test/"
        ),
        Case("text/plain", "[password] => hunter2 SECRET\nx", "[password] => REDACTED\nx"),
        Case("text/plain", "{:password=>\"SECRET\", :a=>1}", "{:password=>\"REDACTED\", :a=>1}"),
        Case("text/plain", "[12:00] password: \"SECRET\" a", "[12:00] password: \"REDACTED\" a"),
        Case(json, #"{token: "SECRET", a: "b"}"#, #"{token: "REDACTED", a: "b"}"#),
        Case("text/plain", "password := \"SECRET\"", "password := \"REDACTED\""),
        Case(json, #"{"m":"Authorization: Basic SECRET"}"#, #"{"m":"Authorization: REDACTED"}"#),
        Case(
            json, #"{"m":"GET /\r\nAuthorization: Basic SECRET\r\nHost: a"}"#,
            #"{"m":"GET /\r\nAuthorization: REDACTED\r\nHost: a"}"#
        ),
        Case(
            json, #"{"m":"curl -H 'Authorization: Basic SECRET' https://a.test/"}"#,
            #"{"m":"curl -H 'Authorization: REDACTED' https://a.test/"}"#
        ),
        Case(
            json, #"{"m":"curl -H \"Authorization: Basic SECRET\" https://a.test/"}"#,
            #"{"m":"curl -H \"Authorization: REDACTED\" https://a.test/"}"#
        ),
        Case(
            json, #"{"m":"Authorization: Digest a=\"u\", response=\"SECRET\"","b":1}"#,
            #"{"m":"Authorization: REDACTED","b":1}"#
        ),
        Case(json, #"{"m":"Cookie: a=1; b=SECRET"}"#, #"{"m":"Cookie: REDACTED"}"#),
        Case(
            "application/x-www-form-urlencoded", "d=Authorization%3A+Basic+SECRET&x=1",
            "d=Authorization%3A+REDACTED&x=1"
        ),
    ]

    private static let urls = [
        Case(
            json, #"{"clone_url":"https://oauth2:SECRET@git.test/x.git"}"#,
            #"{"clone_url":"https://REDACTED@git.test/x.git"}"#
        ),
        Case(
            json, #"{"url":"https:\/\/bob:SECRET@x.test\/a"}"#,
            #"{"url":"https:\/\/REDACTED@x.test\/a"}"#
        ),
        Case(
            json, #"{"dsn":"postgres://u:SECRET@db:5432/x"}"#,
            #"{"dsn":"postgres://REDACTED@db:5432/x"}"#
        ),
        Case(
            json, #"{"u":"redis://:SECRET@h:6379/0","v":"http://a:80/b?c=d"}"#,
            #"{"u":"redis://REDACTED@h:6379/0","v":"http://a:80/b?c=d"}"#
        ),
        Case("text/plain", "see https://bob:a@SECRET@x.test/", "see https://REDACTED@x.test/"),
        Case("text/plain", "https://bob:a,;&'SECRET@x.test", "https://REDACTED@x.test"),
        Case(
            "text/plain", "https://SECRET@x.test and me@y.test",
            "https://REDACTED@x.test and me@y.test"
        ),
        Case("text/xml", "<u>https://bob:SECRET@x.test/</u>", "<u>https://REDACTED@x.test/</u>"),
        Case(
            "application/x-www-form-urlencoded", "n=https%3A%2F%2Fb%3ASECRET%40x.test%2F&a=1",
            "n=https%3A%2F%2FREDACTED%40x.test%2F&a=1"
        ),
        Case(
            "application/x-www-form-urlencoded", "n=https://a.test&m=me@b.test",
            "n=https://a.test&m=me@b.test"
        ),
        Case(
            json, #"{"u":"https://api.telegram.test/bot123456:SECRET"}"#,
            #"{"u":"https://api.telegram.test/bot123456:REDACTED"}"#
        ),
        Case("text/plain", "/login?ticket=SECRET&a=1", "/login?ticket=REDACTED&a=1"),
    ]

    /// Behind names that are only suspect.
    private static let suspects = [
        Case(
            "application/x-www-form-urlencoded", "code=https://bob:hunter2SECRET@git.test/x&a=1",
            "code=https://REDACTED@git.test/x&a=1"
        ),
        Case(
            "application/x-www-form-urlencoded", "key=https%3A%2F%2Fb%3ASECRET%40a.test&a=1",
            "key=https%3A%2F%2FREDACTED%40a.test&a=1"
        ),
        Case("text/plain", "key: postgres://u:SECRET@db/x", "key: postgres://REDACTED@db/x"),
        Case(
            "text/plain", "key=postgresql+asyncpg://u:SECRET@db/x",
            "key=REDACTED://REDACTED@db/x"
        ),
        Case("text/plain", "session=redis://:SECRET@h", "session=redis://REDACTED@h"),
        Case("text/xml", "<key>https://u:SECRET@h/</key>", "<key>https://REDACTED@h/</key>"),
        Case("text/plain", "key: token:SECRET", "key: token:REDACTED"),
        Case("text/plain", "key: code=token=SECRET", "key: REDACTED"),
        Case("text/plain", "key: bot123456:SECRET a", "key: bot123456:REDACTED a"),
        Case(
            json, #"{"m":"key=\"https://u:SECRET@a.test/x\" b"}"#,
            #"{"m":"key=\"https://REDACTED@a.test/x\" b"}"#
        ),
    ]

    private static let values = [
        Case(
            "text/plain", "password             = SECRET\nnext",
            "password             = REDACTED\nnext"
        ),
        Case(
            "text/plain", "token\t\t\t\t\t\t\t\t\t\t\t\t\t\t  : a SECRET\nnext",
            "token\t\t\t\t\t\t\t\t\t\t\t\t\t\t  : REDACTED\nnext"
        ),
        Case("text/plain", #"password=ab\cdSECRET next"#, "password=REDACTED next"),
        Case(
            "text/plain", #"say "password=ab\\SECRET" next"#, #"say "password=REDACTED" next"#),
        Case(
            json, #"{"m":"password=ab\\cdSECRET\tnext \"token=a\/SECRET\" b"}"#,
            #"{"m":"password=REDACTED\tnext \"token=REDACTED\" b"}"#
        ),
    ]

    /// Escapes in a value, and such as end it.
    private static let escapes = [
        Case(json, #"{"m":"token=a\u00e4SECRET b"}"#, #"{"m":"token=REDACTED b"}"#),
        Case(
            json, #"{"m":"/?token=SECRET\u0026a=1\u0026pwd=SECRET"}"#,
            #"{"m":"/?token=REDACTED\u0026a=1\u0026pwd=REDACTED"}"#
        ),
        Case(
            json, #"{"m":"token=SECRET\u0020a","n":"token=SECRET\u00"}"#,
            #"{"m":"token=REDACTED\u0020a","n":"token=REDACTED"}"#
        ),
    ]

    /// Behind names in quotation marks.
    private static let quoted = [
        Case(
            "text/plain", "\"Authorization\": Bearer opaqueSECRET\nb",
            "\"Authorization\": REDACTED\nb"
        ),
        Case("application/yaml", "'password': correct SECRET\nb: 1", "'password': REDACTED\nb: 1"),
        Case(
            "application/yaml", "\"password\": |\n SECRET\n SECRET\nb: 1",
            "\"password\": REDACTED\n\n\nb: 1"
        ),
        Case(
            "application/yaml", "\"tokens\":\n  - SECRET\n\"b\": 1",
            "\"tokens\":\n  REDACTED\n\"b\": 1"
        ),
        Case(
            "application/yaml", "'tokens':\n- SECRET\n- SECRET\n'b': 1",
            "'tokens':\nREDACTED\n\n'b': 1"
        ),
        Case(
            json, #"{"m":"\"tokens\":\n- SECRET\n- SECRET\nb: 1"}"#,
            #"{"m":"\"tokens\":\nREDACTED\n\nb: 1"}"#
        ),
        Case(
            "text/plain", "a {\"password\": correct SECRET, \"b\": 1} c",
            "a {\"password\": REDACTED, \"b\": 1} c"
        ),
        Case(
            "text/plain", "a {\"b\": 1,\n\"password\":\n\"a SECRET\", 'token': a\nSECRET} c",
            "a {\"b\": 1,\n\"password\":\n\"REDACTED\", 'token': REDACTED} c"
        ),
        Case(
            "text/plain", "a {\"token\": !!seq [\"a, SECRET\", SECRET], \"b\": 1} c",
            "a {\"token\": REDACTED, \"b\": 1} c"
        ),
        Case("text/plain", "a, \"password\": b, SECRET\nc", "a, \"password\": REDACTED\nc"),
        Case("text/plain", "token=['a]SECRET', 'b'] c", "token=REDACTED c"),
        Case(
            "text/plain", "curl -d '{\"token\": correct SECRET}' https://a.test/",
            "curl -d '{\"token\": REDACTED' https://a.test/"
        ),
    ]

    /// What JSON5 has and JSON has not, and what is neither.
    private static let loose = [
        Case(
            json, #"{"password": 'correct SECRET', "b": 'c'}"#,
            #"{"password": 'REDACTED', "b": 'c'}"#
        ),
        Case(
            "application/json5", #"{'password': 'a\'"SECRET', b: 'c "d" e', "token": "SECRET"}"#,
            #"{'password': 'REDACTED', b: 'c "d" e', "token": "REDACTED"}"#
        ),
        Case(
            "application/json5", "{'keys': ['SECRET'], 'key': 'SECRET', b: 'c'}",
            "{'keys': ['REDACTED'], 'key': 'REDACTED', b: 'c'}"
        ),
        Case(
            "application/json5", #"{token: ['a]SECRET', "SECRET"], "pwds": ['a]SECRET'], b: 1}"#,
            #"{token: "REDACTED", "pwds": "REDACTED", b: 1}"#
        ),
        Case(
            json, #"{"pwd": tigerSECRET, "token": null,"a_token":true ,"b_token": falseSECRET}"#,
            #"{"pwd": "REDACTED", "token": null,"a_token":true ,"b_token": "REDACTED"}"#
        ),
        Case(
            json, #"{"password": correct SECRET, "pin_token": t,"b": 1}"#,
            #"{"password": "REDACTED", "pin_token": "REDACTED","b": 1}"#
        ),
        Case(
            json,
            #"["-----BEGIN PRIVATE KEY-----","SECRET", "QQ==","-----END PRIVATE KEY-----","a"]"#,
            #"["-----BEGIN PRIVATE KEY-----REDACTED","REDACTED", "REDACTED","#
                + #""REDACTED-----END PRIVATE KEY-----","a"]"#
        ),
        Case(
            json, #"{"key":["-----BEGIN PRIVATE KEY-----","SECRET","SECRET"],"b":["c"]}"#,
            #"{"key":["-----BEGIN PRIVATE KEY-----REDACTED","REDACTED","REDACTED"],"b":["c"]}"#
        ),
        Case(
            json, #"{"pem":"-----BEGIN PRIVATE KEY-----\nSECRET","b":"c"}"#,
            #"{"pem":"-----BEGIN PRIVATE KEY-----REDACTED","b":"c"}"#
        ),
    ]

    private static let members = [
        Case(json, #"{"key":["SECRET","b"],"a":"c"}"#, #"{"key":["REDACTED","b"],"a":"c"}"#),
        Case(json, #"{"code":["SECRET"]}"#, #"{"code":["REDACTED"]}"#),
        Case(
            json, #"{"session":{"id":"SECRET","n":{"x":["SECRET"]}},"id":"abcdefghijklmnop1"}"#,
            #"{"session":{"id":"REDACTED","n":{"x":["REDACTED"]}},"id":"abcdefghijklmnop1"}"#
        ),
        Case(json, #"{"keys":{"a":"SECRET","b":1}}"#, #"{"keys":{"a":"REDACTED","b":1}}"#),
        Case(
            json, #"[{"name":"password","value":"SECRET"},{"name":"n","value":"v"}]"#,
            #"[{"name":"password","value":"REDACTED"},{"name":"n","value":"v"}]"#
        ),
        Case(
            json, #"{"key":"aws_secret_access_key","type":{"name":"x"},"value":["SECRET"]}"#,
            #"{"key":"REDACTED","type":{"name":"x"},"value":"REDACTED"}"#
        ),
        Case(
            json,
            #"{"headers":[{"name":"Cookie","value":"a=SECRET"}],"cookies":[{"value":"SECRET"}]}"#,
            #"{"headers":[{"name":"Cookie","value":"REDACTED"}],"cookies":"REDACTED"}"#
        ),
        Case(
            json, #"["Host","a","Authorization", "Basic SECRET","Via","b"]"#,
            #"["Host","a","Authorization", "REDACTED","Via","b"]"#
        ),
        Case(
            "application/json-seq", "\u{1E}{\"token\":\"SECRET\"}\n\u{1E}{\"a\":1}\n",
            "\u{1E}{\"token\":\"REDACTED\"}\n\u{1E}{\"a\":1}\n"
        ),
        Case("", "\u{1E}{\"token\":\"SECRET\"}\n", "\u{1E}{\"token\":\"REDACTED\"}\n"),
    ]

    private static let blocks = [
        Case(
            "application/yaml", "password: |\n  SECRET\n  SECRET\nb: 1",
            "password: REDACTED\n\n\nb: 1"
        ),
        Case(
            "application/yaml", "a:\n  password:\n    SECRET\n  b: 1",
            "a:\n  password:\n    REDACTED\n  b: 1"
        ),
        Case(
            "application/yaml", "tokens:\n  - SECRET\n  - SECRET\nb: 1",
            "tokens:\n  REDACTED\n\nb: 1"
        ),
        Case("application/yaml", "tokens:\n- SECRET\n- SECRET\nb: 1", "tokens:\nREDACTED\n\nb: 1"),
        Case(
            json, #"{"y":"a: 1\ntokens:\n- SECRET\n- SECRET\nb: 1\n"}"#,
            #"{"y":"a: 1\ntokens:\nREDACTED\n\nb: 1\n"}"#
        ),
        Case(
            json, #"{"y":"password: |\n  SECRET\nb: 1\n"}"#,
            #"{"y":"password: REDACTED\n\nb: 1\n"}"#
        ),
        Case(
            "text/xml",
            "<dict><key>password</key>\n<string>SECRET</string><key>a</key><b>c</b></dict>",
            "<dict><key>password</key>\n<string>REDACTED</string><key>a</key><b>c</b></dict>"
        ),
        Case(
            "text/xml", "<p><Name>password</Name><Value>SECRET</Value><b>c</b></p>",
            "<p><Name>password</Name><Value>REDACTED</Value><b>c</b></p>"
        ),
        Case(
            "text/xml",
            "<param name = \"password\" value=\"SECRET\"/><param name=\"a\" value=\"b\"/>",
            "<param name = \"password\" value=\"REDACTED\"/><param name=\"a\" value=\"b\"/>"
        ),
        Case(
            "application/x-pem-file",
            "a\n-----BEGIN RSA PRIVATE KEY-----\nSECRET\nSECRET\n-----END RSA PRIVATE KEY-----\nb",
            "a\n-----BEGIN RSA PRIVATE KEY-----REDACTED-----END RSA PRIVATE KEY-----\nb"
        ),
        Case(
            json, #"{"pem":"-----BEGIN PRIVATE KEY-----\nSECRET\n-----END PRIVATE KEY-----\n"}"#,
            #"{"pem":"-----BEGIN PRIVATE KEY-----REDACTED-----END PRIVATE KEY-----\n"}"#
        ),
        Case(
            "text/plain",
            "key: -----BEGIN PRIVATE KEY-----\nSECRET\n-----END PRIVATE KEY-----\n"
                + "secret: -----BEGIN PRIVATE KEY-----\nSECRET",
            "key: -----BEGIN PRIVATE KEY-----REDACTED-----END PRIVATE KEY-----\nsecret: REDACTED"
        ),
    ]

    private static let all =
        lines + urls + suspects + values + escapes + quoted + loose + members + blocks

    @Test(arguments: all)
    func `a body keeps no secret, wherever it stands`(_ one: Case) {
        for out in Self.scanned(one.body, one.type) { #expect(out == one.shown) }
    }

    @Test(arguments: all)
    func `a body that is cut anywhere keeps no secret, wherever it stands`(_ one: Case) {
        let whole = one.body.replacing("SECRET", with: Self.secret)
        for limit in 1...whole.utf8.count {
            for out in Self.scanned(one.body, one.type, upTo: limit) {
                #expect(!out.contains(Self.secret.prefix(6)), "cut at \(limit): \(out)")
            }
        }
    }

    @Test(arguments: [
        (json, #"{"name":"Ann","value":"abc","key":"color","keys":["a","b"],"code":[1,2]}"#),
        (json, #"{"a":["x","Cookies","y"],"u":"https://a.test:8443/x@y","t":"see //a b@c"}"#),
        (json, "{'a': 'b \"c\" d', e: [true, 'it\\'s'], \"f\": 'g', 'key': 'short'}"),
        ("application/yaml", "\"a\": b c\n'd': |\n  e\n\"f\":\n- g\n"),
        ("application/yaml", "a:\n  b: |\n    c\nd:\n- e\n"),
        ("text/xml", "<p name=\"a\" value=\"b\"><key>color</key><value>red</value></p>"),
        ("text/plain", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"),
        ("text/plain", "Dear users,\nit's 5 o'clock: \"now\"\n  and https://a.test, me@b.test\n"),
        ("application/x-www-form-urlencoded", "u=https%3A%2F%2Fa.test%2Fx&m=me%40b.test"),
        ("application/x-www-form-urlencoded", "code=abc&key=a:b&s=//x&session="),
        ("text/plain", "see https://a:%2F%2Fb"), ("text/plain", "https://a:%2F%2Fb:%2F%2Fcc"),
        ("text/plain", "key=short code=abc: x key='abc' s: https://a.test/x"),
    ])
    func `a body without a secret stays as it is, wherever its words stand`(
        type: String, body: String
    ) {
        for out in Self.scanned(body, type) { #expect(out == body) }
    }

    @Test(arguments: [
        ("X-Debug", "Authorization: Basic SECRET", "Authorization: REDACTED"),
        ("Sec-WebSocket-Protocol", "bearer, SECRET, chat", "bearer, REDACTED, chat"),
        (
            "sec-websocket-protocol", "base64url.bearer.authorization.k8s.io.SECRET, b.k8s.io",
            "REDACTED, b.k8s.io"
        ),
        ("Sec-WebSocket-Protocol", "graphql-transport-ws, chat", "graphql-transport-ws, chat"),
        ("Location", "https://sso.test/?ticket=ST-1-SECRET", "https://sso.test/?ticket=REDACTED"),
        ("X-Next", "https://bob:a,SECRET@x.test/", "https://REDACTED@x.test/"),
    ])
    func `a field keeps no secret, wherever it stands`(
        name: String, value: String, shown: String
    ) {
        let redactor = Redactor(CaptureRedaction())
        #expect(
            redactor.value(of: name, value.replacing("SECRET", with: Self.secret)) == shown)
    }

    @Test func `a body is read as the file of another program says, where no field says it`() {
        let body = "--b1\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n"
        var record = CaptureRecord.sample("/in")
        record.hops[0].requestFields = []
        record.requestBody = CaptureRecord.Body(
            Array((body + Self.secret + "\r\n--b1--\r\n").utf8))
        record.requestBody.mediaType = "multipart/form-data; boundary=b1"
        record.responseBody = CaptureRecord.Body(Array("token=a \(Self.secret)&b=2".utf8))
        record.responseBody.mediaType = "application/x-www-form-urlencoded"
        let shown = RecordRedaction().shown(record)
        #expect(
            String(decoding: shown.requestBody.octets, as: UTF8.self)
                == body + "REDACTED\r\n--b1--\r\n")
        #expect(
            String(decoding: shown.responseBody.octets, as: UTF8.self) == "token=REDACTED&b=2")
    }

    @Test func `the token of a bot in a path is one`() {
        let shown = Redactor(CaptureRedaction()).url(
            "https://api.telegram.test/bot123456:\(Self.secret)/sendMessage")
        #expect(shown == "https://api.telegram.test/bot123456:REDACTED")
    }
}
