import HTTPDNSNames
import HTTPDNSPlatform
import Testing

@Suite struct NetworkFactsTests {
    @Test func `global addresses give their prefixes, others nothing`() throws {
        let facts = try read([
            address("192.0.2.77", bits: 24), address("192.0.2.78", bits: 24),
            address("2001:db8:1:2:aaaa::1", bits: 64), address("fe80::1", bits: 64, scope: 253),
            address("127.0.0.1", bits: 8), address("::1", bits: 128),
        ])
        #expect(
            facts.prefixes == [
                try AddressBlock("192.0.2.0/24"), try AddressBlock("2001:db8:1:2::/64"),
            ])
    }

    @Test func `our end of a tunnel counts, not the other`() throws {
        let message = try address("198.51.100.1", bits: 32, local: "203.0.113.9")
        #expect(try read([message]).prefixes == [try AddressBlock("203.0.113.9/32")])
    }

    @Test func `routes for everything are found, others are not`() throws {
        let facts = try read([
            route(gateway: "192.0.2.1", interface: 2),
            route(gateway: "fe80::1", interface: 3),
            route(gateway: "192.0.2.9", bits: 24, interface: 2),
            route(gateway: "192.0.2.9", kind: 7, interface: 1),
        ])
        #expect(
            facts.defaultRoutes == [
                .init(family: .ipv4, gateway: try IPAddress("192.0.2.1"), interface: 2),
                .init(family: .ipv6, gateway: try IPAddress("fe80::1"), interface: 3),
            ])
        #expect(!facts.id.isOffline)
        #expect(NetworkFacts().id.isOffline)
    }

    @Test func `a gateway's hardware address tells networks apart, and shows nowhere`() throws {
        let parts = try [
            address("192.168.1.77", bits: 24), route(gateway: "192.168.1.1", interface: 2),
        ]
        let unknown = try read(parts)
        let mac: [UInt8] = [0x02, 0x42, 0xAC, 0x11, 0x00, 0x02]
        var home = try read(parts + [neighbour("192.168.1.1", interface: 2, mac)])
        let cafe = try read(
            parts + [neighbour("192.168.1.1", interface: 2, mac.dropLast() + [3])])
        #expect(home.gatewayMarks.count == 1)
        #expect(home.id != cafe.id)
        #expect(!home.isSameNetwork(as: cafe))
        let octets = mac.map { String($0, radix: 16) }
        #expect(!home.id.description.contains(octets.suffix(3).joined(separator: ":")))
        // One that is not known yet is no other network, and is recalled.
        #expect(unknown.isSameNetwork(as: home))
        #expect(home.isSameNetwork(as: unknown))
        var later = unknown
        later.recallGateways(of: home)
        #expect(later == home)
        home.defaultRoutes = []
        var elsewhere = home
        elsewhere.gatewayMarks = [:]
        elsewhere.recallGateways(of: later)
        #expect(elsewhere.gatewayMarks.isEmpty)
    }

    @Test func `neighbours that are no gateway, or not reached, count for nothing`() throws {
        let parts = try [route(gateway: "192.168.1.1", interface: 2)]
        let mac: [UInt8] = [2, 0, 0, 0, 0, 1]
        let others = try [
            neighbour("192.168.1.2", interface: 2, mac),
            neighbour("192.168.1.1", interface: 3, mac),
            neighbour("192.168.1.1", interface: 2, mac, state: 0x20),
            neighbour("192.168.1.1", interface: 2, mac, state: 0x01),
            neighbour("192.168.1.1", interface: 2, [0, 0, 0, 0, 0, 0]),
            neighbour("192.168.1.1", interface: 2, []),
        ]
        #expect(try read(parts + others).gatewayMarks.isEmpty)
    }

    @Test func `the order of messages does not matter, that of name servers does`() throws {
        let parts = try [
            address("192.0.2.77", bits: 24), address("198.51.100.7", bits: 24),
            route(gateway: "192.0.2.1", interface: 2),
        ]
        var first = try read(parts)
        var second = try read(parts.reversed())
        #expect(first.id == second.id)
        first.nameServers = try servers("192.0.2.53", "192.0.2.54")
        second.nameServers = try servers("192.0.2.54", "192.0.2.53")
        #expect(first.id != second.id)
    }

    @Test func `the end of a dump and an error end the reading`() {
        var facts = NetworkFacts()
        #expect(NetlinkMessages.read(message(type: 3, [0, 0, 0, 0]), into: &facts).isDone)
        #expect(NetlinkMessages.read(message(type: 2, [1, 0, 0, 0]), into: &facts).isDone)
        #expect(!NetlinkMessages.read(message(type: 16, []), into: &facts).isDone)
    }

    @Test func `links, addresses and routes tell of a change, other messages do not`() {
        var facts = NetworkFacts()
        for type in [16, 17, 20, 21, 24, 25] as [UInt16] {
            #expect(NetlinkMessages.read(message(type: type, []), into: &facts).tellsOfChange)
        }
        #expect(!NetlinkMessages.read(message(type: 68, []), into: &facts).tellsOfChange)
    }

    @Test func `no octets trap, however they are cut or bent`() throws {
        let whole = try [
            address("192.0.2.77", bits: 24), route(gateway: "fe80::1", interface: 3),
            address("2001:db8::1", bits: 64),
            neighbour("fe80::1", interface: 3, [2, 0, 0, 0, 0, 1]),
        ].flatMap { $0 }
        var facts = NetworkFacts()
        for count in 0...whole.count {
            _ = NetlinkMessages.read(Array(whole.prefix(count)), into: &facts)
        }
        var state: UInt64 = 99
        for _ in 0..<5_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1
            var octets = whole
            octets[Int(state >> 33) % octets.count] = UInt8(truncatingIfNeeded: state >> 20)
            _ = NetlinkMessages.read(octets, into: &facts)
        }
    }

    @Test(arguments: [0, 1, 15, 17, 255])
    func `a length that does not fit ends the reading`(length: UInt8) throws {
        var octets = try address("192.0.2.77", bits: 24)
        octets = Array(octets.prefix(16))
        octets[0] = length
        var facts = NetworkFacts()
        #expect(NetlinkMessages.read(octets, into: &facts).isDamaged)
        #expect(facts == NetworkFacts())
    }

    @Test func `a prefix longer than the address is no prefix`() throws {
        #expect(try read([address("192.0.2.77", bits: 33)]).prefixes == [])
    }

    private func servers(_ texts: String...) throws -> [Endpoint] {
        try texts.map { Endpoint(address: try IPAddress($0), port: .dns) }
    }

    private func read(_ messages: [[UInt8]]) throws -> NetworkFacts {
        var facts = NetworkFacts()
        let reading = NetlinkMessages.read(messages.flatMap { $0 }, into: &facts)
        #expect(!reading.isDamaged)
        return facts
    }

    // Messages by hand, as rtnetlink(7) lays them out.

    private func message(type: UInt16, _ body: [UInt8]) -> [UInt8] {
        native(UInt32(16 + body.count)) + native(type) + native(UInt16(2)) + native(UInt32(1))
            + native(UInt32(0)) + body
    }

    private func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        let octets = native(UInt16(4 + value.count)) + native(type) + value
        return octets + [UInt8](repeating: 0, count: (4 - octets.count % 4) % 4)
    }

    private func address(
        _ text: String, bits: UInt8, scope: UInt8 = 0, local: String? = nil
    ) throws -> [UInt8] {
        let address = try IPAddress(text)
        let family: UInt8 = address.family == .ipv4 ? 2 : 10
        var body = [family, bits, 0, scope] + native(UInt32(2))
        body += attribute(1, address.octets) + attribute(3, Array("eth0\0".utf8))
        if let local { body += attribute(2, try IPAddress(local).octets) }
        return message(type: 20, body)
    }

    private func route(
        gateway: String, bits: UInt8 = 0, kind: UInt8 = 1, interface: UInt32
    ) throws -> [UInt8] {
        let address = try IPAddress(gateway)
        let family: UInt8 = address.family == .ipv4 ? 2 : 10
        let body =
            [family, bits, 0, 0, 254, 3, 0, kind] + native(UInt32(0))
            + attribute(15, native(UInt32(254))) + attribute(5, address.octets)
            + attribute(4, native(interface))
        return message(type: 24, body)
    }

    private func neighbour(
        _ text: String, interface: UInt32, _ hardware: [UInt8], state: UInt16 = 0x04
    ) throws -> [UInt8] {
        let address = try IPAddress(text)
        let family: UInt8 = address.family == .ipv4 ? 2 : 10
        let body =
            [family, 0, 0, 0] + native(interface) + native(state) + [0, 1]
            + attribute(1, address.octets) + attribute(2, hardware)
        return message(type: 28, body)
    }

    private func native<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number) { Array($0) }
    }
}

@Suite struct NetworkQuietTests {
    var quiet = NetworkQuiet()

    @Test mutating func `nothing is looked at before something was heard`() {
        #expect(quiet.lookAt == nil)
        #expect(quiet.isDue(now: .after(1_000_000)) == false)
    }

    @Test mutating func `a burst is looked at once it is over, and once more later`() {
        for moment in [0, 100, 400] as [Int64] { quiet.heard(now: .after(moment)) }
        #expect(quiet.lookAt == .after(900))
        #expect(quiet.isDue(now: .after(899)) == false)
        #expect(quiet.isDue(now: .after(900)) == true)
        #expect(quiet.isDue(now: .after(901)) == false)
        #expect(quiet.lookAt == .after(5_900))
        #expect(quiet.isDue(now: .after(5_900)) == true)
        #expect(quiet.lookAt == nil)
    }

    @Test mutating func `a network that never falls silent is looked at all the same`() {
        for moment in stride(from: 0, through: 4_900, by: 100) {
            quiet.heard(now: .after(Int64(moment)))
        }
        #expect(quiet.lookAt == .after(5_000))
        #expect(quiet.isDue(now: .after(5_000)) == true)
    }

    @Test mutating func `what is heard before the second look puts it off`() {
        quiet.heard(now: .zero)
        #expect(quiet.isDue(now: .after(500)) == true)
        quiet.heard(now: .after(600))
        #expect(quiet.lookAt == .after(1_100))
    }
}

extension Monotonic {
    fileprivate static func after(_ milliseconds: Int64) -> Monotonic {
        Monotonic.zero.adding(milliseconds: milliseconds)
    }
}
