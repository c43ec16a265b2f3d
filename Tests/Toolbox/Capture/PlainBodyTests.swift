import Testing

@testable import HTTPDNSCapture
@testable import HTTPDNSRedaction

/// What is told at a glance to be a body without a secret is kept as it is by the search.
@Suite struct PlainBodyTests {
    /// Of what bodies and their secrets are made.
    private static let pieces: [String] = [
        "token", "password", "key", "hello", "world", "bearer ", "basic ", "Authorization", "eyJ",
        "hbGciOiJIUzI1NiJ9abcdef", "Zm9vYmFyYmF6cXV4MTIzNDU2", "0123456789abcdef0123456789abcdef",
        ":", "/", "://", "\\u0026", "<", ">", "=", "&", "?", "#", "@", "%3A", " ", "\"", "'", ",",
        ".", "-", "--", "[", "]", "{", "}", "é", "\n", "\r\n", "\n  ", "",
    ]

    @Test(arguments: [
        nil, "text/plain", "text/html", "text/css", "application/javascript", "application/xml",
        "application/x-www-form-urlencoded", "application/json", "image/png", "text/yaml",
        "multipart/form-data; boundary=x", "multipart/form-data",
    ])
    func `the glance and the search agree`(mediaType: String?) {
        var generator = SplitMix(state: UInt64(mediaType?.utf8.count ?? 0) + 7)
        let redactor = Redactor(CaptureRedaction())
        let form = BodyForm(mediaType: mediaType, isCoded: false)
        var plain = 0
        for _ in 0..<10_000 {
            let count = Int.random(in: 1...8, using: &generator)
            let octets = (0..<count).flatMap { _ in
                Array((Self.pieces.randomElement(using: &generator) ?? "").utf8)
            }
            guard !octets.isEmpty, redactor.isPlain(octets, form) else { continue }
            plain += 1
            var scanner = BodyScanner(form, redactor.names)
            let kept = scanner.take(octets) + scanner.finish(isWhole: true)
            #expect(kept == octets, "\(String(decoding: octets, as: UTF8.self))")
        }
        // These are never judged at a glance.
        let areOthers = ["multipart/form-data; boundary=x", "application/json", "image/png"]
        #expect(areOthers.contains(mediaType ?? "") ? plain == 0 : plain > 200)
    }
}
