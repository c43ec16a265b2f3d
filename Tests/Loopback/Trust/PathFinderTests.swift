import HTTPDNSNames
import HTTPDNSTrust
import Testing

@testable import HTTPDNSOpenSSLTrust

/// Chains of which OpenSSL takes the wrong path first, and chains made to cost much.
@Suite struct PathFinderTests {
    private static let name = "www.example.com"

    private func verify(
        _ leaf: Minted, _ intermediates: [Minted], roots: [Minted],
        profile: TrustPolicy.Profile = .publicWeb, pins: [Minted] = []
    ) throws -> Result<VerifiedPeer, TrustFailure> {
        var policy = TrustPolicy(roots: .pem(roots.map(\.pem).joined(separator: "\n")))
        policy.profile = profile
        if !pins.isEmpty {
            let texts = try pins.map { try $0.pin() }
            try policy.pins.add(texts, for: Self.name, backup: .waived)
        }
        let verifier = try OpenSSLVerifier(policy: policy)
        let host = Host.name(try HostName(Self.name))
        let parsed = try intermediates.map { try $0.parsed() }
        let certificate = try leaf.parsed()
        let now = WallTime(
            secondsSince1970: try CertificateReader.facts(of: certificate)
                .notBefore.secondsSince1970 + 3_600)
        return Result { () throws(TrustFailure) in
            try verifier.verify(
                leaf: certificate, intermediates: parsed, host: host, at: now)
        }
    }

    private func subjects(_ result: Result<VerifiedPeer, TrustFailure>) -> [String] {
        guard case .success(let peer) = result else { return [] }
        return peer.chain.map(\.subject)
    }

    private func label(_ result: Result<VerifiedPeer, TrustFailure>) -> String? {
        guard case .failure(let failure) = result else { return nil }
        return failure.label
    }

    @Test func `the valid one of two certificates of an authority is found behind the expired one`()
        throws
    {
        let root = try Recipe.authority("root").minted()
        var recipe = Recipe.authority("authority")
        let good = try recipe.minted(by: root)
        recipe.validity = -7_200 ... -3_700
        let expired = try recipe.minted(by: root, keyOf: good)
        let leaf = try Recipe.leaf(Self.name).minted(by: good)
        let found = try verify(leaf, [expired, good], roots: [root])
        #expect(subjects(found) == ["CN=\(Self.name)", "CN=authority", "CN=root"])
        #expect(label(try verify(leaf, [expired], roots: [root])) == "expired")
    }

    @Test func `where every path fails, the failure told is that of the one that got furthest`()
        throws
    {
        let root = try Recipe.authority("root").minted()
        let stranger = try Recipe.authority("stranger").minted()
        var recipe = Recipe.authority("authority")
        let unknown = try recipe.minted(by: stranger)
        let leaf = try Recipe.leaf(Self.name).minted(by: unknown)
        recipe.validity = -7_200 ... -3_700
        let expired = try recipe.minted(by: root, keyOf: unknown)
        // Whichever comes first: one leads to no root, the other to one, but has ended.
        for sent in [[unknown, expired], [expired, unknown]] {
            #expect(label(try verify(leaf, sent, roots: [root])) == "expired")
        }
        #expect(label(try verify(leaf, [unknown], roots: [root])) == "unknown_issuer")
        // Bounds are looked at behind all dates.
        recipe.validity = -7_200...7_200
        recipe.extra = ["nameConstraints": "critical,permitted;DNS:example.org"]
        let bounded = try recipe.minted(by: root, keyOf: unknown)
        for sent in [[unknown, expired, bounded], [bounded, expired, unknown]] {
            #expect(label(try verify(leaf, sent, roots: [root])) == "name_constraint")
        }
    }

    @Test func `of two authorities of one name the one that has signed is found`() throws {
        let root = try Recipe.authority("root").minted()
        var recipe = Recipe.authority("authority")
        recipe.isPlain = true
        let other = try recipe.minted(by: root)
        let good = try recipe.minted(by: root)
        var leafRecipe = Recipe.leaf(Self.name)
        leafRecipe.isPlain = true
        let leaf = try leafRecipe.minted(by: good)
        for order in [[other, good], [good, other]] {
            let found = try verify(leaf, order, roots: [root], profile: .privateAuthority)
            #expect(subjects(found).count == 3)
        }
        let wrong = try verify(leaf, [other], roots: [root], profile: .privateAuthority)
        #expect(label(wrong) == "bad_signature")
    }

    @Test func `authorities that sign each other and lead to no root are refused`() throws {
        let root = try Recipe.authority("root").minted()
        let first = try Recipe.authority("first").minted()
        let second = try Recipe.authority("second").minted()
        let firstBySecond = try Recipe.authority("first").minted(by: second, keyOf: first)
        let secondByFirst = try Recipe.authority("second").minted(by: first, keyOf: second)
        let leaf = try Recipe.leaf(Self.name).minted(by: first)
        let found = try verify(leaf, [firstBySecond, secondByFirst], roots: [root])
        #expect(label(found) == "unknown_issuer")
    }

    @Test func `a path around a constrained authority is found`() throws {
        let root = try Recipe.authority("root").minted()
        let free = try Recipe.authority("authority").minted(by: root)
        var recipe = Recipe.authority("authority")
        recipe.extra = ["nameConstraints": "critical,excluded;DNS:example.com"]
        let bound = try recipe.minted(by: root, keyOf: free)
        let leaf = try Recipe.leaf(Self.name).minted(by: free)
        #expect(subjects(try verify(leaf, [bound, free], roots: [root])).count == 3)
        #expect(label(try verify(leaf, [bound], roots: [root])) == "name_constraint")
    }

    @Test func `the path to the pinned root is found beside another that holds, too`() throws {
        let first = try Recipe.authority("first root").minted()
        let second = try Recipe.authority("second root").minted()
        let byFirst = try Recipe.authority("authority").minted(by: first)
        let bySecond = try Recipe.authority("authority").minted(by: second, keyOf: byFirst)
        let leaf = try Recipe.leaf(Self.name).minted(by: byFirst)
        for (pinned, subject) in [(first, "CN=first root"), (second, "CN=second root")] {
            let found = try verify(
                leaf, [byFirst, bySecond], roots: [first, second], pins: [pinned])
            #expect(subjects(found).last == subject)
        }
        let stranger = try Recipe.authority("stranger").minted()
        let unpinned = try verify(
            leaf, [byFirst, bySecond], roots: [first, second], pins: [stranger])
        #expect(label(unpinned) == "no_pin_matched")
    }

    @Test func `the pinned root above a trusted intermediate is found`() throws {
        let root = try Recipe.authority("root").minted()
        let authority = try Recipe.authority("authority").minted(by: root)
        let leaf = try Recipe.leaf(Self.name).minted(by: authority)
        let found = try verify(leaf, [], roots: [authority, root], pins: [root])
        #expect(subjects(found).last == "CN=root")
        #expect(subjects(try verify(leaf, [], roots: [authority])).last == "CN=authority")
    }

    @Test func `an expired root beside its successor does no harm`() throws {
        let new = try Recipe.authority("root").minted()
        var recipe = Recipe.authority("root")
        recipe.validity = -7_200 ... -3_700
        let old = try recipe.minted(keyOf: new)
        let leaf = try Recipe.leaf(Self.name).minted(by: new)
        for order in [[old, new], [new, old]] {
            #expect(subjects(try verify(leaf, [], roots: order)).count == 2)
        }
        #expect(label(try verify(leaf, [], roots: [old])) == "expired")
    }

    @Test func `what a trusted authority may not do, its other certificate does not allow`() throws
    {
        let root = try Recipe.authority("root").minted()
        let free = try Recipe.authority("authority").minted(by: root)
        var recipe = Recipe.authority("authority")
        recipe.extra = ["extendedKeyUsage": "clientAuth"]
        let bound = try recipe.minted(by: root, keyOf: free)
        let leaf = try Recipe.leaf(Self.name).minted(by: free)
        #expect(label(try verify(leaf, [free], roots: [root, bound])) == "not_for_servers")
        // Also when the certificate that says so is of no use itself.
        recipe.validity = -7_200 ... -3_700
        let ended = try recipe.minted(by: root, keyOf: free)
        #expect(label(try verify(leaf, [free], roots: [root, ended])) != nil)
        #expect(label(try verify(leaf, [free], roots: [root])) == nil)
    }

    @Test func `a certificate known from another handshake is judged as if it were new`() throws {
        let root = try Recipe.authority("root").minted()
        var recipe = Recipe.leaf(Self.name)
        let leaf = try recipe.minted(by: root)
        let first = try verify(leaf, [], roots: [root])
        #expect(first == (try verify(leaf, [], roots: [root])))
        // The same key and issuer, but not the same certificate.
        recipe.subject = "other.test"
        recipe.names = [Array("other.test".utf8)]
        let other = try recipe.minted(by: root, keyOf: leaf)
        #expect(label(try verify(other, [], roots: [root])) == "wrong_name")
        // Known, but now below a root that is not trusted.
        let stranger = try Recipe.authority("stranger").minted()
        #expect(label(try verify(leaf, [], roots: [stranger])) == "unknown_issuer")
    }

    @Test func `a leaf that cannot be read is not replaced by another certificate`() throws {
        let root = try Recipe.authority("root").minted()
        let good = try Recipe.leaf(Self.name).minted(by: root)
        var recipe = Recipe.leaf(Self.name)
        recipe.extra = ["2.5.29.17": "DER:3000"]
        recipe.names = []
        let bad = try recipe.minted(by: root)
        #expect(label(try verify(bad, [good], roots: [root])) != nil)
    }

    @Test func `a version of any size is a version that is not known`() throws {
        let root = try Recipe.authority("root").minted()
        let odd = try Recipe.leaf(Self.name).minted(by: root).withVersion(.max)
        #expect(try CertificateReader.facts(of: odd.parsed()).particulars.version == 255)
        #expect(label(try verify(odd, [odd], roots: [root])) != nil)
    }

    @Test func `a root that the roots reject for servers is not trusted in the copy of a peer`()
        throws
    {
        let root = try Recipe.authority("root").minted()
        let leaf = try Recipe.leaf(Self.name).minted(by: root)
        let other = try Recipe.authority("other").minted()
        #expect(subjects(try verify(leaf, [root], roots: [other, root])).count == 2)
        let roots = other.pem + (try root.rejectedForServers())
        var policy = TrustPolicy(roots: .pem(roots))
        for profile in [TrustPolicy.Profile.publicWeb, .privateAuthority] {
            policy.profile = profile
            let verifier = try OpenSSLVerifier(policy: policy)
            let now = WallTime(
                secondsSince1970: try CertificateReader.facts(of: leaf.parsed())
                    .notBefore.secondsSince1970 + 3_600)
            let host = Host.name(try HostName(Self.name))
            #expect(throws: TrustFailure.self) {
                try verifier.verify(
                    leaf: try leaf.parsed(), intermediates: [try root.parsed()], host: host, at: now
                )
            }
        }
    }

    @Test func `nothing is verified under a key that the rules forbid, not even to say why`() throws
    {
        let root = try Recipe.authority("root").minted()
        var recipe = Recipe.authority("authority")
        recipe.isPlain = true
        let good = try recipe.minted(by: root)
        recipe.key = .spelledOut
        let namesake = try recipe.minted(by: root)
        var leafRecipe = Recipe.leaf(Self.name)
        leafRecipe.isPlain = true
        let leaf = try leafRecipe.minted(by: good)
        // It has signed nothing, which only its key could tell; that it is forbidden is seen without.
        let refused = try verify(leaf, [namesake], roots: [root], profile: .privateAuthority)
        #expect(label(refused) == "weak_key")
        let found = try verify(leaf, [namesake, good], roots: [root], profile: .privateAuthority)
        #expect(subjects(found).count == 3)
    }

    @Test func `a hundred worthless authorities of one name cost a bounded number of signatures`()
        throws
    {
        let root = try Recipe.authority("root").minted()
        var recipe = Recipe.authority("authority")
        recipe.isPlain = true
        let garbage = try (0..<99).map { _ in try recipe.minted(by: root) }
        let good = try recipe.minted(by: root)
        var leafRecipe = Recipe.leaf(Self.name)
        leafRecipe.isPlain = true
        let leaf = try leafRecipe.minted(by: good)
        let sent = garbage + [good]
        var policy = TrustPolicy(roots: .pem(root.pem))
        policy.profile = .privateAuthority
        let found = try verify(leaf, sent, roots: [root], profile: .privateAuthority)
        #expect(subjects(found).count == 3)
        let parsed = try leaf.parsed()
        let facts = try CertificateReader.facts(of: parsed)
        let others = try garbage.map { try $0.parsed() }
        let stack = try #require(CertificateStack(others.map(\.raw)))
        var finder = PathFinder(
            verifier: try ChainVerifier(policy: policy), leaf: parsed.raw, untrusted: stack.raw,
            time: WallTime(secondsSince1970: facts.notBefore.secondsSince1970 + 3_600))
        let chain = finder.next()?.chain
        #expect(chain == nil)
        // One for each of them: none has signed the leaf.
        #expect(finder.signaturesLeft == PathSearch.Limits().signatures - 99)
    }
}
