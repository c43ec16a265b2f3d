import HTTPDNSLookup
import HTTPDNSNames
import Testing

@Suite struct AddressRankTests {
    private static let host = Host.address(IPAddress(family: .ipv4, high: 0, low: 0x7F00_0001))

    private static func addresses(_ text: String) throws -> [IPAddress] {
        try text.split(separator: " ").map { try IPAddress(String($0)) }
    }

    private static func order(
        _ rank: AddressRank, _ text: String, _ host: Host = host, at milliseconds: Int64 = 0
    ) throws -> String {
        rank.ordered(try addresses(text), for: host, now: .at(milliseconds))
            .map(\.description).joined(separator: " ")
    }

    private static func told(_ outcomes: [(String, AddressRank.Outcome)]) throws -> AddressRank {
        var rank = AddressRank()
        for (address, outcome) in outcomes {
            rank.report(try IPAddress(address), for: host, outcome: outcome, now: .zero)
        }
        return rank
    }

    @Test(arguments: [
        ("", ""), ("1.0.0.1", "1.0.0.1"), ("1.0.0.1 1.0.0.2 ::5 ::6", "1.0.0.1 ::5 1.0.0.2 ::6"),
        ("::5 1.0.0.1 ::6 1.0.0.2", "::5 1.0.0.1 ::6 1.0.0.2"),
        ("::5 ::6 ::7 1.0.0.1", "::5 1.0.0.1 ::6 ::7"), ("::5 ::5 1.0.0.1", "::5 1.0.0.1 ::5"),
    ]) func `nothing known, families alternate and each keeps its order`(
        given: String, ordered: String
    ) throws {
        #expect(try Self.order(AddressRank(), given) == ordered)
    }

    @Test(arguments: [
        (40, 100, true), (100, 40, false), (89, 100, false), (80, 100, true), (81, 100, false),
        (1, 10, false), (1, 11, true), (100, 100, false),
    ]) func `a measured address goes ahead only when it is clearly faster`(
        second: Int64, first: Int64, goesAhead: Bool
    ) throws {
        let rank = try Self.told([
            ("1.0.0.1", .connected(milliseconds: first)),
            ("1.0.0.2", .connected(milliseconds: second)),
        ])
        let ordered = try Self.order(rank, "1.0.0.1 1.0.0.2")
        #expect(ordered == (goesAhead ? "1.0.0.2 1.0.0.1" : "1.0.0.1 1.0.0.2"))
    }

    @Test func `an address never tried keeps its place among measured ones`() throws {
        let rank = try Self.told([
            ("1.0.0.1", .connected(milliseconds: 300)), ("1.0.0.3", .connected(milliseconds: 20)),
        ])
        #expect(
            try Self.order(rank, "1.0.0.1 1.0.0.2 1.0.0.3 1.0.0.4")
                == "1.0.0.3 1.0.0.2 1.0.0.1 1.0.0.4")
    }

    @Test func `the clearly faster family comes first`() throws {
        let rank = try Self.told([
            ("::5", .connected(milliseconds: 300)), ("1.0.0.1", .connected(milliseconds: 20)),
        ])
        #expect(try Self.order(rank, "::5 1.0.0.1 ::6 1.0.0.2") == "1.0.0.1 ::5 1.0.0.2 ::6")
    }

    @Test func `an address that failed is tried after the others, until its rest is over`() throws {
        let rank = try Self.told([("1.0.0.1", .unreachable)])
        #expect(try Self.order(rank, "1.0.0.1 1.0.0.2", at: 59_999) == "1.0.0.2 1.0.0.1")
        #expect(try Self.order(rank, "1.0.0.1 1.0.0.2", at: 60_000) == "1.0.0.1 1.0.0.2")
        #expect(try Self.order(rank, "1.0.0.1", at: 1) == "1.0.0.1")
    }

    @Test func `rests grow from one minute to ten, and a connection ends them`() throws {
        let address = try IPAddress("1.0.0.1")
        var rank = AddressRank()
        var now: Int64 = 0
        var rests: [Int64] = []
        for _ in 0..<6 {
            rank.report(address, for: Self.host, outcome: .timedOut, now: .at(now))
            let start = now
            while try Self.order(rank, "1.0.0.1 1.0.0.2", at: now).hasPrefix("1.0.0.2") {
                now += 30_000
            }
            rests.append(now - start)
        }
        #expect(rests == [60_000, 120_000, 240_000, 480_000, 600_000, 600_000])
        rank.report(address, for: Self.host, outcome: .timedOut, now: .at(now))
        rank.report(address, for: Self.host, outcome: .connected(milliseconds: 5), now: .at(now))
        #expect(try Self.order(rank, "1.0.0.1 1.0.0.2", at: now) == "1.0.0.1 1.0.0.2")
    }

    @Test func `several failures of one race are one, and old ones are forgiven`() throws {
        let address = try IPAddress("1.0.0.1")
        var rank = AddressRank()
        for now in [0, 10, 20] as [Int64] {
            rank.report(address, for: Self.host, outcome: .timedOut, now: .at(now))
        }
        #expect(try Self.order(rank, "1.0.0.1 1.0.0.2", at: 60_000) == "1.0.0.1 1.0.0.2")
        rank.report(address, for: Self.host, outcome: .timedOut, now: .at(660_000))
        #expect(try Self.order(rank, "1.0.0.1 1.0.0.2", at: 720_000) == "1.0.0.1 1.0.0.2")
    }

    @Test func `an address not trusted for one host is last for that host alone`() throws {
        let other = Host.name(try HostName("other.test"))
        let rank = try Self.told([("1.0.0.1", .untrusted), ("1.0.0.2", .timedOut)])
        #expect(try Self.order(rank, "1.0.0.1 1.0.0.2 1.0.0.3") == "1.0.0.3 1.0.0.2 1.0.0.1")
        #expect(
            try Self.order(rank, "1.0.0.1 1.0.0.2 1.0.0.3", other) == "1.0.0.1 1.0.0.3 1.0.0.2")
    }

    @Test func `marks of a host lapse together, ten minutes after the last`() throws {
        var rank = try Self.told([("1.0.0.1", .untrusted)])
        rank.report(
            try IPAddress("1.0.0.2"), for: Self.host, outcome: .untrusted, now: .at(500_000))
        let given = "1.0.0.1 1.0.0.2 1.0.0.3"
        #expect(try Self.order(rank, given, at: 1_099_999) == "1.0.0.3 1.0.0.1 1.0.0.2")
        #expect(try Self.order(rank, given, at: 1_100_000) == given)
    }

    @Test func `a connection does not lift the mark, another network does`() throws {
        var rank = try Self.told([
            ("1.0.0.1", .untrusted), ("1.0.0.1", .connected(milliseconds: 1)),
        ])
        #expect(try Self.order(rank, "1.0.0.1 1.0.0.2") == "1.0.0.2 1.0.0.1")
        rank.networkChanged()
        #expect(try Self.order(rank, "1.0.0.1 1.0.0.2") == "1.0.0.1 1.0.0.2")
        #expect(rank.count == 0)
    }

    @Test func `a failure asks for a new lookup, a connection does not`() {
        #expect(!AddressOutcome.connected(milliseconds: 1).wantsRefresh)
        let failures: [AddressOutcome] = [.unreachable, .timedOut, .untrusted]
        #expect(failures.map(\.wantsRefresh) == [true, true, true])
    }

    @Test func `what is told of longest ago is forgotten first, and no more is kept than told`() {
        var rank = AddressRank(capacity: 8)
        for number in 0..<100 as Range<Int64> {
            let address = IPAddress(family: .ipv4, high: 0, low: UInt64(number))
            rank.report(address, for: Self.host, outcome: .timedOut, now: .at(number))
            #expect(rank.count <= 8)
        }
        let newest = IPAddress(family: .ipv4, high: 0, low: 99)
        let oldest = IPAddress(family: .ipv4, high: 0, low: 0)
        #expect(rank.ordered([newest, oldest], for: Self.host, now: .at(100)) == [oldest, newest])
    }

    @Test func `whatever is told, the order leaves nothing out and trust comes first`() throws {
        var generator = SeededGenerator(state: 11)
        let pool = try Self.addresses("1.0.0.1 1.0.0.2 1.0.0.3 ::5 ::6 ::7")
        for _ in 0..<500 {
            var rank = AddressRank(capacity: 4)
            var distrusted: Set<IPAddress> = []
            for step in 0..<12 as Range<Int64> {
                let address = pool.randomElement(using: &generator) ?? pool[0]
                let outcomes: [AddressRank.Outcome] = [
                    .connected(milliseconds: .random(in: 0...400, using: &generator)),
                    .timedOut, .unreachable, .untrusted,
                ]
                let outcome = outcomes.randomElement(using: &generator) ?? .timedOut
                if outcome == .untrusted { distrusted.insert(address) }
                rank.report(address, for: Self.host, outcome: outcome, now: .at(step * 20_000))
            }
            let given = (0..<Int.random(in: 0...8, using: &generator))
                .compactMap { _ in pool.randomElement(using: &generator) }
            let ordered = rank.ordered(given, for: Self.host, now: .at(240_000))
            #expect(
                ordered.map(\.description).sorted() == given.map(\.description).sorted())
            let marked = ordered.map(distrusted.contains)
            #expect(marked == marked.filter { !$0 } + marked.filter { $0 })
        }
    }
}
