/// Hashes the keys of the answer cache: two words drawn at random at start, one multiplication for
/// each eight octets.
///
/// Names come from outside, and somebody who knew the hash could choose many that meet in one place and
/// make every search long. The random words make that a guess. Not a cryptographic hash: what it gives
/// out must not be shown to anybody.
package struct KeyedHash: Sendable {
    private let start: UInt64
    private let factor: UInt64

    /// Draws the words from the system's generator.
    package init() {
        var generator = SystemRandomNumberGenerator()
        self.init(using: &generator)
    }

    package init(using generator: inout some RandomNumberGenerator) {
        start = generator.next()
        // Odd, so that no bit of what is hashed is lost in the low half.
        factor = generator.next() | 1
    }

    @inline(__always)
    func hash(_ octets: UnsafeRawBufferPointer, tail: UInt64, _ word: UInt64) -> UInt64 {
        var state = KeyedHash.fold(word ^ start, factor)
        for index in 0..<(octets.count >> 3) {
            state = KeyedHash.fold(state ^ KeyWords.load(octets, index &* 8), factor)
        }
        if octets.count & 7 != 0 { state = KeyedHash.fold(state ^ tail, factor) }
        return state
    }

    /// The same for words in a row, of whose last only the bits of `lastMask` count.
    func hash(_ words: ArraySlice<UInt64>, _ word: UInt64, lastMask: UInt64) -> UInt64 {
        var state = KeyedHash.fold(word ^ start, factor)
        for next in words.dropLast() { state = KeyedHash.fold(state ^ next, factor) }
        if let last = words.last { state = KeyedHash.fold(state ^ (last & lastMask), factor) }
        return state
    }

    /// Both halves of the product, so that every bit of the input moves every bit of the result.
    @inline(__always)
    private static func fold(_ word: UInt64, _ factor: UInt64) -> UInt64 {
        let (high, low) = word.multipliedFullWidth(by: factor)
        return high ^ low
    }
}

/// Octets taken eight at a time, the first in the lowest place, the last word filled up with zeros.
@usableFromInline
package enum KeyWords {
    @inline(__always)
    static func word(_ index: Int, of octets: UnsafeRawBufferPointer) -> UInt64 {
        index < octets.count >> 3 ? load(octets, index &* 8) : tail(octets)
    }

    /// What is left after the last whole word.
    @inline(__always)
    static func tail(_ octets: UnsafeRawBufferPointer) -> UInt64 {
        let left = octets.count & 7
        guard left > 0 else { return 0 }
        // The eight octets that end where the octets end, less those taken before.
        if octets.count >= 8 {
            return load(octets, octets.count &- 8) &>> UInt64(truncatingIfNeeded: 8 &* (8 &- left))
        }
        var word: UInt64 = 0
        for offset in 0..<left { word |= UInt64(octets[offset]) << UInt64(8 * offset) }
        return word
    }

    @inlinable @inline(__always)
    package static func load(_ octets: UnsafeRawBufferPointer, _ at: Int) -> UInt64 {
        UInt64(littleEndian: octets.loadUnaligned(fromByteOffset: at, as: UInt64.self))
    }

    /// The bits of a word that `count` octets of it fill; 0 octets stand for all eight.
    @inline(__always)
    static func mask(octets count: Int) -> UInt64 {
        count & 7 == 0 ? .max : (1 << UInt64(8 * (count & 7))) &- 1
    }
}
