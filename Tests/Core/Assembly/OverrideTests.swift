import HTTPDNS
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSWire
import Testing

/// Remembers what it is asked for, and knows nothing.
private final class Eavesdropper: ResolverBackend {
    let label = "next"
    let isAuthenticated = false
    let supportedTypes: Set<RecordType>? = nil
    private let names = Locked<[HostName]>([])

    var asked: [HostName] { names.withLock { $0 } }

    func ask(_ question: Question, deadline: Monotonic) async throws(QueryFailure) -> Testimony {
        names.withLock { $0.append(question.name) }
        throw .notCovered
    }
}

@Suite(.timeLimit(.minutes(1))) struct OverrideTests {
    private let next = Eavesdropper()

    private func resolver(_ overrides: [String: [String]]) throws -> Resolver {
        var configuration = HTTPDNSConfiguration()
        configuration.resolvers = []
        configuration.customResolvers = [next]
        for (name, addresses) in overrides {
            configuration.overrides[try HostName(name)] = try addresses.map { try IPAddress($0) }
        }
        return try HTTPDNS(configuration).resolver
    }

    @Test(arguments: [["192.0.2.7"], ["2001:db8::7"], []])
    func `Nobody else is asked about an overridden name`(addresses: [String]) async throws {
        let resolver = try resolver(["shop.example.test": addresses])
        let found = try? await resolver.resolve(
            .name(try HostName("shop.example.test")), patience: .seconds(30))
        #expect((found?.addresses ?? []).map(\.description) == addresses)
        #expect(next.asked == [])
    }

    @Test func `Any other name goes to the next source`() async throws {
        let other = try HostName("other.example.test")
        _ = try? await resolver(["shop.example.test": ["192.0.2.7"]]).resolve(.name(other))
        #expect(Set(next.asked) == [other])
    }
}
