import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct PinsTests {
    private static let stranger = "sha256/" + String(repeating: "A", count: 43) + "="

    private static func policy(
        _ pins: [String], pattern: String = "**.example.test", _ more: String = ""
    ) -> String {
        let list = pins.map { "\"\($0)\"" }.joined(separator: ", ")
        return """
            {"version": 1, "hosts": [{"pattern": "\(pattern)", "pins": [\(list)]\(more)}]}
            """
    }

    /// What the openssl tool computes from a certificate or a public key.
    private static func opensslPin(_ file: String, _ command: String) async throws -> String {
        let pipe =
            "openssl \(command) -in '\(file)' -pubkey -noout | openssl pkey -pubin -outform der | "
            + "openssl dgst -sha256 -binary | base64"
        let result = try await run("sh", ["-c", pipe])
        return "sha256/" + result.outputText.filter { !$0.isWhitespace }
    }

    @Test(arguments: [TestKeyKind.p256, .rsa2048])
    func `Pins of files are those that the openssl tool computes`(key: TestKeyKind) async throws {
        let files = try TemporaryDirectory()
        let root = try TestAuthority("Root")
        let leaf = try root.intermediate().leaf(["a.example.test"], commonName: "A", key: key)
        try files.write("chain.pem", try leaf.chainPEM)
        try files.write("key.pem", leaf.privateKeyPEM)
        let folder = files.path
        let made = try await run(
            "sh",
            [
                "-c",
                """
                cd '\(folder)' && openssl x509 -in chain.pem -outform der -out leaf.der &&
                openssl x509 -in chain.pem -pubkey -noout > leaf.pub &&
                openssl req -new -key key.pem -subj /CN=next -out next.csr
                """,
            ])
        #expect(made.status == 0, "\(made.errorText)")
        let expected = try await Self.opensslPin(folder + "/chain.pem", "x509")
        #expect(expected == "\(leaf.pin)")
        let chain = try await httpdns("pins", "show", folder + "/chain.pem")
        #expect(chain.status == 0)
        #expect(chain.lines.first == "\(expected)  CN=A")
        #expect(chain.lines.count == 2)
        for file in ["leaf.der", "leaf.pub", "next.csr"] {
            let result = try await httpdns("pins", "show", folder + "/" + file, "--json")
            let pins = try result.object["pins"]?.array
            #expect(pins?.map { $0["pin"]?.string } == [expected], "\(file)")
        }
        let secret = try await httpdns("pins", "show", folder + "/key.pem")
        #expect(secret.status == 2)
        #expect(secret.errorText.contains("private key"))
        #expect(!secret.errorText.contains("BEGIN"))
    }

    private static func arguments(_ origin: FetchOrigin) -> [String] {
        ["--connect", "\(origin.address):\(origin.port)", "--cacert", origin.rootFile]
    }

    @Test func `Pins of a host are those of its verified chain`() async throws {
        let origin = try FetchOrigin()
        let result = try await run(
            Tool.path, ["pins", "show", "shop.example.test"] + Self.arguments(origin))
        #expect(result.status == 0)
        #expect(
            result.lines == [
                "\(origin.identity.pin)  CN=Shop",
                "\(origin.authority.identity.pin)  CN=Fetch Root  (a root of yours, not sent)",
            ])
        let stranger = try FetchOrigin(.unknownAuthority)
        let doubtful = try await run(
            Tool.path, ["pins", "show", "shop.example.test"] + Self.arguments(stranger))
        #expect(doubtful.status == 1)
        #expect(doubtful.outputText.contains("\(stranger.identity.pin)"))
        #expect(doubtful.errorText.contains("not trusted"))
    }

    private static func check(
        _ origin: FetchOrigin, _ policy: String, _ more: [String] = ["--json"]
    ) async throws -> CommandResult {
        try origin.directory.write("pins.json", policy)
        return try await run(
            Tool.path,
            [
                "pins", "check", "--policy", origin.directory.path + "/pins.json",
                "shop.example.test",
            ] + arguments(origin) + more)
    }

    @Test func `A policy is checked against a live host, with what makes it brittle`()
        async throws
    {
        let origin = try FetchOrigin()
        let (leaf, root) = ("\(origin.identity.pin)", "\(origin.authority.identity.pin)")
        let sound = try await Self.check(origin, Self.policy([leaf, Self.stranger]))
        #expect(sound.status == 0)
        #expect(try sound.object["verdict"] == "holds")
        #expect(try sound.object["warnings"] == [])
        let brittle = try await Self.check(origin, Self.policy([leaf, root]))
        #expect(brittle.status == 0)
        #expect(try brittle.object["warnings"]?.array?.count == 1)
        #expect(brittle.outputText.contains("none is a backup"))
        let broken = try await Self.check(
            origin,
            Self.policy([Self.stranger, "sha256/" + String(repeating: "/", count: 42) + "8="]),
            [])
        #expect(broken.status == 1)
        #expect(broken.outputText.contains("refused: No pin matched for shop.example.test"))
        #expect(broken.outputText.contains("\"pins\": [\"\(leaf)\""))
        let silent = try await Self.check(
            origin,
            Self.policy([Self.stranger], pattern: "**.example.test", ", \"mode\": \"report-only\""))
        #expect(silent.status == 1)
        #expect(try silent.object["verdict"] == "mismatch, only reported")
        let labelled = try await Self.check(
            origin,
            Self.policy([Self.stranger], pattern: "**.example.test", ", \"mode\": \"report-only\""),
            [])
        #expect(labelled.outputText.contains("configured pins: \(Self.stranger)"))
        #expect(labelled.outputText.contains("Verified chain:   \(leaf)"))
        let other = try await Self.check(
            origin, Self.policy([leaf, root], pattern: "other.example.test"))
        #expect(other.status == 1)
        #expect(try other.object["verdict"] == "not pinned")
    }

    @Test func `A malformed policy is refused with its line`() async throws {
        let origin = try FetchOrigin()
        let result = try await Self.check(origin, "{\"version\": 1,\n \"hosts\": [{\"pin\": 1}]}")
        #expect(result.status == 2)
        #expect(result.errorText.contains("pins.json:2:13: unknown member \"pin\""))
        #expect(result.complaints.count == 1)
    }

    private static func plan(
        _ files: TemporaryDirectory, _ policy: String, _ arguments: [String]
    ) async throws -> CommandResult {
        try files.write("pins.json", policy)
        return try await run(
            Tool.path,
            ["pins", "plan", "--policy", files.path + "/pins.json", "--json"] + arguments)
    }

    @Test func `A plan says whether clients survive, by which pin, and what is left`()
        async throws
    {
        let files = try TemporaryDirectory()
        let root = try TestAuthority("Root")
        let now = try root.leaf(["a.example.test"], commonName: "Now")
        let next = try root.leaf(["a.example.test"], commonName: "Next")
        try files.write("next.pem", try next.chainPEM)
        try files.write("root.pem", root.certificatePEM)
        let file = files.path + "/next.pem"
        let good = try await Self.plan(
            files, Self.policy(["\(now.pin)", "\(next.pin)"]), ["--next", file])
        #expect(good.status == 0)
        #expect(try good.object["survives"] == true)
        #expect(try good.object["reason"]?.string == "by \(next.pin) (CN=Next)")
        #expect(try good.object["warnings"] == [])
        let bad = try await Self.plan(
            files, Self.policy(["\(now.pin)", Self.stranger]), ["--next", file])
        #expect(bad.status == 1)
        #expect(
            try bad.object["reason"]?.string?.contains("ship a policy with \(next.pin)") == true)
        // A pinned root is not in the file; it is found with the roots.
        let rooted = Self.policy(["\(root.identity.pin)", "\(next.pin)"])
        let blind = try await Self.plan(files, rooted, ["--next", file])
        #expect(try blind.object["warnings"] == [])
        let seeing = try await Self.plan(
            files, rooted, ["--next", file, "--cacert", files.path + "/root.pem"])
        #expect(seeing.status == 0)
        #expect(seeing.outputText.contains("no backup is left"))
    }

    @Test func `A plan knows what ends before the day of the change`() async throws {
        let files = try TemporaryDirectory()
        let next = try TestAuthority("Root").leaf(
            ["a.example.test"], commonName: "Next",
            validity: .fromNow(seconds: 20 * 365 * 86_400))
        try files.write("next.pem", next.certificatePEM)
        let pins = ["\(next.pin)", Self.stranger]
        let ends = { (then: String) in
            Self.policy(pins, ", \"expires\": \"2031-01-31\", \"whenExpired\": \"\(then)\"")
        }
        let arguments = ["--next", files.path + "/next.pem", "--at", "2031-02-01"]
        let closed = try await Self.plan(files, ends("fail-closed"), arguments)
        #expect(closed.status == 1)
        #expect(closed.outputText.contains("end before"))
        #expect(try await Self.plan(files, ends("unpinned"), arguments).status == 0)
        let earlier = Array(arguments.dropLast()) + ["2031-01-01"]
        #expect(try await Self.plan(files, ends("fail-closed"), earlier).status == 0)
        let other = Self.policy(pins, pattern: "other.example.test")
        let untouched = try await Self.plan(files, other, arguments)
        #expect(untouched.status == 0)
        #expect(untouched.errorText.contains("is for no host of the policy"))
    }

    @Test func `A plan knows when the next certificate is not valid`() async throws {
        let files = try TemporaryDirectory()
        let next = try TestAuthority("Root").leaf(["a.example.test"], commonName: "Next")
        try files.write("next.pem", try next.chainPEM)
        let policy = Self.policy(["\(next.pin)", Self.stranger])
        let arguments = ["--next", files.path + "/next.pem"]
        #expect(try await Self.plan(files, policy, arguments).status == 0)
        for (day, word) in [("2099-06-15", "until"), ("1999-06-15", "from")] {
            let plan = try await Self.plan(files, policy, arguments + ["--at", day])
            #expect(plan.status == 1)
            let reason = try #require(try plan.object["reason"]?.string)
            #expect(reason.contains("next.pem is not valid on \(day) (\(word) "), "\(reason)")
        }
    }

    @Test func `A plan for one host leaves the other patterns out`() async throws {
        let files = try TemporaryDirectory()
        let next = try TestAuthority("Root").leaf(["a.example.test"], commonName: "Next")
        try files.write("key.pem", next.certificatePEM)
        let made = try await run(
            "sh",
            ["-c", "cd '\(files.path)' && openssl x509 -in key.pem -pubkey -noout > key.pub"])
        #expect(made.status == 0)
        let policy = """
            {"version": 1, "hosts": [
              {"pattern": "a.example.test", "pins": ["\(next.pin)", "\(Self.stranger)"]},
              {"pattern": "b.example.test", "allowSolePin": true, "pins": ["\(Self.stranger)"]}]}
            """
        let key = ["--next", files.path + "/key.pub"]
        #expect(try await Self.plan(files, policy, key).status == 1)
        let one = try await Self.plan(files, policy, key + ["--host", "a.example.test"])
        #expect(one.status == 0, "\(one.outputText)\(one.errorText)")
        #expect(try one.object["pattern"] == "a.example.test")
        let other = try await Self.plan(files, policy, key + ["--host", "b.example.test"])
        #expect(other.status == 1)
        let foreign = try await Self.plan(
            files, policy, ["--next", files.path + "/key.pem", "--host", "b.example.test"])
        #expect(foreign.status == 1)
        #expect(foreign.outputText.contains("nothing that comes next is for b.example.test"))
        let unknown = try await Self.plan(files, policy, key + ["--host", "c.example.test"])
        #expect(unknown.status == 1)
        #expect(unknown.errorText.contains("no pattern of the policy matches"))
    }

    @Test(arguments: ["show", "check", "plan"])
    func `A command that cannot begin has the keys of its results`(verb: String) async throws {
        let result = try await httpdns(
            "pins", verb, "/nonexistent.pem", "--policy", "/nonexistent.json", "--json")
        #expect(result.status == 2)
        let keys = try Set(#require(result.object.object).names)
        switch verb {
        case "show": #expect(keys == ["subject", "error", "pins"])
        case "check": #expect(keys.isSuperset(of: ["subject", "verdict", "warnings", "error"]))
        default: #expect(keys.isSuperset(of: ["pattern", "survives", "reason", "error"]))
        }
    }

    @Test(arguments: [
        (["pins"], "show, check or plan"), (["pins", "shwo"], "did you mean \"show\"?"),
        (["pins", "show"], "a host or a file is missing"),
        (["pins", "check", "a"], "--policy FILE is missing"),
        (["pins", "check", "--policy", "/nonexistent", "a"], "cannot read"),
        (["pins", "plan", "--policy", "/dev/null"], "empty"),
        (["pins", "show", "--next", "a", "b"], "means nothing for show"),
    ])
    func `A mistake is one line and 2`(arguments: [String], words: String) async throws {
        let result = try await run(
            Tool.path, arguments, environment: ["XDG_CONFIG_HOME": "/nowhere"])
        #expect(result.status == 2)
        #expect(result.complaints.count == 1, "\(result.errorText)")
        #expect(result.errorText.contains(words), "\(result.errorText)")
    }
}
