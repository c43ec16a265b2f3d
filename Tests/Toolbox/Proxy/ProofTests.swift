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

@Suite struct PeekQueueTests {
    private func key(_ number: Int, host: Host? = nil) -> PeekQueue.Key {
        let address =
            IPAddress(octets: [10, 0, UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)])
            ?? LabHosts.address
        return PeekQueue.Key(
            host: host ?? .address(address), endpoint: Endpoint(address: address, port: .https),
            policy: PolicyFingerprint(text: "policy"))
    }

    @Test func `who leaves the queue takes along what nobody else waits for`() {
        var queue = PeekQueue()
        let (first, _) = queue.join(key(1)) { _ in }
        let (second, _) = queue.join(key(2)) { _ in }
        _ = queue.join(key(2)) { _ in }
        queue.leave(first)
        queue.leave(second)
        #expect(queue.next() == key(2))
        #expect(queue.next() == nil)
        #expect(queue.ended(key(2), wasStopped: false).count == 1)
    }

    @Test func `a handshake is not wanted once its last waiter has left`() {
        var queue = PeekQueue()
        let (ticket, _) = queue.join(key(1)) { _ in }
        #expect(queue.next() == key(1))
        #expect(queue.isWanted(key(1)))
        queue.leave(ticket)
        queue.leave(ticket)
        #expect(!queue.isWanted(key(1)))
        // Who joins what is just being broken off has it made anew.
        _ = queue.join(key(1)) { _ in }
        #expect(queue.ended(key(1), wasStopped: true).isEmpty)
        #expect(queue.next() == key(1))
        #expect(queue.ended(key(1), wasStopped: false).count == 1)
        #expect(queue.next() == nil)
        #expect(queue.isEmpty)
    }

    @Test func `one host has four handshakes at once, and others go past its rest`() {
        var queue = PeekQueue()
        for number in 0..<8 { _ = queue.join(key(number, host: LabHosts.host)) { _ in } }
        _ = queue.join(key(8)) { _ in }
        let begun = (0..<5).map { _ in queue.next() }
        #expect(begun.last == key(8))
        #expect(queue.next() == nil)
        _ = queue.ended(key(0, host: LabHosts.host), wasStopped: false)
        #expect(queue.next() == key(4, host: LabHosts.host))
    }

    @Test func `there is an end to the threads, and to the queue`() {
        var queue = PeekQueue()
        let threads = (0..<PeekQueue.maximumWaiting).count { queue.join(key($0)) { _ in }.1 }
        #expect(threads == PeekQueue.maximumThreads)
        #expect(queue.isFull)
        #expect(queue.next() != nil)
        #expect(!queue.isFull)
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
