import HTTPDNSNames
import HTTPDNSTrust
import Testing

@Suite struct PathSearchTests {
    /// Names are numbers: 0 is the leaf's.
    private static func node(
        _ subject: Int, by issuer: Int, key: Int? = nil, trusted: Bool = false, newest: Int64 = 0,
        id: UInt8? = nil, issuerID: UInt8? = nil
    ) -> PathNode {
        PathNode(
            subject: subject, issuer: issuer, key: key ?? subject, isTrusted: trusted,
            isSelfIssued: subject == issuer, subjectKeyID: id.map { [$0] },
            authorityKeyID: issuerID.map { [$0] },
            notBefore: WallTime(secondsSince1970: newest))
    }

    private static func paths(
        _ nodes: [PathNode], limits: PathSearch.Limits = .init(),
        isSigned: (Int, Int) -> Bool = { _, _ in true }
    ) -> [[Int]] {
        var search = PathSearch(nodes: nodes, leaf: 0, limits: limits)
        var found: [[Int]] = []
        while let path = search.next(isSigned: isSigned) { found.append(path) }
        return found
    }

    @Test func `a cross-signed authority gives two paths, the trusted root first`() {
        let nodes = [
            Self.node(0, by: 1), Self.node(1, by: 2), Self.node(2, by: 3),
            Self.node(2, by: 2, trusted: true), Self.node(3, by: 3, trusted: true),
        ]
        #expect(Self.paths(nodes) == [[0, 1, 3], [0, 1, 2, 4]])
    }

    @Test func `the newer of two certificates of one authority comes first`() {
        let nodes = [
            Self.node(0, by: 1), Self.node(1, by: 2, newest: 1), Self.node(1, by: 2, newest: 2),
            Self.node(2, by: 2, trusted: true),
        ]
        #expect(Self.paths(nodes) == [[0, 2, 3], [0, 1, 3]])
    }

    @Test func `an issuer with another key identifier is none, and a matching one comes first`() {
        let nodes = [
            Self.node(0, by: 1, issuerID: 7), Self.node(1, by: 1, key: 10, trusted: true, id: 8),
            Self.node(1, by: 1, key: 11, trusted: true),
            Self.node(1, by: 1, key: 12, trusted: true, id: 7),
        ]
        #expect(Self.paths(nodes) == [[0, 3], [0, 2]])
    }

    @Test func `authorities that sign each other lead in no circle`() {
        let nodes = [
            Self.node(0, by: 1), Self.node(1, by: 2), Self.node(2, by: 1), Self.node(1, by: 1),
            Self.node(2, by: 2),
        ]
        #expect(Self.paths(nodes).isEmpty)
    }

    @Test func `a path goes on beyond a trusted intermediate`() {
        let nodes = [
            Self.node(0, by: 1), Self.node(1, by: 2, trusted: true),
            Self.node(2, by: 2, trusted: true),
        ]
        #expect(Self.paths(nodes) == [[0, 1], [0, 1, 2]])
    }

    @Test func `one of the same name that has not signed is passed over`() {
        let nodes = [
            Self.node(0, by: 1), Self.node(1, by: 1, key: 10, trusted: true, newest: 9),
            Self.node(1, by: 1, key: 11, trusted: true),
        ]
        #expect(Self.paths(nodes, isSigned: { $1 == 2 }) == [[0, 2]])
    }

    @Test func `no signature is asked for twice`() {
        // Two ways to 3, above which there is one.
        let nodes = [
            Self.node(0, by: 1), Self.node(1, by: 3, key: 10), Self.node(1, by: 3, key: 11),
            Self.node(3, by: 4), Self.node(4, by: 4, trusted: true),
        ]
        var asked: [[Int]] = []
        let found = Self.paths(nodes) {
            asked.append([$0, $1])
            return true
        }
        #expect(found.count == 2)
        #expect(Set(asked).count == asked.count)
    }

    @Test func `a hundred worthless certificates of one name cost no more than the bound`() {
        var nodes = [Self.node(0, by: 1)]
        nodes += (0..<100).map { Self.node(1, by: 1, key: 100 + $0) }
        var checks = 0
        let signed: (Int, Int) -> Bool = { _, _ in
            checks += 1
            return true
        }
        #expect(Self.paths(nodes, isSigned: signed).isEmpty)
        #expect(checks == PathSearch.Limits().signatures)
    }

    @Test func `no more paths are tried than the bound, and none is longer`() {
        // Five layers of four: 1024 paths.
        var nodes = [Self.node(0, by: 1)]
        for layer in 1...5 {
            for key in 0..<4 {
                nodes.append(
                    Self.node(layer, by: layer + 1, key: layer * 10 + key, trusted: layer == 5))
            }
        }
        #expect(Self.paths(nodes).count == PathSearch.Limits().paths)
        var limits = PathSearch.Limits()
        limits.length = 5
        #expect(Self.paths(nodes, limits: limits).isEmpty)
    }

    @Test func `what verifying costs is taken from the same bound`() {
        var search = PathSearch(nodes: [Self.node(0, by: 1)], leaf: 0)
        let isAllowed = search.spend(signatures: PathSearch.Limits().signatures)
        #expect(isAllowed)
        let isAllowedMore = search.spend(signatures: 1)
        #expect(!isAllowedMore)
    }

    @Test func `without the leaf there is no path`() {
        var search = PathSearch(nodes: [Self.node(1, by: 1, trusted: true)], leaf: -1)
        let path = search.next { _, _ in true }
        #expect(path == nil)
    }
}
