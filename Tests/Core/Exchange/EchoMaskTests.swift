import HTTPDNSExchange
import HTTPDNSNames
import Testing

/// Whoever answers may say a request back as it likes.
@Suite struct EchoMaskTests {
    private func masked(
        _ body: String, _ values: [String], _ names: [String] = []
    ) throws -> String {
        let mask = EchoMask(hiding: values, sparing: try names.map { try HostName($0) })
        return String(decoding: mask.masked(Array(body.utf8)), as: UTF8.self)
    }

    @Test(arguments: [
        "/a/Tok%2Fen+1&x/", "/a/Tok%2fen+1&x/", "{\"p\":\"Tok\\/en+1\\u0026x\"}",
        "{\"p\":\"Tok\\u002Fen 1&x\"}", "<p>Tok/en+1&amp;x</p>", "<p>Tok&#47;en&#x2b;1&amp;x</p>",
        "q=Tok%2Fen%201%26x", "q=Tok%252Fen%252B1%2526x", "Tok%2Fen%2B1%26x", "TOK/EN+1&X",
        "{\"page\":\"<p>Tok\\/en+1\\u0026amp;x<\\/p>\"}", "Tok/en 1\\u0026amp;x",
        "Tok&sol;en&plus;1&amp;x",
    ])
    func `a value is found however it is written`(body: String) throws {
        for sent in ["Tok/en+1&x", "Tok%2Fen%2B1%26x", "Tok%2fen+1%26x"] {
            let shown = try masked(body, [sent])
            #expect(shown.contains("REDACTED"), "\(sent) in \(shown)")
            for part in ["tok", "en+1", "en 1"] {
                #expect(!shown.lowercased().contains(part), "\(sent) in \(shown)")
            }
        }
    }

    @Test func `what stands around it stays as it was written`() throws {
        #expect(
            try masked("{\"a\":\"\\u0026 %41 &amp; s3cret\\/v\\/\"}", ["s3cret/v"])
                == "{\"a\":\"\\u0026 %41 &amp; REDACTED\\/\"}")
        #expect(try masked("s3crets3cret", ["s3cret"]) == "REDACTED")
        #expect(
            try masked("nothing & 100% \\ of it \\u00", ["s3cret"])
                == "nothing & 100% \\ of it \\u00")
    }

    @Test(arguments: [
        ("account 42.", "account REDACTED."), ("/42/d", "/REDACTED/d"),
        ("id=42&x", "id=REDACTED&x"),
        ("\"42\"", "\"REDACTED\""), ("192.0.2.42", "192.0.2.42"), ("142 421", "142 421"),
        ("%2F42%2F", "%2FREDACTED%2F"), ("42", "REDACTED"),
    ])
    func `a short value is taken out where it stands by itself`(body: String, shown: String) throws
    {
        #expect(try masked(body, ["42"]) == shown)
    }

    @Test func `the name that was asked for stays readable`() throws {
        #expect(
            try masked("shop.example.test of shop", ["shop"], ["shop.example.test"])
                == "shop.example.test of REDACTED")
        #expect(
            try masked(
                "key=my-shop.example.test-1", ["my-shop.example.test-1"], ["shop.example.test"])
                == "key=REDACTED")
    }

    @Test func `octets that are no text pass`() {
        let body = (0..<1_024).map { UInt8($0 % 256) } + Array("%zz&#x110000;&#xD800;\\uD800".utf8)
        #expect(EchoMask(hiding: ["absent-value"]).masked(body) == body)
        #expect(EchoMask(hiding: ["", "absent"]).masked([]) == [])
        let hidden = EchoMask(hiding: ["s3cret"]).masked([0xFF] + Array("s3cret".utf8) + [0xC3])
        #expect(hidden == [0xFF] + Array("REDACTED".utf8) + [0xC3])
    }

    @Test(arguments: [
        ("/dns-query", []),
        ("/abc-Def_G/dns-query?key=z&ct=application/dns-message", ["abc-Def_G", "z"]),
        ("/resolve?tokenly", ["tokenly"]), ("/d?tokenly=", ["tokenly"]), ("", []), ("/?", []),
        ("/v4/Abc?&=x&k=a=b", ["Abc", "x", "a=b"]),
    ])
    func `in a path and query all but the protocol's words may be private`(
        target: String, parts: [String]
    ) {
        #expect(EchoMask.parts(of: target) == parts)
    }
}
