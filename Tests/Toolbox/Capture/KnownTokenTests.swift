import HTTPDNSRedaction
import Testing

@testable import HTTPDNSCapture

/// Tokens that nothing but their form tells, or the place where they stand.
@Suite struct KnownTokenTests {
    private static let secret = RedactionKindsTests.secret

    static let texts = [
        ("see ghp_SECRET now", "see REDACTED now"), ("github_pat_11ABC_SECRET", "REDACTED"),
        ("(glpat-SECRET)", "(REDACTED)"), ("xoxb-1-2-SECRET", "REDACTED"),
        ("sk_live_SECRET,", "REDACTED,"), ("sk-proj-SECRET1", "REDACTED"),
        ("AIzaSECRET0123456789ABCDE_", "REDACTED"),
        ("at AKIAIOSFODNN7EXAMPLE/2026", "at REDACTED/2026"),
        ("ya29.a0SECRET", "REDACTED"), ("npm_SECRETSECRET", "REDACTED"),
        ("pypi-AgEIcHlwaS5vcmcSECRET", "REDACTED"), ("SG.SECRET.SECRET", "REDACTED"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.SECRET", "REDACTED"),
        (
            "https://hooks.slack.com/services/T00000000/B00000000/SECRET",
            "https://hooks.slack.com/services/T00000000/B00000000/REDACTED"
        ),
        (
            "https://discord.com/api/webhooks/1234567890/SECRET",
            "https://discord.com/api/webhooks/1234567890/REDACTED"
        ),
        (
            "https://a.test/reset-password/SECRET/x",
            "https://a.test/reset-password/REDACTED/x"
        ),
        ("/Magic_Link/SECRET", "/Magic_Link/REDACTED"),
        (
            "/verify/550e8400-e29b-41d4-a716-446655440000", "/verify/REDACTED"
        ),
        ("\(String(repeating: "x", count: 125))-ghp_SECRET b", nil),
        ("\(String(repeating: "x", count: 126)).github_pat_SECRET12 b", nil),
        ("\(String(repeating: "x", count: 127))-SG.SECRETSECRET b", nil),
        ("WWW-Authenticate: Negotiate SECRETSECRET", "WWW-Authenticate: Negotiate REDACTED"),
        ("NTLM SECRETSECRET", "NTLM REDACTED"),
    ]

    @Test(arguments: texts)
    func `a token is known by its form`(text: String, expected: String?) {
        for shown in RedactionKindsTests.scanned(text, "text/plain") {
            #expect(!shown.contains("9vR7x") && shown.contains("REDACTED"), "\(shown)")
            if let expected { #expect(shown == expected) }
        }
        let redactor = TextRedactor()
        let whole = text.replacing("SECRET", with: Self.secret)
        #expect(!redactor.isPlain(octets: Array(whole.utf8)))
        #expect(expected.map { $0 == redactor.text(whole) } ?? true)
    }

    @Test(arguments: texts)
    func `a token that is cut leaves nothing of it`(text: String, expected: String?) {
        let whole = text.replacing("SECRET", with: Self.secret)
        guard let start = whole.firstRange(of: Self.secret) else { return }
        let before = whole[..<start.lowerBound].utf8.count
        for limit in (before + 4)...whole.utf8.count {
            for shown in RedactionKindsTests.scanned(text, "text/plain", upTo: limit) {
                #expect(!shown.contains("Zq9v"), "cut at \(limit): \(shown)")
            }
        }
    }

    @Test(arguments: [
        "the task-force-of-the-United-States-2026 met", "sk-loading-indicator-wrapper-x",
        "/invite/summer-holidays-2026-in-spain", "/verify/12345/settings", "risk_live_aid",
        "/services/Tools/Box/something-very-long-here", "/token/ring-networks-of-the-past",
        "npm_config_registry_of_this_house_is_here", "AKIA is short", "SG. is a country",
        "https://a.test/activate/your-account-in-three-steps", "pizza AIzawa", "ya29.5",
        "/webhooks/stripe/deliveries-of-yesterday", "errors occur, music or Basic manners",
    ])
    func `what only sounds so stays`(text: String) {
        for shown in RedactionKindsTests.scanned(text, "text/plain") { #expect(shown == text) }
        #expect(TextRedactor().text(text) == text)
    }

    @Test(arguments: [
        "https://a.test/reset-password/SECRET", "/api/v1/token/SECRET?a=b",
        "https://hooks.slack.com/services/T00000000/B00000000/SECRET",
        "https://a.test/?next=%2Finvite%2FSECRET",
        "https://a.test/accept-invitation/SECRET#part",
    ])
    func `a path keeps no token`(url: String) {
        let shown = TextRedactor().url(url.replacing("SECRET", with: Self.secret))
        #expect(shown == url.replacing("SECRET", with: "REDACTED"))
        let named = TextRedactor().url("https://a.test/x/ghp_\(Self.secret)/y")
        #expect(named == "https://a.test/x/REDACTED/y")
    }

    @Test(arguments: [
        (
            "application/x-ldif", "dn: x\nuserPassword:: SECRET\n SECRET\ncn: a",
            "dn: x\nuserPassword:: REDACTED\n\ncn: a"
        ),
        (
            "image/svg+xml", #"<svg><text password="SECRET" fill="red"/></svg>"#,
            #"<svg><text password="REDACTED" fill="red"/></svg>"#
        ),
        ("application/javascript", #"cb({"password":"SECRET"})"#, #"cb({"password":"REDACTED"})"#),
        (
            "text/javascript", #"/**/ a.b[0]( {"a":1,"token":"SECRET"});"#,
            #"/**/ a.b[0]( {"a":1,"token":"REDACTED"});"#
        ),
        ("application/javascript", "var password = 1; f({a: 2})", "var password = 1; f({a: 2})"),
        ("application/javascript", "cb(", "cb("),
        (
            "application/json",
            #"{"u":"https:\/\/a.test\/reset-password\/SECRET","m":"ghp_SECRET"}"#,
            #"{"u":"https:\/\/a.test\/reset-password\/REDACTED","m":"REDACTED"}"#
        ),
        (
            "text/html", #"<a href="https://a.test/invite/SECRET">x</a> ghp_SECRET"#,
            #"<a href="https://a.test/invite/REDACTED">x</a> REDACTED"#
        ),
        (
            "application/x-www-form-urlencoded", "next=https%3A%2F%2Fa.test%2Freset%2FSECRET&b=1",
            "next=https%3A%2F%2Fa.test%2Freset%2FREDACTED&b=1"
        ),
    ])
    func `so are those of other kinds of text`(type: String, body: String, expected: String) {
        for shown in RedactionKindsTests.scanned(body, type) { #expect(shown == expected) }
    }

    @Test func `the words beside a status are searched`() {
        var record = CaptureRecord(
            .exchange, .init(url: "https://a.test/"), startedAt: Capture.now)
        record.hops[0].statusText = "No token=\(Self.secret)"
        Redactor(CaptureRedaction()).redact(&record)
        #expect(record.hops[0].statusText == "No token=REDACTED")
    }
}
