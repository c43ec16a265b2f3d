import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSResolution
import HTTPDNSWire
import Synchronization
import Testing

/// That reading without a lock changes no rule of the cache: names in use, read so often that copies
/// of their answers stand outside the shards.
@Suite(.timeLimit(.minutes(2))) struct UnlockedReadTests {
    /// Reads after which an answer is copied, whatever was counted before.
    private let enough = 300

    private func limits(entries: Int = 100, prefetches: Bool = false) -> CacheLimits {
        var limits = CacheLimits(entries: entries)
        limits.prefetches = prefetches
        return limits
    }

    private func store(
        _ text: String, _ key: LookupKey, in cache: SharedAnswerCache, life: UInt32 = 60,
        now: Monotonic = .zero
    ) throws {
        _ = cache.store(
            try Said.addresses([text], ttl: life, to: key.question), for: key, lifeSeconds: life,
            now: now)
    }

    private func read(
        _ key: LookupKey, in cache: SharedAnswerCache, now: Monotonic = .zero
    ) -> CachedAddresses {
        cache.addresses(
            of: key.question.name, key.question.type == .a ? .ipv4 : .ipv6, in: key.scope, now: now,
            staleness: 0)
    }

    /// A cache with one answer in use.
    private func used(
        _ key: LookupKey, _ limits: CacheLimits? = nil
    ) throws -> SharedAnswerCache {
        let cache = SharedAnswerCache(limits: limits ?? self.limits())
        try store("192.0.2.1", key, in: cache)
        use(key, in: cache)
        #expect(cache.copies == 1)
        return cache
    }

    private func use(_ key: LookupKey, in cache: SharedAnswerCache, now: Monotonic = .zero) {
        for _ in 0..<enough { _ = read(key, in: cache, now: now) }
    }

    @Test func `an answer is copied when a read more would count nothing`() throws {
        let key = try Said.key("a.test")
        let cache = SharedAnswerCache(limits: limits())
        try store("192.0.2.1", key, in: cache)
        for _ in 0..<254 { _ = read(key, in: cache) }
        #expect(cache.copies == 0)
        _ = read(key, in: cache)
        #expect(cache.copies == 1)
        #expect(Array(read(key, in: cache)) == [try IPAddress("192.0.2.1")])
    }

    @Test func `a copy goes with the answer that replaces it`() throws {
        let key = try Said.key("a.test")
        let cache = try used(key)
        try store("192.0.2.2", key, in: cache)
        #expect(cache.copies == 0)
        #expect(Array(read(key, in: cache)) == [try IPAddress("192.0.2.2")])
        // One of another size stands elsewhere.
        use(key, in: cache)
        #expect(cache.copies == 1)
        let two = try Said.addresses(["192.0.2.3", "192.0.2.4"], to: key.question)
        _ = cache.store(two, for: key, lifeSeconds: 60, now: .zero)
        #expect(read(key, in: cache).count == 2)
    }

    private static let removals: [@Sendable (SharedAnswerCache, LookupKey) throws -> Void] = [
        { $0.remove($1.question.name) }, { $0.remove(in: $1.scope) },
        { cache, _ in cache.removeAll() },
        { cache, key in
            let nothing = Said.nothing(.noSuchName, soa: 0, to: key.question)
            _ = cache.store(nothing, for: key, lifeSeconds: 0, now: .zero)
        },
    ]

    @Test(arguments: 0..<4) func `a copy goes with the answer that is removed`(way: Int) throws {
        let key = try Said.key("a.test")
        let cache = try used(key)
        try UnlockedReadTests.removals[way](cache, key)
        #expect(cache.copies == 0)
        #expect(read(key, in: cache).isKnown == false)
    }

    @Test func `a refresh that is demanded is told to the next reader, and to no other`() throws {
        let key = try Said.key("a.test")
        let cache = try used(key)
        cache.demandRefresh(of: key.question.name, in: key.scope)
        #expect(cache.copies == 0)
        let told = (0..<enough).map { _ in read(key, in: cache, now: .at(2_000)).wantsRefresh }
        #expect(told.first == true)
        #expect(told.count { $0 } == 1)
        // Nor is it copied before there is a new answer.
        #expect(cache.copies == 0)
    }

    @Test func `a name in use is asked for ahead of its end, by one reader`() throws {
        let key = try Said.key("a.test")
        let cache = try used(key, limits(prefetches: true))
        #expect(read(key, in: cache, now: .at(54_000)).wantsRefresh == false)
        let told = (0..<5).map { _ in read(key, in: cache, now: .at(54_001)).wantsRefresh }
        #expect(told == [true, false, false, false, false])
        cache.refreshFailed(key, now: .at(54_001))
        #expect(read(key, in: cache, now: .at(59_999)).wantsRefresh == false)
    }

    @Test func `an answer that is over is not given, stale only to who takes it`() throws {
        let key = try Said.key("a.test")
        var limits = limits()
        limits.staleSeconds = 100
        let cache = try used(key, limits)
        #expect(read(key, in: cache, now: .at(59_999)).secondsLeft == 1)
        #expect(read(key, in: cache, now: .at(60_000)).isKnown == false)
        let stale = cache.addresses(
            of: key.question.name, .ipv4, in: key.scope, now: .at(60_000), staleness: 100)
        #expect([stale.isStale, stale.wantsRefresh] == [true, true])
    }

    @Test func `names in use stay when others come, and their copies with them`() throws {
        let cache = SharedAnswerCache(limits: limits(entries: 10))
        let key = try Said.key("used.test")
        try store("192.0.2.1", key, in: cache)
        use(key, in: cache)
        for number in 0..<100 {
            try store("192.0.2.2", try Said.key("n\(number).test"), in: cache)
            #expect(read(key, in: cache).isKnown == true)
        }
        #expect(cache.copies == 1)
        // Left unread among others that are read, it goes, and is not found outside either.
        for number in 100..<200 {
            let other = try Said.key("n\(number).test")
            try store("192.0.2.2", other, in: cache)
            _ = read(other, in: cache)
        }
        #expect(cache.copies == 0)
        #expect(read(key, in: cache).isKnown == false)
    }

    @Test func `scopes and families have copies of their own`() throws {
        let keys = [
            try Said.key("a.test"), try Said.key("a.test", scope: 1), try Said.key("a.test", .aaaa),
        ]
        let texts = ["192.0.2.1", "192.0.2.2", "2001:db8::1"]
        let cache = SharedAnswerCache(limits: limits())
        for (key, text) in zip(keys, texts) {
            try store(text, key, in: cache)
            use(key, in: cache)
        }
        #expect(cache.copies == 3)
        #expect(keys.map { read($0, in: cache).first } == (try texts.map { try IPAddress($0) }))
        cache.remove(in: LookupScope(number: 1))
        #expect(keys.map { read($0, in: cache).isKnown } == [true, false, true])
    }

    // MARK: Against the same cache without copies

    private struct Twins {
        let hashing = KeyedHash()
        let limits: CacheLimits
        let shared: SharedAnswerCache
        var plain: AnswerCache
        var random: SeededNumbers
        var now: Int64 = 0
        var readsWithCopies = 0

        init(seed: UInt64) {
            var limits = CacheLimits(entries: 8)
            limits.staleSeconds = 20
            limits.prefetches = true
            self.limits = limits
            shared = SharedAnswerCache(limits: limits, hashing: hashing)
            plain = AnswerCache(limits: limits, hashing: hashing)
            random = SeededNumbers(seed: seed)
        }

        mutating func upTo(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

        mutating func read(_ key: LookupKey, staleness: Int64) {
            let family: IPAddress.Family = key.question.type == .a ? .ipv4 : .ipv6
            let found = shared.addresses(
                of: key.question.name, family, in: key.scope, now: .at(now), staleness: staleness)
            var expected = CachedAddresses()
            _ = key.withPacked(hashing) {
                _ = plain.readAddresses(
                    $0, family, now: .at(now), staleness: staleness, into: &expected)
            }
            plain.takeRecalled { _ in }
            if agree(found, expected) { return }
            Issue.record("\(found) instead of \(expected) at \(now)")
        }

        private func agree(_ found: CachedAddresses, _ expected: CachedAddresses) -> Bool {
            found.isKnown == expected.isKnown && found.secondsLeft == expected.secondsLeft
                && found.isStale == expected.isStale
                && found.wantsRefresh == expected.wantsRefresh
                && found.isComplete == expected.isComplete && found.elementsEqual(expected)
        }

        mutating func store(_ testimony: Testimony, _ key: LookupKey, life: UInt32) {
            let before = plain.evictions
            plain.store(testimony, for: key, lifeSeconds: life, now: .at(now))
            let evicted = shared.store(testimony, for: key, lifeSeconds: life, now: .at(now))
            #expect(evicted == plain.evictions - before)
        }

        func compareOrder() {
            let expected = plain.entries(in: LookupScope(number: 0)).map(\.key)
            #expect(shared.entries(in: LookupScope(number: 0), limit: 99) == expected)
        }
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func `every read tells what it would tell without copies`(seed: UInt64) throws {
        var twins = Twins(seed: seed)
        for _ in 0..<600 {
            let key = try Said.key(
                "n\(twins.upTo(12)).test", twins.upTo(3) == 0 ? .aaaa : .a,
                scope: twins.upTo(6) == 0 ? 1 : 0)
            switch twins.upTo(24) {
            case 0..<4:
                let texts = (0...twins.upTo(9)).map {
                    key.question.type == .a ? "192.0.2.\($0)" : "2001:db8::\($0)"
                }
                let life = UInt32(twins.upTo(20))
                twins.store(
                    try Said.addresses(texts, ttl: life, to: key.question), key, life: life)
            case 4:
                twins.store(
                    Said.nothing(.noSuchName, soa: 9, to: key.question), key, life: 9)
            case 5:
                twins.shared.demandRefresh(key)
                twins.plain.demandRefresh(key)
            case 6:
                twins.shared.refreshFailed(key, now: .at(twins.now))
                twins.plain.refreshFailed(key, now: .at(twins.now))
            case 7 where twins.upTo(8) == 0:
                twins.shared.remove(key.question.name)
                twins.plain.remove(key.question.name)
            case 8..<20:
                let staleness = Int64(twins.upTo(2) * 20)
                for _ in 0..<twins.upTo(350) { twins.read(key, staleness: staleness) }
                if twins.shared.copies > 0 { twins.readsWithCopies += 1 }
            default: twins.now += Int64(twins.upTo(3_000))
            }
            twins.compareOrder()
        }
        #expect(twins.readsWithCopies > 40)
    }

    // MARK: Many threads

    /// Two answers for each name, whose addresses belong together.
    @Test func `readers see one answer or the other while writers change them`() async throws {
        let cache = SharedAnswerCache(limits: limits())
        let keys = try (0..<3).map { try Said.key("n\($0).test") }
        let answers = try keys.map { key in
            try [["192.0.2.1", "192.0.2.2", "192.0.2.3"], ["198.51.100.1", "198.51.100.2"]].map {
                try Said.addresses($0, to: key.question)
            }
        }
        let first = try IPAddress("192.0.2.1")
        let counts = RaceCounts(writers: 2)
        @Sendable func check(_ key: LookupKey) {
            let found = read(key, in: cache)
            guard let one = found.first else { return }
            let count = one == first ? 3 : 2
            let isWhole = found.enumerated().allSatisfy {
                $0.element.low == one.low + UInt64($0.offset)
            }
            if !isWhole || found.count != count { counts.wrong.add(1, ordering: .relaxed) }
        }
        let writers = (0..<2).map { writer in
            {
                for step in 0..<100 {
                    let position = (step + writer) % keys.count
                    _ = cache.store(
                        answers[position][step & 1], for: keys[position], lifeSeconds: 60,
                        now: .zero)
                    for _ in 0..<self.enough { check(keys[position]) }
                    counts.seen.add(cache.copies, ordering: .relaxed)
                    if step % 20 == 19 { cache.remove(keys[position].question.name) }
                }
                counts.writers.subtract(1, ordering: .releasing)
            } as @Sendable () -> Void
        }
        let readers = (0..<2).map { reader in
            {
                var step = reader
                while counts.writers.load(ordering: .acquiring) > 0 {
                    step &+= 1
                    check(keys[step % keys.count])
                }
            } as @Sendable () -> Void
        }
        try await RaceCounts.race(writers + readers)
        #expect(counts.seen.load(ordering: .relaxed) > 0)
        #expect(counts.wrong.load(ordering: .relaxed) == 0)
    }

    /// What was stored before a read began is what the read gives: no older copy.
    @Test func `who stores an answer never reads the one before it`() async throws {
        let cache = SharedAnswerCache(limits: limits())
        let key = try Said.key("a.test")
        let answers = try (0..<100).map {
            try Said.addresses(["192.0.2.\($0)"], to: key.question)
        }
        let counts = RaceCounts(writers: 1)
        try await RaceCounts.race([
            {
                for (number, answer) in answers.enumerated() {
                    _ = cache.store(answer, for: key, lifeSeconds: 60, now: .zero)
                    for _ in 0..<self.enough {
                        let found = self.read(key, in: cache)
                        guard found.first?.low == UInt64(0xC000_0200 + number) else {
                            Issue.record("an older answer came back")
                            break
                        }
                    }
                }
                counts.writers.subtract(1, ordering: .releasing)
            },
            {
                while counts.writers.load(ordering: .acquiring) > 0 {
                    _ = self.read(key, in: cache)
                }
            },
        ])
        #expect(cache.copies == 1)
    }
}
