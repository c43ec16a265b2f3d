import HTTPDNS
import HTTPDNSNames
import Testing

/// Which of several equal requests goes out: traces.
@Suite struct JoinTableTests {
    typealias Word = JoinTable.Word

    private func key(
        _ url: String = "https://a.test/x", _ lines: [String] = [], policy: [UInt8] = [1]
    ) throws -> JoinTable.Key {
        JoinTable.Key(
            try #require(CacheKey(HTTPURL(url))), policy: policy,
            fields: try CachingBench.fields(lines))
    }

    /// So many members that have entered.
    private func entered(
        _ count: Int, _ table: inout JoinTable, _ key: JoinTable.Key
    ) throws -> [JoinTable.Member] {
        var members: [JoinTable.Member] = []
        for _ in 0..<count {
            let member = table.enter(key, now: .zero)
            members.append(try #require(member))
        }
        return members
    }

    @Test func `the first that finds nothing leads, and the others wait`() throws {
        var table = JoinTable()
        let all = try entered(3, &table, key())
        #expect(table.wait(all[1]) == .lead)
        #expect(table.wait(all[0]) == nil)
        #expect(table.wait(all[2]) == nil)
        let told = table.settled(all[1])
        #expect(told.map(\.member) == [all[0], all[2]])
        #expect(told.map(\.word) == [.lookAgain, .lookAgain])
        for member in all { #expect(table.left(member) == []) }
        #expect(table.isEmpty)
    }

    @Test func `one that comes from looking when all is over is told how it ended`() throws {
        var table = JoinTable()
        let all = try entered(2, &table, key())
        #expect(table.wait(all[0]) == .lead)
        #expect(table.settled(all[0]) == [])
        #expect(table.left(all[0]) == [])
        #expect(table.wait(all[1]) == .lookAgain)
        let late = try entered(1, &table, key())
        #expect(table.wait(late[0]) == .lead)
    }

    @Test func `requests that differ in a field, the URL or the policy do not wait`() throws {
        var table = JoinTable()
        let keys = [
            try key(), try key("https://a.test/x?q=2"), try key(policy: [2]),
            try key("https://a.test/x", ["Accept: text/html"]),
            try key("https://a.test/x", ["Authorization: Bearer a"]),
            try key("https://a.test/x", ["Authorization: Bearer b"]),
            try key("http://a.test/x"),
        ]
        for key in keys {
            let member = try entered(1, &table, key)[0]
            #expect(table.wait(member) == .lead)
        }
    }

    @Test func `when the one that leads is cancelled, the next one leads`() throws {
        var table = JoinTable()
        let all = try entered(4, &table, key())
        for (member, word) in zip(all, [Word.lead, nil, nil, nil]) {
            #expect(table.wait(member) == word)
        }
        #expect(table.left(all[1]) == [])
        #expect(table.left(all[0]).map(\.member) == [all[2]])
        // Too late, and from one that does not lead.
        #expect(table.settled(all[0]) == [])
        #expect(table.settled(all[3]) == [])
        let told = table.settled(all[2])
        #expect(told.map(\.member) == [all[3]])
        #expect(told.map(\.word) == [.lookAgain])
    }

    @Test func `one that leaves before it looked holds nobody`() throws {
        var table = JoinTable()
        let all = try entered(2, &table, key())
        #expect(table.left(all[0]) == [])
        #expect(table.wait(all[1]) == .lead)
        #expect(table.wait(all[0]) == .goAlone)
    }

    @Test func `what others cannot use sends them off, and keeps the next ones apart for a while`()
        throws
    {
        var table = JoinTable()
        let all = try entered(2, &table, key())
        #expect(table.wait(all[0]) == .lead)
        #expect(table.wait(all[1]) == nil)
        let until = Monotonic.zero.adding(milliseconds: 1_000)
        #expect(table.released(all[0], aloneUntil: until).map(\.word) == [.goAlone])
        // Of the whole URL, whatever the fields.
        let (same, fields) = (try key(), try key("https://a.test/x", ["A: b"]))
        let other = try key("https://a.test/y")
        #expect(table.enter(same, now: .zero) == nil)
        #expect(table.enter(fields, now: .zero) == nil)
        #expect(table.enter(other, now: .zero) != nil)
        #expect(table.enter(same, now: until) != nil)
    }

    @Test func `a failure sends the others off, and the next ones wait as before`() throws {
        var table = JoinTable()
        let all = try entered(2, &table, key())
        #expect(table.wait(all[0]) == .lead)
        #expect(table.wait(all[1]) == nil)
        #expect(table.released(all[0], aloneUntil: nil).map(\.word) == [.goAlone])
        #expect(table.wait(all[1]) == .goAlone)
        #expect(try entered(1, &table, key()).count == 1)
    }

    @Test func `who has waited for long enough goes alone, and is told nothing more`() throws {
        var table = JoinTable()
        let all = try entered(3, &table, key())
        #expect(table.wait(all[0]) == .lead)
        for member in all.dropFirst() { #expect(table.wait(member) == nil) }
        #expect(table.outwaited(all[1]).map(\.word) == [.goAlone])
        #expect(table.outwaited(all[1]) == [])
        #expect(table.settled(all[0]).map(\.member) == [all[2]])
    }

    @Test func `who comes after a change does not wait for who came before it`() throws {
        var table = JoinTable()
        let before = try entered(2, &table, key())
        #expect(table.wait(before[0]) == .lead)
        #expect(table.wait(before[1]) == nil)
        table.closed([try #require(CacheKey(HTTPURL("https://a.test/y")))])
        let same = try entered(1, &table, key())
        #expect(table.wait(same[0]) == nil)
        #expect(table.left(same[0]) == [])
        table.closed([try #require(CacheKey(HTTPURL("https://a.test/x")))])
        let after = try entered(2, &table, key())
        #expect(table.wait(after[0]) == .lead)
        #expect(table.wait(after[1]) == nil)
        #expect(table.released(before[0], aloneUntil: nil).map(\.member) == [before[1]])
        // The group of those that came after is another one, and still open.
        let late = try entered(1, &table, key())
        #expect(table.wait(late[0]) == nil)
        #expect(table.settled(after[0]).map(\.member) == [after[1], late[0]])
        for member in before + after + late { #expect(table.left(member) == []) }
        #expect(table.isEmpty)
        let all = try entered(1, &table, key())
        #expect(table.wait(all[0]) == .lead)
        table.closed(nil)
        let next = try entered(1, &table, key())
        #expect(table.wait(next[0]) == .lead)
        for member in all + next { #expect(table.left(member) == []) }
        #expect(table.isEmpty)
    }

    @Test func `URLs that go alone are remembered within a bound`() throws {
        var table = JoinTable()
        let until = Monotonic.zero.adding(milliseconds: 1_000)
        for number in 0...2_000 {
            let member = try entered(1, &table, key("https://a.test/\(number)"))[0]
            #expect(table.wait(member) == .lead)
            #expect(table.released(member, aloneUntil: until) == [])
            #expect(table.left(member) == [])
        }
        let (last, first) = (try key("https://a.test/2000"), try key("https://a.test/0"))
        #expect(table.enter(last, now: .zero) == nil)
        #expect(table.enter(first, now: .zero) != nil)
    }

    /// Whatever happens in whatever order, each member that waits is told something once.
    @Test func `nobody is left behind`() throws {
        var seed: UInt64 = 7
        func draw(_ count: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % count
        }
        for _ in 0..<200 {
            var table = JoinTable()
            var inside: [JoinTable.Member] = []
            var (leading, waiting): (Set<JoinTable.Member>, Set<JoinTable.Member>) = ([], [])
            func take(_ actions: [JoinTable.Action]) {
                for action in actions {
                    #expect(waiting.remove(action.member) != nil)
                    if action.word == .lead { leading.insert(action.member) }
                }
            }
            for _ in 0..<60 {
                switch draw(5) {
                case 0, 1:
                    let member = try entered(1, &table, key())[0]
                    inside.append(member)
                    switch table.wait(member) {
                    case .lead: leading.insert(member)
                    case nil: waiting.insert(member)
                    case .lookAgain, .goAlone: Issue.record("a group that is over was entered")
                    }
                case 2:
                    guard let leader = leading.popFirst() else { continue }
                    take(
                        draw(2) == 0
                            ? table.settled(leader) : table.released(leader, aloneUntil: nil))
                case 3:
                    guard !inside.isEmpty else { continue }
                    let member = inside.remove(at: draw(inside.count))
                    leading.remove(member)
                    waiting.remove(member)
                    take(table.left(member))
                default:
                    guard let member = waiting.first else { continue }
                    take(table.outwaited(member))
                }
                #expect(waiting.isEmpty || !leading.isEmpty)
            }
            for member in inside {
                waiting.remove(member)
                take(table.left(member))
            }
            #expect(waiting.isEmpty && table.isEmpty)
        }
    }
}
