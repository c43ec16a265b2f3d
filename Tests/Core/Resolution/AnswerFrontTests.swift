import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSResolution
import Synchronization
import TestSupport
import Testing

/// The copies that are read without a lock, by themselves.
@Suite(.timeLimit(.minutes(1))) struct AnswerFrontTests {
    private let loan = AnswerLoan(end: 60_000 + AnswerFrontTests.start, until: 50_000 + start)
    /// The cache's milliseconds at the clock's zero.
    private static let start = AnswerCache.milliseconds(.zero)

    private func front(entries: Int = 64) -> AnswerFront {
        AnswerFront(parts: 1, limits: CacheLimits(entries: entries))
    }

    private func addresses(
        _ family: IPAddress.Family, _ count: Int, from first: UInt64 = 1
    ) -> CachedAddresses {
        let addresses = (0..<UInt64(count)).map { index in
            let low = first &+ index
            return IPAddress(
                family: family, high: family == .ipv6 ? ~low : 0,
                low: family == .ipv6 ? low << 32 | low : low)
        }
        return CachedAddresses(addresses, secondsLeft: 60)
    }

    private func withKey<Result>(
        _ name: String, _ hashing: KeyedHash, _ family: IPAddress.Family = .ipv4,
        scope: UInt32 = 0, _ body: (PackedKey) -> Result
    ) -> Result {
        var name = name
        return name.withUTF8 {
            body(
                PackedKey(
                    name: UnsafeRawBufferPointer($0), family, scope: LookupScope(number: scope),
                    hashing: hashing))
        }
    }

    private func keep(
        _ addresses: CachedAddresses, _ family: IPAddress.Family = .ipv4, of key: PackedKey,
        in front: AnswerFront
    ) {
        var turn: UInt32 = 0
        front.keep(addresses, family, of: key, part: 0, (loan, .zero), turn: &turn)
    }

    private func read(
        _ key: PackedKey, _ family: IPAddress.Family = .ipv4, in front: AnswerFront,
        now: Monotonic = .zero
    ) -> CachedAddresses? {
        var found = CachedAddresses()
        let isFound = front.read(key, family, part: 0, now: now, into: &found)
        #expect(isFound == found.isKnown)
        return isFound ? found : nil
    }

    @Test func `names and answers of every length come back whole, or are not kept`() {
        let hashing = KeyedHash()
        for (family, wordsOfEight) in [(IPAddress.Family.ipv4, 4), (.ipv6, 16)] {
            for length in [1, 7, 8, 9, 15, 16, 17, 23, 24, 25, 40, 72, 80, 81, 87, 88, 89, 120] {
                for count in 0...8 {
                    let front = front()
                    let name = String(repeating: "x", count: length)
                    let kept = addresses(family, count)
                    withKey(name, hashing, family) { key in
                        keep(kept, family, of: key, in: front)
                        let found = read(key, family, in: front)
                        let words = (length + 7) / 8 + (count * wordsOfEight + 7) / 8
                        #expect((found != nil) == (words <= 11))
                        if let found { #expect(Array(found) == Array(kept)) }
                    }
                }
            }
        }
    }

    @Test func `a copy says what is left of the life, and is not good past its loan`() {
        let front = front()
        withKey("a.test", KeyedHash()) { key in
            keep(addresses(.ipv4, 2), of: key, in: front)
            #expect(read(key, in: front)?.secondsLeft == 60)
            #expect(read(key, in: front, now: .at(49_999))?.secondsLeft == 11)
            #expect(read(key, in: front, now: .at(50_000)) == nil)
        }
    }

    @Test func `that there are more addresses, or none, is told`() {
        let front = front()
        let hashing = KeyedHash()
        let many = CachedAddresses(
            (1...9).map { IPAddress(family: .ipv4, high: 0, low: UInt64($0)) }, secondsLeft: 9)
        withKey("many.test", hashing) { key in
            keep(many, of: key, in: front)
            #expect(read(key, in: front)?.isComplete == false)
            #expect(read(key, in: front)?.count == 8)
        }
        withKey("none.test", hashing) { key in
            keep(addresses(.ipv4, 0), of: key, in: front)
            #expect(read(key, in: front)?.isEmpty == true)
            #expect(read(key, in: front)?.isComplete == true)
        }
    }

    /// Of these words the hash is the exclusive or of the key's words, so that keys meet at will.
    private struct Constant: RandomNumberGenerator {
        mutating func next() -> UInt64 { 0 }
    }

    @Test func `keys with one hash never get each other's addresses`() {
        var constant = Constant()
        let hashing = KeyedHash(using: &constant)
        let front = front()
        let meeting: [(name: String, scope: UInt32)] = [
            ("aaaaaaaabbbbbbbb", 0), ("bbbbbbbbaaaaaaaa", 0), ("cccccccc````````", 0),
            ("baaaaaaabbbbbbbb", 3),
        ]
        let hashes = meeting.map { withKey($0.name, hashing, scope: $0.scope) { $0.hash } }
        #expect(Set(hashes).count == 1)
        for one in meeting {
            withKey(one.name, hashing, scope: one.scope) { key in
                keep(addresses(.ipv4, 1), of: key, in: front)
                #expect(read(key, in: front)?.count == 1)
            }
            for other in meeting where other != one {
                withKey(other.name, hashing, scope: other.scope) { key in
                    #expect(read(key, in: front) == nil)
                }
            }
        }
        front.drop(hashes[0], part: 0)
        withKey(meeting[3].name, hashing, scope: 3) { #expect(read($0, in: front) == nil) }
    }

    @Test func `families and scopes do not mix`() {
        let hashing = KeyedHash()
        let front = front()
        withKey("a.test", hashing) { keep(addresses(.ipv4, 1), of: $0, in: front) }
        withKey("a.test", hashing, .ipv6) { #expect(read($0, .ipv6, in: front) == nil) }
        withKey("a.test", hashing, scope: 1) { #expect(read($0, in: front) == nil) }
        withKey("a.test", hashing) { #expect(read($0, in: front) != nil) }
    }

    @Test func `dropping a hash leaves the others`() {
        let hashing = KeyedHash()
        let front = front()
        for name in ["a.test", "b.test"] {
            withKey(name, hashing) { keep(addresses(.ipv4, 1), of: $0, in: front) }
        }
        #expect(front.copies == 2)
        front.drop(withKey("a.test", hashing) { $0.hash }, part: 0)
        #expect(front.copies == 1)
        withKey("a.test", hashing) { #expect(read($0, in: front) == nil) }
        withKey("b.test", hashing) { #expect(read($0, in: front) != nil) }
    }

    @Test func `where all rows are taken, one reader in sixteen takes another's`() {
        let hashing = KeyedHash()
        let front = front(entries: 4)
        var turn: UInt32 = 0
        var newest: [Int] = []
        for number in 0..<68 {
            withKey("n\(number).test", hashing) { key in
                front.keep(
                    addresses(.ipv4, 1), .ipv4, of: key, part: 0, (loan, .zero), turn: &turn)
                if read(key, in: front) != nil { newest.append(number) }
            }
        }
        #expect(newest == [0, 1, 2, 3, 19, 35, 51, 67])
        #expect(front.copies == 4)
    }

    @Test func `copies take a sixteenth of the room at most, and none of a small one`() {
        for (octets, least) in [(8_388_608, 524_288), (400_000, 16_384), (1_000, 0), (0, 0)] {
            let limits = CacheLimits(octets: octets)
            let front = AnswerFront(parts: octets > 100_000 ? 16 : 1, limits: limits)
            #expect(front.octets == least)
            #expect(front.octets <= octets / 16)
        }
        withKey("a.test", KeyedHash()) { key in
            let none = AnswerFront(parts: 1, limits: CacheLimits(octets: 0))
            keep(addresses(.ipv4, 1), of: key, in: none)
            #expect(read(key, in: none) == nil)
        }
    }

    /// Answers in which each address says what the others are.
    private func isWhole(_ found: CachedAddresses) -> Bool {
        guard let first = found.first?.low else { return false }
        return found.count == Int(first & 0x7)
            && found.enumerated().allSatisfy { $0.element.low == first + UInt64($0.offset) }
    }

    @Test func `a reader never sees parts of two answers while others write`() async throws {
        let hashing = KeyedHash()
        let front = front()
        let names = (0..<4).map { "host-\($0).example.test" }
        let counts = RaceCounts(writers: 3)
        // What a shard's lock is to the copies.
        let turn = Locked<UInt32>(0)
        let writers = (0..<3).map { writer in
            {
                var step = 0
                // Until readers have had a turn, however busy the machine is.
                while step < 20_000
                    || (counts.seen.load(ordering: .relaxed) == 0 && step < 50_000_000)
                {
                    step += 1
                    let number = UInt64(writer + step)
                    let count = Int(number % 7) + 1
                    let answer = self.addresses(
                        .ipv4, count, from: (number & 0xFFFF) << 8 | UInt64(count))
                    self.withKey(names[step % names.count], hashing) { key in
                        turn.withLock { turn in
                            if number % 5 == 0 { front.drop(key.hash, part: 0) }
                            front.keep(
                                answer, .ipv4, of: key, part: 0, (self.loan, .zero), turn: &turn)
                        }
                    }
                }
                counts.writers.subtract(1, ordering: .releasing)
            } as @Sendable () -> Void
        }
        let readers = (0..<2).map { reader in
            {
                var step = reader
                while counts.writers.load(ordering: .acquiring) > 0 {
                    step &+= 1
                    self.withKey(names[step % names.count], hashing) { key in
                        var found = CachedAddresses()
                        guard front.read(key, .ipv4, part: 0, now: .zero, into: &found) else {
                            return
                        }
                        counts.seen.add(1, ordering: .relaxed)
                        if !self.isWhole(found) { counts.wrong.add(1, ordering: .relaxed) }
                    }
                }
            } as @Sendable () -> Void
        }
        try await RaceCounts.race(writers + readers)
        #expect(counts.seen.load(ordering: .relaxed) > 0)
        #expect(counts.wrong.load(ordering: .relaxed) == 0)
    }
}

/// What threads that write and threads that check count together.
final class RaceCounts: Sendable {
    /// Those that still write.
    let writers: Atomic<Int>
    let seen = Atomic<Int>(0)
    let wrong = Atomic<Int>(0)

    init(writers: Int) { self.writers = Atomic(writers) }

    /// Each on a thread of its own: they spin, and would take the pool's threads from all other tests.
    static func race(_ bodies: [@Sendable () -> Void]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for body in bodies { group.addTask { try await offPool(body) } }
            try await group.waitForAll()
        }
    }
}
