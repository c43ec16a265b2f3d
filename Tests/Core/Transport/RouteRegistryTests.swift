import HTTPDNSNames
import HTTPDNSTrust
import Testing

@testable import HTTPDNSTransport

@Suite struct RouteRegistryTests {
    private func key(
        _ addresses: [String], port: UInt16 = 443, policy: String? = "p"
    ) throws -> RouteRegistry.Key {
        RouteRegistry.Key(
            addresses: try addresses.map { try IPAddress($0) }, port: try #require(Port(port)),
            policy: policy.map { PolicyFingerprint(text: $0) })
    }

    @Test func `a name stands for one ordered address list, port and policy`() throws {
        var registry = RouteRegistry()
        let keys = [
            try key(["192.0.2.1"]), try key(["192.0.2.2"]), try key(["192.0.2.1", "192.0.2.2"]),
            try key(["192.0.2.2", "192.0.2.1"]), try key(["192.0.2.1"], port: 444),
            try key(["192.0.2.1"], policy: "q"), try key(["192.0.2.1"], policy: nil),
            try key(["192.0.2.1"], policy: ""),
        ]
        let names = keys.map { registry.take($0, now: .zero).name }
        #expect(Set(names).count == keys.count)
        #expect(keys.map { registry.take($0, now: .zero).name } == names)
    }

    @Test func `the lines send every host to the name and the name to its addresses`() throws {
        var registry = RouteRegistry()
        let lines = registry.take(try key(["192.0.2.1", "2001:db8::1"], port: 8_443), now: .zero)
        #expect(lines.connectTo == "::r1.invalid:8443")
        #expect(lines.resolve == ["r1.invalid:8443:192.0.2.1,[2001:db8::1]"])
    }

    @Test func `beyond the capacity the name unused for longest is retired, and told once`() throws
    {
        var registry = RouteRegistry(capacity: 2)
        let (first, second) = (try key(["192.0.2.1"]), try key(["192.0.2.2"]))
        let lines = [registry.take(first, now: .zero), registry.take(second, now: .zero)]
        registry.release(lines[0])
        registry.release(lines[1])
        _ = registry.take(first, now: .zero)
        registry.release(lines[0])
        let third = registry.take(try key(["192.0.2.3"]), now: .zero)
        #expect(registry.count == 2)
        #expect(third.resolve == ["-r2.invalid:443", "r3.invalid:443:192.0.2.3"])
        let fourth = registry.take(first, now: .zero)
        #expect(fourth.name == "r1.invalid")
        #expect(fourth.removals.isEmpty)
        #expect(registry.take(second, now: .zero).name == "r4.invalid")
    }

    @Test func `a name in use is not retired`() throws {
        var registry = RouteRegistry(capacity: 1)
        let first = try key(["192.0.2.1"])
        #expect(registry.take(first, now: .zero).name == "r1.invalid")
        _ = registry.take(try key(["192.0.2.2"]), now: .zero)
        #expect(registry.count == 2)
        #expect(registry.take(first, now: .zero).name == "r1.invalid")
    }

    @Test func `a removal that libcurl did not see is told by the next transfer`() throws {
        var registry = RouteRegistry()
        let first = try key(["192.0.2.1"])
        let lines = registry.take(first, now: .zero)
        registry.release(lines, untold: ["-r9.invalid:443"])
        #expect(registry.take(first, now: .zero).resolve.first == "-r9.invalid:443")
    }

    @Test func `a name that is too old is left, and retired with its last user`() throws {
        var registry = RouteRegistry(lifetimeMilliseconds: 1_000)
        let key = try key(["192.0.2.1"])
        let old = registry.take(key, now: .at(0))
        #expect(registry.take(key, now: .at(999)).name == old.name)
        let new = registry.take(key, now: .at(1_000))
        #expect(new.name == "r2.invalid")
        registry.release(old)
        #expect(registry.take(key, now: .at(1_001)).removals.isEmpty)
        registry.release(old)
        #expect(registry.take(key, now: .at(1_002)).removals == ["-r1.invalid:443"])
    }

    @Test func `an old name without users is retired at once`() throws {
        var registry = RouteRegistry(lifetimeMilliseconds: 1_000)
        let key = try key(["192.0.2.1"])
        registry.release(registry.take(key, now: .at(0)))
        #expect(registry.take(key, now: .at(2_000)).removals == ["-r1.invalid:443"])
    }
}
