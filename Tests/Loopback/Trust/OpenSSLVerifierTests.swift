import CHTTPDNSOpenSSL
import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSPlatform
import HTTPDNSTrust
import Testing

@Suite struct OpenSSLVerifierTests {
    private let root: Minted
    private let intermediate: Minted
    private let leaf: Minted
    private let host: Host

    init() throws {
        root = try Recipe.authority("Test Root").minted()
        intermediate = try Recipe.authority("Test Intermediate").minted(by: root)
        leaf = try Recipe.leaf("api.example.com").minted(by: intermediate)
        host = .name(try HostName("api.example.com"))
    }

    private func verifier(
        pins: [String] = [], clock: any WallSource = SystemWallClock(),
        adjust: (inout TrustPolicy) -> Void = { _ in }
    ) throws -> OpenSSLVerifier {
        var policy = TrustPolicy(roots: .pem(root.pem))
        if !pins.isEmpty {
            try policy.pins.add(pins, for: "**.example.com", backup: .waived)
        }
        adjust(&policy)
        return try OpenSSLVerifier(policy: policy, clock: clock)
    }

    private func failure(
        _ verifier: OpenSSLVerifier, sending chain: [Minted], host: Host? = nil
    ) throws -> TrustFailure? {
        let handshake = try Handshake(verifier, host: host ?? self.host, sending: chain)
        let failure = try handshake.failure()
        #expect(handshake.isComplete == (failure == nil))
        #expect((handshake.verifyCode == Int(X509_V_OK)) == (failure == nil))
        return failure
    }

    @Test func `the right pin is accepted and proved on the connection`() throws {
        let verifier = try verifier(pins: [leaf.pin()])
        let handshake = try Handshake(verifier, host: host, sending: [leaf, intermediate])
        let peer = try handshake.verdict().get()
        #expect(handshake.isComplete)
        #expect(
            peer.chain.map(\.subject) == [
                "CN=api.example.com", "CN=Test Intermediate", "CN=Test Root",
            ])
        #expect(peer.matchedPin?.description == (try leaf.pin()))
        #expect(
            try verifier.proof(ssl: UnsafeMutableRawPointer(handshake.client), for: host) == peer)
    }

    @Test func `a wrong pin is refused with both sides`() throws {
        let other = try Recipe.leaf("api.example.com").minted(by: root)
        let refused = try failure(
            verifier(pins: [other.pin()]), sending: [leaf, intermediate])
        let failure = try #require(refused)
        #expect(failure.code == .noPinMatched)
        #expect(failure.facts.configuredPins.map(\.description) == [try other.pin()])
        #expect(failure.facts.chain.count == 3)
        #expect(failure.facts.chain.first?.pin.description == (try leaf.pin()))
        #expect(failure.facts.host == host)
        #expect(failure.facts.now != nil)
    }

    @Test func `an authority that demands policies is obeyed, whether we ask for any or not`()
        throws
    {
        var recipe = Recipe.authority("Demanding Intermediate")
        // The policy 1.2.3.4.
        let policies: [String: String] = ["certificatePolicies": "DER:3007300506032A0304"]
        recipe.extra = policies
        recipe.extensions = [(NID_policy_constraints, "critical,requireExplicitPolicy:0")]
        let demanding = try recipe.minted(by: root)
        let without = try Recipe.leaf("api.example.com").minted(by: demanding)
        #expect(
            try failure(verifier(), sending: [without, demanding])?.code == .badCertificate)
        var stating = Recipe.leaf("api.example.com")
        stating.extra = policies
        let with = try stating.minted(by: demanding)
        #expect(try failure(verifier(), sending: [with, demanding]) == nil)
    }

    @Test func `an old certificate type that names no server is obeyed`() throws {
        for (type, code) in [("client", TrustFailure.Code.notForServers), ("server", nil)] {
            var recipe = Recipe.leaf("api.example.com")
            recipe.isPlain = true
            recipe.extensions = [(NID_netscape_cert_type, type)]
            let leaf = try recipe.minted(by: root)
            #expect(try failure(verifier(), sending: [leaf])?.code == code)
        }
    }

    @Test func `a curve that is spelled out is no curve of ours`() throws {
        var recipe = Recipe.authority("Root With Parameters")
        recipe.key = .spelledOut
        // Alone, for OpenSSL itself refuses it in a longer chain.
        recipe.isAuthority = false
        recipe.names = [Array("api.example.com".utf8)]
        let alone = try recipe.minted()
        let verifier = try verifier { $0.roots = .pem(alone.pem) }
        let code = { () throws -> TrustFailure.Code? in
            do {
                _ = try verifier.verify(
                    leaf: alone.parsed(), intermediates: [], host: host,
                    at: SystemWallClock().now())
                return nil
            } catch let failure as TrustFailure { return failure.code }
        }
        #expect(try code() == .weakKey)
    }

    @Test(.enabled(if: EC_GROUP_new_by_curve_name(NID_sect283r1) != nil))
    func `a binary curve is too weak for a private authority, too`() throws {
        var recipe = Recipe.leaf("api.example.com")
        recipe.key = .elliptic("sect283r1")
        let leaf = try recipe.minted(by: root)
        let failure = #expect(throws: TrustFailure.self) {
            try verifier().verify(
                leaf: leaf.parsed(), intermediates: [], host: host, at: SystemWallClock().now())
        }
        #expect(failure?.code == .weakKey)
        #expect(failure?.facts.detail?.contains("binary curve") == true)
    }

    @Test func `a pinned certificate appended to another chain counts for nothing`() throws {
        let pinned = try Recipe.authority("Pinned").minted(by: root)
        let refused = try failure(
            verifier(pins: [pinned.pin()]), sending: [leaf, intermediate, pinned])
        #expect(refused?.code == .noPinMatched)
    }

    @Test func `the pin of an intermediate or of the root will do`() throws {
        for minted in [intermediate, root] {
            #expect(
                try failure(verifier(pins: [minted.pin()]), sending: [leaf, intermediate]) == nil)
        }
    }

    @Test func `an expired certificate with the right pin is expired`() throws {
        var recipe = Recipe.leaf("api.example.com")
        recipe.validity = -3_600...(-60)
        let expired = try recipe.minted(by: intermediate)
        let refused = try failure(
            verifier(pins: [expired.pin()]), sending: [expired, intermediate])
        #expect(refused?.code == .expired)
        #expect(refused?.facts.detail == "certificate has expired")
    }

    @Test func `the last second of a certificate still counts, the next does not`() throws {
        let facts = try CertificateReader.facts(of: leaf.parsed())
        let last = facts.notAfter.secondsSince1970
        let verifier = try verifier()
        let certificates = try [leaf, intermediate].map { try $0.parsed() }
        let code = { (seconds: Int64) in
            do throws(TrustFailure) {
                _ = try verifier.verify(
                    leaf: certificates[0], intermediates: [certificates[1]], host: host,
                    at: WallTime(secondsSince1970: seconds))
                return TrustFailure.Code?.none
            } catch { return error.code }
        }
        #expect(code(last) == nil)
        #expect(code(last + 1) == .expired)
    }

    @Test func `the wrong name with the right pin is the wrong name`() throws {
        let wrong = try Recipe.leaf("www.example.com").minted(by: intermediate)
        let refused = try failure(
            verifier(pins: [wrong.pin()]), sending: [wrong, intermediate])
        #expect(refused?.code == .wrongName)
        #expect(refused?.description.contains("www.example.com") == true)
    }

    @Test func `an address in the SAN does not stand for a name, nor a name for it`() throws {
        let byAddress = try Recipe.leaf(addresses: [[127, 0, 0, 1]]).minted(by: intermediate)
        #expect(try failure(verifier(), sending: [byAddress, intermediate])?.code == .wrongName)
        let loopback = Host.address(try IPAddress("127.0.0.1"))
        #expect(try failure(verifier(), sending: [byAddress, intermediate], host: loopback) == nil)
        let byName = try Recipe.leaf("127.0.0.1").minted(by: intermediate)
        let refused = try failure(verifier(), sending: [byName, intermediate], host: loopback)
        #expect(refused?.code == .wrongName)
    }

    @Test func `a NUL in the SAN refuses the whole certificate`() throws {
        let tricky = try Recipe.leaf("api.example.com\0.evil.test", "api.example.com")
            .minted(by: intermediate)
        let refused = try failure(verifier(), sending: [tricky, intermediate])
        #expect(refused?.code == .malformedName)
        #expect(refused?.description.contains(#"api.example.com\x00.evil.test"#) == true)
    }

    @Test func `the common name proves nothing`() throws {
        let byCommonName = try Recipe(subject: "api.example.com").minted(by: intermediate)
        let refused = try failure(verifier(), sending: [byCommonName, intermediate])
        #expect(refused?.code == .wrongName)
    }

    @Test func `what leads to no trusted root is refused, pinned or not`() throws {
        let otherRoot = try Recipe.authority("Test Root").minted()
        let forged = try Recipe.leaf("api.example.com").minted(by: otherRoot, keyOf: leaf)
        let pinned = try verifier(pins: [leaf.pin()])
        for chain in [[forged], [forged, otherRoot], [leaf]] {
            let code = try failure(pinned, sending: chain)?.code
            #expect([.unknownIssuer, .badSignature].contains(code))
        }
        let own = try Recipe.leaf("api.example.com").minted()
        #expect(try failure(verifier(pins: [own.pin()]), sending: [own])?.code == .selfSigned)
    }

    @Test func `a leaf cannot issue`() throws {
        let forged = try Recipe.leaf("api.example.com").minted(
            by: try Recipe.leaf("other.test").minted(by: root))
        #expect(try failure(verifier(), sending: [forged]) != nil)
        let issuer = try Recipe.leaf("other.test").minted(by: root)
        let issued = try Recipe.leaf("api.example.com").minted(by: issuer)
        let code = try failure(verifier(), sending: [issued, issuer])?.code
        #expect([.notACA, .unknownIssuer].contains(code))
    }

    @Test func `a wildcard before a public suffix is refused`() throws {
        let wide = try Recipe.leaf("*.example.com").minted(by: intermediate)
        let policy = TrustPolicy(roots: .pem(root.pem))
        for (isPublic, code) in [(false, nil), (true, TrustFailure.Code.wrongName)] {
            let verifier = try OpenSSLVerifier(
                policy: policy, isPublicSuffix: { isPublic && $0 == "example.com" })
            #expect(try failure(verifier, sending: [wide, intermediate])?.code == code)
        }
    }

    @Test func `plain certificates do with given roots, not under the public profile`() throws {
        var authority = Recipe.authority("Plain Root")
        authority.isPlain = true
        var recipe = Recipe.leaf("api.example.com")
        recipe.isPlain = true
        let plainRoot = try authority.minted()
        let plain = try recipe.minted(by: plainRoot)
        var policy = TrustPolicy(roots: .pem(plainRoot.pem))
        #expect(try failure(OpenSSLVerifier(policy: policy), sending: [plain]) == nil)
        policy.profile = .publicWeb
        let refused = try failure(OpenSSLVerifier(policy: policy), sending: [plain])
        #expect(refused?.code == .badCertificate)
    }
}
