import Testing

@testable import HTTPDNSRedaction

/// What is told at a glance to hold no secret holds none.
@Suite struct PlainTextTests {
    private let redactor = TextRedactor()

    /// Of what secrets, URLs and escapes are made.
    private static let pieces: [String] = [
        "token", "sig", "key", "http", "https", "ws", "auth.example.test", "a.test", "bearer",
        "basic",
        "eyJ", "hbGciOiJIUzI1NiJ9abcdef", "Zm9vYmFyYmF6cXV4MTIzNDU2", ":", ":", "/", "/", "//",
        "://",
        "\\", "u003c", "u003e", "u0026", "<", ">", "=", "&", "?", "#", "@", "%3A", "%2F", "%", " ",
        "'",
        "\\u003d", "\\u0022", "\\x3d", "u003d", "&lt;", "&gt;", "&quot;", "&#61;", "&amp;", "lt;",
        ";",
        "ghp_", "SG.", "sk-", "AKIA", "IOSFODNN7EXAMPLE", "reset-password", "services", "T0000000",
        "B0000000", "webhooks", "1234567", "TRUE", "FALSE", "Negotiate", "a1b2c3d4e5f6g7h8",
        "curl", "-u", "-b", "--", "machine", "login", "password", "default", " password ", "<<EOF",
        "*", "`", "\t", "\"\"\"", "kty", "d", "Content-Disposition:", " ", " ", "a", "Tom & Jerry",
        "\"", ",", ".", "-", "[", "]", "443", "65535", "1", "x", "é", "\n", "n", "",
    ]

    private static func text(_ generator: inout SplitMix) -> String {
        (0..<Int.random(in: 1...9, using: &generator)).map { _ in
            pieces.randomElement(using: &generator) ?? ""
        }.joined()
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `the glance and the search agree`(seed: UInt64) {
        var generator = SplitMix(state: seed)
        var plain = 0
        for _ in 0..<20_000 {
            let text = Self.text(&generator)
            if redactor.isPlain(text: text) {
                plain += 1
                #expect(redactor.scanned(text: text) == text)
            }
            if redactor.isPlain(url: text) {
                plain += 1
                #expect(redactor.scanned(url: text) == text)
            }
        }
        #expect(plain > 2_000)
    }

    @Test(arguments: [
        ("sig:/9j4AAQSkZJRgABAQAAAQABAAD", "sig:REDACTED"),
        ("https://h/a/token:/Zm9vYmFy", "https://h/a/token:REDACTED"),
        ("see token:/Zm9vYmFy", "see token:REDACTED"),
        ("\\u003ctoken\\u003es3cret\\u003c/token\\u003e", nil),
    ])
    func `a secret that a slash or an escape begins is taken out`(text: String, shown: String?) {
        let told = redactor.text(text)
        #expect(shown.map { $0 == told } ?? !told.contains("s3cret"), "\(told)")
        #expect(!redactor.url(text).contains("Zm9v") && !redactor.url(text).contains("9j4"))
    }

    @Test(arguments: [
        "secretsmanager.us-east-1.amazonaws.com:443", "auth.test:65535", "a.test:1",
        "http://secretsmanager.us-east-1.amazonaws.com:8080/?a=b",
        "http://token.test:8080/x#y", "//token.test:80/x",
    ])
    func `a port behind a host that is called like a secret stays`(url: String) {
        #expect(redactor.url(url) == url)
    }

    @Test(arguments: [
        ("https://bob:s3cret@a.test:443/x@y", "https://…@a.test:443/x@y"),
        // What looks like a port is none: the slash may be that of a password.
        ("https://bob:s3cret@a.test/x@y", "https://…@y"),
        ("bob:s3cret@a.test//b", "…@a.test//b"), ("bob:s3cret@a.test:443", "…@a.test:443"),
        ("s3cret@a.test?b=c@d", "…@a.test?b=c@d"), ("https:/bob:s3cret@a.test/", "…@a.test/"),
        ("https://bob:a/s3cret@a.test/", "https://…@a.test/"),
        ("//bob:s3cret@a.test", "//…@a.test"), ("bob:s3cret@a.test://b", "…@a.test://b"),
        ("bob:443/s3cret@a.test", "…@a.test"), (" https://bob:s3cret@a.test", "…@a.test"),
        ("https://a.test/https://bob:s3cret@b.test", "https://a.test/https://…@b.test"),
        ("https://bob:s3cret%40a.test/", "https://…%40a.test/"),
    ])
    func `what may be meant as a URL is told without its password`(text: String, shown: String) {
        #expect(
            TextRedactor.withoutUserinfo(text, isAuthority: true, placeholder: "…") == shown)
    }

    @Test(arguments: [
        "https://a.test:443/x@y", "a.test:443", "[::1]:443", "https://[::1]/x@y?z@a", "::1", "*",
        "",
        "https://a.test//b?c=d@e",
    ])
    func `what holds no password is told whole`(text: String) {
        #expect(TextRedactor.withoutUserinfo(text, isAuthority: true) == text)
    }

    @Test func `a path is none that could hold a password, but for a URL in it`() {
        let shown = ["/a:b@c", "/https://bob:s3cret@a.test/"].map {
            TextRedactor.withoutUserinfo($0, isAuthority: false)
        }
        #expect(shown == ["/a:b@c", "/https://REDACTED@a.test/"])
    }

    @Test(arguments: [
        "token:s3cret", "token.test:s3cret", "a.test/token:123456", "token.test:443/token:s3cret",
        "http://token.test:80/?token=s3cret", "token.test:123456",
    ])
    func `what only begins like a host and a port is searched`(url: String) {
        #expect(!redactor.url(url).contains("s3cret") && !redactor.url(url).contains("123456"))
    }
}
