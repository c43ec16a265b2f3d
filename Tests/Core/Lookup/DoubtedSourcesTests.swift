import HTTPDNSLookup
import HTTPDNSNames
import TestSupport
import Testing

@Suite struct DoubtedSourcesTests {
    private let shop: HostName

    init() throws { shop = try HostName("shop.example.test") }

    @Test func `a doubt holds for one source and one host, for five minutes`() throws {
        var doubts = DoubtedSources()
        let start = Monotonic.zero
        doubts.doubt("liar", for: shop, now: start)
        let end = start.adding(milliseconds: 300_000)
        #expect(doubts.isDoubted("liar", for: shop, now: start))
        #expect(doubts.isDoubted("liar", for: shop, now: end.adding(milliseconds: -1)))
        #expect(!doubts.isDoubted("liar", for: shop, now: end))
        #expect(!doubts.isDoubted("honest", for: shop, now: start))
        #expect(!doubts.isDoubted("liar", for: try HostName("example.test"), now: start))
        doubts.removeAll()
        #expect(!doubts.isDoubted("liar", for: shop, now: start))
    }

    @Test func `many hosts push out what is over first`() throws {
        var doubts = DoubtedSources()
        doubts.doubt("liar", for: shop, now: .zero)
        let later = Monotonic.zero.adding(milliseconds: 299_000)
        for number in 0..<255 {
            doubts.doubt("liar", for: try HostName("h\(number).example.test"), now: later)
        }
        let last = try HostName("last.example.test")
        let end = Monotonic.zero.adding(milliseconds: 301_000)
        doubts.doubt("liar", for: last, now: end)
        #expect(!doubts.isDoubted("liar", for: shop, now: end))
        #expect(doubts.isDoubted("liar", for: try HostName("h7.example.test"), now: end))
        #expect(doubts.isDoubted("liar", for: last, now: end))
    }
}
