import CHTTPDNSOpenSSL
import HTTPDNSNames
import HTTPDNSTrust
import TestSupport
import Testing

@testable import HTTPDNSOpenSSLTrust

@Suite struct RootOriginTests {
    private let own: Minted
    private let added: Minted
    private let host: Host

    init() throws {
        own = try Recipe.authority("Own Root").minted()
        added = try Recipe.authority("Proxy Root").minted()
        host = .name(try HostName("api.example.com"))
    }

    private func policy(
        _ userRoots: PinRule.UserRoots, pinning pin: String
    ) throws -> TrustPolicy {
        var policy = TrustPolicy(roots: .pem(own.pem))
        policy.userRoots = .pem(added.pem + own.pem)
        var rule = PinRule([try Pin(pin)], backup: .waived)
        rule.userRoots = userRoots
        try policy.pins.add(rule, for: HostPattern("api.example.com"))
        return policy
    }

    private func verdict(
        _ policy: TrustPolicy, under root: Minted
    ) throws -> Result<VerifiedPeer, TrustFailure> {
        let leaf = try Recipe.leaf("api.example.com").minted(by: root)
        return try Handshake(try OpenSSLVerifier(policy: policy), host: host, sending: [leaf])
            .verdict()
    }

    @Test func `a root that was added is told apart, and waives pins only where a rule says so`()
        throws
    {
        let waiving = try policy(.pinsWaived, pinning: own.pin())
        let peer = try verdict(waiving, under: added).get()
        #expect(peer.root == .user)
        #expect(peer.pinning == .waived(pattern: try HostPattern("api.example.com")))
        // A root that is the policy's own is no added one, even when it stands in both.
        let ordinary = try verdict(waiving, under: own).get()
        #expect(ordinary.root == .policy)
        #expect(ordinary.matchedPin?.description == (try own.pin()))
        let strict = try policy(.pinsApply, pinning: own.pin())
        guard case .failure(let refused) = try verdict(strict, under: added) else {
            Issue.record("an added root outweighed a pin")
            return
        }
        #expect(refused.code == .noPinMatched)
        #expect(refused.facts.mismatch?.served.count == 1)
        let wary = try policy(.refused, pinning: added.pin())
        guard case .failure(let kept) = try verdict(wary, under: added) else {
            Issue.record("a refused root passed")
            return
        }
        #expect(kept.code == .userRootRefused)
    }

    @Test func `a host's own roots are nobody's addition, and the added ones do not count for it`()
        throws
    {
        var policy = try policy(.pinsWaived, pinning: own.pin())
        policy.rootsByHost = [try HostPattern("api.example.com"): .pem(added.pem)]
        guard case .failure(let pinned) = try verdict(policy, under: added) else {
            Issue.record("a host's own root waived its pins")
            return
        }
        #expect(pinned.code == .noPinMatched)
        policy.rootsByHost = [try HostPattern("api.example.com"): .pem(own.pem)]
        guard case .failure(let stranger) = try verdict(policy, under: added) else {
            Issue.record("an added root counted for a host with roots of its own")
            return
        }
        #expect(stranger.code == .unknownIssuer)
        #expect(try verdict(policy, under: own).get().root == .policy)
    }

    @Test func `where a root comes from is told by the reading that chains are verified with`()
        throws
    {
        let folder = try TemporaryDirectory()
        let path = try folder.write("roots.pem", own.pem + added.pem)
        // Keeps a reading of the file in which both roots are the policy's own.
        let older = try OpenSSLVerifier(policy: TrustPolicy(roots: .file(path)))
        try folder.write("roots.pem", own.pem)
        var policy = TrustPolicy(roots: .file(path))
        policy.userRoots = .pem(added.pem)
        let leaf = try Recipe.leaf("api.example.com").minted(by: added)
        let verifier = try OpenSSLVerifier(policy: policy)
        let peer = try Handshake(verifier, host: host, sending: [leaf]).verdict().get()
        #expect(peer.root == .user)
        withExtendedLifetime(older) {}
    }

    @Test func `without roots of a user theirs are not trusted`() throws {
        var policy = try policy(.pinsWaived, pinning: own.pin())
        policy.userRoots = nil
        guard case .failure(let failure) = try verdict(policy, under: added) else {
            Issue.record("a stranger's root was trusted")
            return
        }
        #expect(failure.code == .unknownIssuer)
    }

    @Test func `the machine's folder of added certificates is read, and what is below it`() throws {
        let folder = try TemporaryDirectory()
        try folder.makeDirectory("company")
        try folder.write("company/proxy.crt", added.pem)
        try folder.write("broken.crt", "-----BEGIN CERTIFICATE-----\nAAAA\n")
        try folder.write(
            "several",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" + own.pem)
        let binary = try Recipe.authority("Binary Root").minted()
        let sink = try #require(BIO_new_file(folder.path + "/binary.der", "wb"))
        #expect(i2d_X509_bio(sink, binary.certificate) == 1)
        BIO_free(sink)
        let local = LocalRoots(folders: ["/nonexistent", folder.path])
        #expect(!local.isEmpty)
        #expect(local.holds(try added.parsed()))
        #expect(local.holds(try own.parsed()))
        #expect(local.holds(try binary.parsed()))
        // The same name with another key is another root.
        let namesake = try Recipe.authority("Proxy Root").minted()
        #expect(!local.holds(try namesake.parsed()))
        #expect(LocalRoots(folders: ["/nonexistent"]).isEmpty)
    }
}
