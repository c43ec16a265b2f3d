import Glibc
import HTTPDNSJSON
import HTTPDNSPinLab
import TestSupport
import Testing

/// What the trust commands do with files and peers that are not what they should be.
@Suite(.timeLimit(.minutes(2))) struct TrustFaultTests {
    private static let stranger = "sha256/" + String(repeating: "A", count: 43) + "="

    private static func policy(_ hosts: String) -> String {
        "{\"version\": 1, \"hosts\": [\(hosts)]}"
    }

    private static func entry(_ pattern: String, _ pins: String...) -> String {
        let list = pins.map { "\"\($0)\"" }.joined(separator: ", ")
        return "{\"pattern\": \"\(pattern)\", \"allowSolePin\": true, \"pins\": [\(list)]}"
    }

    @Test func `A pipe without a writer and a device without an end are refused at once`()
        async throws
    {
        let files = try TemporaryDirectory()
        let pipe = files.path + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        let good = try files.write("root.pem", try TestAuthority("Root").certificatePEM)
        for special in [pipe, "/dev/zero"] {
            for arguments in [
                ["verify", "--chain", special, "--host", "a.test"],
                ["verify", "--chain", good, "--host", "a.test", "--cacert", special],
                ["verify", "--chain", good, "--host", "a.test", "--crl", special],
                ["verify", "--chain", good, "--host", "a.test", "--ct-logs", special],
                ["pins", "show", special],
                ["pins", "check", "--policy", special, "a.test"],
                ["pins", "plan", "--policy", special, "--next", good],
                ["verify", "a.test", "--connect", "127.0.0.1:1", "--cert", special],
            ] {
                let result = try await run(
                    Tool.path, arguments + ["--config", "none"], environment: ["NO_COLOR": "1"])
                #expect(result.status == 2, "\(arguments)")
                #expect(result.errorText.contains("no regular file"), "\(result.errorText)")
            }
        }
    }

    @Test func `A pipe that the shell gives is read`() async throws {
        let files = try TemporaryDirectory()
        let root = try TestAuthority("Root")
        let leaf = try root.leaf(["a.test"])
        try files.write("chain.pem", leaf.certificatePEM)
        try files.write("root.pem", root.certificatePEM)
        let script =
            "'\(Tool.path)' verify --config none --host a.test --chain <(cat '\(files.path)/chain.pem') "
            + "--cacert <(cat '\(files.path)/root.pem')"
        let result = try await run("bash", ["-c", script])
        #expect(result.status == 0, "\(result.outputText)\(result.errorText)")
    }

    @Test func `Each input that fails is an object of its own, and the others are read`()
        async throws
    {
        let files = try TemporaryDirectory()
        let leaf = try TestAuthority("Root").leaf(["a.test"])
        let good = try files.write("good.pem", leaf.certificatePEM)
        let damaged = try files.write(
            "damaged.pem", "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n")
        let missing = files.path + "/missing.pem"
        let shown = try await httpdns(
            "pins", "show", missing, damaged, good, "--json", "--config", "none")
        #expect(shown.status == 2)
        let objects = try shown.objects
        #expect(objects.map { $0["subject"]?.string } == [missing, damaged, good])
        #expect(objects[0]["error"]?["code"] == "usage")
        #expect(objects[0]["error"]?["message"]?.string?.contains("No such file") == true)
        #expect(objects[1]["error"]?["message"]?.string?.contains("is no base64") == true)
        #expect(objects[1]["error"]?["message"]?.string?.contains("(OpenSSL: ") == true)
        #expect(objects[2]["error"] == .null)
        #expect(objects[2]["pins"]?.array?.count == 1)
        let pins = try files.write("pins.json", Self.policy(Self.entry("a.test", "\(leaf.pin)")))
        let plan = try await httpdns(
            "pins", "plan", "--policy", pins, "--next", missing, "--next", damaged, "--next", good,
            "--json")
        #expect(plan.status == 2)
        #expect(try plan.objects.map { $0["next"]?.array?.first?.string } == [missing, damaged])
        #expect(try plan.objects.allSatisfy { $0["error"]?["code"] == "usage" })
        let unreached = try await httpdns(
            "pins", "show", "a.test", "--connect", "127.0.0.1:1", "--json", "--config", "none")
        #expect(try unreached.object["error"]?["code"] == "cannot_connect")
    }

    @Test func `A plan says where nothing is pinned, and for whom nothing is known`()
        async throws
    {
        let files = try TemporaryDirectory()
        let next = try files.write(
            "next.pem", try TestAuthority("Root").leaf(["a.test"]).certificatePEM)
        let exempt = try files.write(
            "exempt.json", Self.policy("{\"pattern\": \"a.test\", \"exempt\": true}"))
        let plan = try await httpdns("pins", "plan", "--policy", exempt, "--next", next)
        #expect(plan.status == 0)
        #expect(plan.outputText.contains("a.test: untouched: exempt"))
        #expect(plan.errorText.contains("the policy pins no host"))
        let json = try await httpdns("pins", "plan", "--policy", exempt, "--next", next, "--json")
        #expect(try json.object["reason"]?.string == "exempt: its hosts have no pins")
        let hosts = try await httpdns(
            "pins", "plan", "--policy", exempt, "--next", next, "--host", "b.test", "--host",
            "a.test", "--json")
        #expect(hosts.status == 1)
        #expect(
            try hosts.objects.map { $0["error"]?["code"]?.string } == ["not_pinned", "not_pinned"])
        #expect(hosts.errorText.contains("no pattern of the policy matches b.test"))
        #expect(hosts.errorText.contains("a.test has no pins"))
    }

    @Test func `A plan counts what is in the chain, not what is in the file`() async throws {
        let files = try TemporaryDirectory()
        let root = try TestAuthority("Root")
        let middle = try root.intermediate("Middle")
        let leaf = try middle.leaf(["a.test"], commonName: "Next")
        let other = try TestAuthority("Other").leaf(["b.test"], commonName: "Other")
        let next = try files.write("next.pem", try leaf.chainPEM + other.certificatePEM)
        for (pin, status) in [
            ("\(leaf.pin)", 0), ("\(middle.identity.pin)", 0), ("\(other.pin)", 1),
        ] {
            let pins = try files.write(
                "pins.json", Self.policy(Self.entry("a.test", pin, Self.stranger)))
            let plan = try await httpdns(
                "pins", "plan", "--policy", pins, "--next", next, "--json")
            #expect(plan.status == status, "\(plan.outputText)")
        }
        let pins = try files.write(
            "pins.json", Self.policy(Self.entry("a.test", "\(leaf.pin)", Self.stranger)))
        let plan = try await httpdns("pins", "plan", "--policy", pins, "--next", next)
        #expect(plan.outputText.contains("1 of what is in \(next) is not in the chain"))
    }

    @Test func `With --connect a word is the host, whatever lies in the directory`() async throws {
        let origin = try FetchOrigin()
        try origin.directory.write("shop.example.test", "not a certificate")
        let shown = try await run(
            "sh",
            [
                "-c",
                "cd '\(origin.directory.path)' && '\(Tool.path)' pins show shop.example.test --connect "
                    + "127.0.0.1:\(origin.port) --cacert root.pem --config none",
            ])
        #expect(shown.status == 0, "\(shown.errorText)")
        #expect(shown.outputText.contains("\(origin.identity.pin)"))
        for option in [["--connect", "127.0.0.1:1"], ["--revocation", "off"], ["--cacert", "x"]] {
            let result = try await run(
                Tool.path, ["pins", "show", origin.rootFile, "--config", "none"] + option)
            #expect(result.status == 2)
            #expect(
                result.errorText.contains("\(option[0]) means nothing for a file"),
                "\(result.errorText)")
        }
    }

    @Test func `A check takes what verify takes`() async throws {
        let origin = try FetchOrigin()
        let pins = try origin.directory.write(
            "pins.json",
            Self.policy(Self.entry("shop.example.test", "\(origin.identity.pin)", Self.stranger)))
        let check = { (arguments: [String]) in
            try await run(
                Tool.path,
                [
                    "pins", "check", "--policy", pins, "shop.example.test", "--connect",
                    "127.0.0.1:\(origin.port)", "--cacert", origin.rootFile, "--config", "none",
                ] + arguments, environment: ["NO_COLOR": "1"])
        }
        let plain = try await check([])
        #expect(plain.status == 0, "\(plain.errorText)")
        #expect(plain.outputText.contains("revocation: not checked"))
        let required = try await check(["--json", "--revocation", "required"])
        #expect(required.status == 1)
        #expect(try required.object["error"]?["code"] == "revocation_unknown")
        let list = try origin.directory.write(
            "list.pem", try origin.authority.revocationList([origin.identity]))
        #expect(try await check(["--json", "--crl", list]).object["error"]?["code"] == "revoked")
        let option = ["--json", "--dangerous", "shop.example.test=accepts_expired"]
        #expect(try await check(option).object["dangerous"] == ["accepts_expired"])
    }

    @Test func `A peer without TLS is told as that, with host and OpenSSL's words`() async throws {
        let sound = try FetchOrigin()
        let plain = try LabServer(
            security: .tls(sound.identity), fault: .speaksPlainHTTP
        ) { _ in .text("") }
        try plain.start()
        defer { plain.stop() }
        let verified = try await httpdns(
            "verify", "shop.example.test:\(plain.port)", "--connect", "127.0.0.1", "--config",
            "none")
        #expect(verified.status == 9)
        #expect(verified.errorText.contains("shop.example.test"))
        #expect(verified.errorText.contains("does not speak TLS; check the port"))
        #expect(verified.errorText.contains("(OpenSSL: "))
        let fetched = try await httpdns(
            "fetch", "https://shop.example.test:\(plain.port)/", "--resolve",
            "shop.example.test:127.0.0.1", "--config", "none")
        #expect(fetched.status == 9)
        #expect(fetched.errorText.contains("does not speak TLS; check the port"))
        let closing = try FetchOrigin()
        let server = try LabServer(
            security: .tls(closing.identity), fault: .closesInHandshake
        ) { _ in .text("") }
        try server.start()
        defer { server.stop() }
        let cut = try await httpdns(
            "verify", "shop.example.test:\(server.port)", "--connect", "127.0.0.1", "--config",
            "none")
        #expect(cut.errorText.contains("closed the connection in the middle"), "\(cut.errorText)")
    }
}
