import Glibc
import HTTPDNSJSON
import HTTPDNSPinLab
import TestSupport
import Testing

/// The member `trust` of a configuration file.
@Suite(.timeLimit(.minutes(2))) struct ConfiguredTrustTests {
    private static let stranger = "sha256/" + String(repeating: "A", count: 43) + "="

    private static func verify(
        _ origin: FetchOrigin, _ trust: String, _ arguments: [String] = []
    ) async throws -> CommandResult {
        let path = try origin.directory.write("config.json", "{\"trust\": \(trust)}")
        #expect(chmod(path, 0o600) == 0)
        return try await run(
            Tool.path,
            [
                "verify", "shop.example.test:\(origin.port)", "--connect", "127.0.0.1", "--json",
                "--config", path,
            ] + arguments, environment: ["NO_COLOR": "1"])
    }

    private static func code(_ result: CommandResult) throws -> String? {
        try result.object["error"]?["code"]?.string
    }

    @Test func `Roots stand beside the file, for all hosts or for some`() async throws {
        let origin = try FetchOrigin()
        let other = try TestAuthority("Other").certificatePEM
        try origin.directory.write("other.pem", other)
        for (trust, code) in [
            ("{\"roots\": \"root.pem\"}", nil), ("{\"roots\": \"other.pem\"}", "unknown_issuer"),
            (
                "{\"roots\": \"other.pem\", \"rootsByHost\": {\"**.example.test\": \"root.pem\"}}",
                nil
            ),
            (
                "{\"roots\": \"root.pem\", \"rootsByHost\": {\"*.example.test\": \"other.pem\"}}",
                "unknown_issuer"
            ),
        ] {
            let result = try await Self.verify(origin, trust)
            #expect(try Self.code(result) == code, "\(trust) \(result.errorText)")
        }
        let typed = try await Self.verify(
            origin, "{\"rootsByHost\": {\"**.example.test\": \"other.pem\"}}",
            ["--cacert", origin.rootFile])
        #expect(typed.status == 0, "--cacert is trusted alone")
    }

    @Test func `Revocation, lists and time stamps are demanded`() async throws {
        let origin = try FetchOrigin()
        let list = try origin.authority.revocationList([])
        let naming = try origin.authority.revocationList([origin.identity])
        try origin.directory.write("good.crl", list)
        try origin.directory.write("bad.crl", naming)
        try origin.directory.write("logs.txt", try TestLog().listLine)
        for (more, code) in [
            ("\"revocation\": \"required\"", "revocation_unknown"),
            ("\"revocation\": \"required\", \"crl\": \"good.crl\"", nil),
            ("\"crl\": [\"bad.crl\"]", "revoked"),
            ("\"ct\": \"require=1\", \"ctLogs\": [\"logs.txt\"]", "not_logged"),
            (
                "\"ct\": \"require=1\", \"ctLogs\": \"logs.txt\", \"ctExempt\": \"**.example.test\"",
                nil
            ),
        ] {
            let result = try await Self.verify(origin, "{\"roots\": \"root.pem\", \(more)}")
            #expect(try Self.code(result) == code, "\(more) \(result.errorText)")
        }
        let typed = try await Self.verify(
            origin, "{\"roots\": \"root.pem\", \"revocation\": \"required\"}",
            ["--crl", origin.directory.path + "/good.crl"])
        #expect(typed.status == 0)
    }

    @Test func `Pins of a policy file hold, and --pin goes before them`() async throws {
        let origin = try FetchOrigin()
        let policy = { (pin: String) in
            "{\"version\": 1, \"hosts\": [{\"pattern\": \"shop.example.test\", "
                + "\"allowSolePin\": true, \"pins\": [\"\(pin)\"]}]}"
        }
        try origin.directory.write("pins.json", policy(Self.stranger))
        let trust = "{\"roots\": \"root.pem\", \"pins\": \"pins.json\"}"
        let refused = try await Self.verify(origin, trust)
        #expect(try Self.code(refused) == "no_pin_matched")
        let typed = try await Self.verify(origin, trust, ["--pin", "\(origin.identity.pin)"])
        #expect(typed.status == 0)
        // More pins are less: what is typed replaces, and does not add.
        try origin.directory.write("pins.json", policy("\(origin.identity.pin)"))
        #expect(try await Self.verify(origin, trust).status == 0)
        let replaced = try await Self.verify(origin, trust, ["--pin", Self.stranger])
        #expect(try Self.code(replaced) == "no_pin_matched")
    }

    @Test func `A client's certificate, the lowest version and dangerous options are taken`()
        async throws
    {
        let clients = try TestAuthority("Clients")
        let client = try clients.leaf(["a client"])
        let origin = try FetchOrigin(.expired) { $0.clientAuthority = clients.identity.certificate }
        try origin.directory.write("me.pem", client.certificatePEM)
        try origin.directory.write("me.key", client.privateKeyPEM)
        let trust = """
            {"roots": "root.pem", "minimumTLS": "1.3",
             "clientCertificates": {"*.example.test": {"certificate": "me.pem", "key": "me.key"}},
             "dangerous": {"shop.example.test": {"accepts_expired": "a test"}}}
            """
        let path = try origin.directory.write("config.json", "{\"trust\": \(trust)}")
        let fetched = try await run(
            Tool.path,
            [
                "fetch", origin.url(), "--resolve", "shop.example.test:127.0.0.1", "--json",
                "--config", path,
            ], environment: ["NO_COLOR": "1"])
        #expect(fetched.status == 0, "\(fetched.errorText)")
        #expect(try fetched.object["dangerous"] == ["accepts_expired"])
        let old = try LabServer(security: .tls(origin.identity, versions: .tls12Only)) { _ in
            .text("")
        }
        try old.start()
        defer { old.stop() }
        let refused = try await run(
            Tool.path,
            [
                "verify", "shop.example.test:\(old.port)", "--connect", "127.0.0.1", "--json",
                "--config", path,
            ])
        #expect(try Self.code(refused) == "handshake_failed")
    }

    @Test(arguments: [
        ("{\"root\": \"x\"}", "trust: unknown member \"root\"; did you mean \"roots\"?"),
        ("{\"roots\": 1}", "trust.roots: a number, expected a string"),
        ("{\"roots\": \"/nonexistent.pem\"}", "/nonexistent.pem"),
        ("{\"rootsByHost\": {\"a b\": \"system\"}}", "trust.rootsByHost.a b: "),
        ("{\"minimumTLS\": \"1.1\"}", "trust.minimumTLS: \"1.1\"; write \"1.2\" or \"1.3\""),
        ("{\"revocation\": \"maybe\"}", "trust.revocation: \"maybe\" is none of off, if-present"),
        ("{\"revocation\": \"off\", \"crl\": \"x\"}", "trust.crl: it says to look"),
        ("{\"ct\": \"require\"}", "trust.ct: it needs \"ctLogs\""),
        ("{\"ct\": \"always\"}", "trust.ct: \"always\" is none of off, report"),
        ("{\"ctExempt\": [\"*\"]}", "trust.ctExempt: "),
        ("{\"clientCertificates\": {\"a.test\": {\"key\": \"x\"}}}", "\"certificate\" is missing"),
        (
            "{\"clientCertificates\": {\"a.test\": {\"certificate\": \"x\", "
                + "\"passphraseEnv\": \"NOT_SET_ANYWHERE\"}}}", "passphraseEnv names a variable"
        ),
        (
            "{\"dangerous\": {\"a.test\": {\"accept_expired\": \"x\"}}}",
            "trust.dangerous.a.test: unknown member \"accept_expired\"; did you mean "
                + "\"accepts_expired\"?"
        ),
        (
            "{\"dangerous\": {\"a.test\": {\"accepts_expired\": true}}}",
            "trust.dangerous.a.test.accepts_expired: a boolean, expected the reason"
        ),
        (
            "{\"dangerous\": {\"a.test\": {\"accepts_expired\": \" \"}}}", "needs a reason"
        ),
        ("{\"dangerous\": {\"**.test\": {\"accepts_expired\": \"x\"}}}", "name the hosts"),
        ("{\"pins\": \"/dev/zero\"}", "/dev/zero"),
    ])
    func `A mistake is named by its member`(trust: String, words: String) async throws {
        let result = try await Self.verify(FetchOrigin(), trust)
        #expect(result.status == 2)
        #expect(result.errorText.contains(words), "\(result.errorText)")
        #expect(!result.errorText.contains("NOT_SET_ANYWHERE"))
    }
}
