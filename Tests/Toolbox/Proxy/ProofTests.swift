import HTTPDNSNames
import HTTPDNSTrust
import Testing

@testable import HTTPDNSForwardProxy

@Suite struct PeekOrderTests {
    @Test func `the next address begins when the first has failed, or after its head start`() {
        var order = PeekOrder(count: 3)
        #expect(order.start() == [.peek(0), .armStagger])
        #expect(order.failed(0) == [.peek(1), .armStagger])
        #expect(order.waited() == [.peek(2)])
        #expect(order.waited() == [])
        #expect(order.proved(2) == [.succeed(2)])
        #expect(order.proved(1) == [])
        #expect(order.failed(1) == [])
    }

    @Test func `it fails only when the last has failed`() {
        var order = PeekOrder(count: 2)
        #expect(order.start() == [.peek(0), .armStagger])
        #expect(order.waited() == [.peek(1)])
        #expect(order.failed(1) == [])
        #expect(order.failed(0) == [.fail])
        #expect(order.waited() == [])
    }

    @Test func `without an address it fails at once`() {
        var order = PeekOrder(count: 0)
        #expect(order.start() == [.fail])
    }
}

@Suite struct ProofCacheTests {
    private static let failure = AddressFailure(
        endpoint: Endpoint(address: LabHosts.address, port: .https), kind: .untrusted,
        label: "wrong_name", message: "")

    private func key(_ number: Int, host: Host = LabHosts.host) -> ProofCache.Key {
        let octets = [
            10, UInt8(number >> 16 & 0xFF), UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF),
        ]
        return ProofCache.Key(
            host: host,
            endpoint: Endpoint(
                address: IPAddress(octets: octets) ?? LabHosts.address, port: .https),
            policy: PolicyFingerprint(text: "policy"))
    }

    @Test func `a failure is believed for five seconds, of its own address and host alone`() throws
    {
        var cache = ProofCache()
        let wall = WallTime(secondsSince1970: 0)
        cache.keep(.failed(ProofCacheTests.failure), for: key(1), now: .zero)
        let at = { Monotonic.zero.adding(milliseconds: $0) }
        #expect(cache.entry(key(1), now: at(4_999), wall: wall)?.failure != nil)
        #expect(cache.entry(key(1), now: at(5_000), wall: wall) == nil)
        #expect(cache.entry(key(2), now: at(0), wall: wall) == nil)
        #expect(
            cache.entry(key(1, host: .name(try HostName("b.test"))), now: at(0), wall: wall) == nil)
    }

    @Test func `it keeps the newest, and not more than its bound`() {
        var cache = ProofCache()
        for number in 0..<20_000 {
            cache.keep(.failed(ProofCacheTests.failure), for: key(number), now: .zero)
            cache.keep(.failed(ProofCacheTests.failure), for: key(number), now: .zero)
        }
        #expect(cache.count <= 2 * ProofCache.maximumEntries)
        let wall = WallTime(secondsSince1970: 0)
        #expect(cache.entry(key(19_999), now: .zero, wall: wall) != nil)
        #expect(cache.entry(key(0), now: .zero, wall: wall) == nil)
        cache.forget(key(19_999))
        #expect(cache.entry(key(19_999), now: .zero, wall: wall) == nil)
    }
}

enum LabHosts {
    static let address = IPAddress(octets: [127, 0, 0, 1] as [UInt8]) ?? IPAddress.any
    static let host = Host.address(address)
}

extension IPAddress {
    fileprivate static var any: IPAddress { IPAddress(family: .ipv4, high: 0, low: 0) }
}
