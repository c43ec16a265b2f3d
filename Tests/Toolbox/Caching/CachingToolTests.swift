import Glibc
import HTTPDNSJSON
import HTTPDNSPinLab
import TestSupport
import Testing

/// `httpdns fetch --cache`.
@Suite struct CachingToolTests {
    private static var path: String {
        "/"
            + TestChild.path.split(separator: "/").dropLast().joined(separator: "/") + "/httpdns"
    }

    private static func fetch(
        _ lab: CachingLab, _ url: String, _ arguments: String...
    ) async throws -> CommandResult {
        let root = try lab.directory.write("root.pem", lab.root.certificatePEM)
        return try await run(
            path,
            ["fetch", url, "--resolve", "\(CachingLab.host):127.0.0.1", "--cacert", root]
                + arguments, environment: ["NO_COLOR": "", "XDG_CONFIG_HOME": "/nowhere"])
    }

    private static func cache(_ result: CommandResult) throws -> JSONValue? {
        try JSONValue.parse(result.outputText).object?["cache"]
    }

    @Test func `what one call kept answers the next, and offline`() async throws {
        let lab = try CachingLab()
        let server = try lab.origin { _ in
            LabResponse.text("body").with(["Cache-Control": "max-age=600", "ETag": "\"x\""])
        }
        let cached = ["--cache", lab.place]
        let first = try await Self.fetch(lab, server.at(), "--cache", lab.place, "--json")
        #expect(first.status == 0)
        #expect(try Self.cache(first)?.object?["outcome"]?.string == "missed")
        let second = try await Self.fetch(lab, server.at(), "--cache", lab.place, "--verbose")
        #expect(second.outputText == "body")
        #expect(second.errorText.contains("cache      hit, "))
        let bare = try await Self.fetch(lab, server.at(), "--json")
        #expect(try Self.cache(bare) == .null)
        server.stop()
        let kept = try await Self.fetch(
            lab, server.at(), "--cache", lab.place, "--cache-mode", "only", "--json")
        #expect(kept.status == 0)
        #expect(try Self.cache(kept)?.object?["outcome"]?.string == "hit")
        let missing = try await Self.fetch(
            lab, server.at("/none"), "--cache", lab.place, "--cache-mode=only", "--json")
        #expect(missing.status == 1)
        let object = try JSONValue.parse(missing.outputText).object
        #expect(object?["status"]?.integer == 504)
        #expect(object?["error"]?.object?["code"]?.string == "not_kept")
        let file = try lab.directory.write("out", "earlier")
        let again = try await Self.fetch(
            lab, server.at("/none"), "--cache", lab.place, "--cache-mode", "only", "-o", file)
        #expect(again.status == 1)
        #expect(again.errorText.contains("nothing is kept for it"))
        #expect(try contents(of: file) == "earlier")
        // Other trust settings: what is kept must be proved again.
        let pinned = try await Self.fetch(
            lab, server.at(), cached[0], cached[1], "--cache-mode", "only", "--pin",
            "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
        #expect(pinned.status == 1)
        #expect(pinned.errorText.contains("proved under other trust settings"))
    }

    @Test(arguments: [
        (["--cache-mode", "only"], "--cache-mode belongs to --cache DIR"),
        (["--cache-http"], "--cache-http belongs to --cache DIR"),
        (["--cache", "x", "--cache-mode", "always"], "standard, prefer, only, refresh"),
        (["--cache", ""], "--cache names no directory"),
    ])
    func `wrong options are named`(_ arguments: [String], _ complaint: String) async throws {
        let result = try await run(Self.path, ["fetch", "https://a.test/"] + arguments)
        #expect(result.status == 2)
        #expect(result.errorText.contains(complaint))
    }

    @Test func `prefer takes what is old, refresh replaces it`() async throws {
        let lab = try CachingLab()
        let server = try lab.origin { _ in
            LabResponse.text("body").with(["Cache-Control": "max-age=1", "Age": "90"])
        }
        defer { server.stop() }
        _ = try await Self.fetch(lab, server.at(), "--cache", lab.place)
        let old = try await Self.fetch(
            lab, server.at(), "--cache", lab.place, "--cache-mode", "prefer", "--json")
        #expect(try Self.cache(old)?.object?["outcome"]?.string == "stale")
        let age = try #require(try Self.cache(old)?.object?["age"]?.integer)
        #expect(age >= 90)
        #expect(server.count == 1)
        _ = try await Self.fetch(
            lab, server.at(), "--cache", lab.place, "--cache-mode", "refresh")
        #expect(server.count == 2)
    }

    @Test func `a directory that cannot be used is exit 2 with the reason, and nothing is sent`()
        async throws
    {
        let lab = try CachingLab()
        let server = try lab.origin { _ in LabResponse.text("body") }
        defer { server.stop() }
        let file = try lab.directory.write("file", "not a directory")
        try lab.directory.makeDirectory("foreign")
        let foreign = lab.directory.path + "/foreign"
        let made = try await run(
            "python3",
            [
                "-c",
                "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('CREATE TABLE t(a)')",
                foreign + "/responses.db",
            ])
        #expect(made.status == 0, "\(made.errorText)")
        try lab.directory.makeDirectory("blocked")
        try lab.directory.write("blocked/bodies", "in the way")
        for (place, word) in [
            (file, "file"), (foreign, "another program"),
            (lab.directory.path + "/blocked", "blocked/bodies"),
        ] {
            for more in [[], ["--json"], ["--repeat", "2"], ["--cache-mode", "only"]] {
                let result = try await run(
                    Self.path,
                    [
                        "fetch", server.at(), "--resolve", "\(CachingLab.host):127.0.0.1",
                        "--cache", place,
                    ] + more, environment: ["NO_COLOR": "", "XDG_CONFIG_HOME": "/nowhere"])
                #expect(result.status == 2, "\(place) \(more): \(result.errorText)")
                let told = result.errorText + result.outputText
                #expect(told.contains("--cache cannot be used: "), "\(told)")
                #expect(told.contains(word), "\(told)")
                #expect(!told.contains("for now"), "\(told)")
                #expect(result.errorText.split(separator: "\n").count == 1, "\(told)")
            }
        }
        #expect(server.count == 0)
        #expect(try contents(of: foreign + "/../file") == "not a directory")
    }

    @Test func `a damaged database is moved aside, said so, and does not stop a request`()
        async throws
    {
        let lab = try CachingLab()
        let server = try lab.origin { _ in
            LabResponse.text("body").with(["Cache-Control": "max-age=600"])
        }
        defer { server.stop() }
        try lab.directory.makeDirectory("cache")
        try lab.directory.write(
            "cache/responses.db", String(repeating: "no database at all\n", count: 400))
        let first = try await Self.fetch(lab, server.at(), "--cache", lab.place)
        #expect(first.status == 0)
        #expect(first.outputText == "body")
        #expect(first.errorText.contains("was damaged"))
        let second = try await Self.fetch(lab, server.at(), "--cache", lab.place, "--json")
        #expect(try Self.cache(second)?.object?["outcome"]?.string == "hit")
        #expect(second.errorText == "")
    }
}
