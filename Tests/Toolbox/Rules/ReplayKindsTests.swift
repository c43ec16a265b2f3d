import HTTPDNS
import HTTPDNSCapture
import HTTPDNSExchange
import HTTPDNSPinLab
import HTTPDNSRules
import HTTPDNSURLSession
import TestSupport
import Testing

/// What is told again is what was answered, and what cannot be says why.
@Suite(.timeLimit(.minutes(3))) struct ReplayKindsTests {
    private let lab: RuleLab
    private let directory: TemporaryDirectory

    init() throws {
        lab = try RuleLab()
        directory = try TemporaryDirectory()
    }

    private var tape: String { directory.path + "/tape.sqlite" }

    private func send(
        _ url: String, _ method: HTTPMethod = .get,
        _ fields: KeyValuePairs<String, String> = [:], under rules: LiveRules
    ) async throws -> (head: ResponseHead, body: [UInt8]) {
        var request = HTTPRequest(method, try HTTPURL(url), fields: try HTTPFields(fields))
        request.limits.connect = .seconds(50)
        let response = try await lab.httpdns().client.send(request, under: rules)
        return (response.head, try await response.collect(upTo: 1 << 26).0)
    }

    /// Why a request under rules failed.
    private func failure(
        _ url: String, _ fields: KeyValuePairs<String, String> = [:], under rules: LiveRules
    ) async -> String {
        do {
            _ = try await send(url, .get, fields, under: rules)
            return "it did not fail"
        } catch { return "\(error)" }
    }

    private func replaying() throws -> LiveRules {
        LiveRules(
            RequestRules([
                RequestRule("replay", .any, .replay(try FixtureLibrary(file: tape)))
            ]))
    }

    /// A HAR of one exchange.
    private func har(
        status: Int = 200, headers: String = "", content: String
    ) throws -> LiveRules {
        let path = try directory.write(
            "one.har",
            """
            {"log":{"version":"1.2","creator":{"name":"a","version":"1"},"entries":[{
            "startedDateTime":"2026-01-01T00:00:00Z","time":1,"cache":{},
            "timings":{"send":0,"wait":0,"receive":0},
            "request":{"method":"GET","url":"https://shop.example.test/","httpVersion":"HTTP/1.1",
            "cookies":[],"headers":[],"queryString":[],"headersSize":-1,"bodySize":0},
            "response":{"status":\(status),"statusText":"","httpVersion":"HTTP/1.1","cookies":[],
            "headers":[\(headers)],"content":\(content),"redirectURL":"","headersSize":-1,
            "bodySize":-1}}]}}
            """)
        return LiveRules(
            RequestRules([RequestRule("har", .any, .replay(try FixtureLibrary(file: path)))]))
    }

    @Test func `what HEAD was told is told again, lengths and codings of the other answer too`()
        async throws
    {
        let origin = try lab.origin { _ in
            LabResponse(
                fields: [LabField("Content-Encoding", "gzip")],
                body: [UInt8](repeating: 0x61, count: 77))
        }
        let recorder = FixtureRecorder(capture: tape)
        let url = origin.url(host: "shop.example.test", path: "/long")
        let recording: LiveRules = [RequestRule("tape", .any, .record(recorder))]
        let told = try await send(url, .head, under: recording).head.fields
        #expect(told.first("Content-Length") == "77")
        try await recorder.close()
        origin.stop()
        let again = try await send(url, .head, under: replaying())
        #expect(again.body.isEmpty)
        for name in ["Content-Length", "Content-Encoding"] {
            #expect(again.head.fields.all(name) == told.all(name), "\(name)")
        }
        // Where none was told, none is.
        let bare = FixtureLibrary([Fixture(.head, try HTTPURL(url))])
        let quiet = try await send(url, .head, under: [RequestRule("r", .any, .replay(bare))])
        #expect(!quiet.head.fields.contains("Content-Length"))
    }

    @Test func `a body of some MiB is recorded and told again, and of a longer one it is said why`()
        async throws
    {
        let long = [UInt8](repeating: 0x71, count: 3_000_000)
        let origin = try lab.origin { _ in LabResponse(body: long) }
        let url = origin.url(host: "shop.example.test", path: "/long?token=hidden")
        let recorder = FixtureRecorder(capture: tape)
        _ = try await send(url, under: [RequestRule("tape", .any, .record(recorder))])
        try await recorder.close()
        let second = directory.path + "/short.sqlite"
        let short = FixtureRecorder(capture: second, maximumBodyOctets: 2_999_999)
        _ = try await send(url, under: [RequestRule("tape", .any, .record(short))])
        short.keep(Fixture(.get, try HTTPURL("https://shop.example.test/other")))
        try await short.close()
        origin.stop()
        #expect(try await send(url, under: replaying()).body == long)
        let library = try FixtureLibrary(file: second)
        #expect(library.leftOut == ["1 whose body was not kept whole"])
        let why = await failure(url, under: [RequestRule("r", .any, .replay(library))])
        #expect(why.contains("stands in \(second), and cannot be answered from it"), "\(why)")
        #expect(why.contains("its body of 3000000 octets was not kept whole"))
        #expect(why.contains("maximumBodyOctets"))
        let other = await failure(
            origin.url(host: "shop.example.test", path: "/else"),
            under: [RequestRule("r", .any, .replay(library))])
        #expect(other.contains("is not among the 1 exchanges"), "\(other)")
    }

    @Test func `a rules file says how long a recorded body may be`() async throws {
        let origin = try lab.origin { _ in LabResponse(body: [UInt8](repeating: 0x71, count: 9)) }
        defer { origin.stop() }
        let url = origin.url(host: "shop.example.test", path: "/")
        for (most, left) in [(9, 0), (8, 1)] {
            let path = try directory.write(
                "rules.json",
                """
                {"version": 1, "rules": [{"then": {"record":
                {"file": "most\(most).sqlite", "maximumBodyOctets": \(most)}}}]}
                """)
            let rules = try LiveRules(file: path)
            _ = try await send(url, under: rules)
            try await rules.closeRecordings()
            var omissions: [CaptureRecord.Omission?] = []
            try CaptureFile(directory.path + "/most\(most).sqlite").read {
                omissions.append($0.responseBody.omission)
                return true
            }
            #expect(omissions == [left == 0 ? nil : .cut])
        }
    }

    @Test func `what failed when it was recorded is told as that`() async throws {
        var record = CaptureRecord(
            .exchange, .init(method: "GET", url: "https://shop.example.test/x"),
            startedAt: Capture.now, initiator: .init("test"))
        record.failure = .init(label: "timed_out", message: "it took too long")
        let library = FixtureLibrary([record], label: "one")
        let why = await failure(
            "https://shop.example.test/x", under: [RequestRule("r", .any, .replay(library))])
        #expect(why.contains("it failed when it was recorded (timed_out)"), "\(why)")
    }

    @Test func `a 304 answers who has a copy, and a part who asks for one`() async throws {
        let url = try HTTPURL("https://shop.example.test/")
        let library = FixtureLibrary([
            Fixture(.get, url, status: 304), Fixture(.get, url, status: 206, body: [1]),
        ])
        let rules: LiveRules = [RequestRule("r", .any, .replay(library))]
        let why = await failure(url.description, under: rules)
        #expect(why.contains("304, which is for a request with If-None-Match"), "\(why)")
        for (fields, status) in [
            (["If-None-Match": "\"a\""], 304), (["Range": "bytes=0-0"], 206),
        ] as [(KeyValuePairs<String, String>, Int)] {
            #expect(
                try await send(url.description, .get, fields, under: rules).head.status == status)
        }
        let both = FixtureLibrary([Fixture(.get, url, status: 304), Fixture(.get, url)])
        let mixed: LiveRules = [RequestRule("r", .any, .replay(both))]
        #expect(try await send(url.description, under: mixed).head.status == 200)
    }

    @Test(arguments: [
        ("text/plain; charset=iso-8859-1", "\"text\":\"\\u00e9\"", "text/plain; charset=utf-8"),
        ("text/html;charset=\\\"GBK\\\";a=b", "\"text\":\"é\"", "text/html;charset=utf-8;a=b"),
        ("text/plain; charset=utf-16le", "\"text\":\"ab\"", "text/plain; charset=utf-8"),
        ("text/plain; charset=iso-8859-1", "\"text\":\"e\"", "text/plain; charset=iso-8859-1"),
        (
            "text/plain; charset=iso-8859-1", "\"encoding\":\"base64\",\"text\":\"6Q==\"",
            "text/plain; charset=iso-8859-1"
        ),
        (
            "text/plain; charset=utf-16le", "\"encoding\":\"base64\",\"text\":\"YQA=\"",
            "text/plain; charset=utf-16le"
        ),
        ("text/plain; charset=UTF-8", "\"text\":\"é\"", "text/plain; charset=UTF-8"),
        ("text/plain", "\"text\":\"é\"", "text/plain"),
    ])
    func `a text of a HAR is told with the charset in which it is told`(
        type: String, content: String, told: String
    ) async throws {
        let rules = try har(
            headers: "{\"name\":\"Content-Type\",\"value\":\"\(type)\"}",
            content: "{\"size\":-1,\"mimeType\":\"\(type)\",\(content)}")
        let answer = try await send("https://shop.example.test/", under: rules)
        #expect(answer.head.fields.all("Content-Type") == [told])
    }

    @Test(
        arguments: [
            ("image/png", ["image/png"]), ("x-unknown", []), ("", []),
        ] as [(String, [String])])
    func `the type of a HAR's content is told where no field says it`(
        type: String, told: [String]
    ) async throws {
        let rules = try har(content: "{\"size\":1,\"mimeType\":\"\(type)\",\"text\":\"a\"}")
        let answer = try await send("https://shop.example.test/", under: rules)
        #expect(answer.head.fields.all("Content-Type") == told)
    }

    @Test func `what was recorded long ago is not dropped when more is recorded`() async throws {
        var old = CaptureRecord(
            .exchange, .init(method: "GET", url: "https://shop.example.test/old"),
            startedAt: CaptureTime(microsecondsSince1970: 1_000_000), initiator: .init("test"))
        old.hops[0].status = 200
        var configuration = CaptureConfiguration(path: tape)
        configuration.limits.maximumAge = nil
        let capture = Capture(configuration)
        capture.add(old)
        await capture.close()
        let recorder = FixtureRecorder(capture: tape)
        recorder.keep(Fixture(.get, try HTTPURL("https://shop.example.test/new")))
        try await recorder.close()
        let paths = try FixtureLibrary(file: tape).fixtures.map(\.url.target)
        #expect(paths == ["/old", "/new"])
    }
}
