import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import Testing

@Suite struct AnswerCacheTests {
    private func key(_ name: String, scope: UInt32 = 0) throws -> LookupKey {
        try Said.key(name, scope: scope)
    }

    private func answer(_ name: String, ttl: UInt32) throws -> Testimony {
        try Said.addresses(["192.0.2.1"], ttl: ttl, to: try Said.question(name))
    }

    @Test func `an answer lives for its TTL in seconds and not a moment longer`() throws {
        var cache = AnswerCache()
        let key = try key("a.test")
        cache.keep(try answer("a.test", ttl: 60), for: key, now: .at(1_000))
        #expect(cache.find(key, now: .at(1_000))?.secondsLeft == 60)
        #expect(cache.find(key, now: .at(31_000))?.secondsLeft == 30)
        #expect(cache.find(key, now: .at(60_999))?.secondsLeft == 1)
        #expect(cache.find(key, now: .at(61_000)) == nil)
        #expect(cache.count == 0)
    }

    @Test func `an answer that ended before the clock began is as old as it is`() throws {
        var limits = CacheLimits()
        limits.staleSeconds = 7_200
        var cache = AnswerCache(limits: limits)
        let key = try key("a.test")
        cache.store(
            try answer("a.test", ttl: 60), for: key, lifeSeconds: 1, now: .at(-3_600_000))
        #expect(cache.find(key, now: .at(1_000), staleness: 3_000) == nil)
        #expect(cache.find(key, now: .at(1_000), staleness: 7_200)?.isStale == true)
        #expect(cache.find(key, now: .at(3_602_000), staleness: 7_200) == nil)
    }

    @Test func `a TTL of zero is not kept, and takes away what was`() throws {
        var cache = AnswerCache()
        let key = try key("a.test")
        cache.keep(try answer("a.test", ttl: 60), for: key, now: .zero)
        cache.keep(try answer("a.test", ttl: 0), for: key, now: .at(1))
        #expect(cache.find(key, now: .at(2)) == nil)
    }

    @Test(arguments: [UInt32(604_801), 2_147_483_647])
    func `no answer is kept longer than seven days`(ttl: UInt32) throws {
        var cache = AnswerCache()
        let key = try key("a.test")
        cache.store(try answer("a.test", ttl: ttl), for: key, lifeSeconds: ttl, now: .zero)
        let hit = cache.find(key, now: .zero)
        #expect(hit?.secondsLeft == 604_800)
        #expect(hit?.testimony.answers.map(\.ttlSeconds) == [ttl])
    }

    @Test func `another scope, type, subnet, parameter or flag does not see the answer`() throws {
        var cache = AnswerCache()
        let mine = try key("a.test")
        cache.keep(try answer("a.test", ttl: 60), for: mine, now: .zero)
        var others = [try key("a.test", scope: 1), try key("b.test")]
        let changes: [(inout Question) throws -> Void] = [
            { $0 = try Said.question("a.test", .aaaa) },
            { $0.clientSubnet = try AddressBlock("192.0.2.0/24") },
            { $0.serviceParameters = try ServiceParameters([("k", "v")]) },
            { $0.wantsDNSSEC = true }, { $0.wantsRecursion = false },
        ]
        for change in changes {
            var question = mine.question
            try change(&question)
            others.append(LookupKey(question: question, scope: mine.scope))
        }
        for other in others { #expect(cache.find(other, now: .zero) == nil) }
        #expect(cache.find(mine, now: .zero) != nil)
    }

    @Test func `a negative answer of one type leaves the other type's records alone`() throws {
        var cache = AnswerCache()
        let sixth = try Said.question("a.test", .aaaa)
        cache.keep(try answer("a.test", ttl: 60), for: try key("a.test"), now: .zero)
        cache.keep(
            Said.nothing(.noError, soa: 300, to: sixth),
            for: LookupKey(question: sixth, scope: LookupScope(number: 0)), now: .zero)
        #expect(cache.find(try key("a.test"), now: .at(1)) != nil)
    }

    @Test func `a negative answer takes the place of a positive one of its type`() throws {
        var cache = AnswerCache()
        let key = try key("a.test")
        cache.keep(try answer("a.test", ttl: 60), for: key, now: .zero)
        cache.keep(Said.nothing(.noSuchName, soa: 5, to: key.question), for: key, now: .at(1))
        #expect(cache.find(key, now: .at(2))?.testimony.code == .noSuchName)
        #expect(cache.find(key, now: .at(5_001)) == nil)
    }

    @Test func `a scan over many names does not push out a name in use`() throws {
        var cache = AnswerCache(limits: CacheLimits(entries: 10))
        let popular = try key("popular.test")
        cache.keep(try answer("popular.test", ttl: 600), for: popular, now: .zero)
        for number in 0..<1_000 {
            #expect(cache.find(popular, now: .zero) != nil)
            let name = "n\(number).test"
            cache.keep(try answer(name, ttl: 600), for: try key(name), now: .zero)
            #expect(cache.count <= 10)
        }
        #expect(cache.statistics.evictions == 991)
    }

    @Test func `a working set survives a scan of a hundred times its size`() throws {
        var cache = AnswerCache(limits: CacheLimits(entries: 100))
        let names = (0..<50).map { "in-use-\($0).test" }
        for name in names {
            cache.keep(try answer(name, ttl: 600), for: try key(name), now: .zero)
        }
        for number in 0..<5_000 {
            let inUse = names[number % names.count]
            #expect(cache.find(try key(inUse), now: .zero) != nil)
            let name = "n\(number).test"
            cache.keep(try answer(name, ttl: 600), for: try key(name), now: .zero)
        }
    }

    @Test func `every entry can be taken out and the cache goes on`() throws {
        var cache = AnswerCache(limits: CacheLimits(entries: 3))
        for round in 0..<3 {
            for number in 0..<5 {
                let name = "n\(number).test"
                cache.keep(try answer(name, ttl: 60), for: try key(name), now: .at(Int64(round)))
            }
            cache.remove { $0.question.name.text.hasPrefix("n") }
            #expect(cache.count == 0)
        }
    }

    @Test func `a host, or a scope, is forgotten whole and alone`() throws {
        var cache = AnswerCache()
        for scope in [UInt32(1), 2] {
            for name in ["a.test", "b.test"] {
                let key = try key(name, scope: scope)
                cache.keep(try answer(name, ttl: 60), for: key, now: .zero)
            }
        }
        cache.remove(try HostName("a.test"))
        #expect(cache.count == 2)
        cache.remove(in: LookupScope(number: 1))
        #expect(cache.count == 1)
        #expect(cache.find(try key("b.test", scope: 2), now: .zero) != nil)
    }

    @Test func `the names of a scope come with the most read first`() throws {
        var cache = AnswerCache()
        for (reads, name) in ["seldom.test", "never.test", "often.test"].enumerated() {
            let key = try key(name, scope: 7)
            cache.keep(try answer(name, ttl: 60), for: key, now: .zero)
            for _ in 0..<[1, 0, 9][reads] { _ = cache.find(key, now: .zero) }
        }
        cache.keep(try answer("else.test", ttl: 60), for: try key("else.test"), now: .zero)
        let names = cache.entries(in: LookupScope(number: 7)).map(\.key.question.name.text)
        #expect(names == ["often.test", "seldom.test", "never.test"])
        #expect(cache.entries(in: LookupScope(number: 7), limit: 1).map(\.reads) == [9])
    }
}

@Suite struct AnswerLifeTests {
    @Test func `an answer lives as long as the shortest record of its alias chain`() throws {
        let question = try Said.question("www.example.test")
        let chain = Testimony(
            question: question, code: .noError,
            answers: [
                try Said.record("cdn.example.test", 300, "192.0.2.1"),
                try Said.alias("www.example.test", 30, "cdn.example.test"),
                try Said.record("unrelated.test", 1, "192.0.2.9"),
            ], source: Testimony.Source(resolver: "one", transport: .udp))
        #expect(AnswerLife.seconds(of: chain) == 30)
        let answer = LookupAnswer(testimony: chain, ttlSeconds: 30, isCached: false)
        #expect(answer.addresses == [try IPAddress("192.0.2.1")])
        #expect(answer.aliases.map(\.description) == ["cdn.example.test"])
    }

    @Test func `an alias loop ends`() throws {
        let question = try Said.question("a.test")
        let loop = Testimony(
            question: question, code: .noError,
            answers: [
                try Said.alias("a.test", 30, "b.test"), try Said.alias("b.test", 30, "a.test"),
            ],
            source: Testimony.Source(resolver: "one", transport: .udp))
        let answer = LookupAnswer(testimony: loop, ttlSeconds: 0, isCached: false)
        #expect(answer.outcome == .noData)
        #expect(answer.aliases.count == 1)
    }

    @Test(arguments: [(UInt32?.none, UInt32(0)), (5, 5), (86_400, 10_800)])
    func `a negative answer lives by its SOA, three hours at most, and not without one`(
        soa: UInt32?, life: UInt32
    ) throws {
        let question = try Said.question()
        for code in [ResponseCode.noError, .noSuchName] {
            #expect(AnswerLife.seconds(of: Said.nothing(code, soa: soa, to: question)) == life)
        }
    }

    @Test func `a server failure is never kept as a fact about the name`() throws {
        let question = try Said.question()
        #expect(AnswerLife.seconds(of: Said.nothing(.serverFailure, soa: 60, to: question)) == 0)
        #expect(AnswerLife.seconds(of: Said.nothing(.refused, soa: 60, to: question)) == 0)
    }
}

@Suite struct LargeAnswerTests {
    private func text(_ name: String, octets: Int) throws -> (LookupKey, Testimony) {
        let question = try Said.question(name, .txt)
        let strings = [[UInt8]](
            repeating: [UInt8](repeating: 0x61, count: 255), count: octets / 255)
        let record = ResourceRecord(
            name: WireName(question.name), type: .txt, ttlSeconds: 60, data: .txt(strings))
        let testimony = Testimony(
            question: question, code: .noError, answers: [record],
            source: Testimony.Source(resolver: "one", transport: .tcp))
        return (LookupKey(question: question, scope: LookupScope(number: 0)), testimony)
    }

    @Test func `large answers take the place of many small ones, so that memory stays bounded`()
        throws
    {
        var cache = AnswerCache(limits: CacheLimits(entries: 200, octets: 204_800))
        for number in 0..<1_000 {
            let (key, answer) = try text("n\(number).test", octets: 65_000)
            cache.keep(answer, for: key, now: .zero)
            #expect(cache.find(key, now: .zero)?.testimony == answer)
            #expect(cache.statistics.octets <= 204_800)
        }
        #expect(cache.count <= 3)
    }

    @Test func `an answer larger than the cache is not kept and pushes nothing out`() throws {
        var cache = AnswerCache(limits: CacheLimits(octets: 10_240))
        let (small, answer) = try text("small.test", octets: 255)
        cache.keep(answer, for: small, now: .zero)
        let (large, huge) = try text("large.test", octets: 65_000)
        cache.keep(huge, for: large, now: .zero)
        #expect(cache.find(large, now: .zero) == nil)
        #expect(cache.find(small, now: .zero) != nil)
    }

    private func chain(of count: Int) throws -> LookupAnswer {
        var records = try (0..<count).reversed().map {
            try Said.alias("n\($0).test", 60, "n\($0 + 1).test")
        }
        records.insert(try Said.record("n\(count).test", 60, "192.0.2.1"), at: 0)
        let chain = Testimony(
            question: try Said.question("n0.test"), code: .noError, answers: records,
            source: Testimony.Source(resolver: "one", transport: .tcp))
        return LookupAnswer(testimony: chain, ttlSeconds: 60, isCached: false)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a long chain of aliases in the worst order costs linear time`() throws {
        let (short, long) = (try chain(of: 500), try chain(of: 4_000))
        #expect(long.aliases.count == 4_000)
        #expect(long.addresses == [try IPAddress("192.0.2.1")])
        let clock = ContinuousClock()
        // The least of several, because others use the machine too.
        let least = { (answer: LookupAnswer) in
            (0..<5).map { _ in clock.measure { _ = answer.aliases } }.min() ?? .zero
        }
        // Eight times the records: linear is near 8, a search for each link near 64.
        #expect(least(long) / least(short) < 24)
    }
}
