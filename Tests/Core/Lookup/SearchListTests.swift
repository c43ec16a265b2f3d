import HTTPDNSLookup
import HTTPDNSNames
import Testing

@Suite struct SearchListTests {
    let suffixes: [HostName]

    init() throws {
        suffixes = [try HostName("corp.test"), try HostName("example.test")]
    }

    private func names(
        _ name: String, ndots: Int, isAbsolute: Bool = false
    ) throws -> [String] {
        SearchList(suffixes: suffixes, ndots: ndots)
            .candidates(for: try HostName(name), isAbsolute: isAbsolute).map { $0.text }
    }

    @Test func `a name with too few dots is tried with each suffix, and as it is last`() throws {
        #expect(
            try names("svc", ndots: 1) == ["svc.corp.test", "svc.example.test", "svc"])
        #expect(try names("a.b", ndots: 2).last == "a.b")
    }

    @Test func `a name with enough dots is tried as it is first`() throws {
        #expect(
            try names("a.b", ndots: 1) == ["a.b", "a.b.corp.test", "a.b.example.test"])
    }

    @Test func `no dots asked for means that every name is tried as it is first`() throws {
        #expect(try names("svc", ndots: 0).first == "svc")
        #expect(try names("svc", ndots: -3).first == "svc")
    }

    @Test func `a name with a dot at its end means itself alone`() throws {
        #expect(try names("svc", ndots: 5, isAbsolute: true) == ["svc"])
    }

    @Test func `a name that would be too long with a suffix is left out`() throws {
        let long = (0..<5).map { _ in String(repeating: "a", count: 49) }.joined(separator: ".")
        #expect(try names(long, ndots: 1) == [long])
    }

    @Test func `no name is tried twice`() throws {
        let list = SearchList(suffixes: suffixes + suffixes, ndots: 1)
        #expect(list.candidates(for: try HostName("svc")).count == 3)
    }

    @Test func `more dots than a resolver knows count as fifteen`() {
        #expect(SearchList(suffixes: [], ndots: 900).ndots == 15)
    }
}
