import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import Testing

/// The cache beside a dictionary that does the same in the simplest way.
@Suite struct CacheModelTests {
    private struct Kept {
        let testimony: Testimony
        let expires: Int64
    }

    private struct Model {
        var kept: [LookupKey: Kept] = [:]
        var random: SeededNumbers
        var now: Int64 = 0

        mutating func upTo(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
    }

    private func randomKey(_ model: inout Model) throws -> LookupKey {
        let number = model.upTo(60)
        // Of many lengths, so that words begin and end everywhere.
        let name = String(repeating: "x", count: number % 23 + 1) + "\(number).test"
        var question = try Said.question(name, model.upTo(2) == 0 ? .a : .aaaa)
        if model.upTo(8) == 0 { question.clientSubnet = try AddressBlock("192.0.2.0/24") }
        return LookupKey(
            question: question, scope: LookupScope(number: UInt32(model.upTo(2))))
    }

    private func randomAnswer(_ key: LookupKey, _ model: inout Model) throws -> Testimony {
        let ttl = UInt32(model.upTo(50))
        switch model.upTo(5) {
        case 0: return Said.nothing(.noSuchName, soa: ttl, to: key.question, by: "two")
        case 1:
            let record = ResourceRecord(
                name: WireName(key.question.name), type: key.question.type, ttlSeconds: ttl,
                data: .opaque([UInt8](repeating: UInt8(ttl), count: model.upTo(3_000))))
            return Testimony(
                question: key.question, code: .noError, answers: [record],
                source: Testimony.Source(
                    resolver: "three", transport: .tls, tries: model.upTo(5)))
        default:
            let texts = (0...model.upTo(12)).map {
                key.question.type == .a ? "192.0.2.\($0)" : "2001:db8::\($0)"
            }
            return try Said.addresses(texts, ttl: ttl, to: key.question)
        }
    }

    /// Without limits in the way the cache is the dictionary.
    @Test(arguments: [UInt64(1), 2, 3, 4])
    func `thousands of random steps give what a dictionary gives`(seed: UInt64) throws {
        var model = Model(random: SeededNumbers(seed: seed))
        var cache = AnswerCache()
        for _ in 0..<6_000 {
            let key = try randomKey(&model)
            let now = Monotonic.at(model.now)
            switch model.upTo(20) {
            case 0..<8:
                let testimony = try randomAnswer(key, &model)
                let life = AnswerLife.seconds(of: testimony)
                cache.store(testimony, for: key, lifeSeconds: life, now: now)
                model.kept[key] =
                    life == 0
                    ? nil : Kept(testimony: testimony, expires: model.now + Int64(life) * 1_000)
            case 8:
                cache.remove(key)
                model.kept[key] = nil
            case 9 where model.upTo(50) == 0:
                cache.remove(key.question.name)
                model.kept = model.kept.filter { $0.key.question.name != key.question.name }
            case 10 where model.upTo(100) == 0:
                cache.removeAll()
                model.kept = [:]
            default:
                let hit = cache.find(key, now: now)
                let kept = model.kept[key].flatMap { $0.expires > model.now ? $0 : nil }
                #expect(hit?.testimony == kept?.testimony)
                #expect(
                    hit?.secondsLeft == kept.map { UInt32(($0.expires - model.now + 999) / 1_000) })
                if kept == nil { model.kept[key] = nil }
            }
            model.now += Int64(model.upTo(500))
            #expect(cache.count == model.kept.count)
        }
    }

    /// With narrow limits it may know less than the dictionary, never anything else.
    @Test(arguments: [UInt64(5), 6, 7, 8])
    func `narrow limits hold at every step, and what is found is what was stored`(
        seed: UInt64
    ) throws {
        var model = Model(random: SeededNumbers(seed: seed))
        let limits = CacheLimits(entries: 40, octets: 20_000)
        var cache = AnswerCache(limits: limits)
        var found = 0
        for _ in 0..<6_000 {
            let key = try randomKey(&model)
            let now = Monotonic.at(model.now)
            if model.upTo(2) == 0 {
                let testimony = try randomAnswer(key, &model)
                let life = AnswerLife.seconds(of: testimony)
                cache.store(testimony, for: key, lifeSeconds: life, now: now)
                model.kept[key] =
                    life == 0
                    ? nil : Kept(testimony: testimony, expires: model.now + Int64(life) * 1_000)
            } else if let hit = cache.find(key, now: now) {
                found += 1
                #expect(hit.testimony == model.kept[key]?.testimony)
                #expect((model.kept[key]?.expires ?? 0) > model.now)
            }
            #expect(cache.count <= 40)
            #expect(cache.statistics.octets <= 20_000)
            model.now += Int64(model.upTo(200))
        }
        #expect(found > 100)
        #expect(cache.statistics.evictions > 300)
    }

    @Test func `many names spread evenly, and the longest search stays short`() throws {
        for round in 0..<3 {
            var cache = AnswerCache(limits: CacheLimits(entries: 49_000, octets: 1 << 26))
            for number in 0..<49_000 {
                // Names that differ in a few bits only, as somebody would choose them.
                let key = try Said.key("\(number).a.test", scope: UInt32(round))
                cache.store(
                    Said.nothing(.noError, soa: 60, to: key.question), for: key, lifeSeconds: 60,
                    now: .zero)
            }
            #expect(cache.count == 49_000)
            // Three quarters full: about 60 in a row are to be expected, all in a row would be 49 000.
            #expect(cache.longestWalk < 400)
        }
    }

    @Test func `another start gives other hashes`() throws {
        let key = try Said.key("a.test")
        let hashes = (0..<4).map { _ in key.withPacked(KeyedHash()) { $0.hash } }
        #expect(Set(hashes).count == 4)
    }
}
