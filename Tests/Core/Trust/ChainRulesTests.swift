import HTTPDNSNames
import Testing

@testable import HTTPDNSTrust

@Suite struct ChainRulesTests {
    private typealias Change = @Sendable (inout CertificateFacts) -> Void

    private let web = ChainRules(profile: .publicWeb)
    private let own = ChainRules(profile: .privateAuthority)

    /// Leaf, intermediate and root, as public authorities make them.
    static func chain(
        leaf: (inout CertificateFacts) -> Void = { _ in },
        authority: (inout CertificateFacts) -> Void = { _ in },
        root: (inout CertificateFacts) -> Void = { _ in }
    ) -> [CertificateFacts] {
        var chain = [
            TrustFixtures.certificate("CN=leaf", names: [Array("www.example.com".utf8)]),
            TrustFixtures.certificate("CN=authority", pin: 2),
            TrustFixtures.certificate("CN=root", pin: 3),
        ]
        chain[0].particulars.keyUsage = .digitalSignature
        chain[0].particulars.extendedUsages = .server
        for index in [1, 2] {
            chain[index].particulars.basicConstraints = .init(isCA: true)
            chain[index].particulars.keyUsage = .certificateSigning
            chain[index].particulars.subjectKeyID = [UInt8(index)]
        }
        chain[2].particulars.isSelfIssued = true
        leaf(&chain[0])
        authority(&chain[1])
        root(&chain[2])
        return chain
    }

    private func code(_ rules: ChainRules, _ chain: [CertificateFacts]) -> String? {
        rules.fault(in: chain, at: TrustFixtures.now)?.code.label
    }

    @Test func `a sound chain breaks no rule`() {
        #expect(code(web, Self.chain()) == nil)
        #expect(code(own, Self.chain()) == nil)
    }

    @Test func `the last second of the validity belongs to it, and the next does not`() {
        let chain = Self.chain()
        let end = chain[0].notAfter
        #expect(web.fault(in: chain, at: end) == nil)
        let late = WallTime(secondsSince1970: end.secondsSince1970 + 1)
        #expect(web.fault(in: chain, at: late)?.code == .expired)
    }

    @Test func `an authority's fault names where it stands`() {
        let chain = Self.chain(authority: { $0.particulars.basicConstraints = nil })
        let fault = web.fault(in: chain, at: TrustFixtures.now)
        #expect(fault?.code == .notACA)
        #expect(fault?.depth == 1)
    }

    private static let refusedByBoth: [(String, Change, String)] = [
        (
            "an unknown critical extension",
            { $0.particulars.extensionFault = .unknownCritical("1.2") },
            "bad_certificate"
        ),
        (
            "an extension that is there twice",
            { $0.particulars.extensionFault = .repeated("1.2") },
            "bad_certificate"
        ),
        (
            "an unreadable extension", { $0.particulars.extensionFault = .unreadable },
            "bad_certificate"
        ),
        ("a SHA-1 signature", { $0.particulars.signatureHash = .weak("SHA1") }, "weak_signature"),
        (
            "a short RSA key", { $0.particulars.key = .rsa(bits: 1_024, exponent: .sound) },
            "weak_key"
        ),
        (
            "an RSA key that costs too much",
            { $0.particulars.key = .rsa(bits: 16_384, exponent: .sound) }, "too_costly"
        ),
        (
            "an RSA exponent of 1", { $0.particulars.key = .rsa(bits: 2_048, exponent: .unsound) },
            "weak_key"
        ),
        (
            "a weak key of another kind", { $0.particulars.key = .other("DH", securityBits: 80) },
            "weak_key"
        ),
        (
            "malformed name constraints",
            { $0.particulars.nameConstraints = NameConstraints(fault: "malformed") },
            "name_constraint"
        ),
    ]

    @Test(arguments: refusedByBoth.indices)
    func `what no profile takes is refused in a leaf and in an authority`(_ index: Int) {
        let (what, change, label) = Self.refusedByBoth[index]
        for rules in [web, own] {
            #expect(code(rules, Self.chain(leaf: change)) == label, "\(what) in a leaf")
            #expect(code(rules, Self.chain(authority: change)) == label, "\(what) above")
        }
    }

    private static let refusedByWeb: [(String, Change, String)] = [
        ("version 1", { $0.particulars.version = 1 }, "bad_certificate"),
        ("serial number 0", { $0.particulars.serial = .init(octets: 0) }, "bad_certificate"),
        (
            "a negative serial number",
            { $0.particulars.serial = .init(octets: 8, isNegative: true) },
            "bad_certificate"
        ),
        (
            "a serial number of 21 octets", { $0.particulars.serial = .init(octets: 21) },
            "bad_certificate"
        ),
        (
            "a malformed extension", { $0.particulars.extensionFault = .malformed("AIA") },
            "bad_certificate"
        ),
        (
            "policy constraints that are not critical",
            { $0.particulars.policyConstraintsCritical = false }, "bad_certificate"
        ),
        (
            "an RSA key of 2052 bits", { $0.particulars.key = .rsa(bits: 2_052, exponent: .sound) },
            "weak_key"
        ),
        ("a key on P-224", { $0.particulars.key = .elliptic(curve: "secp224r1") }, "weak_key"),
        ("a DSA key", { $0.particulars.key = .other("DSA", securityBits: 112) }, "weak_key"),
        (
            "critical extended usages", { $0.particulars.extendedUsages = [.server, .critical] },
            "bad_certificate"
        ),
        ("\"any\" usage", { $0.particulars.extendedUsages = .any }, "not_for_servers"),
        (
            "an authority's mark", { $0.particulars.basicConstraints = .init(isCA: true) },
            "ca_as_server"
        ),
        ("an underscore", { $0.dnsNames = [Array("a_b.example.com".utf8)] }, "bad_certificate"),
        (
            "another host as common name",
            { $0.particulars.commonNames = [Array("evil.example.net".utf8)] }, "bad_certificate"
        ),
        (
            "a common name in other letters",
            { $0.particulars.commonNames = [Array("WWW.example.com".utf8)] }, "bad_certificate"
        ),
    ]

    @Test(arguments: refusedByWeb.indices)
    func `only the public web's profile wants the form`(_ index: Int) {
        let (what, change, label) = Self.refusedByWeb[index]
        #expect(code(web, Self.chain(leaf: change)) == label, "\(what)")
        #expect(code(own, Self.chain(leaf: change)) == nil, "\(what)")
    }

    @Test func `of a leaf the key usage has to allow something that TLS needs`() {
        let chain = Self.chain(leaf: { $0.particulars.keyUsage = [] })
        #expect(code(own, chain) == "not_for_servers")
        #expect(code(own, Self.chain(leaf: { $0.particulars.keyUsage = nil })) == nil)
    }

    @Test func `an authority that may not sign certificates signs none`() {
        let chain = Self.chain(authority: { $0.particulars.keyUsage = .digitalSignature })
        #expect(code(own, chain) == "not_a_ca")
    }

    @Test func `an authority for clients alone issues for no server, and one for any use does`() {
        let clients = Self.chain(authority: { $0.particulars.extendedUsages = .client })
        #expect(code(web, clients) == "not_for_servers")
        #expect(code(web, Self.chain(authority: { $0.particulars.extendedUsages = .any })) == nil)
        #expect(code(web, Self.chain(authority: { $0.particulars.extendedUsages = nil })) == nil)
    }

    @Test func `empty extended usages allow nothing`() {
        #expect(code(own, Self.chain(leaf: { $0.particulars.extendedUsages = [] })) != nil)
    }

    @Test func `a path length counts the authorities below that are not self-issued`() {
        let root: (inout CertificateFacts) -> Void = {
            $0.particulars.basicConstraints = .init(isCA: true, pathLength: 0)
        }
        #expect(code(own, Self.chain(root: root)) == "path_too_long")
        let rolled = Self.chain(authority: { $0.particulars.isSelfIssued = true }, root: root)
        #expect(code(own, rolled) == nil)
    }

    @Test func `no more authorities are in between than allowed, self-issued ones aside`() {
        var rules = own
        rules.maximumIntermediates = 0
        #expect(code(rules, Self.chain()) == "path_too_long")
        let rolled = Self.chain(authority: { $0.particulars.isSelfIssued = true })
        #expect(code(rules, rolled) == nil)
    }

    @Test func `name constraints belong to authorities`() throws {
        let tree = try #require(NameConstraints.DomainTree(Array("example.com".utf8)))
        let chain = Self.chain(leaf: {
            $0.particulars.nameConstraints = NameConstraints(permitted: [.dns(tree)])
        })
        #expect(code(own, chain) == "bad_certificate")
    }

    @Test func `an anchor may have number 0 and a signature with SHA-1`() {
        let chain = Self.chain(root: {
            $0.particulars.serial = .init(octets: 0)
            $0.particulars.signatureHash = .weak("SHA1")
        })
        #expect(code(web, chain) == nil)
    }

    @Test func `a public root names its own key and no usages`() {
        let usages = Self.chain(root: { $0.particulars.extendedUsages = .server })
        #expect(code(web, usages) == "bad_certificate")
        #expect(code(own, usages) == nil)
        let empty = Self.chain(root: { $0.particulars.authorityNamesNoKey = true })
        #expect(code(web, empty) == "bad_certificate")
        let otherKey = Self.chain(root: { $0.particulars.authorityKeyID = [9] })
        #expect(code(web, otherKey) == "bad_certificate")
        let otherName = Self.chain(root: { $0.particulars.namesOtherIssuer = true })
        #expect(code(web, otherName) == "bad_certificate")
        let ownKey = Self.chain(root: { $0.particulars.authorityKeyID = [2] })
        #expect(code(web, ownKey) == nil)
    }

    @Test func `a certificate for this machine is not held to the common name's rule`() {
        let chain = Self.chain(leaf: {
            $0.dnsNames = [Array("test.localhost".utf8)]
            $0.particulars.commonNames = [Array("bad.example.com".utf8)]
        })
        #expect(code(web, chain) == nil)
    }

    @Test func `a common name above the names, or one that is no host, is no fault`() {
        for name in ["example.com", "Example Server", "leaf"] {
            let chain = Self.chain(leaf: { $0.particulars.commonNames = [Array(name.utf8)] })
            #expect(code(web, chain) == nil, "\(name)")
        }
    }

    @Test func `a hostile number of names and constraints is not compared`() throws {
        let trees = try (0..<1_000).map {
            NameConstraints.Subtree.dns(
                try #require(NameConstraints.DomainTree(Array("x\($0).test".utf8))))
        }
        let chain = Self.chain(
            leaf: { $0.dnsNames = (0..<1_000).map { Array("t\($0).example".utf8) } },
            root: { $0.particulars.nameConstraints = NameConstraints(excluded: trees) })
        #expect(code(web, chain) == "too_costly")
    }
}
