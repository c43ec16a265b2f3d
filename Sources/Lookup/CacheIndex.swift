/// Where the entries of a cache stand, by the hash of their keys: open addressing in a row whose length
/// is a power of two.
///
/// Each field holds the hash's tag and the entry's place; 0 is free. It is at most three quarters full,
/// so every search ends at a free field.
struct CacheIndex: Sendable {
    private var fields: [UInt32]

    /// Because: a power of two, in one line of the processor's cache.
    private static let leastFields = 16

    init() { fields = [UInt32](repeating: 0, count: CacheIndex.leastFields) }

    var octets: Int { fields.count * 4 }

    @inline(__always)
    private var mask: Int { fields.count - 1 }

    @inline(__always)
    private func place(_ slot: Int) -> Int { Int(fields[slot] & 0xFF_FFFF) }

    /// The hash's highest octet, in place: what tells most keys apart without a look at the entry.
    @inline(__always)
    private static func tag(_ hash: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: hash >> 32) & 0xFF00_0000
    }

    /// The place of the entry with a key; 0 when there is none.
    @inline(__always)
    func find(_ key: PackedKey, in arena: CacheArena) -> Int {
        let tag = CacheIndex.tag(key.hash)
        return fields.withUnsafeBufferPointer { fields in
            let mask = fields.count &- 1
            var slot = Int(truncatingIfNeeded: key.hash) & mask
            while fields[slot] != 0 {
                let place = Int(fields[slot] & 0xFF_FFFF)
                if fields[slot] & 0xFF00_0000 == tag, arena.matches(key, place) { return place }
                slot = (slot &+ 1) & mask
            }
            return 0
        }
    }

    /// True when one entry more would make it too full.
    func isFull(at count: Int) -> Bool { (count + 1) * 4 > fields.count * 3 }

    mutating func enter(_ at: Int, _ hash: UInt64) {
        var slot = Int(truncatingIfNeeded: hash) & mask
        while fields[slot] != 0 { slot = (slot + 1) & mask }
        fields[slot] = CacheIndex.tag(hash) | UInt32(at)
    }

    /// The entry at a place, whose hash is given, is about to move.
    mutating func move(_ at: Int, to place: Int, _ hash: UInt64) {
        guard let slot = slot(of: at, hash) else { return }
        fields[slot] = fields[slot] & 0xFF00_0000 | UInt32(place)
    }

    /// Takes an entry out; those behind it that are not where they would be without it move up.
    mutating func remove(_ at: Int, in arena: CacheArena, _ hashing: KeyedHash) {
        guard var hole = slot(of: at, arena.hash(at, hashing)) else { return }
        var next = (hole + 1) & mask
        while fields[next] != 0 {
            let home = Int(truncatingIfNeeded: arena.hash(place(next), hashing)) & mask
            if (next - home) & mask >= (next - hole) & mask {
                fields[hole] = fields[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        fields[hole] = 0
    }

    /// An empty index of twice the length.
    func doubled() -> CacheIndex {
        var index = CacheIndex()
        index.fields = [UInt32](repeating: 0, count: fields.count * 2)
        return index
    }

    private func slot(of at: Int, _ hash: UInt64) -> Int? {
        var slot = Int(truncatingIfNeeded: hash) & mask
        while fields[slot] != 0 {
            if place(slot) == at { return slot }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// The longest walk that a search can take.
    var longestWalk: Int {
        var (longest, walk) = (0, 0)
        for field in fields + fields {
            walk = field == 0 ? 0 : walk + 1
            longest = max(longest, walk)
        }
        return longest
    }
}
