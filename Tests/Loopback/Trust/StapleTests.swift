import CHTTPDNSOpenSSL
import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSPlatform
import HTTPDNSTrust
import Testing

@Suite struct StapleTests {
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
        _ mode: RevocationPolicy.Mode, clock: any WallSource = SystemWallClock()
    ) throws -> OpenSSLVerifier {
        var policy = TrustPolicy(roots: .pem(root.pem))
        policy.revocation.mode = mode
        return try OpenSSLVerifier(policy: policy, clock: clock)
    }

    private func handshake(
        _ verifier: OpenSSLVerifier, sending chain: [Minted]? = nil, staple: [UInt8]?,
        version: Int32 = TLS1_3_VERSION
    ) throws -> Handshake {
        let handshake = try Handshake(
            verifier, host: host, sending: chain ?? [leaf, intermediate], maximumVersion: version
        ) { context in
            guard let staple else { return }
            #expect(httpdns_lab_context_staple(context, staple, staple.count) == 1)
        }
        let failure = try handshake.failure()
        #expect(handshake.isComplete == (failure == nil))
        #expect((handshake.verifyCode == Int(X509_V_OK)) == (failure == nil))
        return handshake
    }

    private func report(
        _ mode: RevocationPolicy.Mode, staple: [UInt8]?, version: Int32 = TLS1_3_VERSION
    ) throws -> RevocationReport {
        try handshake(try verifier(mode), staple: staple, version: version).verdict().get()
            .revocation
    }

    private func code(
        _ mode: RevocationPolicy.Mode, sending chain: [Minted]? = nil, staple: [UInt8]?,
        version: Int32 = TLS1_3_VERSION
    ) throws -> TrustFailure.Code? {
        try handshake(try verifier(mode), sending: chain, staple: staple, version: version)
            .failure()?.code
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `a good staple is checked and said, with its end`(version: Int32) throws {
        let staple = try StatusMint.Staple.good.minted(about: leaf, of: intermediate)
        for mode in [RevocationPolicy.Mode.ifPresent, .required] {
            let report = try report(mode, staple: staple, version: version)
            guard case .good(.staple, let until?) = report.leaf else {
                Issue.record("\(report)")
                continue
            }
            #expect(abs(until.secondsSince1970 - StatusMint.fromNow(3_600)) < 60)
            #expect(report.remarks == [])
            #expect(report.isRequired == (mode == .required))
        }
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `a staple that says revoked is believed under every policy but off`(
        version: Int32
    ) throws {
        let staple = try StatusMint.Staple.revoked.minted(about: leaf, of: intermediate)
        #expect(try code(.ifPresent, staple: staple, version: version) == .revoked)
        #expect(try code(.required, staple: staple, version: version) == .revoked)
        #expect(
            try report(.off, staple: staple, version: version).leaf == .notChecked(.off))
    }

    @Test func `the failure says since when and why`() throws {
        let staple = try StatusMint.Staple.revoked.minted(about: leaf, of: intermediate)
        let failure = try #require(
            try handshake(try verifier(.ifPresent), staple: staple).failure())
        #expect(failure.facts.detail?.hasPrefix("the staple says: revoked since 20") == true)
        #expect(failure.facts.detail?.hasSuffix("(keyCompromise)") == true)
        #expect(failure.facts.chain.count == 3)
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `no staple is said, and refused where one is required`(version: Int32) throws {
        let report = try report(.ifPresent, staple: nil, version: version)
        #expect(report.leaf == .notChecked(.nothingPresent))
        #expect(try code(.required, staple: nil, version: version) == .revocationUnknown)
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `a certificate that demands a staple is refused without a good one`(
        version: Int32
    ) throws {
        var recipe = Recipe.leaf("api.example.com")
        recipe.extensions = [(NID_tlsfeature, "status_request")]
        let demanding = try recipe.minted(by: intermediate)
        let chain = [demanding, intermediate]
        #expect(
            try code(.ifPresent, sending: chain, staple: nil, version: version) == .stapleMissing)
        let good = try StatusMint.Staple.good.minted(about: demanding, of: intermediate)
        #expect(try code(.ifPresent, sending: chain, staple: good, version: version) == nil)
        let ended = try StatusMint.Staple.ended.minted(about: demanding, of: intermediate)
        #expect(
            try code(.ifPresent, sending: chain, staple: ended, version: version)
                == .stapleInvalid)
        #expect(try code(.off, sending: chain, staple: nil, version: version) == nil)
    }

    @Test func `what an authority demands, those below it have to keep`() throws {
        var recipe = Recipe.authority("Demanding Intermediate")
        recipe.extensions = [(NID_tlsfeature, "status_request")]
        let demanding = try recipe.minted(by: root)
        let below = try Recipe.leaf("api.example.com").minted(by: demanding)
        #expect(
            try code(.ifPresent, sending: [below, demanding], staple: nil) == .stapleMissing)
    }

    @Test func `a staple that proves nothing is said, and refused where one is required`() throws {
        let stranger = try Recipe.authority("Stranger").minted()
        let other = try Recipe.leaf("other.example.com").minted(by: intermediate)
        let plain = try Recipe.leaf("responder").minted(by: intermediate)
        let ended = try responder(validity: -3_600...(-60)).minted(by: intermediate)
        let elsewhere = try responder().minted(by: root)
        let good = StatusMint.Staple.good
        let cases: [(staple: [UInt8], remark: String)] = [
            (try StatusMint.Staple.ended.minted(about: leaf, of: intermediate), "ended 20"),
            (
                try StatusMint.Staple(from: 3_600, to: 7_200).minted(about: leaf, of: intermediate),
                "begins only 20"
            ),
            (
                try StatusMint.Staple(status: HTTPDNS_LAB_STATUS_UNKNOWN).minted(
                    about: leaf, of: intermediate), "does not know the certificate"
            ),
            (try good.minted(about: other, of: intermediate), "speaks of another certificate"),
            (
                try good.minted(about: leaf, of: intermediate, signedBy: stranger),
                "is signed by one whom the issuer did not appoint"
            ),
            (
                try good.minted(about: leaf, of: intermediate, signedBy: plain),
                "is signed by one whom the issuer did not appoint"
            ),
            // Appointed, but by the authority above.
            (
                try good.minted(about: leaf, of: intermediate, signedBy: elsewhere),
                "is signed by one whom the issuer did not appoint"
            ),
            (
                try good.minted(about: leaf, of: intermediate, signedBy: ended),
                "is signed by a certificate that is not valid now"
            ),
            (
                try StatusMint.Staple(isWeak: true).minted(about: leaf, of: intermediate),
                "is signed too weakly"
            ),
            ([0x30, 0x03, 0x0A, 0x01], "is malformed"),
            (
                try good.minted(about: leaf, of: intermediate) + [0],
                "is malformed"
            ),
            (
                try StatusMint.taken(httpdns_lab_ocsp_refusal(3)),
                "holds no answer: trylater"
            ),
        ]
        for (staple, remark) in cases {
            let report = try report(.ifPresent, staple: staple)
            #expect(report.leaf == .notChecked(.unusable))
            #expect(report.remarks.first?.hasPrefix("the staple " + remark) == true, "\(report)")
            #expect(try code(.required, staple: staple) == .stapleInvalid)
        }
    }

    @Test func `a staple with the padding PSS counts by its hash`() throws {
        var recipe = Recipe.authority("RSA Intermediate")
        recipe.key = .rsa
        let issuer = try recipe.minted(by: root)
        let below = try Recipe.leaf("api.example.com").minted(by: issuer)
        for isWeak in [false, true] {
            let staple = try StatusMint.Staple(isWeak: isWeak, isPSS: true)
                .minted(about: below, of: issuer)
            let code = try code(.required, sending: [below, issuer], staple: staple)
            #expect(code == (isWeak ? .stapleInvalid : nil))
        }
    }

    @Test func `a responder with an unknown critical extension may not sign`() throws {
        var recipe = responder()
        recipe.extra = ["1.2.3.4": "critical,DER:0500"]
        let odd = try recipe.minted(by: intermediate)
        let staple = try StatusMint.Staple.good.minted(
            about: leaf, of: intermediate, signedBy: odd)
        #expect(try code(.required, staple: staple) == .stapleInvalid)
        recipe.extra = ["1.2.3.4": "DER:0500"]
        let known = try StatusMint.Staple.good.minted(
            about: leaf, of: intermediate, signedBy: recipe.minted(by: intermediate))
        #expect(try code(.required, staple: known) == nil)
    }

    @Test func `a leaf that is trusted itself cannot vouch for itself`() throws {
        let staple = try StatusMint.Staple.good.minted(
            about: leaf, of: leaf, signedBy: leaf)
        for mode in [RevocationPolicy.Mode.ifPresent, .required] {
            var policy = TrustPolicy(roots: .pem(leaf.pem))
            policy.revocation.mode = mode
            let handshake = try handshake(
                try OpenSSLVerifier(policy: policy), sending: [leaf], staple: staple)
            guard mode == .ifPresent else {
                #expect(try handshake.failure()?.code == .stapleInvalid)
                continue
            }
            let report = try handshake.verdict().get().revocation
            #expect(report.leaf == .notChecked(.unusable))
            #expect(report.remarks == ["the staple is signed by one who is not in the chain"])
        }
    }

    @Test func `a tampered staple is not signed`() throws {
        var staple = try StatusMint.Staple.good.minted(about: leaf, of: intermediate)
        staple[staple.count - 1] ^= 1
        let report = try report(.ifPresent, staple: staple)
        #expect(report.leaf == .notChecked(.unusable))
    }

    @Test func `a responder that the issuer appointed may sign`() throws {
        let appointed = try responder(validity: -60...600).minted(by: intermediate)
        let staple = try StatusMint.Staple.good.minted(
            about: leaf, of: intermediate, signedBy: appointed)
        let report = try report(.required, staple: staple)
        guard case .good(.staple, let until?) = report.leaf else {
            Issue.record("\(report)")
            return
        }
        // No longer than the responder itself.
        #expect(until.secondsSince1970 <= StatusMint.fromNow(600))
    }

    private func responder(validity: ClosedRange<Int> = -3_600...3_600) -> Recipe {
        var recipe = Recipe.leaf("responder")
        recipe.extensions = [(NID_ext_key_usage, "OCSPSigning")]
        recipe.validity = validity
        return recipe
    }

    @Test func `certificates without a judged staple are no proof`() throws {
        let verifier = try verifier(.ifPresent)
        let staple = try StatusMint.Staple.revoked.minted(about: leaf, of: intermediate)
        let handshake = try handshake(verifier, staple: staple)
        #expect(throws: TrustFailure.self) {
            _ = try verifier.proof(ssl: UnsafeMutableRawPointer(handshake.client), for: host)
        }
    }

    @Test func `a proof that needed a staple ends with it`() throws {
        let clock = SetWallClock()
        let verifier = try verifier(.required, clock: clock)
        let staple = try StatusMint.Staple(to: 600).minted(about: leaf, of: intermediate)
        let handshake = try handshake(verifier, staple: staple)
        let peer = try handshake.verdict().get()
        #expect(peer.validUntil.secondsSince1970 <= StatusMint.fromNow(600 + 300))
        let code = {
            do throws(TrustFailure) {
                _ = try verifier.proof(ssl: UnsafeMutableRawPointer(handshake.client), for: host)
                return TrustFailure.Code?.none
            } catch { return error.code }
        }
        #expect(code() == nil)
        clock.set(secondsFromNow: 1_200)
        #expect(code() == .stapleInvalid)
    }

    @Test func `a judgement without a handshake says that it saw no staple`() throws {
        let verify = { (mode: RevocationPolicy.Mode) in
            try verifier(mode).verify(
                leaf: leaf.parsed(), intermediates: [intermediate.parsed()], host: host,
                at: SystemWallClock().now())
        }
        #expect(try verify(.ifPresent).revocation.leaf == .notChecked(.noHandshake))
        #expect(try verify(.off).revocation.leaf == .notChecked(.off))
        #expect(throws: TrustFailure.self) { _ = try verify(.required) }
    }

    @Test func `a staple is not asked for when the policy says off`() throws {
        let staple = try StatusMint.Staple.good.minted(about: leaf, of: intermediate)
        let asked = try handshake(try verifier(.ifPresent), staple: staple)
        let silent = try handshake(try verifier(.off), staple: staple)
        var count = 0
        #expect(chttpdns_connection_staple(asked.client, &count) != nil)
        #expect(chttpdns_connection_staple(silent.client, &count) == nil)
    }
}
