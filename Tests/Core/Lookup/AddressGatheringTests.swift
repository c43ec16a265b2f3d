import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import Testing

@Suite struct AddressGatheringTests {
    private func success(_ texts: [String], _ type: RecordType) throws -> AddressGathering.Outcome {
        let testimony = try Said.addresses(texts, to: try Said.question("a.test", type))
        return .success(LookupAnswer(testimony: testimony, ttlSeconds: 60, isCached: false))
    }

    @Test func `a lost AAAA holds back a ready A for fifty milliseconds only`() throws {
        var gathering = AddressGathering(families: [.ipv4, .ipv6])
        #expect(
            gathering.answered(.ipv4, try success(["192.0.2.1"], .a)) == [
                .armDelay(milliseconds: 50)
            ])
        #expect(gathering.delayOver() == [.finish])
        #expect(gathering.answered(.ipv6, try success(["2001:db8::1"], .aaaa)) == [])
        let host = try ResolvedHost(host: try HostName("a.test"), outcomes: gathering.outcomes)
        #expect(host.addresses == [try IPAddress("192.0.2.1")])
    }

    @Test func `both families are joined in turn, IPv6 first`() throws {
        var gathering = AddressGathering(families: [.ipv4, .ipv6])
        _ = gathering.answered(.ipv4, try success(["192.0.2.1", "192.0.2.2"], .a))
        #expect(
            gathering.answered(.ipv6, try success(["2001:db8::1"], .aaaa)) == [
                .disarmDelay, .finish,
            ])
        let host = try ResolvedHost(host: try HostName("a.test"), outcomes: gathering.outcomes)
        #expect(
            host.addresses.map(\.description) == ["2001:db8::1", "192.0.2.1", "192.0.2.2"])
    }

    @Test func `a family without addresses waits for the other`() throws {
        var gathering = AddressGathering(families: [.ipv4, .ipv6])
        let empty = Said.nothing(.noError, soa: 5, to: try Said.question("a.test", .aaaa))
        let outcome = AddressGathering.Outcome.success(
            LookupAnswer(testimony: empty, ttlSeconds: 5, isCached: false))
        #expect(gathering.answered(.ipv6, outcome) == [])
        #expect(gathering.delayOver() == [])
        #expect(gathering.answered(.ipv4, .failure(.cancelled)) == [.finish])
        #expect(throws: ResolutionFailure.failed(.cancelled)) {
            try ResolvedHost(host: try HostName("a.test"), outcomes: gathering.outcomes)
        }
    }

    @Test func `no such name is reported as such`() throws {
        var gathering = AddressGathering(families: [.ipv4])
        let denial = LookupAnswer(
            testimony: Said.nothing(.noSuchName, soa: 5, to: try Said.question("a.test")),
            ttlSeconds: 5, isCached: false)
        #expect(gathering.answered(.ipv4, .success(denial)) == [.finish])
        #expect(throws: ResolutionFailure.negative(denial)) {
            try ResolvedHost(host: try HostName("a.test"), outcomes: gathering.outcomes)
        }
    }
}
