import Glibc
import HTTPDNSJSON
import HTTPDNSPinLab
import TestSupport
import Testing

/// What the tool tells people, and writes into logs, holds no secret of a URL.
@Suite(.timeLimit(.minutes(3))) struct ShownSecretsTests {
    private let lab: CaptureLab

    init() throws { lab = try CaptureLab() }

    private func fetch(
        _ origin: LabServer, _ target: String, _ more: String...
    ) async throws -> CommandResult {
        let root = try lab.directory.write("root.pem", lab.root.certificatePEM)
        return try await CaptureTool.run(
            [
                "fetch", origin.url(host: CaptureLab.host, path: target), "--cacert", root,
                "--resolve", "\(CaptureLab.host):127.0.0.1",
            ] + more)
    }

    @Test func `fetch shows where it went, and no token`() async throws {
        let origin = try lab.origin { request in
            switch request.path {
            case "/one": .redirect(to: "/two?id=7&token=hidden-two#access_token=hidden-three")
            case "/http": .redirect(to: "http://shop.example.test/?token=hidden-two")
            default: .text("there")
            }
        }
        defer { origin.stop() }
        let told = try await fetch(origin, "/one?api_key=hidden-one&x=1", "--verbose")
        #expect(told.status == 0 && told.outputText == "there")
        #expect(told.errorText.contains("/one?api_key=REDACTED&x=1"))
        #expect(told.errorText.contains("/two?id=7&token=REDACTED"))
        #expect(!told.errorText.contains("hidden"), "\(told.errorText)")
        let refused = try await fetch(origin, "/http?token=hidden-one", "--verbose")
        #expect(refused.status == 3 && refused.errorText.contains("token=REDACTED"))
        #expect(!refused.errorText.contains("hidden"), "\(refused.errorText)")
        let document = try await fetch(origin, "/http?token=hidden-one", "--json")
        let object = try #require(try document.documents.first)
        #expect(object["url"]?.string?.hasSuffix("token=hidden-one") == true)
        #expect(object["error"]?["message"]?.string?.contains("hidden") == false)
        let many = try await fetch(origin, "/http?token=hidden-one", "--repeat", "2")
        #expect(many.outputText.contains("redirect_refused: 2, the first: "))
        #expect(!(many.outputText + many.errorText).contains("hidden"))
    }

    @Test(arguments: [
        "ftp://a.test/?token=hidden-one", "https://me:hidden-one@a.test:x/?sid=hidden",
    ])
    func `a URL that cannot be fetched is named without its secrets`(url: String) async throws {
        let result = try await CaptureTool.run("fetch", url)
        #expect(result.status == 2 && result.errorText.contains("is not a URL to fetch"))
        #expect(!result.errorText.contains("hidden"), "\(result.errorText)")
    }

    @Test func `the proxy's log has no token of a URL`() async throws {
        let dead = try closedPort(address: LabAddress.ipv4)
        let served = try await RunningProxy([
            "--verbose", "--resolve", "shop.example.test:127.0.0.1",
        ])
        let origin = try LabServer(address: LabAddress.ipv4, security: .plain) { _ in .text("there")
        }
        try origin.start()
        defer { origin.stop() }
        for url in [
            "http://shop.example.test:\(origin.port)/x?token=hidden-one&id=7",
            "http://shop.example.test:\(dead)/x?token=hidden-two",
        ] {
            _ = try await run("curl", ["-s", "-x", served.url, url])
        }
        let (_, lines, errors) = try await served.end(SIGTERM)
        #expect(errors.contains("/x?token=REDACTED&id=7") && lines.joined().contains("REDACTED"))
        #expect(!errors.contains("hidden") && !lines.joined().contains("hidden"))
    }

    @Test func `the proxy's log keeps the port of a host that is called like a secret`()
        async throws
    {
        let dead = try closedPort(address: LabAddress.ipv4)
        let host = "secretsmanager.example.test"
        let served = try await RunningProxy(["--verbose", "--resolve", "\(host):127.0.0.1"])
        _ = try await run("curl", ["-s", "-p", "-x", served.url, "http://\(host):\(dead)/"])
        let (_, lines, errors) = try await served.end(SIGTERM)
        let told = try lines.map { try JSONValue.parse($0) }.filter { $0["method"] != nil }
        let ended = try #require(told.last)
        #expect(ended["target"]?.string == "\(host):\(dead)")
        let message = try #require(ended["error"]?["message"]?.string)
        #expect(message.contains("\(host):\(dead)"), "\(message)")
        #expect(errors.contains("CONNECT \(host):\(dead)"), "\(errors)")
        #expect(!(errors + lines.joined()).contains("REDACTED"))
    }

    @Test func `an error names the file that was meant, and none of ours`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let place = lab.directory.path + "/none/file"
        for option in ["--cookie-jar", "--capture", "-o"] {
            let result = try await fetch(origin, "/", option, place)
            #expect(result.status == 2, "\(option)")
            #expect(result.errorText.contains(place) && !result.errorText.contains(".new"))
            #expect(result.errorText.split(separator: "\n").count == 1)
        }
        let capture = try await fetch(origin, "/", "--capture", place)
        #expect(capture.errorText.contains("make the directory"), "\(capture.errorText)")
        #expect(access(lab.directory.path + "/none", F_OK) != 0)
        #expect(origin.record.requests.isEmpty)
    }
}
