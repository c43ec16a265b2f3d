import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSResolution
import HTTPDNSWire
import Testing

@Suite(.timeLimit(.minutes(1))) struct SharedAnswerCacheTests {
    private let scope = LookupScope(number: 3)

    private func store(
        _ texts: [String], _ name: String, _ type: RecordType = .a, in cache: SharedAnswerCache,
        ttl: UInt32 = 60
    ) throws -> LookupKey {
        let key = try Said.key(name, type, scope: scope.number)
        _ = cache.store(
            try Said.addresses(texts, ttl: ttl, to: key.question), for: key, lifeSeconds: ttl,
            now: .zero)
        return key
    }

    @Test func `the short way gives the addresses of the long one, in order`() throws {
        let cache = SharedAnswerCache(limits: CacheLimits())
        for count in 1...8 {
            let name = "n\(count).example.test"
            let fours = (1...count).map { "192.0.2.\($0)" }
            let sixes = (1...count).map { "2001:db8:\($0)::ffff:\($0)" }
            _ = try store(fours, name, in: cache)
            _ = try store(sixes, name, .aaaa, in: cache)
            let host = try HostName(name)
            for (family, texts) in [(IPAddress.Family.ipv4, fours), (.ipv6, sixes)] {
                let found = cache.addresses(
                    of: host, family, in: scope, now: .at(1_500), staleness: 0)
                #expect(Array(found) == (try texts.map { try IPAddress($0) }))
                #expect(found.secondsLeft == 59)
                #expect(found.isComplete == true)
            }
        }
    }

    @Test func `of more than eight addresses the short way gives eight, and says so`() throws {
        let cache = SharedAnswerCache(limits: CacheLimits())
        let key = try store((1...9).map { "192.0.2.\($0)" }, "a.test", in: cache)
        let found = cache.addresses(
            of: key.question.name, .ipv4, in: scope, now: .zero, staleness: 0)
        #expect(found.count == 8)
        #expect(found.isComplete == false)
        #expect(cache.find(key, now: .zero, staleness: 0)?.testimony.answers.count == 9)
    }

    @Test func `the short way follows aliases and knows when there is no address`() throws {
        let cache = SharedAnswerCache(limits: CacheLimits())
        let key = try Said.key("www.example.test", scope: scope.number)
        let chain = Testimony(
            question: key.question, code: .noError,
            answers: [
                try Said.record("cdn.example.test", 300, "192.0.2.7"),
                try Said.alias("www.example.test", 30, "cdn.example.test"),
                try Said.record("unrelated.test", 1, "192.0.2.9"),
            ], source: Testimony.Source(resolver: "one", transport: .udp))
        _ = cache.store(chain, for: key, lifeSeconds: 30, now: .zero)
        let found = cache.addresses(
            of: key.question.name, .ipv4, in: scope, now: .zero, staleness: 0)
        #expect(Array(found) == [try IPAddress("192.0.2.7")])
        _ = cache.store(
            Said.nothing(.noSuchName, soa: 30, to: key.question), for: key, lifeSeconds: 30,
            now: .zero)
        let known = [IPAddress.Family.ipv4, .ipv6].map {
            cache.addresses(of: key.question.name, $0, in: scope, now: .zero, staleness: 0)
        }
        #expect(known.map(\.isKnown) == [true, false])
        #expect(known.map(\.count) == [0, 0])
    }

    @Test func `the limits of all shards together hold, and statistics add up`() throws {
        let cache = SharedAnswerCache(limits: CacheLimits(entries: 2_000, octets: 400_000))
        for number in 0..<10_000 {
            _ = try store(["192.0.2.1"], "n\(number).example.test", in: cache)
        }
        let statistics = cache.statistics
        #expect(statistics.entries <= 2_000)
        #expect(statistics.entries > 1_500)
        #expect(statistics.octets <= 400_000)
        #expect(statistics.evictions == 10_000 - statistics.entries)
        cache.removeAll()
        #expect(cache.statistics.entries == 0)
    }

    @Test func `a failed address has each of the host's answers asked for anew`() throws {
        let cache = SharedAnswerCache(limits: CacheLimits())
        let four = try store(["192.0.2.1"], "a.test", in: cache)
        let six = try store(["2001:db8::1"], "a.test", .aaaa, in: cache)
        let other = try store(["192.0.2.1"], "b.test", in: cache)
        cache.demandRefresh(of: four.question.name, in: scope)
        let wants = { (key: LookupKey) in
            cache.find(key, now: .at(5_000), staleness: 0)?.wantsRefresh
        }
        #expect([four, six, other, four].map(wants) == [true, true, false, false])
    }

    @Test func `the most read names come first, over all shards`() throws {
        let cache = SharedAnswerCache(limits: CacheLimits())
        for number in 0..<40 {
            let key = try store(["192.0.2.1"], "n\(number).test", in: cache)
            for _ in 0..<number { _ = cache.find(key, now: .zero, staleness: 0) }
        }
        let names = cache.entries(in: scope, limit: 3).map(\.question.name.text)
        #expect(names == ["n39.test", "n38.test", "n37.test"])
    }

    @Test func `many threads read and write at once, and one of them is told to refresh`()
        async throws
    {
        var limits = CacheLimits(entries: 2_000, octets: 200_000)
        limits.staleSeconds = 1_000
        let cache = SharedAnswerCache(limits: limits)
        let shared = try store(["192.0.2.1"], "shared.test", in: cache, ttl: 1)
        let told = await withTaskGroup(of: Int.self) { group in
            for worker in 0..<8 {
                group.addTask { (try? self.work(worker, on: cache, shared)) ?? -1_000 }
            }
            return await group.reduce(0, +)
        }
        #expect(told == 1)
        #expect(cache.statistics.entries <= 2_000)
    }

    /// Stores, reads and removes; how often it was told to refresh the shared name.
    private func work(
        _ worker: Int, on cache: SharedAnswerCache, _ shared: LookupKey
    ) throws -> Int {
        var random = SeededNumbers(seed: UInt64(worker))
        var told = 0
        for step in 0..<1_000 {
            let number = Int.random(in: 0..<300, using: &random)
            let key = try Said.key("n\(number).test", scope: scope.number)
            let texts = (0...number % 11).map { "192.0.2.\($0)" }
            if step % 3 == 0 { _ = try store(texts, "n\(number).test", in: cache) }
            if step % 97 == 0 { cache.remove(key.question.name) }
            if let hit = cache.find(key, now: .at(10), staleness: 0) {
                guard hit.testimony.answers.count == texts.count else { return -1_000 }
            }
            let short = cache.addresses(
                of: key.question.name, .ipv4, in: scope, now: .at(10), staleness: 0)
            if short.isKnown, short.count != min(8, texts.count) { return -1_000 }
            let hit = cache.find(shared, now: .at(2_000), staleness: 1_000)
            if hit?.wantsRefresh == true { told += 1 }
        }
        return told
    }
}
