import HTTPDNSLookup
import HTTPDNSNames
import Testing

@Suite struct TokenBucketTests {
    @Test func `a full bucket allows a burst of its capacity and no more`() {
        var bucket = TokenBucket(perSecond: 20)
        for _ in 0..<20 { #expect(bucket.take(now: .zero) == nil) }
        #expect(bucket.take(now: .zero) == 50)
    }

    @Test func `it says when the next token is there, and then it is`() {
        var bucket = TokenBucket(capacity: 1, refillPerSecond: 3)
        #expect(bucket.take(now: .zero) == nil)
        let wait = bucket.take(now: .zero)
        #expect(wait == 334)
        #expect(bucket.take(now: Monotonic.zero.adding(milliseconds: 333)) == 1)
        #expect(bucket.take(now: Monotonic.zero.adding(milliseconds: 334)) == nil)
    }

    @Test func `it never holds more than its capacity`() {
        var bucket = TokenBucket(capacity: 2, refillPerSecond: 1_000)
        _ = bucket.take(now: .zero)
        let late = Monotonic.zero.adding(seconds: 1_000_000_000)
        #expect(bucket.take(now: late) == nil)
        #expect(bucket.take(now: late) == nil)
        #expect(bucket.take(now: late) != nil)
    }

    @Test func `over a long time it lets through what refills`() {
        var bucket = TokenBucket(perSecond: 7)
        var taken = 0
        for millisecond in 0..<100_000 {
            if bucket.take(now: Monotonic.zero.adding(milliseconds: Int64(millisecond))) == nil {
                taken += 1
            }
        }
        #expect(taken == 7 * 100 + 6)
    }

    @Test func `a clock that goes back or jumps to its end adds nothing wrong`() {
        var bucket = TokenBucket(perSecond: 1)
        #expect(bucket.take(now: Monotonic.zero.adding(seconds: 100)) == nil)
        #expect(bucket.take(now: .zero) == 1_000)
        #expect(bucket.take(now: .distantFuture) == nil)
        #expect(bucket.take(now: .distantFuture) == 1_000)
    }

    @Test(arguments: [(0, 0), (-5, -5), (Int.max, Int.max)])
    func `numbers out of range are brought into it`(capacity: Int, rate: Int) {
        var bucket = TokenBucket(capacity: capacity, refillPerSecond: rate)
        #expect((1...TokenBucket.maximumRate).contains(bucket.capacity))
        #expect(bucket.take(now: .zero) == nil)
    }
}
