import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

@Suite struct TestAuthorityTests {
    /// What the openssl command says about a certificate.
    func shown(_ pem: String, _ arguments: [String]) async throws -> String {
        let result = try await run(
            "openssl", ["x509", "-noout"] + arguments, input: Array(pem.utf8))
        return result.outputText
    }

    @Test func `a chain verifies up to its root and no other`() async throws {
        let root = try TestAuthority()
        let leaf = try root.intermediate().leaf(["a.example.test"])
        let directory = try TemporaryDirectory()
        let rootFile = try directory.write("root.pem", root.certificatePEM)
        let otherFile = try directory.write("other.pem", try TestAuthority().certificatePEM)
        let chain = try directory.write("chain.pem", try leaf.chainPEM)
        for (file, verifies) in [(rootFile, true), (otherFile, false)] {
            let result = try await run(
                "openssl",
                [
                    "verify", "-x509_strict", "-no-CApath", "-no-CAfile", "-trusted", file,
                    "-untrusted", chain, chain,
                ])
            #expect((result.status == 0) == verifies, "\(result.errorText)")
        }
    }

    @Test func `the pin is the hash of the public key that openssl computes`() async throws {
        let leaf = try TestAuthority().leaf(["a.example.test"])
        let directory = try TemporaryDirectory()
        let file = try directory.write("leaf.pem", leaf.certificatePEM)
        let pipeline =
            "openssl x509 -in \(file) -noout -pubkey | openssl pkey -pubin -outform DER "
            + "| openssl dgst -sha256 -binary | openssl base64"
        let result = try await run("bash", ["-c", pipeline])
        #expect("\(leaf.pin)\n" == "sha256/" + result.outputText)
    }

    @Test func `names go in as they are, NUL and all`() async throws {
        let authority = try TestAuthority()
        let odd = try authority.leaf([.dns(octets: Array("a.test\0.evil.test".utf8))])
        let octets = String(decoding: odd.certificate, as: UTF8.self)
        #expect(octets.contains("a.test\0.evil.test"))
        let leaf = try authority.leaf([
            .dns("*.Example.test"), .address(LabAddress.ipv6), .address(LabAddress.ipv4),
        ])
        let text = try await shown(leaf.certificatePEM, ["-ext", "subjectAltName"])
        #expect(text.contains("critical"))
        #expect(text.contains("DNS:*.Example.test"))
        #expect(text.contains("IP Address:0:0:0:0:0:0:0:1, IP Address:127.0.0.1"))
    }

    @Test func `the validity and the subject are as asked`() async throws {
        let validity = TestValidity(
            notBefore: WallTime(secondsSince1970: 0),
            notAfter: WallTime(secondsSince1970: 4_102_444_800))
        let leaf = try TestAuthority().leaf([], commonName: "Zoë", validity: validity)
        let text = try await shown(
            leaf.certificatePEM, ["-dates", "-subject", "-nameopt", "utf8", "-ext", "all"])
        #expect(text.contains("notBefore=Jan  1 00:00:00 1970 GMT"))
        #expect(text.contains("notAfter=Jan  1 00:00:00 2100 GMT"))
        #expect(text.contains("Zoë"))
    }

    @Test func `what a certificate cannot state is refused`() throws {
        let far = WallTime(secondsSince1970: .max)
        let start = WallTime(secondsSince1970: 0)
        #expect(throws: LabError.validity(notBefore: start, notAfter: far)) {
            try TestAuthority(validity: TestValidity(notBefore: start, notAfter: far))
        }
        #expect(throws: LabError.commonName("")) { try TestAuthority("") }
        let long = String(repeating: "a", count: 65)
        #expect(throws: LabError.commonName(long)) { try TestAuthority(long) }
    }

    @Test func `a renewed certificate keeps its pin, a new key has another`() throws {
        let root = try TestAuthority()
        let first = try root.leaf(["a.example.test"])
        let renewed = try root.leaf(["a.example.test"], reusingKeyOf: first)
        #expect(renewed.pin == first.pin)
        #expect(renewed.certificate != first.certificate)
        #expect(try root.leaf(["a.example.test"]).pin != first.pin)
    }
}
