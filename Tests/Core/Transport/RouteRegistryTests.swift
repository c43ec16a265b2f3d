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
        let names = keys.map { registry.take($0).name }
        #expect(Set(names).count == keys.count)
        #expect(keys.map { registry.take($0).name } == names)
    }

    @Test func `the lines send every host to the name and the name to its addresses`() throws {
        var registry = RouteRegistry()
        let lines = registry.take(try key(["192.0.2.1", "2001:db8::1"], port: 8_443))
        #expect(lines.connectTo == "::r1.invalid:8443")
        #expect(lines.resolve == ["r1.invalid:8443:192.0.2.1,[2001:db8::1]"])
    }

    @Test func `beyond the capacity the name unused for longest is retired, and told once`() throws
    {
        var registry = RouteRegistry(capacity: 2)
        let (first, second) = (try key(["192.0.2.1"]), try key(["192.0.2.2"]))
        _ = registry.take(first)
        _ = registry.take(second)
        registry.release(first)
        registry.release(second)
        _ = registry.take(first)
        registry.release(first)
        let third = registry.take(try key(["192.0.2.3"]))
        #expect(registry.count == 2)
        #expect(third.resolve == ["-r2.invalid:443", "r3.invalid:443:192.0.2.3"])
        let fourth = registry.take(first)
        #expect(fourth.name == "r1.invalid")
        #expect(fourth.removals.isEmpty)
        #expect(registry.take(second).name == "r4.invalid")
    }

    @Test func `a name in use is not retired`() throws {
        var registry = RouteRegistry(capacity: 1)
        let first = try key(["192.0.2.1"])
        #expect(registry.take(first).name == "r1.invalid")
        _ = registry.take(try key(["192.0.2.2"]))
        #expect(registry.count == 2)
        #expect(registry.take(first).name == "r1.invalid")
    }

    @Test func `a removal that libcurl did not see is told by the next transfer`() throws {
        var registry = RouteRegistry()
        let first = try key(["192.0.2.1"])
        _ = registry.take(first)
        registry.release(first, untold: ["-r9.invalid:443"])
        #expect(registry.take(first).resolve.first == "-r9.invalid:443")
    }
}
