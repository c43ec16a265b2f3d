import HTTPDNSNames
import HTTPDNSWire
import Testing

@Suite struct SpellingTests {
    private func name(_ labels: [String]) throws -> WireName {
        try #require(WireName(labels: labels.map { Array($0.utf8) }))
    }

    @Test func `a wire name spells its host name, in any case`() throws {
        let host = try HostName("a.example.test")
        #expect(try name(["a", "example", "test"]).spells(host))
        #expect(try name(["A", "eXample", "TEST"]).spells(host))
    }

    @Test func `dots inside labels, other cuts and other lengths are other names`() throws {
        let host = try HostName("a.example.test")
        #expect(try !name(["a.example", "test"]).spells(host))
        #expect(try !name(["a", "example.test"]).spells(host))
        #expect(try !name(["aaexample", "test"]).spells(host))
        #expect(try !name(["a", "example"]).spells(host))
        #expect(try !name(["b", "example", "test"]).spells(host))
        #expect(!WireName.root.spells(host))
    }
}
