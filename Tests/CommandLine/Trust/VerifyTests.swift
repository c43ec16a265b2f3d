import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct VerifyTests {
    /// Verifies an origin at its address.
    private static func verify(
        _ origin: FetchOrigin, _ arguments: [String] = []
    ) async throws -> CommandResult {
        try await run(
            Tool.path,
            [
                "verify", "shop.example.test:\(origin.port)", "--connect",
                "\(origin.address):\(origin.port)", "--cacert", origin.rootFile,
            ] + arguments, environment: ["NO_COLOR": "1", "XDG_CONFIG_HOME": "/nowhere"])
    }

    @Test func `A chain is printed with all that it states, then the verdict`() async throws {
        let origin = try FetchOrigin()
        let result = try await Self.verify(origin)
        #expect(result.status == 0)
        for part in [
            "shop.example.test:\(origin.port) at 127.0.0.1:\(origin.port) (given by --connect)",
            "TLSv1.3", " 0  CN=Shop", "issuer  CN=Fetch Root", "names   shop.example.test",
            "key     EC P-256, signed with ecdsa-with-SHA256", "pin     \(origin.identity.pin)",
            " 1  CN=Fetch Root", "pin     \(origin.authority.identity.pin)",
            "trusted: shop.example.test is shop.example.test of the certificate",
            "pins: none is set for this host",
        ] {
            #expect(result.outputText.contains(part), "\(result.outputText)")
        }
        #expect(origin.server.awaitConnectionsEnded())
        #expect(origin.server.record.requests.isEmpty)
    }

    @Test(arguments: FetchOrigin.Certificate.allCases.filter { $0 != .right })
    func `A refusal names the rule that is broken and what to do`(
        certificate: FetchOrigin.Certificate
    ) async throws {
        let origin = try FetchOrigin(certificate)
        let result = try await Self.verify(origin, ["--json"])
        let object = try result.object
        #expect(result.status == 1)
        #expect(object["trusted"] == false)
        #expect(object["error"]?["code"]?.string == certificate.label)
        #expect(object["error"]?["rule"]?.string?.hasPrefix("RFC ") == true)
        #expect(object["address"] == "127.0.0.1")
        #expect(object["givenBy"] == "--connect")
        let people = try await Self.verify(origin)
        #expect(people.status == 1)
        #expect(people.outputText.contains("not trusted: "))
        #expect(people.outputText.contains("connected to 127.0.0.1"))
        #expect(people.outputText.contains("  Rule:             RFC "))
    }

    @Test func `A pin of the verified chain is enough, another is refused`() async throws {
        let origin = try FetchOrigin()
        let good = try await Self.verify(
            origin, ["--json", "--pin", "\(origin.authority.identity.pin)"])
        #expect(good.status == 0)
        #expect(try good.object["pinning"]?["outcome"] == "matched")
        #expect(
            try good.object["pinning"]?["pin"]?.string == "\(origin.authority.identity.pin)")
        let other = "sha256/" + String(repeating: "A", count: 43) + "="
        let bad = try await Self.verify(origin, ["--pin", other])
        #expect(bad.status == 1)
        for part in ["No pin matched", other, "\(origin.identity.pin)", "Swift:"] {
            #expect(bad.outputText.contains(part), "\(bad.outputText)")
        }
    }

    @Test func `A chain of a file is judged without a connection`() async throws {
        let origin = try FetchOrigin()
        let files = try TemporaryDirectory()
        try files.write("chain.pem", try origin.identity.chainPEM)
        let arguments = [
            "verify", "--chain", files.path + "/chain.pem", "--cacert", origin.rootFile, "--json",
        ]
        let good = try await run(Tool.path, arguments + ["--host", "shop.example.test"])
        #expect(good.status == 0)
        #expect(try good.object["chain"]?.array?.count == 2)
        #expect(try good.object["address"] == .null)
        let wrong = try await run(Tool.path, arguments + ["--host", "other.example.test"])
        #expect(wrong.status == 1)
        #expect(try wrong.object["error"]?["code"] == "wrong_name")
        let late = try await run(
            Tool.path, arguments + ["--host", "shop.example.test", "--at", "2099-01-01"])
        #expect(late.status == 1)
        #expect(try late.object["error"]?["code"] == "expired")
        #expect(origin.server.record.connections == 0)
    }

    @Test func `Revocation is always spoken of, and may be demanded`() async throws {
        let origin = try FetchOrigin()
        let words = try await Self.verify(origin)
        #expect(
            words.outputText.contains("revocation: not checked: no staple, no list of its issuer"))
        let object = try await Self.verify(origin, ["--json"]).object
        #expect(object["revocation"]?["status"] == "not_checked")
        #expect(object["revocation"]?["reason"] == "nothing_present")
        #expect(object["transparency"]?["status"] == "off")
        #expect(object["dangerous"] == [])
        let demanded = try await Self.verify(origin, ["--json", "--revocation", "required"])
        #expect(demanded.status == 1)
        #expect(try demanded.object["error"]?["code"] == "revocation_unknown")
        #expect(try demanded.object["revocation"] == .null)
        let missing = try await Self.verify(origin, ["--crl", "/nonexistent.pem"])
        #expect(missing.status == 2)
        #expect(missing.errorText.contains("/nonexistent.pem"))
    }

    @Test func `A dangerous option shows in text and JSON`() async throws {
        let origin = try FetchOrigin(.common)
        let refused = try await Self.verify(origin)
        #expect(refused.status == 1)
        #expect(refused.outputText.contains("subjectAltName; reissue it with one"))
        let option = ["--dangerous", "shop.example.test=matches_common_name"]
        let passed = try await Self.verify(origin, option)
        #expect(passed.status == 0)
        #expect(passed.outputText.contains("DANGEROUS: matches_common_name"))
        #expect(
            try await Self.verify(origin, option + ["--json"]).object["dangerous"]
                == ["matches_common_name"])
    }

    @Test func `What has ended passes under a dangerous option, which every line shows`()
        async throws
    {
        let origin = try FetchOrigin(.expired)
        let option = ["--dangerous", "shop.example.test=accepts_expired"]
        let passed = try await Self.verify(origin, option)
        #expect(passed.status == 0)
        #expect(passed.outputText.contains("DANGEROUS: accepts_expired"))
        let fetched = try await origin.fetch("/", ["--json", "--verbose"] + option)
        #expect(fetched.status == 0, "\(fetched.errorText)")
        #expect(try fetched.object["verified"]?["dangerous"] == ["accepts_expired"])
        #expect(fetched.errorText.contains("  DANGEROUS  accepts_expired"))
        let other = ["--json", "--dangerous", "shop.example.test=accepts_weak_keys"]
        let refused = try await origin.fetch("/", other)
        #expect(refused.status == 1)
        #expect(try refused.object["dangerous"] == ["accepts_weak_keys"])
        #expect(try refused.object["error"]?["code"] == "expired")
    }

    @Test func `A private authority is told by --cacert, a chosen moment is no clock`()
        async throws
    {
        let stranger = try await Self.verify(FetchOrigin(.unknownAuthority))
        #expect(stranger.outputText.contains("--cacert FILE"))
        let late = try await Self.verify(FetchOrigin(), ["--at", "2099-01-01"])
        #expect(late.status == 1)
        #expect(late.outputText.contains("as of 2099-01-01T00:00:00Z"))
        #expect(!late.outputText.contains("clock"))
    }

    @Test func `A resolver of one's own finds the address`() async throws {
        let zone = try ZoneServer()
        let authority = try TestAuthority("Root")
        let files = try TemporaryDirectory()
        try files.write("root.pem", authority.certificatePEM)
        let server = try LabServer(
            security: .tls(try authority.leaf(["ok.example.test"])), handler: { _ in .text("") })
        try server.start()
        defer { server.stop() }
        let result = try await httpdns(
            "verify", "ok.example.test:\(server.port)", "--resolver", zone.resolver, "--cacert",
            files.path + "/root.pem", "--json")
        #expect(result.status == 0)
        #expect(try result.object["trusted"] == true)
        let missing = try await httpdns(
            "verify", "nope.example.test", "--resolver", zone.resolver, "--json")
        #expect(missing.status == 1)
        #expect(try missing.object["error"]?["code"] == "no_such_name")
    }

    @Test func `Nobody there ends with 9`() async throws {
        let origin = try FetchOrigin()
        let port = origin.port
        origin.server.stop()
        let result = try await httpdns(
            "verify", "shop.example.test", "--connect", "127.0.0.1:\(port)", "--cacert",
            origin.rootFile, "--json")
        #expect(result.status == 9)
        #expect(try result.object["error"]?["code"] == "cannot_connect")
    }

    @Test(arguments: [
        (["verify"], "a host is missing"), (["verify", "a", "b"], "one host at a time"),
        (["verify", "https://h.example:8443/x"], "is a URL; write h.example:8443"),
        (["verify", "a b"], "is not a host"), (["verify", "a:0"], "a port from 1 to 65535"),
        (["verify", "a", "--connect", "b"], "write IP, IP:PORT"),
        (["verify", "a", "--at", "soon"], "is not a time"),
        (["verify", "a", "--starttls", "smtp"], "none is"),
        (["verify", "a", "--pin", "AAAA"], "3 octets"),
        (["verify", "--chain", "x"], "--host NAME"),
        (["verify", "--chain", "x", "--cert", "y", "--host", "a"], "--cert means nothing"),
        (["verify", "a", "--host", "b"], "belongs to --chain"),
        (["verify", "--chain", "/nonexistent", "--host", "a"], "cannot read"),
        (["verify", "a", "--connect", "127.0.0.1:1", "--cacert", "/nonexistent"], "cannot read"),
    ])
    func `A mistake is one line and 2`(arguments: [String], words: String) async throws {
        let result = try await run(
            Tool.path, arguments, environment: ["XDG_CONFIG_HOME": "/nowhere"])
        #expect(result.status == 2)
        #expect(result.complaints.count == 1, "\(result.errorText)")
        #expect(result.errorText.contains(words), "\(result.errorText)")
    }
}
