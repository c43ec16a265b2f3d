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
        "token:s3cret", "token.test:s3cret", "a.test/token:123456", "token.test:443/token:s3cret",
        "http://token.test:80/?token=s3cret", "token.test:123456",
    ])
    func `what only begins like a host and a port is searched`(url: String) {
        #expect(!redactor.url(url).contains("s3cret") && !redactor.url(url).contains("123456"))
    }
}
