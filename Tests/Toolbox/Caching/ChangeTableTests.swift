import HTTPDNS
import HTTPDNSCaching
import Testing

/// What is of a time before a change: traces.
@Suite struct ChangeTableTests {
    private func key(_ path: String = "x") throws -> CacheKey {
        try #require(CacheKey(HTTPURL("https://a.test/\(path)")))
    }

    @Test func `a change of a URL outdates what was asked for there before it, and nothing else`()
        throws
    {
        var table = ChangeTable()
        let (before, elsewhere) = (
            table.open(try key(), since: table.era), table.open(try key("y"), since: table.era)
        )
        #expect(!table.isOutdated(before))
        table.changed([try key(), try key("nobody")])
        let after = table.open(try key(), since: table.era)
        #expect(table.isOutdated(before))
        #expect(!table.isOutdated(elsewhere) && !table.isOutdated(after))
        table.changed([try key(), try key()])
        #expect(table.isOutdated(before) && table.isOutdated(after))
    }

    @Test func `a change of everything outdates what any exchange asks for that began before it`()
        throws
    {
        var table = ChangeTable()
        let era = table.era
        let before = table.open(try key(), since: era)
        table.changed(nil)
        // The hop of a redirect.
        let later = table.open(try key("y"), since: era)
        let after = table.open(try key(), since: table.era)
        #expect(table.isOutdated(before) && table.isOutdated(later))
        #expect(!table.isOutdated(after))
        table.changed(nil)
        #expect(table.isOutdated(before) && table.isOutdated(later) && table.isOutdated(after))
    }

    @Test func `what is outdated stays so while others come and go`() throws {
        var table = ChangeTable()
        let before = table.open(try key(), since: table.era)
        table.changed([try key()])
        for _ in 0..<100 {
            let other = table.open(try key(), since: table.era)
            #expect(!table.isOutdated(other))
            table.close(other)
            #expect(table.isOutdated(before))
        }
        table.close(before)
        let after = table.open(try key(), since: table.era)
        #expect(!table.isOutdated(after))
    }

    @Test func `nothing is remembered of a URL that nobody asks for`() throws {
        var table = ChangeTable()
        for number in 0..<100 { table.changed([try key("\(number)")]) }
        #expect(table.isEmpty)
        let tickets = [
            table.open(try key(), since: table.era), table.open(try key(), since: table.era),
        ]
        table.changed([try key()])
        for ticket in tickets {
            #expect(!table.isEmpty)
            table.close(ticket)
        }
        #expect(table.isEmpty)
    }
}
