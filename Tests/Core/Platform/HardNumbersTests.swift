import HTTPDNSPlatform
import Testing

@Suite struct HardNumbersTests {
    @Test func `numbers below a limit reach all of it, and no further`() {
        var numbers = HardNumbers()
        var seen: Set<Int> = []
        for _ in 0..<4_000 { seen.insert(numbers.next(below: 16)) }
        #expect(seen == Set(0..<16))
        let trivial = [-1, 0, 1].map { numbers.next(below: $0) }
        #expect(trivial == [0, 0, 0])
    }

    @Test func `numbers do not repeat from batch to batch`() {
        var numbers = HardNumbers()
        let all = (0..<2_000).map { _ in numbers.next() }
        #expect(Set(all).count > 1_900)
    }
}
