import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSResolution
import HTTPDNSStatic
import HTTPDNSWire
import TestSupport
import Testing

/// Addresses that are measured behind an answer, on real sockets.
@Suite(.timeLimit(.minutes(1))) struct AddressProbeTests {
    /// Two addresses of which only the second has a listener at the port.
    private func resolver(probing: Bool) throws -> (Resolver, LabDNSServer, HostName) {
        let host = try HostName("two.example.test")
        // Any listener will do; this one is on 127.0.0.1 alone.
        let listener = try LabDNSServer(table: LabTable())
        try listener.start()
        var options = ResolverOptions()
        options.families = [.ipv4]
        options.probedPort = probing ? listener.port : nil
        let addresses = try ["127.0.0.2", "127.0.0.1"].map { try IPAddress($0) }
        let source = StaticBackend([host: addresses], ttlSeconds: 60)
        return (Resolver(sources: [source], options: options), listener, host)
    }

    @Test func `an address without a listener stands last for the next caller`() async throws {
        let (resolver, listener, host) = try resolver(probing: true)
        defer { listener.stop() }
        let first = try await resolver.resolve(.name(host))
        #expect(first.addresses.map(\.description) == ["127.0.0.2", "127.0.0.1"])
        let isRanked = await eventually {
            resolver.cachedHost(for: host)?.addresses.map(\.description)
                == ["127.0.0.1", "127.0.0.2"]
        }
        #expect(isRanked)
        #expect(listener.queries.isEmpty)
    }

    @Test func `nothing is dialled where it is not asked for`() async throws {
        let (resolver, listener, host) = try resolver(probing: false)
        defer { listener.stop() }
        _ = try await resolver.resolve(.name(host))
        #expect(
            resolver.cachedHost(for: host)?.addresses.map(\.description)
                == ["127.0.0.2", "127.0.0.1"])
    }
}
