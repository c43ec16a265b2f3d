/// A gzip member whose blocks are stored, not compressed: any reader of gzip takes it, and no
/// compressor is needed. Source: RFC 1952 §2.3, RFC 1951 §3.2.4.
enum Gzip {
    static func wrapped(_ octets: [UInt8]) -> [UInt8] {
        var member: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
        var rest = octets[...]
        repeat {
            let block = rest.prefix(0xFFFF)
            rest = rest.dropFirst(block.count)
            let count = UInt16(block.count)
            member.append(rest.isEmpty ? 1 : 0)
            member += little(UInt32(count), 2) + little(UInt32(~count), 2) + block
        } while !rest.isEmpty
        return member + little(checksum(octets), 4)
            + little(UInt32(truncatingIfNeeded: octets.count), 4)
    }

    private static func little(_ number: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
    }

    /// CRC-32, bit by bit. Source: RFC 1952 §8.
    private static func checksum(_ octets: [UInt8]) -> UInt32 {
        var value: UInt32 = 0xFFFF_FFFF
        for octet in octets {
            value ^= UInt32(octet)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
        return ~value
    }
}
