import HTTPDNSPinLab
import TestSupport
import Testing

@Suite struct SeedTests {
    @Test(arguments: [TestKeyKind.p256, .p384, .ed25519, .rsa2048])
    func `equal seeds give equal keys and certificates`(kind: TestKeyKind) throws {
        let make = { (seed: String) in
            try TestAuthority(key: kind, seed: seed).intermediate(key: kind)
                .leaf(["a.example.test"], key: kind)
        }
        let first = try make("one")
        #expect(try make("one") == first)
        let other = try make("two")
        #expect(other.certificate != first.certificate)
        #expect(other.pin != first.pin)
    }

    @Test func `the order of calls changes nothing`() throws {
        let authority = try TestAuthority(seed: "order")
        let a = try authority.leaf(["a.example.test"])
        let b = try authority.leaf(["b.example.test"])
        #expect(a.pin != b.pin)
        let again = try TestAuthority(seed: "order")
        #expect(try again.leaf(["b.example.test"]) == b)
        #expect(try again.leaf(["a.example.test"]) == a)
    }

    @Test func `a variant is another certificate with another key`() throws {
        let authority = try TestAuthority(seed: "variants")
        var recipe = TestRecipe(["a.example.test"])
        let first = try authority.certificate(recipe)
        recipe.variant = 1
        let second = try authority.certificate(recipe)
        #expect(first.pin != second.pin)
        let renewed = try authority.certificate(recipe, reusingKeyOf: first)
        #expect(renewed.pin == first.pin)
        #expect(renewed.certificate != first.certificate)
    }

    @Test func `without a seed keys are random`() throws {
        #expect(try TestAuthority().identity.pin != TestAuthority().identity.pin)
    }

    @Test(arguments: [TestKeyKind.p256, .p384, .ed25519, .rsa1024, .rsa2048, .rsa8192])
    func `openssl verifies what a seeded authority signs`(kind: TestKeyKind) async throws {
        let root = try TestAuthority(key: kind, seed: "verified")
        for digest in [TestDigest.sha256, .sha384, .sha512, .sha1] {
            var recipe = TestRecipe(["a.example.test"], commonName: "a")
            recipe.digest = digest
            let leaf = try root.certificate(recipe)
            let directory = try TemporaryDirectory()
            let rootFile = try directory.write("root.pem", root.certificatePEM)
            let leafFile = try directory.write("leaf.pem", leaf.certificatePEM)
            let result = try await run(
                "openssl",
                [
                    "verify", "-auth_level", "0", "-x509_strict", "-no-CApath", "-no-CAfile",
                    "-trusted", rootFile, leafFile,
                ])
            #expect(result.status == 0, "\(digest): \(result.errorText)")
        }
    }

    @Test func `a seeded key works in a handshake`() async throws {
        for kind in [TestKeyKind.p384, .rsa2048, .rsa8192] {
            let root = try TestAuthority(seed: "handshake")
            let server = try LabServer(
                security: .tls(try root.leaf(["shop.example.test"], key: kind))
            ) { _ in .text("hello") }
            try server.start()
            defer { server.stop() }
            let directory = try TemporaryDirectory()
            let result = try await run(
                "curl",
                [
                    "-sS", "--cacert", try directory.write("root.pem", root.certificatePEM),
                    "--resolve", "shop.example.test:\(server.port):127.0.0.1",
                    server.url(host: "shop.example.test"),
                ])
            #expect(result.outputText == "hello", "\(kind): \(result.errorText)")
        }
    }

    @Test func `a seeded bench is the same bench`() throws {
        let first = try LabBench(seed: "bench")
        let second = try LabBench(seed: "bench")
        #expect(first.authorityPEM == second.authorityPEM)
        let one = try first.open(.named("right-pin"))
        defer { one.stop() }
        let two = try second.open(.named("right-pin"))
        defer { two.stop() }
        #expect(one.target.pins == two.target.pins)
        #expect(try LabBench().authorityPEM != LabBench().authorityPEM)
    }
}
