import Foundation
import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSTrust
import Testing

@Suite struct CertificateCorpusTests {
    /// `Tests/Fuzz/Certificates/corpus`: the fuzzer's seeds, and whatever it has found.
    private static func corpus() throws -> [URL] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try FileManager.default.contentsOfDirectory(
            at: tests.appending(path: "Fuzz/Certificates/corpus"), includingPropertiesForKeys: nil)
    }

    @Test func `every input of the corpus is read and judged, or refused, without a trap`() throws {
        let files = try Self.corpus()
        var read = 0
        for file in files {
            let octets = [UInt8](try Data(contentsOf: file))
            guard let certificate = try? Certificate(der: octets),
                let facts = try? CertificateReader.facts(of: certificate)
            else { continue }
            read += 1
            let rules = ChainRules(profile: .publicWeb)
            _ = rules.fault(in: [facts, facts], at: facts.notBefore)
            let place = ChainRules.Place.authority(isAnchor: false)
            _ = rules.fault(of: facts, at: place, now: facts.notAfter)
        }
        #expect(read >= 20)
    }
}
