import Testing

@testable import HTTPDNSCapture

/// Secrets by the languages they are written in: forms, programs, commands, keys.
@Suite struct RedactionLanguageTests {
    typealias Case = RedactionKindsTests.Case
    private static let json = RedactionKindsTests.json

    /// Parts of a form whose boundary nobody says.
    private static let parts = [
        Case(
            "multipart/form-data",
            "--X1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"
                + "hello\r\n--X1\r\ncontent-disposition: form-data; "
                + "name=\"password\"\r\nContent-Type: text/plain\r\n\r\nSECRET\r\n"
                + "-SECRET\r\n--X1--\r\n",
            "--X1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"
                + "hello\r\n--X1\r\ncontent-disposition: form-data; "
                + "name=\"password\"\r\nContent-Type: text/plain\r\n\r\nREDACTED\r\n"
                + "--X1--\r\n"
        ),
        Case(
            "text/plain",
            "--X1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"
                + "hello\r\n--X1\r\ncontent-disposition: form-data; "
                + "name=\"password\"\r\nContent-Type: text/plain\r\n\r\nSECRET\r\n"
                + "-SECRET\r\n--X1--\r\n",
            "--X1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"
                + "hello\r\n--X1\r\ncontent-disposition: form-data; "
                + "name=\"password\"\r\nContent-Type: text/plain\r\n\r\nREDACTED\r\n"
                + "--X1--\r\n"
        ),
        Case(
            "",
            "--X1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"
                + "hello\r\n--X1\r\ncontent-disposition: form-data; "
                + "name=\"password\"\r\nContent-Type: text/plain\r\n\r\nSECRET\r\n"
                + "-SECRET\r\n--X1--\r\n",
            "--X1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"
                + "hello\r\n--X1\r\ncontent-disposition: form-data; "
                + "name=\"password\"\r\nContent-Type: text/plain\r\n\r\nREDACTED\r\n"
                + "--X1--\r\n"
        ),
        Case(
            "application/x-www-form-urlencoded",
            "--X1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"
                + "hello\r\n--X1\r\ncontent-disposition: form-data; "
                + "name=\"password\"\r\nContent-Type: text/plain\r\n\r\nSECRET\r\n"
                + "-SECRET\r\n--X1--\r\n",
            "--X1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"
                + "hello\r\n--X1\r\ncontent-disposition: form-data; "
                + "name=\"password\"\r\nContent-Type: text/plain\r\n\r\nREDACTED\r\n"
                + "--X1--\r\n"
        ),
        Case(
            "text/plain", "--X1\nContent-Disposition: form-data; name=password\n\nSECRET\n--X1--\n",
            "--X1\nContent-Disposition: form-data; name=password\n\nREDACTED\n--X1--\n"),
        Case(
            json,
            #"{"m":"--X1\r\nContent-Disposition: form-data; "#
                + #"name=\"token\"\r\n\r\nSECRET\r\n--X1--\r\n","b":1}"#,
            #"{"m":"--X1\r\nContent-Disposition: form-data; "#
                + #"name=\"token\"\r\n\r\nREDACTED\r\n--X1--\r\n","b":1}"#
        ),
        Case(
            "multipart/form-data",
            "--X1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"
                + "{\"token\":\"SECRET\",\"b\":1}\r\n--X1--\r\n",
            "--X1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"
                + "{\"token\":\"REDACTED\",\"b\":1}\r\n--X1--\r\n"
        ),
    ]

    /// Three quotation marks, and marks that are doubled.
    private static let quotes = [
        Case("text/plain", #"password = """SECRET "a" SECRET""" b"#, #"password = "REDACTED" b"#),
        Case("text/plain", "password = '''SECRET\n'a' ''SECRET''' b", "password = 'REDACTED' b"),
        Case("text/plain", #"key = """SECRET""" b"#, #"key = """REDACTED""" b"#),
        Case("text/plain", "password='a''SECRET' b; c = ''", "password='REDACTED' b; c = ''"),
        Case(
            "application/graphql", #"{ login(password: """a "SECRET" b""", c: "d") { id } }"#,
            #"{ login(password: "REDACTED", c: "d") { id } }"#),
        Case(
            json,
            #"{"query":"mutation { login(password: \"\"\"SECRET \\\" a\"\"\", c: 1) }","b":1}"#,
            #"{"query":"mutation { login(password: \"REDACTED\", c: 1) }","b":1}"#),
        Case(
            "text/plain", "password: <<EOF\nSECRET\nEOF x\nSECRET\nEOF\nnext",
            "password: <<REDACTED\nEOF\nnext"),
        Case(
            json, #"{"m":"password = <<-EOF\n  SECRET\n  EOF\nnext","b":1}"#,
            #"{"m":"password = <<REDACTED\nEOF\nnext","b":1}"#),
        Case("text/plain", "password: <SECRET two\nb", "password: REDACTED\nb"),
    ]

    /// What follows a name and a blank.
    private static let commands = [
        Case(
            "text/plain",
            "mysql --password SECRET -u root; x --token=SECRET --no-password --foo bar",
            "mysql --password REDACTED -u root; x --token=REDACTED --no-password --foo bar"),
        Case(
            "text/plain", #"x --password "SECRET two" --secret &SECRET b"#,
            #"x --password "REDACTED" --secret REDACTED b"#),
        Case("text/plain", "x --password \\\n  SECRET b", "x --password \\\n  REDACTED b"),
        Case(
            json,
            #"{"m":"x --password \"SECRET\" --token "#
                + #"SECRET\nb","argv":["x","--password","SECRET","b"]}"#,
            #"{"m":"x --password \"REDACTED\" --token "#
                + #"REDACTED\nb","argv":["x","--password","REDACTED","b"]}"#
        ),
        Case(
            "text/plain", #"curl -s -u me:SECRET https://a.test/ -b "a=SECRET" -b SECRET"#,
            #"curl -s -u REDACTED https://a.test/ -b "REDACTED" -b REDACTED"#),
        Case(
            "text/plain", "/usr/bin/curl \\\n  --user SECRET -ume:SECRET x\nsu -u root",
            "/usr/bin/curl \\\n  --user REDACTED -ume:REDACTED x\nsu -u root"),
        Case(
            "text/plain", "machine a.test login b@a.test password SECRET",
            "machine a.test login b@a.test password REDACTED"),
        Case(
            "text/plain",
            "machine a.test:80\n  login b\n  password SECRET\ndefault\n"
                + "\tlogin c\n\tpassword &SECRET\n",
            "machine a.test:80\n  login b\n  password REDACTED\ndefault\n"
                + "\tlogin c\n\tpassword REDACTED\n"
        ),
        Case(
            json, #"{"m":"machine a.test\n  login b\n  password SECRET\nb","b":1}"#,
            #"{"m":"machine a.test\n  login b\n  password REDACTED\nb","b":1}"#),
        Case(
            "text/plain",
            "**password**: SECRET two\n`token`: SECRET\n"
                + "**Password:** SECRET two\n__token__: SECRET",
            "**password**: REDACTED\n`token`: REDACTED\n**Password:** REDACTED\n__token__: REDACTED"
        ),
    ]

    /// Names, and members of keys.
    private static let names = [
        Case(
            "application/x-www-form-urlencoded",
            "code_verifier=SECRET&device_code=SECRET&oauth_verifier=SECRET&veri"
                + "fication_code=SECRET",
            "code_verifier=REDACTED&device_code=REDACTED&oauth_verifier=REDACTE"
                + "D&verification_code=REDACTED"
        ),
        Case(
            "application/x-www-form-urlencoded",
            "sms_code=SECRET&totp=SECRET&db_pw=SECRET&creds=SECRET&otpCode=SECRET&user_code=b",
            "sms_code=REDACTED&totp=REDACTED&db_pw=REDACTED&creds=REDACTED&otpC"
                + "ode=REDACTED&user_code=b"
        ),
        Case(
            json,
            #"{"smsCode":"SECRET","authentication":"SECRET","pw":"SECRET","code":"b","pin":13}"#,
            #"{"smsCode":"REDACTED","authentication":"REDACTED","pw":"REDACTED","#
                + #""code":"b","pin":13}"#
        ),
        Case("text/plain", "Authentication: Foo SECRET\nb", "Authentication: REDACTED\nb"),
        Case(
            json, #"{"kty":"EC","crv":"P-256","d":"SECRET","x":"y","q":["SECRET"]}"#,
            #"{"kty":"EC","crv":"P-256","d":"REDACTED","x":"y","q":"REDACTED"}"#),
        Case(
            json, #"{"crv":"P-256","d":"SECRETSECRETSECRET","kty":"EC"}"#,
            #"{"crv":"P-256","d":"REDACTED","kty":"EC"}"#),
        Case(
            json, #"{"m":"{\"kty\":\"EC\",\"d\":\"SECRET\"}, {\"d\":\"b\"}","b":1}"#,
            #"{"m":"{\"kty\":\"EC\",\"d\":\"REDACTED\"}, {\"d\":\"b\"}","b":1}"#),
        Case(
            json,
            "{\"password\": /* a, \"b\" */ \"SECRET\", \"token\" /**/ : // "
                + "\"c\",\n \"SECRET\", \"b\": 1}",
            "{\"password\":  \"REDACTED\", \"token\"  :  \"REDACTED\", \"b\": 1}"),
    ]

    private static let all = parts + quotes + commands + names

    @Test(arguments: [
        (
            "https://a.test/?token=SECRET: unreachable: x",
            "https://a.test/?token=REDACTED: unreachable: x"
        ),
        ("/echo?token=SECRET no rule decides", "/echo?token=REDACTED no rule decides"),
        (
            "This proxy asks for its token, as the password of Basic or as Bearer.",
            "This proxy asks for its token, as the password of Basic or as Bearer."
        ),
    ])
    func `a message of ours loses a secret and no more`(text: String, shown: String) {
        let told = CaptureRedaction().shown(
            text: text.replacing("SECRET", with: RedactionKindsTests.secret))
        #expect(told == shown)
    }

    @Test func `a rule is named without the secrets of its URL`() {
        var record = CaptureRecord.sample("/in")
        record.rule = "https://a.test/?token=SECRET"
        record.hops[0].rules = ["https://bob:SECRET@a.test/", "plain"]
        Redactor(CaptureRedaction()).redact(&record)
        #expect(record.rule == "https://a.test/?token=REDACTED")
        #expect(record.hops[0].rules == ["https://REDACTED@a.test/", "plain"])
    }

    @Test(arguments: all)
    func `a body keeps no secret, whatever its language`(_ one: Case) {
        for out in RedactionKindsTests.scanned(one.body, one.type) { #expect(out == one.shown) }
    }

    @Test(arguments: all)
    func `a body that is cut anywhere keeps no secret, whatever its language`(_ one: Case) {
        let whole = one.body.replacing("SECRET", with: RedactionKindsTests.secret)
        for limit in 1...whole.utf8.count {
            for out in RedactionKindsTests.scanned(one.body, one.type, upTo: limit) {
                #expect(
                    !out.contains(RedactionKindsTests.secret.prefix(6)), "cut at \(limit): \(out)")
            }
        }
    }

    @Test(arguments: [
        ("text/plain", "use --token-env V or --password-file F, and --no-password -x"),
        ("text/plain", "the default login page asks for the machine; a password is not shown"),
        ("text/plain", "su -u root; docker run --user 1000:1000 x"),
        (
            json,
            #"{"d":{"a":"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"},"#
                + #""q":"a-long-word/of-a-path.html"}"#
        ),
        (json, #"{"p":"0123456789abcdef0123456789abcdef","pin":13,"d":"short"} // c"#),
        ("text/plain", "--X\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--X--\r\n"),
        ("text/plain", "x * 2 = 3 and `a`: b, <i>c</i> <<EOF\nd\nEOF\n"),
        ("text/plain", #"pin: 4, a = """b "c" d""" and 'e''f'"#),
    ])
    func `a body without a secret stays as it is, whatever its language`(
        type: String, body: String
    ) {
        for out in RedactionKindsTests.scanned(body, type) { #expect(out == body) }
    }
}
