internal import CHTTPDNSSystem

/// Numbers that nobody can guess, from the system's generator, had many at a time: one call of the
/// system for each would cost a question a tenth of what it costs in all.
package struct HardNumbers {
    private var octets = [UInt8](repeating: 0, count: Self.batchOctets)
    private var used = Self.batchOctets

    package init() {}

    package mutating func next() -> UInt16 {
        if used + 2 > octets.count { refill() }
        defer { used += 2 }
        return UInt16(octets[used]) << 8 | UInt16(octets[used + 1])
    }

    /// A number below `limit`, each equally likely as far as 16 bits go.
    package mutating func next(below limit: Int) -> Int {
        limit > 1 ? (Int(next()) * min(limit, 65_536)) >> 16 : 0
    }

    private mutating func refill() {
        used = 0
        guard httpdns_random_octets(&octets, octets.count) != 0 else { return }
        // A system without the call: the library's own generator asks another way.
        for index in octets.indices { octets[index] = UInt8.random(in: .min ... .max) }
    }

    /// Source: getentropy(3): at most 256 at a time.
    private static let batchOctets = 256
}
