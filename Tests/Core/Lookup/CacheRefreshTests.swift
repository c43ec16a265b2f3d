import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import Testing

/// Stale answers, prefetching, and who is told to ask again.
@Suite struct CacheRefreshTests {
    private let key: LookupKey
    private let answer: Testimony

    init() throws {
        key = try Said.key("a.test")
        answer = try Said.addresses(["192.0.2.1"], ttl: 100, to: key.question)
    }

    private func cache(prefetches: Bool = false) -> AnswerCache {
        var limits = CacheLimits()
        limits.staleSeconds = 3_600
        limits.prefetches = prefetches
        var cache = AnswerCache(limits: limits)
        cache.keep(answer, for: key, now: .zero)
        return cache
    }

    private func at(_ seconds: Int64) -> Monotonic { .at(seconds * 1_000) }

    @Test func `an answer that is over is found only by those who take stale ones`() {
        var cache = cache()
        #expect(cache.find(key, now: at(100)) == nil)
        let stale = cache.find(key, now: at(100), staleness: 3_600)
        #expect(stale?.isStale == true)
        #expect(stale?.testimony == answer)
    }

    @Test func `a stale answer is said to be good for thirty seconds, however long it is over`() {
        var cache = cache()
        #expect(cache.find(key, now: at(101), staleness: 3_600)?.secondsLeft == 30)
        #expect(cache.find(key, now: at(3_699), staleness: 3_600)?.secondsLeft == 30)
    }

    @Test func `beyond the longest staleness there is nothing, and nothing is kept`() {
        var cache = cache()
        #expect(cache.find(key, now: at(3_700), staleness: 3_600) == nil)
        #expect(cache.count == 0)
    }

    @Test func `one reader of a stale answer is told to refresh it, and nobody for 30 s more`() {
        var cache = cache()
        let told = (0..<5).compactMap { _ in cache.find(key, now: at(200), staleness: 3_600) }
        #expect(told.map(\.wantsRefresh) == [true, false, false, false, false])
        #expect(cache.find(key, now: at(229), staleness: 3_600)?.wantsRefresh == false)
        #expect(cache.find(key, now: at(230), staleness: 3_600)?.wantsRefresh == true)
    }

    @Test func `after a failed refresh the stale answer stays, and is left alone for 30 s`() {
        var cache = cache()
        #expect(cache.find(key, now: at(200), staleness: 3_600)?.wantsRefresh == true)
        cache.refreshFailed(key, now: at(205))
        cache.keep(Said.nothing(.serverFailure, to: key.question), for: key, now: at(205))
        #expect(cache.find(key, now: at(234), staleness: 3_600)?.wantsRefresh == false)
        #expect(cache.find(key, now: at(235), staleness: 3_600)?.wantsRefresh == true)
        #expect(cache.find(key, now: at(236), staleness: 3_600)?.testimony == answer)
    }

    @Test(arguments: [ResponseCode.noError, .noSuchName])
    func `a new answer takes the place of a stale one, a negative one as well`(
        code: ResponseCode
    ) {
        var cache = cache()
        _ = cache.find(key, now: at(200), staleness: 3_600)
        cache.keep(Said.nothing(code, soa: 60, to: key.question), for: key, now: at(201))
        let hit = cache.find(key, now: at(202), staleness: 3_600)
        #expect(hit?.testimony.code == code)
        #expect(hit?.testimony.answers == [])
        #expect(hit?.isStale == false)
        #expect(hit?.wantsRefresh == false)
    }

    @Test func `a name read twice is refreshed in the last tenth of its life, by one reader`() {
        var cache = cache(prefetches: true)
        #expect(cache.find(key, now: at(10))?.wantsRefresh == false)
        #expect(cache.find(key, now: at(90))?.wantsRefresh == false)
        #expect(cache.find(key, now: .at(90_001))?.wantsRefresh == true)
        #expect(cache.find(key, now: at(91))?.wantsRefresh == false)
    }

    @Test func `a name read once is not refreshed early`() {
        var cache = cache(prefetches: true)
        #expect(cache.find(key, now: at(95))?.wantsRefresh == false)
        #expect(cache.find(key, now: at(96))?.wantsRefresh == true)
    }

    @Test func `nothing is refreshed early unless that is wanted`() {
        var cache = cache()
        let told = (90..<100).map { cache.find(key, now: at($0))?.wantsRefresh }
        #expect(told == [Bool?](repeating: false, count: 10))
    }

    @Test func `an address that failed forces a refresh of a fresh answer, once`() {
        var cache = cache()
        let isKept = cache.demandRefresh(key)
        #expect(isKept)
        let told = (0..<3).map { _ in cache.find(key, now: at(10))?.wantsRefresh }
        #expect(told == [true, false, false])
        cache.keep(answer, for: key, now: at(11))
        #expect(cache.find(key, now: at(20))?.wantsRefresh == false)
    }

    @Test func `demands that follow a new answer at once wait for a second`() {
        var cache = cache()
        cache.demandRefresh(key)
        #expect(cache.find(key, now: .at(999))?.wantsRefresh == false)
        #expect(cache.find(key, now: .at(1_000))?.wantsRefresh == true)
    }

    @Test func `there is nothing to demand of a name that is not kept`() throws {
        var cache = cache()
        let isKept = cache.demandRefresh(try Said.key("b.test"))
        #expect(!isKept)
    }

    @Test func `an entry past all use makes room before one that is only unread`() throws {
        var limits = CacheLimits(entries: 2)
        limits.staleSeconds = 10
        var cache = AnswerCache(limits: limits)
        let fresh = try Said.key("fresh.test")
        cache.keep(
            try Said.addresses(["192.0.2.1"], ttl: 1, to: key.question), for: key, now: .zero)
        cache.keep(
            try Said.addresses(["192.0.2.1"], ttl: 600, to: fresh.question), for: fresh, now: .zero)
        // Read, and so spared, were it still of use.
        _ = cache.find(key, now: .zero)
        let third = try Said.key("third.test")
        cache.keep(
            try Said.addresses(["192.0.2.1"], ttl: 600, to: third.question), for: third,
            now: at(20))
        #expect(cache.find(fresh, now: at(20)) != nil)
        #expect(cache.find(third, now: at(20)) != nil)
    }
}

@Suite struct LifeRulesTests {
    private func seconds(_ rules: LifeRules, _ name: String = "a.test", ttl: UInt32) throws
        -> UInt32
    {
        rules.seconds(
            of: try Said.addresses(["192.0.2.1"], ttl: ttl, to: try Said.question(name)))
    }

    @Test func `without a rule an answer lives as long as it says`() throws {
        #expect(try seconds(LifeRules(), ttl: 1) == 1)
        #expect(try seconds(LifeRules(), ttl: 604_801) == 604_800)
    }

    @Test func `a minimum raises a life, but never one of zero, and a maximum wins`() throws {
        var rules = LifeRules()
        rules.all = LifeRules.Clamp(minimumSeconds: 60, maximumSeconds: 300)
        #expect(try seconds(rules, ttl: 5) == 60)
        #expect(try seconds(rules, ttl: 0) == 0)
        #expect(try seconds(rules, ttl: 1_000) == 300)
        rules.all = LifeRules.Clamp(minimumSeconds: 60, maximumSeconds: 30)
        #expect(try seconds(rules, ttl: 5) == 30)
    }

    @Test func `the caps hold whatever a rule says`() throws {
        var rules = LifeRules()
        rules.all = LifeRules.Clamp(minimumSeconds: .max)
        #expect(try seconds(rules, ttl: 5) == 604_800)
        let negative = Said.nothing(.noSuchName, soa: 86_400, to: try Said.question("a.test"))
        #expect(rules.seconds(of: negative) == 10_800)
    }

    @Test func `a negative answer is shortened by a maximum and not lengthened by a minimum`()
        throws
    {
        var rules = LifeRules()
        rules.all = LifeRules.Clamp(minimumSeconds: 60, maximumSeconds: 120)
        let question = try Said.question("a.test")
        #expect(rules.seconds(of: Said.nothing(.noSuchName, soa: 5, to: question)) == 5)
        #expect(rules.seconds(of: Said.nothing(.noError, soa: 900, to: question)) == 120)
        #expect(rules.seconds(of: Said.nothing(.noError, to: question)) == 0)
    }

    @Test(arguments: [
        ("example.test", 20), ("api.example.test", 10), ("v2.api.example.test", 10),
        ("badexample.test", 50), ("other.test", 50),
    ])
    func `the longest suffix that covers a name counts`(name: String, life: UInt32) throws {
        var rules = LifeRules()
        rules.all.maximumSeconds = 50
        rules.suffixes[try HostName("example.test")] = LifeRules.Clamp(maximumSeconds: 20)
        rules.suffixes[try HostName("api.example.test")] = LifeRules.Clamp(maximumSeconds: 10)
        #expect(try seconds(rules, name, ttl: 600) == life)
    }
}
