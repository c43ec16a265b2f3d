import CHTTPDNSOpenSSL
import Foundation
import HTTPDNSTrust
import Testing

@testable import HTTPDNSOpenSSLTrust

@Suite struct RootStoreTests {
    private func refusal(
        _ roots: TrustPolicy.Roots, environment: [String: String] = [:]
    ) -> TrustSetupError? {
        do throws(TrustSetupError) {
            _ = try RootStore(roots, environment: { environment[$0] })
            return nil
        } catch { return error }
    }

    private func withFile<Result>(
        _ text: String, _ body: (String) throws -> Result
    ) throws -> Result {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("httpdns-roots-\(UUID().uuidString).pem").path
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(path)
    }

    @Test func `roots come from PEM text or a file, in any number`() throws {
        let pem = try (1...3).map { try Recipe.authority("Root \($0)").minted().pem }.joined()
        #expect(refusal(.pem("comment\n" + pem + "trailer")) == nil)
        try withFile(pem) { path in #expect(refusal(.file(path)) == nil) }
    }

    @Test func `roots that cannot be used say why`() throws {
        let pem = try Recipe.authority("Root").minted().pem
        let broken = pem + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        let source = "the given PEM text"
        #expect(refusal(.pem("")) == .noCertificates(source: source))
        #expect(refusal(.pem("hello")) == .noCertificates(source: source))
        #expect(refusal(.pem(broken)) == .malformedCertificate(source: source, number: 2))
        try withFile("") { path in
            #expect(refusal(.file(path)) == .noCertificates(source: path))
        }
        guard
            case .unreadable("/nonexistent/roots.pem", _) = refusal(.file("/nonexistent/roots.pem"))
        else {
            Issue.record("a missing file was taken")
            return
        }
        #expect(refusal(.directory("/nonexistent")) == .notHashed(path: "/nonexistent"))
    }

    @Test func `SSL_CERT_FILE and SSL_CERT_DIR are honoured`() throws {
        let missing = ["SSL_CERT_FILE": "/nonexistent/roots.pem"]
        guard case .unreadable = refusal(.system, environment: missing) else {
            Issue.record("SSL_CERT_FILE was passed over")
            return
        }
        let root = try Recipe.authority("Environment Root").minted()
        let leaf = try Recipe.leaf("api.example.com").minted(by: root)
        try withFile(root.pem) { path in
            let environment = ["SSL_CERT_FILE": path, "SSL_CERT_DIR": "/nonexistent"]
            let store = try RootStore(.system, environment: { environment[$0] })
            let verifier = ChainVerifier(store: store, profile: .publicWeb)
            let evidence = verifier.evidence(
                leaf: try leaf.parsed(), intermediates: [], host: nil,
                time: try CertificateReader.facts(of: leaf.parsed()).notBefore)
            #expect(evidence.refusal == nil)
        }
    }

    @Test func `a root that its file distrusts for servers is not trusted`() throws {
        let root = try Recipe.authority("Distrusted Root").minted()
        let leaf = try Recipe.leaf("api.example.com").minted(by: root)
        let time = try CertificateReader.facts(of: leaf.parsed()).notBefore
        func refusal(_ pem: String) throws -> TrustFailure.Code? {
            let store = try RootStore(.pem(pem), environment: { _ in nil })
            return ChainVerifier(store: store, profile: .publicWeb).evidence(
                leaf: try leaf.parsed(), intermediates: [], host: nil, time: time
            ).refusal?.code
        }
        #expect(try refusal(root.auxiliaryPEM) == nil)
        X509_add1_reject_object(root.certificate, OBJ_nid2obj(NID_server_auth))
        #expect(root.auxiliaryPEM.contains("BEGIN TRUSTED CERTIFICATE"))
        #expect(try refusal(root.auxiliaryPEM) == .unknownIssuer)
    }

    @Test func `verifiers of one value share one store`() throws {
        let roots = TrustPolicy.Roots.pem(try Recipe.authority("Shared").minted().pem)
        let first = try RootStore.shared(roots)
        #expect(try RootStore.shared(roots) === first)
        let other = TrustPolicy.Roots.pem(try Recipe.authority("Other").minted().pem)
        #expect(try RootStore.shared(other) !== first)
    }
}
