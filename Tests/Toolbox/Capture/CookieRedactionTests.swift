import Testing

@testable import HTTPDNSCapture

/// Of fields of cookies nothing is shown but names, and attributes whose value is of their form.
@Suite struct CookieRedactionTests {
    private let redactor = Redactor(CaptureRedaction())

    private func shown(_ value: String, of field: String) -> String {
        redactor.value(
            of: field, value.replacing("SECRET", with: RedactionKindsTests.secret))
    }

    @Test(arguments: [
        ("sid=SECRET; Path=/", "sid=REDACTED; Path=/"),
        ("sid=\"x;SECRET\"; Path=/a", "sid=REDACTED; Path=/a"),
        ("sid=\"x;SECRET; Path=/", "sid=REDACTED"),
        ("sid=\"a\\\";SECRET\"; Secure", "sid=REDACTED; Secure"),
        ("a=1; token=SECRET; Path=/", "a=REDACTED; REDACTED; Path=/"),
        ("sid=q; auth=SECRET; HttpOnly", "sid=REDACTED; REDACTED; HttpOnly"),
        ("a=1; Path=/, b=SECRET", "a=REDACTED; Path=REDACTED"),
        ("a=1; Path=/,b=SECRET; Secure", "a=REDACTED; Path=REDACTED; Secure"),
        ("a=1; Secure, b=SECRET", "a=REDACTED; REDACTED"),
        ("a=1; Max-Age=60, b=SECRET", "a=REDACTED; Max-Age=REDACTED"),
        ("t={\"k\":1;\"v\":\"SECRET\"}", "t=REDACTED;REDACTED"),
        ("a=1; Comment=\"sid=SECRET\"; Version=1", "a=REDACTED; REDACTED; Version=1"),
        (";SECRET=1", ";REDACTED"), ("SECRET", "REDACTED"), ("SECRET==", "REDACTED"),
        ("a b=SECRET; Path=/", "REDACTED; Path=/"),
        ("a=1; Path=/x;jsessionid=SECRET", "a=REDACTED; Path=/x;REDACTED"),
        ("a=1; Path=/reset-password/SECRET", "a=REDACTED; Path=/reset-password/REDACTED"),
        ("a=1; Secure=SECRET; Domain=S=SECRET", "a=REDACTED; Secure=REDACTED; Domain=REDACTED"),
        (
            "a=1; SameSite=SECRET; Max-Age=1SECRET",
            "a=REDACTED; SameSite=REDACTED; Max-Age=REDACTED"
        ),
        ("a=1; Expires=Wed, 06 Jan 2027 00:00:00 GMT, b=SECRET", "a=REDACTED; Expires=REDACTED"),
        (
            "a=S1; path=/\nb=SECRET; path=/\r\nc=SECRET",
            "a=REDACTED; path=/\nb=REDACTED; path=/\r\nc=REDACTED"
        ),
    ])
    func `a field that sets cookies shows no value`(value: String, expected: String) {
        for field in ["Set-Cookie", "set-cookie2", "Set-Cookie-Legacy", "X-Set-Cookie"] {
            #expect(shown(value, of: field) == expected, "\(field)")
        }
    }

    @Test(arguments: [
        "Path=/shop/a-b~c; Domain=.shop.example.test; Secure; HttpOnly; Partitioned",
        "Expires=Wed, 06 Jan 2027 08:30:00 GMT; Max-Age=3600; SameSite=Lax; Priority=High",
        "expires=Wednesday, 06-Jan-27 08:30:00 GMT; max-age=-1; samesite=None; version=1",
        "Expires=Wed Jan  6 08:30:00 2027", "path=/; secure; httponly", " Path = / ;", "",
    ])
    func `attributes stay`(attributes: String) {
        #expect(shown("a=SECRET; \(attributes)", of: "Set-Cookie") == "a=REDACTED; \(attributes)")
    }

    @Test(arguments: [
        ("a=SECRET; b=SECRET", "a=REDACTED; b=REDACTED"), ("SECRET", "REDACTED"),
        ("a=\"x; y=SECRET\"; b=1", "a=REDACTED; b=REDACTED"),
        ("a={\"k\":1;\"SECRET\":2}", "a=REDACTED;REDACTED"), ("SECRET==", "REDACTED"),
        ("a=1;SECRET;b=", "a=REDACTED;REDACTED;b=REDACTED"),
        ("a=1\nb=SECRET", "a=REDACTED\nb=REDACTED"),
    ])
    func `a field that sends cookies shows their names`(value: String, expected: String) {
        for field in ["Cookie", "cookie2", "X-Cookie", "Cookies-Of-Shop"] {
            #expect(shown(value, of: field) == expected, "\(field)")
        }
    }

    @Test func `a field can be revealed by its name`() {
        var redaction = CaptureRedaction()
        redaction.revealed = ["X-Cookie-Consent"]
        let redactor = Redactor(redaction)
        #expect(redactor.value(of: "x-cookie-consent", "all=yes") == "all=yes")
        #expect(redactor.value(of: "X-Cookie-Choice", "all=yes") == "all=REDACTED")
    }

    @Test(arguments: [
        (
            "text/plain", "Set-Cookie-Legacy: a=1; b=SECRET\nX: 1",
            "Set-Cookie-Legacy: REDACTED\nX: 1"
        ),
        ("text/plain", "X-Cookie: a=1; b=SECRET\nX: 1", "X-Cookie: REDACTED\nX: 1"),
        (
            "text/plain", "curl -b 'a=1; b=SECRET' --cookie \"c=SECRET\" https://a.test/",
            "curl -b 'REDACTED' --cookie \"REDACTED\" https://a.test/"
        ),
        (
            "text/plain", "curl -H 'Set-Cookie2: a=1; b=SECRET' https://a.test/",
            "curl -H 'Set-Cookie2: REDACTED' https://a.test/"
        ),
        (
            "application/json", #"{"Set-Cookie-Legacy":"a=1; b=SECRET","n":1}"#,
            #"{"Set-Cookie-Legacy":"REDACTED","n":1}"#
        ),
        (
            "application/json",
            #"[{"name":"set-cookie","value":"a=1; b=SECRET"},{"cookies":[{"value":"SECRET"}]}]"#,
            #"[{"name":"set-cookie","value":"REDACTED"},{"cookies":"REDACTED"}]"#
        ),
        (
            "text/plain",
            "# Cookies\n.a.test\tTRUE\t/\tFALSE\t0\tsid\tSECRET\n#HttpOnly_b.test\tFALSE"
                + "\t/x\tTRUE\t1924905600\ttoken\ta SECRET\r\nTRUE\tstory",
            "# Cookies\n.a.test\tTRUE\t/\tFALSE\t0\tsid\tREDACTED\n#HttpOnly_b.test"
                + "\tFALSE\t/x\tTRUE\t1924905600\ttoken\tREDACTED\r\nTRUE\tstory"
        ),
        (
            "application/json",
            #"{"jar":".a\tTRUE\t/\tFALSE\t0\tsid\tSECRET\n.b\tTRUE\t/\tFALSE\t0\tb\tSECRET","c":1}"#,
            #"{"jar":".a\tTRUE\t/\tFALSE\t0\tsid\tREDACTED\n.b\tTRUE\t/\tFALSE\t0\tb\tREDACTED","c":1}"#
        ),
    ])
    func `cookies in bodies are left out`(type: String, body: String, expected: String) {
        for shown in RedactionKindsTests.scanned(body, type) { #expect(shown == expected) }
    }
}
