import HTTPDNSExchange
import Testing

@Suite struct RequestFramingTests {
    @Test(arguments: [
        (["100-continue"], true), (["100-Continue"], true), ([], false), ([""], false),
        (["100-continue", "100-continue"], true),
    ])
    func `an expectation is one of a word`(values: [String], isAsked: Bool) throws {
        var fields = HTTPFields()
        for value in values { try fields.append("Expect", value) }
        #expect(try RequestFraming.expectsContinue(fields) == isAsked)
    }

    @Test(arguments: ["200-ok", "100-continue, x", "100"])
    func `another expectation is an error, not dropped`(value: String) throws {
        let fields = try HTTPFields(["expect": value])
        #expect(throws: RewriteFault.expectation(value)) {
            try RequestFraming.expectsContinue(fields)
        }
    }

    @Test(arguments: [
        ("Connection", "close", true), ("connection", "Keep-Alive", false),
        ("Keep-Alive", "timeout=5", true), ("Upgrade", "h2c", true), ("TE", "gzip", true),
        ("TE", "trailers", false), ("Proxy-Connection", "close", true),
        ("HTTP2-Settings", "x", true), ("proxy-Authorization", "Basic bTpo", true),
        ("Expect", "100-continue", false), ("Host", "a", false), ("Content-Length", "0", false),
        ("Transfer-Encoding", "chunked", false),
        ("Trailer", "X-Sum", false), ("Accept", "x", false),
    ])
    func `fields of which nothing comes are known`(
        name: String, value: String, isIgnored: Bool
    ) throws {
        var fields = HTTPFields()
        try fields.append(name, value)
        #expect(fields.fields.map(RequestFraming.isIgnored) == [isIgnored])
    }
}
