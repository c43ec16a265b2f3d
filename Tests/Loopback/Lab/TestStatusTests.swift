import Glibc
import HTTPDNSPinLab
import TestSupport
import Testing

@Suite struct TestStatusTests {
    private let root: TestAuthority
    private let authority: TestAuthority
    private let leaf: TestIdentity
    private let directory: TemporaryDirectory
    private let rootFile: String
    private let issuerFile: String
    private let leafFile: String

    init() throws {
        root = try TestAuthority()
        authority = try root.intermediate()
        leaf = try authority.leaf(["a.example.test"], commonName: "a")
        directory = try TemporaryDirectory()
        rootFile = try directory.write("root.pem", root.certificatePEM)
        issuerFile = try directory.write("issuer.pem", authority.certificatePEM)
        leafFile = try directory.write("leaf.pem", leaf.certificatePEM)
    }

    /// What the openssl command says about a response.
    private func judged(_ response: [UInt8]) async throws -> String {
        let file = directory.path + "/response.der"
        let stream = try #require(fopen(file, "we"))
        fwrite(response, 1, response.count, stream)
        fclose(stream)
        let result = try await run(
            "openssl",
            [
                "ocsp", "-respin", file, "-issuer", issuerFile, "-cert", leafFile, "-CAfile",
                rootFile, "-no_nonce",
            ])
        return result.outputText + result.errorText
    }

    @Test func `a response says good, revoked or unknown`() async throws {
        for (status, word) in [
            (TestStatus.good, "good"), (.revoked, "revoked"), (.unknown, "unknown"),
        ] {
            let text = try await judged(authority.ocspResponse(for: leaf, status))
            #expect(text.contains("Response verify OK"), "\(text)")
            #expect(text.contains("leaf.pem: " + word), "\(text)")
        }
    }

    @Test func `a stranger's response does not verify`() async throws {
        let stranger = try TestAuthority("Stranger").identity
        let text = try await judged(authority.ocspResponse(for: leaf, signer: stranger))
        #expect(text.contains("Response Verify Failure"), "\(text)")
    }

    @Test func `an expired response is said to be old`() async throws {
        let text = try await judged(authority.ocspResponse(for: leaf, validity: .expired))
        #expect(text.contains("Status times invalid"), "\(text)")
    }

    @Test func `a response about another certificate has no word on this one`() async throws {
        let other = try authority.leaf(["b.example.test"])
        let text = try await judged(authority.ocspResponse(for: other))
        #expect(text.contains("No Status found"), "\(text)")
    }

    @Test func `a revocation list revokes what is in it`() async throws {
        let other = try authority.leaf(["b.example.test"], commonName: "b")
        let otherFile = try directory.write("other.pem", other.certificatePEM)
        let list = try directory.write("list.pem", authority.revocationList([leaf]))
        for (file, word) in [(leafFile, "certificate revoked"), (otherFile, "other.pem: OK")] {
            let result = try await run(
                "openssl",
                [
                    "verify", "-crl_check", "-CRLfile", list, "-CAfile", rootFile, "-untrusted",
                    issuerFile, file,
                ])
            let text = result.outputText + result.errorText
            #expect(text.contains(word), "\(text)")
        }
    }

    @Test func `a cross-signed authority leads to the other root`() async throws {
        let newcomer = try TestAuthority("Newcomer")
        let leaf = try newcomer.crossSigned(by: root).leaf(["c.example.test"], commonName: "c")
        let chain = try directory.write("chain.pem", leaf.chainPEM)
        for (file, isTrusted) in [
            (rootFile, true),
            (try directory.write("none.pem", try TestAuthority().certificatePEM), false),
        ] {
            let result = try await run(
                "openssl", ["verify", "-CAfile", file, "-untrusted", chain, chain])
            #expect((result.status == 0) == isTrusted, "\(result.errorText)")
        }
    }
}
