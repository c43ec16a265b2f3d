import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import Testing

/// What comes out of the cache is what went in, whatever it was.
@Suite struct AnswerPackingTests {
    private let key: LookupKey

    init() throws { key = try Said.key("Api.Example.test") }

    private func returned(
        _ testimony: Testimony, for key: LookupKey? = nil, lifeSeconds: UInt32 = 60
    ) -> Testimony? {
        var cache = AnswerCache()
        cache.store(testimony, for: key ?? self.key, lifeSeconds: lifeSeconds, now: .zero)
        return cache.find(key ?? self.key, now: .zero)?.testimony
    }

    private static let name = WireName(labels: [Array("CDN".utf8), [0x2E, 0x00, 0xFF], [0x61]])
    private static let longest = WireName(
        labels: [[UInt8]](repeating: [UInt8](repeating: 0x7A, count: 63), count: 3)
            + [[UInt8](repeating: 0x79, count: 61)])

    private static func records() throws -> [ResourceRecord] {
        let name = try #require(AnswerPackingTests.name)
        let longest = try #require(AnswerPackingTests.longest)
        let four = try IPAddress("192.0.2.1")
        let six = try IPAddress("2001:db8::1")
        let zoned = try IPAddress("fe80::1%eth0")
        let data: [(RecordType, RecordData)] = [
            (.a, .address(four)), (.aaaa, .address(six)), (.aaaa, .address(zoned)),
            (.a, .address(six)), (.txt, .address(four)), (.cname, .name(longest)),
            (.ns, .name(.root)), (.ptr, .name(name)),
            (.mx, .mx(preference: 65_535, exchange: name)),
            (
                .soa,
                .soa(
                    StartOfAuthority(
                        primary: name, mailbox: longest, serial: .max, refreshSeconds: 0,
                        retrySeconds: 1, expireSeconds: .max, minimumSeconds: 300))
            ),
            (.txt, .txt([])), (.txt, .txt([[], [UInt8](repeating: 0, count: 255), [0xFF]])),
            (.txt, .txt([[UInt8](repeating: 7, count: 4_000)])),
            (.srv, .srv(priority: 1, weight: .max, port: 443, target: name)),
            (.caa, .caa(flags: 128, tag: Array("issue".utf8), value: [0, 1, 255])),
            (.caa, .caa(flags: 0, tag: [], value: [])),
            (
                .https,
                .service(
                    ServiceBinding(
                        priority: 0, target: .root,
                        parameters: [
                            .init(key: 1, value: [2, 0x68, 0x32]), .init(key: .max, value: []),
                        ]))
            ),
            (.svcb, .service(ServiceBinding(priority: .max, target: longest, parameters: []))),
            (RecordType(rawValue: 0), .opaque([])),
            (RecordType(rawValue: .max), .opaque([UInt8](repeating: 0xAB, count: 1_000))),
        ]
        return data.enumerated().map { number, pair in
            ResourceRecord(
                name: number % 2 == 0 ? name : longest, type: pair.0,
                recordClass: number % 3 == 0 ? .max : 1,
                ttlSeconds: number % 5 == 0 ? 0 : UInt32(Int32.max), data: pair.1)
        }
    }

    @Test(arguments: 0..<20)
    func `a record of every type comes back equal, with its name as it was written`(
        number: Int
    ) throws {
        let record = try AnswerPackingTests.records()[number]
        let testimony = Testimony(
            question: key.question, code: .noError, answers: [record],
            source: Testimony.Source(resolver: "one", transport: .tcp))
        let back = returned(testimony)
        #expect(back == testimony)
        #expect(back?.answers.first?.name.octets == record.name.octets)
        #expect(back?.answers.first.map { "\($0.data)" } == "\(record.data)")
    }

    @Test func `all of them together come back in order`() throws {
        let testimony = Testimony(
            question: key.question, code: ResponseCode(rawValue: 4_095),
            answers: try AnswerPackingTests.records() + AnswerPackingTests.records(),
            negativeTTLSeconds: .max, isAuthenticData: true,
            source: Testimony.Source(
                resolver: "https://dns.example/dns-query", transport: .https,
                server: "[2001:db8::1]:443", clientAddress: try IPAddress("198.51.100.7"),
                tries: 3))
        #expect(returned(testimony) == testimony)
    }

    @Test(arguments: [UInt32(0), 59, 60, 61, 2_147_483_647], [RecordType.a, .aaaa])
    func `plain addresses come back with the TTL they had`(ttl: UInt32, type: RecordType) throws {
        let key = try Said.key("api.example.test", type)
        let texts = type == .a ? ["192.0.2.1", "192.0.2.2"] : ["2001:db8::1", "::"]
        var testimony = try Said.addresses(texts, ttl: ttl, to: key.question)
        testimony.isAuthenticData = ttl == 60
        #expect(returned(testimony, for: key) == testimony)
    }

    @Test func `an owner name in another case stays in that case`() throws {
        let owner = try #require(
            WireName(labels: [Array("API".utf8), Array("example".utf8), Array("test".utf8)]))
        let record = ResourceRecord(
            name: owner, type: .a, ttlSeconds: 60, data: .address(try IPAddress("192.0.2.1")))
        let testimony = Testimony(
            question: key.question, code: .noError, answers: [record],
            source: Testimony.Source(resolver: "one", transport: .udp))
        #expect(returned(testimony)?.answers.first?.name.octets == owner.octets)
    }

    @Test(arguments: [ResponseCode.noError, .noSuchName], [UInt32?.none, 0, 300])
    func `nothing comes back as nothing`(code: ResponseCode, negative: UInt32?) {
        let testimony = Said.nothing(code, soa: negative, to: key.question)
        #expect(returned(testimony) == testimony)
    }

    @Test func `an answer to a question put otherwise keeps that question`() throws {
        var question = try Said.question("other.test", .https)
        question.clientSubnet = try AddressBlock("2001:db8::/56")
        question.serviceParameters = try ServiceParameters([("a", "1"), ("b", "")])
        question.wantsDNSSEC = true
        let testimony = Said.nothing(.noError, soa: 60, to: question)
        #expect(returned(testimony) == testimony)
        let asked = LookupKey(question: question, scope: key.scope)
        #expect(returned(testimony, for: asked) == testimony)
        var cache = AnswerCache()
        cache.store(testimony, for: asked, lifeSeconds: 60, now: .zero)
        #expect(cache.entries(in: key.scope).map(\.key) == [asked])
    }

    @Test func `the longest name with the most parameters is kept`() throws {
        let label = String(repeating: "a", count: 62)
        var question = try Said.question([label, label, label, label].joined(separator: "."))
        question.serviceParameters = try ServiceParameters(
            (0..<250).map { ("k\($0)", "") })
        let testimony = Said.nothing(.noError, soa: 60, to: question)
        let asked = LookupKey(question: question, scope: key.scope)
        #expect(returned(testimony, for: asked) == testimony)
    }

    @Test func `sources are told apart, and those that are gone take no room`() throws {
        var cache = AnswerCache(limits: CacheLimits(entries: 8))
        for number in 0..<100 {
            let key = try Said.key("n\(number).test")
            let testimony = try Said.addresses(
                ["192.0.2.1"], to: key.question, by: "resolver-\(number)")
            cache.keep(testimony, for: key, now: .zero)
            #expect(cache.find(key, now: .zero)?.testimony == testimony)
        }
        let full = cache.statistics.octets
        for number in 100..<1_000 {
            let key = try Said.key("n\(number).test")
            cache.keep(
                try Said.addresses(["192.0.2.1"], to: key.question, by: "resolver-\(number)"),
                for: key, now: .zero)
        }
        #expect(cache.statistics.octets < full * 2)
    }
}
