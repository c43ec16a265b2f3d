import HTTPDNSCLI
import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct FetchRequestTests {
    let origin: FetchOrigin

    init() throws { origin = try FetchOrigin() }

    @Test func `Any status is a success, and JSON says which`() async throws {
        let plain = try await origin.fetch("/missing")
        #expect(plain.status == 0)
        #expect(plain.outputText == "not here")
        let result = try await origin.fetch("/missing", ["--json"])
        #expect(result.status == 0)
        #expect(try result.object["status"] == 404)
        #expect(try result.object["bytes"] == 8)
    }

    @Test func `A redirect is followed, and listed`() async throws {
        let result = try await origin.fetch("/redirect", ["--json"])
        let object = try result.object
        #expect(result.status == 0)
        #expect(object["url"]?.string == origin.url("/redirect"))
        #expect(object["finalURL"]?.string == origin.url("/landed"))
        let redirect = try #require(object["redirects"]?.array?.first)
        #expect(redirect["url"]?.string == origin.url("/redirect"))
        #expect(redirect["status"] == 302)
        #expect(redirect["remoteAddress"]?.string == "127.0.0.1")
    }

    @Test func `A redirect is handed over when asked for`() async throws {
        let result = try await origin.fetch("/redirect", ["--no-follow", "--include"])
        #expect(result.status == 0)
        #expect(result.outputText.hasPrefix("HTTP/1.1 302\r\n"))
        #expect(result.outputText.contains("\r\nLocation: /landed\r\n"))
        #expect(origin.server.record.requests.count == 1)
    }

    @Test func `A redirect to a URL that is refused says so`() async throws {
        let result = try await origin.fetch("/odd", ["--json", "--verbose"])
        #expect(result.status == 0)
        #expect(try result.object["status"] == 302)
        #expect(try result.object["notFollowed"]?["code"] == "unreadable_location")
        #expect(try result.object["notFollowed"]?["message"]?.string?.contains("IPv4") == true)
        #expect(result.errorText.contains("302, not followed: its Location is not gone to"))
        let followed = try await origin.fetch("/redirect", ["--json"])
        #expect(try followed.object["notFollowed"] == .null)
    }

    @Test(arguments: [0, 3])
    func `Redirects without end are refused`(most: Int) async throws {
        let result = try await origin.fetch("/loop", ["--max-redirects=\(most)"])
        #expect(result.status == 3)
        #expect(result.errorText.contains("the limit of \(most) redirects"), "\(result.errorText)")
        #expect(origin.server.record.requests.count == most + 1)
    }

    @Test func `Data is posted as a form, unless it is said what it is`() async throws {
        let result = try await origin.fetch("/echo", ["-d", "a=1&b=2"])
        #expect(result.outputText == "a=1&b=2")
        let request = try #require(origin.server.record.requests.first)
        #expect(request.method == "POST")
        #expect(request.value(of: "Content-Type") == "application/x-www-form-urlencoded")
        _ = try await origin.fetch("/echo", ["-d{}", "-HContent-Type: application/json", "-XPUT"])
        let second = try #require(origin.server.record.requests.last)
        #expect(second.method == "PUT")
        #expect(second.values(of: "Content-Type") == ["application/json"])
    }

    @Test func `What a field asks of the framing is done`() async throws {
        let asked = try await origin.fetch(
            "/echo", ["-d", "whole", "-H", "Expect: 100-continue", "-H", "Connection: keep-alive"])
        #expect(asked.outputText == "whole")
        #expect(asked.errorText == "")
        let chunked = try await origin.fetch(
            "/echo", ["-d", "in chunks", "-H", "transfer-encoding: Chunked"])
        #expect(chunked.outputText == "in chunks")
        let sent = origin.server.record.requests
        try #require(sent.count == 2)
        #expect(sent[0].value(of: "Expect") == "100-continue")
        #expect(sent[0].values(of: "Content-Length") == ["5"])
        #expect(sent[1].value(of: "Expect") == nil)
        #expect(sent[1].values(of: "Content-Length") == [])
        #expect(sent[1].values(of: "Transfer-Encoding") == ["chunked"])
    }

    @Test(arguments: [
        ["-H", "Expect: 200-ok", "-d", "x"], ["-H", "Expect: 100-continue"],
        ["-H", "Content-Length: 3", "-d", "x"], ["-H", "Transfer-Encoding: gzip", "-d", "x"],
        ["-H", "Host: other.test"],
    ])
    func `A field that cannot be kept to is refused, and nothing is sent`(
        arguments: [String]
    ) async throws {
        let result = try await origin.fetch("/echo", arguments)
        #expect(result.status == 2)
        #expect(!result.errorText.isEmpty)
        #expect(origin.server.record.requests.isEmpty)
    }

    @Test func `A field that is not sent is told`() async throws {
        let result = try await origin.fetch(
            "/",
            [
                "-H", "Connection: close", "-H", "TE: gzip", "-H", "X-Kept: 1", "-H",
                "proxy-authorization: Basic bTpo", "--json",
            ])
        #expect(result.status == 0)
        let notes = try #require(try result.object["notes"]?.array?.compactMap(\.string))
        #expect(notes.map { $0.prefix(11) } == ["--header Co", "--header TE", "--header pr"])
        #expect(notes.last?.contains("--proxy-secret-env shows it") == true)
        #expect(!result.errorText.contains("bTpo"))
        #expect(notes.allSatisfy { result.errorText.contains($0) })
        let sent = try #require(origin.server.record.requests.first)
        #expect(sent.value(of: "X-Kept") == "1")
        #expect(sent.value(of: "Connection") == nil)
        #expect(sent.value(of: "Proxy-Authorization") == nil)
    }

    @Test func `A body from standard input arrives octet for octet`() async throws {
        let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let result = try await origin.fetch("/echo", ["--data", "@-"], input: body)
        #expect(result.status == 0)
        #expect(result.output == body)
    }

    @Test func `A pipe that nobody writes to is no body`() async throws {
        let pipe = origin.directory.path + "/pipe"
        _ = try await run("/usr/bin/mkfifo", [pipe])
        let result = try await origin.fetch("/echo", ["--data", "@" + pipe])
        #expect(result.status == 2)
        #expect(result.errorText.contains("it is no regular file"))
    }

    @Test func `A body goes to a file`() async throws {
        let file = origin.directory.path + "/body"
        let result = try await origin.fetch("/missing", ["-o", file, "--json"])
        #expect(try result.object["bytes"] == 8)
        #expect(try contents(of: file) == "not here")
        #expect(result.errorText == "")
    }

    @Test func `A large body is passed on whole`() async throws {
        let nginx = try await NginxServer.shared()
        let file = origin.directory.path + "/large"
        let result = try await httpdns(
            "fetch", "https://shop.example.test:\(nginx.http2)/large", "--resolve",
            "shop.example.test:127.0.0.1", "--cacert", nginx.rootFile, "-o", file)
        #expect(result.status == 0)
        let text = try contents(of: file)
        #expect(text.utf8.count == 16_777_216)
        #expect(text.hasSuffix("0123456789abcde\n"))
    }

    @Test func `A body that ends short is an error, and the file is said to be incomplete`()
        async throws
    {
        let file = origin.directory.path + "/partial"
        let result = try await origin.fetch("/short", ["-o", file])
        #expect(result.status == 3)
        #expect(result.errorText.contains("\(file) holds the 4 octets that came"))
        #expect(try contents(of: file) == "0123")
    }

    @Test func `A request that fails empties no file`() async throws {
        let file = try origin.directory.write("kept", "precious")
        let wrong = try FetchOrigin(.wrongName)
        let result = try await wrong.fetch("/", ["-o", file])
        #expect(result.status == 1)
        #expect(try contents(of: file) == "precious")
    }

    @Test(arguments: [("/silent", 9), ("/stalls", 9), ("/garbage", 3)])
    func `What is no answer ends with its own code`(path: String, code: Int32) async throws {
        let result = try await origin.fetch(path, ["--timeout", "1s", "--json"])
        #expect(result.status == code)
        #expect(try result.object["error"]?["code"]?.string?.isEmpty == false)
        #expect(try result.object["remoteAddress"] != nil)
    }

    @Test func `A dead port ends with 9`() async throws {
        let port = try closedPort(address: LabAddress.ipv4)
        let result = try await httpdns(
            "fetch", "https://shop.example.test:\(port)/", "--resolve",
            "shop.example.test:127.0.0.1", "--json")
        #expect(result.status == 9)
        #expect(try result.object["error"]?["code"]?.string == "cannot_connect")
        #expect(try result.object["remoteAddress"] == .null)
    }

    @Test func `A reader that has seen enough ends it quietly`() async throws {
        let nginx = try await NginxServer.shared()
        let command = """
            "$0" fetch https://shop.example.test:\(nginx.http1)/large \
            --resolve shop.example.test:127.0.0.1 --cacert "$1" | head -c 10
            exit ${PIPESTATUS[0]}
            """
        let result = try await run("bash", ["-c", command, Tool.path, nginx.rootFile])
        #expect(result.outputText == "0123456789")
        #expect(result.errorText == "")
        #expect(result.status == 0)
    }

    @Test func `Control characters of a head do not reach the output`() async throws {
        let result = try await origin.fetch("/evil", ["--include", "-o", "-"])
        let head = result.outputText.prefix { $0 != "\u{1B}" }
        #expect(head.contains("X-Note:"))
        #expect(!head.unicodeScalars.contains { (0x80...0x9F).contains($0.value) })
    }

    @Test(arguments: [
        ([], "a URL is missing"),
        (["ftp://a.example/"], "is not a URL to fetch"),
        (["a.example"], "begin it with https:// or http://"),
        (["https://a.example/", "https://b.example/"], "one URL at a time"),
        (["https://a.example/", "--resolve", "a.example"], "write HOST:IP[,IP]"),
        (["https://a.example/", "--resolve", "a.example:443:127.0.0.1"], "write HOST:IP[,IP]"),
        (["https://a.example/", "--pin", "sha1/AAAA"], "sha1 pins are not supported"),
        (["https://a.example/", "--pin", "a.example=x"], "neither base64"),
        (["https://a.example/", "-H", "no colon"], "write 'Name: value'"),
        (["https://a.example/", "-H", "A: b\nc: d"], "control character"),
        (["https://a.example/", "-X", "GE T"], "is not a method"),
        (["https://a.example/", "-d", "@/no/such/file"], "cannot read \"/no/such/file\""),
        (["https://a.example/", "--cacert", "/no/such/file"], "/no/such/file"),
        (["https://a.example/", "--max-redirects", "-1"], "--max-redirects"),
        (["https://a.example/", "--timeout", "soon"], "is not a duration"),
        (["https://a.example/", "--resolver", "no-such"], "no provider of that name"),
        (["https://a.example/", "--account", "1"], "none is named"),
        (["https://a.example/", "--json", "-o", "-"], "give -o a file"),
        (
            ["https://a.example/", "-H", "Host: b.example", "--resolve", "a.example:127.0.0.1"],
            "the request sets Host"
        ),
    ])
    func `What cannot be meant is said, and ends with 2`(
        arguments: [String], part: String
    ) async throws {
        let result = try await run(Tool.path, ["fetch"] + arguments)
        #expect(result.status == 2)
        #expect(result.errorText.contains(part), "\(result.errorText)")
        #expect(result.output.isEmpty != arguments.contains("--json"))
    }
}
