import CHTTPDNSOpenSSL
import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSPlatform
import HTTPDNSTrust
import TestSupport
import Testing

@Suite struct TransparencyTests {
    private let root: Minted
    private let intermediate: Minted
    private let leaf: Minted
    private let logs: [Minted]
    private let host: Host

    init() throws {
        root = try Recipe.authority("Test Root").minted()
        intermediate = try Recipe.authority("Test Intermediate").minted(by: root)
        leaf = try Recipe.leaf("api.example.com").minted(by: intermediate)
        logs = try (1...3).map { try Recipe.leaf("log \($0)").minted() }
        host = .name(try HostName("api.example.com"))
    }

    /// One key in base64 a line.
    private func keys(_ logs: [Minted]) throws -> TransparencyPolicy.Logs {
        .text(
            "# logs\n\n"
                + (try logs.map { Base64.encoded(try StatusMint.publicKey($0)) + "\n" }.joined()))
    }

    private func verifier(
        _ mode: TransparencyPolicy.Mode, _ logs: TransparencyPolicy.Logs?,
        adjust: (inout TrustPolicy) throws -> Void = { _ in }
    ) throws -> OpenSSLVerifier {
        var policy = TrustPolicy(roots: .pem(root.pem))
        policy.transparency = TransparencyPolicy(mode, logs: logs.map { [$0] } ?? [])
        try adjust(&policy)
        return try OpenSSLVerifier(policy: policy)
    }

    private func report(_ verifier: OpenSSLVerifier) throws -> TransparencyReport {
        try verifier.verify(
            leaf: leaf.parsed(), intermediates: [intermediate.parsed()], host: host,
            at: SystemWallClock().now()
        ).transparency
    }

    private func code(_ verifier: OpenSSLVerifier) throws -> TrustFailure.Code? {
        do {
            _ = try report(verifier)
            return nil
        } catch let failure as TrustFailure { return failure.code }
    }

    @Test func `valid time stamps of known logs are counted, each log once`() throws {
        try StatusMint.stamp(leaf, of: intermediate, by: [logs[0], logs[1], logs[1]])
        let report = try report(verifier(.report, keys(logs)))
        #expect(report.status == .checked)
        #expect(report.logs.count == 2)
        #expect(report.embeddedCount == 3)
        #expect(report.unknownCount == 0)
        #expect(report.invalidCount == 0)
    }

    @Test func `so many different logs as are required have to have promised`() throws {
        try StatusMint.stamp(leaf, of: intermediate, by: [logs[0], logs[1], logs[1]])
        let known = try keys(logs)
        #expect(try code(verifier(.require(minimumLogs: 2), known)) == nil)
        #expect(try code(verifier(.require(minimumLogs: 3), known)) == .notLogged)
        #expect(try code(verifier(.report, known)) == nil)
        #expect(try code(verifier(.off, nil)) == nil)
    }

    @Test func `a certificate without time stamps is refused where they are required`() throws {
        #expect(try code(verifier(.require(minimumLogs: 0), keys(logs))) == .notLogged)
        let report = try report(verifier(.report, keys(logs)))
        #expect(report.embeddedCount == 0)
        #expect(report.logs == [])
    }

    @Test func `unknown logs count for nothing`() throws {
        try StatusMint.stamp(leaf, of: intermediate, by: logs)
        let report = try report(verifier(.report, keys([logs[0]])))
        #expect(report.logs.count == 1)
        #expect(report.unknownCount == 2)
        let nobody = try self.report(verifier(.report, nil))
        #expect(nobody.logs == [])
        #expect(nobody.status == .checked)
    }

    @Test func `a time stamp for another certificate or of another time is invalid`() throws {
        // The log signed what stood there before the second stamp's change of names.
        let other = try Recipe.authority("Another Intermediate").minted(by: root)
        try StatusMint.stamp(leaf, of: other, by: [logs[0]])
        X509_set_issuer_name(leaf.certificate, X509_get_subject_name(intermediate.certificate))
        #expect(X509_sign(leaf.certificate, intermediate.key, EVP_sha256()) > 0)
        try StatusMint.stamp(leaf, of: intermediate, by: [logs[1]], at: 3_600)
        let report = try report(verifier(.report, keys(logs)))
        #expect(report.logs == [])
        #expect(report.invalidCount == 2)
    }

    @Test func `an exempt host is asked for nothing`() throws {
        let verifier = try verifier(.require(minimumLogs: 2), keys(logs)) {
            $0.transparency.exempt = [try HostPattern("**.example.com")]
        }
        #expect(try report(verifier).status == .exempt)
    }

    @Test func `a log_list of version 3 names logs, who runs them and what state they are in`()
        throws
    {
        try StatusMint.stamp(leaf, of: intermediate, by: logs)
        let keys = try logs.map { try StatusMint.publicKey($0) }
        let entry = { (index: Int, state: String) in
            "{\"description\": \"Log \(index)\", \"key\": \"\(Base64.encoded(keys[index]))\""
                + (state.isEmpty ? "" : ", \"state\": {\(state)}") + "}"
        }
        let retired = "\"retired\": {\"timestamp\": \"2020-02-29T23:59:59Z\"}"
        let list = """
            {"version": "3.1", "operators": [
              {"name": "One", "logs": [\(entry(0, "\"usable\": {}"))], "tiled_logs": []},
              {"name": "Two", "logs": [\(entry(1, retired))], "tiled_logs": [\(entry(2, ""))]}]}
            """
        let report = try report(verifier(.report, .text(list)))
        #expect(Set(report.logs.map(\.name)) == ["Log 0", "Log 2"])
        #expect(Set(report.logs.map(\.runner)) == ["One", "Two"])
        #expect(report.unknownCount == 1)
        let rejected = list.replacing(retired, with: "\"rejected\": {}")
        #expect(try self.report(verifier(.report, .text(rejected))).unknownCount == 1)
    }

    @Test func `public keys in PEM name logs as well`() throws {
        try StatusMint.stamp(leaf, of: intermediate, by: logs)
        let directory = try TemporaryDirectory()
        let pem = try logs.map {
            "-----BEGIN PUBLIC KEY-----\n\(Base64.encoded(try StatusMint.publicKey($0)))\n"
                + "-----END PUBLIC KEY-----\n"
        }.joined(separator: "text between\n")
        let path = try directory.write("logs.pem", pem)
        #expect(try report(verifier(.report, .file(path))).logs.count == 3)
    }

    @Test(arguments: [
        ("", "it is empty"), ("{", "JSON"), ("{\"operators\": 1}", "no array 'operators'"),
        ("{\"operators\": []}", "no log"), ("AAA", "line 1 is not base64"),
        ("{\"operators\": [{\"logs\": [{\"key\": \"?\"}]}]}", "operators[0].logs[0].key"),
        (
            "{\"operators\": [{\"logs\": [{\"key\": \"AAAA\", \"log_id\": \"AAAA\"}]}]}",
            "log_id is not the SHA-256"
        ),
        (
            "{\"operators\": [{\"logs\": [{\"key\": \"AAAA\", \"state\": "
                + "{\"retired\": {\"timestamp\": \"soon\"}}}]}]}", "is not a time"
        ),
        ("AAAA", "OpenSSL takes not every key"),
        ("-----BEGIN PUBLIC KEY-----\nAAAA", "key 1 has no end"),
    ])
    func `a list of logs that cannot be used says why`(text: String, words: String) throws {
        let error = #expect(throws: TrustSetupError.self) {
            _ = try verifier(.report, .text(text))
        }
        #expect(error?.description.contains(words) == true, "\(String(describing: error))")
    }
}
