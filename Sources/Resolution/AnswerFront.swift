package import HTTPDNSLookup
package import HTTPDNSNames
internal import HTTPDNSPlatform

/// Copies of the addresses that are read most, for readers who take no lock and write nothing.
///
/// As many parts as the cache has shards, a part to each: what is written is written under that
/// shard's lock. A part is a table of rows; a key's copy stands in one of the four that follow the place
/// of its hash. A row:
///
///     0   version: see ``VersionedSlots``
///     1   the key's hash
///     2   the key's word; 0: nothing stands here
///     3   no longer good from, ms (44 bits) | - | there are more addresses (1) | how many are here (4)
///     4   end of its life, ms
///     5…  the key's octets, filled up with zeros to a whole word; then the addresses: two of IPv4 in a
///         word, the first in the high half, or two words for one of IPv6
///
/// What does not fit is not kept here. When a copy is good: see ``AnswerLoan``.
package struct AnswerFront: Sendable {
    /// Holds what ``rows`` stand in.
    private let memory: ZeroedMemory?
    private let rows: VersionedSlots?
    /// Rows of a part, a power of two, less one.
    private let mask: Int

    /// Octets of memory, had all been written.
    package var octets: Int { (rows?.count ?? 0) * VersionedSlots.slotOctets }

    /// Rows in which a copy stands, for tests. Walks over all of them.
    package var copies: Int {
        guard let rows else { return 0 }
        return (0..<rows.count).count {
            rows[$0][AnswerFront.wordOfKey] != 0
        }
    }

    /// - Parameter limits: those of the whole cache; small ones leave no room for copies.
    package init(parts: Int, limits: CacheLimits) {
        let most = min(
            AnswerFront.maximumSlots, limits.entries,
            limits.octets / AnswerFront.share / VersionedSlots.slotOctets)
        var slotsInPart = AnswerFront.window
        while slotsInPart * 2 * parts <= most { slotsInPart *= 2 }
        mask = slotsInPart - 1
        let count = slotsInPart * parts <= most ? slotsInPart * parts : 0
        memory =
            count == 0
            ? nil
            : ZeroedMemory(
                octets: count * VersionedSlots.slotOctets, alignment: VersionedSlots.slotOctets)
        rows = memory.map { VersionedSlots(count: count, in: $0) }
    }

    // Because: the table above.
    private static let wordOfHash = 1
    private static let wordOfKey = 2
    private static let wordOfBounds = 3
    private static let wordOfEnd = 4
    private static let headWords = 5
    private static let untilShift: UInt64 = 20
    private static let isIncomplete: UInt64 = 0x10
    private static let countBits: UInt64 = 0xF

    private static let contentWords = VersionedSlots.wordsInSlot - headWords
    /// Because: the names that are in use at once are some hundreds; half a mebibyte holds their
    /// copies several times, and that is what the default limits allow.
    private static let maximumSlots = 4_096
    /// Because: a sixteenth of the room, so that copies never push out much.
    private static let share = 16
    /// Rows in which a key may stand.
    ///
    /// Because: at half load more than 99 of 100 names find one of four free; each costs a reader
    /// who does not find his a line.
    private static let window = 4
    /// Readers who find no free row, of whom one may take another's.
    ///
    /// Because: where more names are in use than there are rows, each copy would be pushed out before it
    /// is read, and each read would write.
    private static let turnsToDisplace: UInt32 = 16

    @inline(__always)
    private func position(_ hash: UInt64, _ part: Int, _ step: Int) -> Int {
        // Neither the shard's bits nor those that serve inside it.
        part &* (mask &+ 1) &+ (Int(truncatingIfNeeded: hash >> 44) &+ step) & mask
    }

    /// Words of a key; nil when they do not fit.
    @inline(__always)
    private static func words(_ key: PackedKey) -> Int? {
        let words = (key.octets.count &+ 7) >> 3
        return words <= contentWords ? words : nil
    }

    @inline(__always)
    private static func words(_ count: Int, _ family: IPAddress.Family) -> Int {
        family == .ipv4 ? (count &+ 1) >> 1 : count &* 2
    }
}

// MARK: Reading, without a lock

extension AnswerFront {
    /// Finds a copy; false when there is none that is good now.
    ///
    /// - Parameter addresses: filled when something is found, and empty otherwise.
    @inline(__always)
    package func read(
        _ key: PackedKey, _ family: IPAddress.Family, part: Int, now: Monotonic,
        into addresses: inout CachedAddresses
    ) -> Bool {
        guard let rows, let keyWords = AnswerFront.words(key) else { return false }
        for step in 0..<AnswerFront.window {
            let row = rows[position(key.hash, part, step)]
            let version = row.version
            guard row[AnswerFront.wordOfHash] == key.hash else { continue }
            // Equal hashes are likely the same key, and sure to be so only when all of it is equal.
            guard AnswerFront.holds(row, key),
                AnswerFront.copy(row, keyWords, family, now: now, into: &addresses)
            else { return false }
            if row.isStill(version) { return true }
            addresses = CachedAddresses()
            return false
        }
        return false
    }

    @inline(__always)
    private static func holds(_ row: VersionedSlots.Slot, _ key: PackedKey) -> Bool {
        guard row[wordOfKey] == key.word else { return false }
        let whole = key.octets.count >> 3
        for index in 0..<whole
        where row[headWords &+ index] != KeyWords.load(key.octets, index &* 8) {
            return false
        }
        return key.octets.count & 7 == 0 || row[headWords &+ whole] == key.tail
    }

    /// Copies what may be parts of two contents: only numbers that fit are followed.
    @inline(__always)
    private static func copy(
        _ row: VersionedSlots.Slot, _ keyWords: Int, _ family: IPAddress.Family, now: Monotonic,
        into addresses: inout CachedAddresses
    ) -> Bool {
        let moment = AnswerCache.milliseconds(now)
        let bounds = row[wordOfBounds]
        let count = Int(truncatingIfNeeded: bounds & countBits)
        guard moment < Int64(bitPattern: bounds >> untilShift),
            keyWords &+ words(count, family) <= contentWords
        else { return false }
        let left = Int64(bitPattern: row[wordOfEnd]) &- moment
        addresses.begin(
            secondsLeft: UInt32(truncatingIfNeeded: UInt64(bitPattern: left &+ 999) / 1_000),
            isStale: false, wantsRefresh: false)
        if bounds & isIncomplete != 0 { addresses.markIncomplete() }
        let first = headWords &+ keyWords
        for index in 0..<count {
            switch family {
            case .ipv4:
                let pair = row[first &+ index >> 1]
                addresses.append(
                    .ipv4, high: 0, low: index & 1 == 0 ? pair >> 32 : pair & 0xFFFF_FFFF)
            case .ipv6:
                addresses.append(
                    .ipv6, high: row[first &+ index &* 2], low: row[first &+ index &* 2 &+ 1])
            }
        }
        return true
    }
}

// MARK: Writing, under the lock of the part's shard

extension AnswerFront {
    /// Keeps a copy of what was just read, where there is room for it.
    ///
    /// - Parameter turn: the part's own count of those who found none.
    package func keep(
        _ addresses: CachedAddresses, _ family: IPAddress.Family, of key: PackedKey, part: Int,
        _ terms: (loan: AnswerLoan, now: Monotonic), turn: inout UInt32
    ) {
        guard let rows, let keyWords = AnswerFront.words(key),
            keyWords + AnswerFront.words(addresses.count, family) <= AnswerFront.contentWords,
            let position = free(rows, key, part, now: terms.now, turn: &turn)
        else { return }
        rows[position].write { row in
            AnswerFront.write(key, to: row)
            row.set(
                AnswerFront.wordOfBounds,
                to: UInt64(bitPattern: terms.loan.until) << AnswerFront.untilShift
                    | (addresses.isComplete ? 0 : AnswerFront.isIncomplete)
                    | UInt64(addresses.count) & AnswerFront.countBits)
            row.set(AnswerFront.wordOfEnd, to: UInt64(bitPattern: terms.loan.end))
            AnswerFront.write(addresses, family, to: row, from: AnswerFront.headWords + keyWords)
        }
    }

    private static func write(_ key: PackedKey, to row: VersionedSlots.Writer) {
        row.set(wordOfHash, to: key.hash)
        row.set(wordOfKey, to: key.word)
        let whole = key.octets.count >> 3
        for index in 0..<whole {
            row.set(headWords + index, to: KeyWords.load(key.octets, index * 8))
        }
        if key.octets.count & 7 != 0 { row.set(headWords + whole, to: key.tail) }
    }

    private static func write(
        _ addresses: CachedAddresses, _ family: IPAddress.Family, to row: VersionedSlots.Writer,
        from first: Int
    ) {
        for index in 0..<addresses.count {
            let address = addresses[index]
            switch family {
            case .ipv4 where index & 1 == 0:
                let second = index + 1 < addresses.count ? addresses[index + 1].low : 0
                row.set(first + index / 2, to: address.low << 32 | second & 0xFFFF_FFFF)
            case .ipv4: break
            case .ipv6:
                row.set(first + index * 2, to: address.high)
                row.set(first + index * 2 + 1, to: address.low)
            }
        }
    }

    /// The row that a key's copy may take: its own, else one that is empty or over, else now and then
    /// somebody else's.
    private func free(
        _ rows: VersionedSlots, _ key: PackedKey, _ part: Int, now: Monotonic,
        turn: inout UInt32
    ) -> Int? {
        let moment = AnswerCache.milliseconds(now)
        var idle: Int?
        for step in 0..<AnswerFront.window {
            let position = position(key.hash, part, step)
            let row = rows[position]
            if row[AnswerFront.wordOfHash] == key.hash { return position }
            let until = Int64(
                bitPattern: row[AnswerFront.wordOfBounds] >> AnswerFront.untilShift)
            if idle == nil, row[AnswerFront.wordOfKey] == 0 || until <= moment { idle = position }
        }
        if let idle { return idle }
        turn &+= 1
        guard turn % AnswerFront.turnsToDisplace == 0 else { return nil }
        let step = Int(turn / AnswerFront.turnsToDisplace) % AnswerFront.window
        return position(key.hash, part, step)
    }

    /// Lets go of the copy of the key with a hash; of two keys with one hash both go.
    package func drop(_ hash: UInt64, part: Int) {
        guard let rows else { return }
        for step in 0..<AnswerFront.window {
            let row = rows[position(hash, part, step)]
            guard row[AnswerFront.wordOfHash] == hash else { continue }
            row.write { row in
                row.set(AnswerFront.wordOfHash, to: 0)
                row.set(AnswerFront.wordOfKey, to: 0)
                row.set(AnswerFront.wordOfBounds, to: 0)
            }
        }
    }
}
