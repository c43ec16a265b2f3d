import HTTPDNSNames
import Testing

@testable import HTTPDNSTrust

@Suite struct NameConstraintsTests {
    /// Names and subtrees as `dns:…`, `ip:…` (hexadecimal), `email:…` and `uri:…`.
    struct Case: Sendable {
        let permitted: [String]
        let excluded: [String]
        let name: String
        let isAllowed: Bool

        init(_ name: String, in permitted: [String] = [], notIn excluded: [String] = [], _ is: Bool)
        {
            self.permitted = permitted
            self.excluded = excluded
            self.name = name
            isAllowed = `is`
        }
    }

    static let cases: [Case] = [
        Case("dns:example.com", in: ["dns:example.com"], true),
        Case("dns:www.EXAMPLE.com", in: ["dns:example.COM"], true),
        Case("dns:notexample.com", in: ["dns:example.com"], false),
        Case("dns:example.com", in: ["dns:.example.com"], false),
        Case("dns:www.example.com", in: ["dns:.example.com"], true),
        Case("dns:example.com", in: ["dns:"], true),
        Case("dns:example.com", notIn: ["dns:"], false),
        Case("dns:www.example.com", notIn: ["dns:example.com"], false),
        Case("dns:example.com", notIn: ["dns:.example.com"], true),
        Case("dns:example.com", in: ["dns:example.com"], notIn: ["dns:example.com"], false),
        Case("dns:example.com", in: ["ip:0a000000ff000000"], true),
        // Wildcards stand for all their names.
        Case("dns:*.example.com", notIn: ["dns:bar.example.com"], false),
        Case("dns:*.EXAMPLE.com", notIn: ["dns:bar.example.com"], false),
        Case("dns:*.example.com", notIn: ["dns:.bar.example.com"], true),
        Case("dns:*.example.com", notIn: ["dns:a.bar.example.com"], true),
        Case("dns:*.example.com", notIn: ["dns:.example.com"], false),
        Case("dns:*.bar.example.com", notIn: ["dns:foo.example.com"], true),
        Case("dns:*.example.com", in: ["dns:foo.example.com"], false),
        Case("dns:*.example.com", in: ["dns:example.com"], true),
        Case("dns:*.example.com", in: ["dns:.example.com"], true),
        Case("dns:*.com", in: ["dns:example.com"], false),
        Case("dns:w*.example.com", notIn: ["dns:www.example.com"], false),
        Case("dns:this is none", in: ["dns:example.com"], false),
        Case("dns:", notIn: ["dns:example.com"], false),
        // Addresses, in both forms of an IPv4 one.
        Case("ip:0a010101", in: ["ip:0a000000ff000000"], true),
        Case("ip:0b010101", in: ["ip:0a000000ff000000"], false),
        Case("ip:0a010101", notIn: ["ip:0a000001ff000000"], false),
        Case("ip:00000000000000000000ffff0a010101", notIn: ["ip:0a000000ff000000"], false),
        Case("ip:20010db8000000000000000000000001", in: ["ip:0a000000ff000000"], false),
        Case("ip:0a0101", in: ["dns:example.com"], false),
        // Mailboxes and URIs, which are never matched.
        Case("email:foo@example.com", in: ["email:example.com"], true),
        Case("email:foo@sub.example.com", in: ["email:example.com"], false),
        Case("email:foo@sub.example.com", in: ["email:.example.com"], true),
        Case("email:foo@EXAMPLE.com", in: ["email:foo@example.com"], true),
        Case("email:Foo@example.com", in: ["email:foo@example.com"], false),
        Case("email:\"\\f\\o\\o\"@example.com", in: ["email:foo@example.com"], true),
        Case("email:foo@example.com", notIn: ["email:"], false),
        Case("email:this @ is none", notIn: ["dns:example.com"], false),
        Case("uri:https://example.com/a", notIn: ["uri:"], false),
        Case("uri:https://u@example.com:8443/a", in: ["uri:example.com"], true),
        Case("uri:https://a.example.com/", in: ["uri:example.com"], false),
        Case("uri:https://a.example.com/", in: ["uri:.example.com"], true),
        Case("uri:http://1.2.3.4/", in: ["uri:example.com"], false),
        Case("uri:http://[2006:abcd::1]:16/", in: ["uri:example.com"], false),
        Case("uri:urn:example", in: ["uri:example.com"], false),
        Case("uri:urn:example", in: ["dns:example.com"], true),
    ]

    @Test(arguments: cases)
    func `a name is allowed by the constraints above it or not`(_ example: Case) throws {
        let constraints = NameConstraints(
            permitted: try example.permitted.map(Self.tree),
            excluded: try example.excluded.map(Self.tree))
        let (kind, octets) = try Self.parts(example.name)
        let chain = ChainRulesTests.chain(
            leaf: { Self.set(&$0, kind, octets) },
            root: { $0.particulars.nameConstraints = constraints })
        let fault = ChainRules(profile: .privateAuthority).fault(in: chain, at: TrustFixtures.now)
        #expect((fault == nil) == example.isAllowed, "\(fault.map { $0.detail } ?? "accepted")")
        #expect(fault == nil || fault?.code == .nameConstraint)
    }

    @Test(arguments: [
        "dns:exa mple.com", "dns:.", "dns:a..b", "dns:example.com.", "dns:*.example.com",
        "ip:0a000000ff00ff00", "ip:0a000000", "email:a@b@example.com", "email:@example.com",
        "uri:exa/mple",
    ])
    func `a malformed constraint is none`(_ text: String) {
        #expect(throws: (any Error).self) { try Self.tree(text) }
    }

    @Test func `a self-issued authority is not constrained, and a self-issued leaf is`() throws {
        let constraints = NameConstraints(permitted: [try Self.tree("dns:example.com")])
        let elsewhere = [Array("other.test".utf8)]
        let rules = ChainRules(profile: .privateAuthority)
        let rolled = ChainRulesTests.chain(
            authority: {
                $0.dnsNames = elsewhere
                $0.particulars.isSelfIssued = true
            }, root: { $0.particulars.nameConstraints = constraints })
        #expect(rules.fault(in: rolled, at: TrustFixtures.now) == nil)
        let leaf = ChainRulesTests.chain(
            leaf: {
                $0.dnsNames = elsewhere
                $0.particulars.isSelfIssued = true
            }, root: { $0.particulars.nameConstraints = constraints })
        #expect(rules.fault(in: leaf, at: TrustFixtures.now)?.code == .nameConstraint)
    }

    @Test func `an authority's own names are constrained by those above it`() throws {
        let constraints = NameConstraints(permitted: [try Self.tree("dns:example.com")])
        let chain = ChainRulesTests.chain(
            authority: { $0.dnsNames = [Array("other.test".utf8)] },
            root: { $0.particulars.nameConstraints = constraints })
        let fault = ChainRules(profile: .privateAuthority).fault(in: chain, at: TrustFixtures.now)
        #expect(fault?.code == .nameConstraint)
        #expect(fault?.depth == 1)
    }

    @Test func `a kind that cannot be compared is refused where it is constrained`() {
        let constraints = NameConstraints(excluded: [.opaque(.other)])
        let rules = ChainRules(profile: .privateAuthority)
        let without = ChainRulesTests.chain(root: { $0.particulars.nameConstraints = constraints })
        #expect(rules.fault(in: without, at: TrustFixtures.now) == nil)
        let with = ChainRulesTests.chain(
            leaf: { $0.particulars.names.kinds = [.other] },
            root: { $0.particulars.nameConstraints = constraints })
        #expect(rules.fault(in: with, at: TrustFixtures.now)?.code == .nameConstraint)
    }

    @Test func `a distinguished name is within the tree that its beginning names`() {
        let tree = DirectoryName([[1], [2]])
        #expect(DirectoryName([[1], [2], [3]]).isWithin(tree))
        #expect(!DirectoryName([[1], [3]]).isWithin(tree))
        #expect(!DirectoryName([[1]]).isWithin(tree))
    }

    private struct Malformed: Error {}

    private static func parts(_ text: String) throws -> (kind: Substring, octets: [UInt8]) {
        let colon = try #require(text.firstIndex(of: ":"))
        let rest = text[text.index(after: colon)...]
        let kind = text[..<colon]
        guard kind == "ip" else { return (kind, Array(rest.utf8)) }
        let digits = Array(rest)
        return (
            kind,
            stride(from: 0, to: digits.count, by: 2).compactMap {
                UInt8(String(digits[$0...$0 + 1]), radix: 16)
            }
        )
    }

    private static func set(
        _ facts: inout CertificateFacts, _ kind: Substring, _ octets: [UInt8]
    ) {
        facts.dnsNames = kind == "dns" ? [octets] : []
        facts.ipAddresses = kind == "ip" ? [octets] : []
        facts.particulars.names.emails = kind == "email" ? [octets] : []
        facts.particulars.names.uris = kind == "uri" ? [octets] : []
    }

    private static func tree(_ text: String) throws -> NameConstraints.Subtree {
        let (kind, octets) = try parts(text)
        let tree: NameConstraints.Subtree? =
            switch kind {
            case "dns": NameConstraints.DomainTree(octets).map { .dns($0) }
            case "ip": NameConstraints.AddressTree(octets).map { .address($0) }
            case "email": NameConstraints.EmailTree(octets).map { .email($0) }
            default: NameConstraints.DomainTree(octets).map { .uri($0) }
            }
        guard let tree else { throw Malformed() }
        return tree
    }
}
