/// The first words of an entry in the arena, and how to read them.
///
///     0   end of its life, ms (44 bits) | popularity (8) | reads since stored (2) | marks (10)
///     1   newer entry (24) | older entry (24) | words it takes (16)
///     2   not to be refreshed before, s (32) | life, s (20) | -
///     3   the key's word: see ``PackedKey``
///     4   source (32) | octets of its answer (24) | form (8)
///     5…  the key's octets, then the answer's, without a gap; the last word filled up with zeros
///
/// Entries name each other by the place of their first word; 0 is nobody's.
struct CacheEntry {
    /// Because: the five words above.
    static let headWords = 5
    /// The largest entry: 512 KiB.
    ///
    /// Because: its size has 16 bits; a message of 64 KiB is smaller, names unpacked included.
    static let maximumWords = 0xFFFF
    /// Because: a place has 24 bits, so an arena ends at 128 MiB.
    static let maximumPlace = 0xFF_FFFF

    /// Bits of their own, because an entry can have all of them.
    enum Mark {
        /// Read since the eviction's hand came by. Because of the table above: one of ten bits.
        static let read: UInt64 = 0x1
        /// Somebody asked for a refresh. Because of the table, as above.
        static let forced: UInt64 = 0x2
        /// No longer an entry: room to be won back. Because of the table, as above.
        static let dead: UInt64 = 0x4
        /// A copy may stand elsewhere: see ``AnswerLoan``. Because of the table, as above.
        static let lent: UInt64 = 0x8
    }

    // Because: the places in the table above.
    static let expiryShift: UInt64 = 20
    static let popularityShift: UInt64 = 12
    static let readsShift: UInt64 = 10
    static let marks: UInt64 = 0x3FF
}

/// The words of all entries.
///
/// An arena without gaps to look for: entries are appended; what is dropped stays until the arena is
/// swept, and then all that live move together. A sweep frees at least a quarter of what it walks
/// over, so it costs each stored word a constant share.
struct CacheArena: Sendable {
    /// Place 0 is nobody's.
    private(set) var words: [UInt64] = [0]
    /// Words of living entries.
    private(set) var live = 0

    /// Words that no entry uses.
    var idle: Int { words.count - 1 - live }

    @inline(__always)
    func word(_ offset: Int, of at: Int) -> UInt64 { words[at + offset] }

    @inline(__always)
    mutating func set(_ offset: Int, of at: Int, to word: UInt64) { words[at + offset] = word }

    // MARK: Fields

    @inline(__always)
    func size(_ at: Int) -> Int { Int(words[at + 1] & 0xFFFF) }

    func newer(_ at: Int) -> Int { Int(words[at + 1] >> 40) }

    func older(_ at: Int) -> Int { Int(words[at + 1] >> 16 & 0xFF_FFFF) }

    mutating func setNewer(_ at: Int, to other: Int) {
        words[at + 1] = words[at + 1] & 0xFF_FFFF_FFFF | UInt64(other) << 40
    }

    mutating func setOlder(_ at: Int, to other: Int) {
        words[at + 1] = words[at + 1] & ~(0xFF_FFFF << 16) | UInt64(other) << 16
    }

    /// Milliseconds of the monotonic clock.
    @inline(__always)
    func expiry(_ at: Int) -> Int64 {
        Int64(bitPattern: words[at] >> CacheEntry.expiryShift)
    }

    func popularity(_ at: Int) -> Int { Int(words[at] >> CacheEntry.popularityShift & 0xFF) }

    func has(_ mark: UInt64, _ at: Int) -> Bool { words[at] & mark != 0 }

    mutating func mark(_ mark: UInt64, _ at: Int) { words[at] |= mark }

    mutating func unmark(_ mark: UInt64, _ at: Int) { words[at] &= ~mark }

    func retrySecond(_ at: Int) -> UInt32 { UInt32(words[at + 2] >> 32) }

    mutating func setRetrySecond(_ at: Int, to second: UInt32) {
        words[at + 2] = words[at + 2] & 0xFFFF_FFFF | UInt64(second) << 32
    }

    @inline(__always)
    func lifeSeconds(_ at: Int) -> UInt32 { UInt32(words[at + 2] >> 12 & 0xF_FFFF) }

    @inline(__always)
    func keyOctets(_ at: Int) -> Int { Int(words[at + 3] >> 48 & 0xFFF) }

    func source(_ at: Int) -> UInt32 { UInt32(words[at + 4] >> 32) }

    @inline(__always)
    func answerOctets(_ at: Int) -> Int { Int(words[at + 4] >> 8 & 0xFF_FFFF) }

    @inline(__always)
    func form(_ at: Int) -> PackedAnswer.Form {
        PackedAnswer.Form(rawValue: UInt8(truncatingIfNeeded: words[at + 4]))
    }

    // MARK: Octets

    /// Where an entry's answer begins, in octets from the arena's start.
    @inline(__always)
    func answerStart(_ at: Int) -> Int { (at + CacheEntry.headWords) * 8 + keyOctets(at) }

    /// Eight octets from a place that need not be a word's, the first in the lowest place.
    @inline(__always)
    func octets(at octet: Int) -> UInt64 {
        let shift = UInt64(truncatingIfNeeded: octet & 7) * 8
        let index = octet >> 3
        guard shift > 0 else { return words[index] }
        let next = index + 1 < words.count ? words[index + 1] : 0
        return words[index] >> shift | next << (64 - shift)
    }

    func answer(_ at: Int) -> [UInt8] {
        octets(from: answerStart(at), count: answerOctets(at))
    }

    func key(_ at: Int) -> [UInt8] {
        octets(from: (at + CacheEntry.headWords) * 8, count: keyOctets(at))
    }

    private func octets(from start: Int, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { octets, written in
            for offset in stride(from: 0, to: count, by: 8) {
                let word = self.octets(at: start + offset)
                for each in 0..<min(8, count - offset) {
                    octets[offset + each] = UInt8(truncatingIfNeeded: word >> UInt64(8 * each))
                }
            }
            written = count
        }
    }

    @inline(__always)
    func matches(_ key: PackedKey, _ at: Int) -> Bool {
        guard words[at + 3] == key.word else { return false }
        let whole = key.octets.count >> 3
        return words.withUnsafeBufferPointer { words in
            // Equal words, so equal lengths: the key's words lie inside the entry.
            let start = at &+ CacheEntry.headWords
            for index in 0..<whole
            where words[start &+ index] != KeyWords.load(key.octets, index &* 8) {
                return false
            }
            guard key.octets.count & 7 != 0 else { return true }
            let mask = KeyWords.mask(octets: key.octets.count)
            return words[start &+ whole] & mask == key.tail
        }
    }

    func hash(_ at: Int, _ hashing: KeyedHash) -> UInt64 {
        let start = at + CacheEntry.headWords
        let count = keyOctets(at)
        return hashing.hash(
            words[start..<(start + (count + 7) / 8)], words[at + 3],
            lastMask: KeyWords.mask(octets: count))
    }

    // MARK: Room

    /// How many words an entry takes.
    static func words(keyOctets: Int, answerOctets: Int) -> Int {
        CacheEntry.headWords + (keyOctets + answerOctets + 7) / 8
    }

    /// Appends an entry; its place. The caller has seen to it that there is room.
    mutating func append(_ head: [UInt64], _ octets: [UInt8]) -> Int {
        let at = words.count
        words += head
        fill(octets)
        live += words.count - at
        return at
    }

    private mutating func fill(_ octets: [UInt8]) {
        octets.withUnsafeBytes { octets in
            for index in 0..<((octets.count + 7) / 8) {
                words.append(KeyWords.word(index, of: octets))
            }
        }
    }

    /// Writes an entry over one of the same size.
    mutating func overwrite(_ at: Int, _ head: [UInt64], _ octets: [UInt8]) {
        for (index, word) in head.enumerated() { words[at + index] = word }
        octets.withUnsafeBytes { octets in
            for index in 0..<((octets.count + 7) / 8) {
                words[at + CacheEntry.headWords + index] = KeyWords.word(index, of: octets)
            }
        }
    }

    mutating func drop(_ at: Int) {
        live -= size(at)
        mark(CacheEntry.Mark.dead, at)
    }

    mutating func reserve(_ capacity: Int) { words.reserveCapacity(capacity) }

    var capacity: Int { words.capacity }

    /// Copies an entry to an earlier place, over what is dead there.
    mutating func copy(_ from: Int, _ to: Int) {
        for offset in 0..<size(from) { words[to + offset] = words[from + offset] }
    }

    mutating func cut(at end: Int) { words.removeLast(words.count - end) }
}
