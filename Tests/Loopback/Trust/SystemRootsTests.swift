import Foundation
import HTTPDNSOpenSSLTrust
import HTTPDNSTrust
import Testing

@Suite struct SystemRootsTests {
    private static let bundle = "/etc/ssl/certs/ca-certificates.crt"

    @Test(.enabled(if: FileManager.default.isReadableFile(atPath: bundle)))
    func `the rules for the public web take every root that the system trusts`() throws {
        let text = try String(contentsOfFile: Self.bundle, encoding: .utf8)
        let rules = ChainRules(profile: .publicWeb)
        let roots = try Certificate.all(pem: text).map { try CertificateReader.facts(of: $0) }
        #expect(roots.count > 50)
        for root in roots {
            let fault = rules.fault(
                of: root, at: .authority(isAnchor: true), now: root.notBefore)
            #expect(fault == nil, "\(root.subject): \(fault.map { $0.detail } ?? "")")
        }
    }
}
