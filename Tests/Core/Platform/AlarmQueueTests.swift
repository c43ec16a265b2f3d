import HTTPDNSNames
import HTTPDNSPlatform
import Testing

@Suite struct AlarmQueueTests {
    /// A queue whose alarms are known by numbers of ours, and what has rung.
    private final class Bench {
        var queue = AlarmQueue()
        var ids: [Int: AlarmID] = [:]
        let rung = Locked<[Int]>([])

        func add(_ number: Int, at milliseconds: Int64) {
            let rung = rung
            ids[number] = queue.add(AlarmQueueTests.moment(milliseconds)) {
                rung.withLock { $0.append(number) }
            }
        }

        /// True when it was still there.
        func cancel(_ number: Int) -> Bool {
            guard let id = ids[number] else { return false }
            return cancel(id: id)
        }

        func cancel(id: AlarmID) -> Bool { queue.cancel(id) != nil }

        func ring(until milliseconds: Int64) -> [Int] {
            for ring in queue.takeDue(now: AlarmQueueTests.moment(milliseconds)) { ring() }
            return rung.withLock { rung in
                defer { rung = [] }
                return rung
            }
        }
    }

    private static func moment(_ milliseconds: Int64) -> Monotonic {
        Monotonic.zero.adding(milliseconds: milliseconds)
    }

    @Test func `alarms come in the order of their moments, and only when they are due`() {
        let bench = Bench()
        for at in [50, 10, 40, 20, 30] { bench.add(at, at: Int64(at)) }
        #expect(bench.queue.next == Self.moment(10))
        #expect(bench.ring(until: 9) == [])
        #expect(bench.ring(until: 30) == [10, 20, 30])
        #expect(bench.queue.next == Self.moment(40))
        #expect(bench.ring(until: 1_000) == [40, 50])
        #expect(bench.queue.next == nil)
    }

    @Test func `alarms of one moment come in the order they were added`() {
        let bench = Bench()
        for number in 0..<100 { bench.add(number, at: 5) }
        for number in stride(from: 0, to: 100, by: 3) { #expect(bench.cancel(number)) }
        #expect(bench.ring(until: 5) == (0..<100).filter { $0 % 3 != 0 })
    }

    @Test(arguments: 0..<15)
    func `any one of them can be cancelled, and the others come in order`(cancelled: Int) {
        let bench = Bench()
        for number in (0..<15).reversed() { bench.add(number, at: Int64(number)) }
        #expect(bench.cancel(cancelled))
        #expect(bench.queue.count == 14)
        #expect(bench.queue.next == Self.moment(cancelled == 0 ? 1 : 0))
        #expect(bench.ring(until: 100) == (0..<15).filter { $0 != cancelled })
    }

    @Test func `what has rung or was cancelled cannot be cancelled, though its slot is used again`()
    {
        let bench = Bench()
        bench.add(1, at: 1)
        #expect(bench.cancel(1))
        bench.add(2, at: 2)
        #expect(bench.ids[1]?.slot == bench.ids[2]?.slot)
        #expect(!bench.cancel(1))
        #expect(bench.ring(until: 2) == [2])
        #expect(!bench.cancel(2))
        for never in [
            AlarmID(number: 0), AlarmID(number: 2, slot: -1), AlarmID(number: 2, slot: 1_000),
        ] {
            #expect(!bench.cancel(id: never))
        }
    }

    @Test func `what a cancelled alarm held ends with the ring that is given back`() {
        final class Held: Sendable {}
        var queue = AlarmQueue()
        var held: Held? = Held()
        weak let last = held
        let id = queue.add(Self.moment(1)) { [held] in _ = held }
        _ = queue.add(Self.moment(2)) {}
        held = nil
        #expect(last != nil)
        var ring = queue.cancel(id)
        #expect(ring != nil)
        ring = nil
        #expect(last == nil)
    }

    @Test(arguments: [UInt64(1), 2, 3, 4])
    func `after any operations it holds what a plain list would hold`(seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        let bench = Bench()
        var model: [(number: Int, at: Int64)] = []
        var now: Int64 = 0
        // Mostly growing at first, then mostly shrinking, so that it is deep and empty in turns.
        for step in 0..<20_000 {
            let grows = step / 2_500 % 2 == 0
            switch Int.random(in: 0..<10, using: &numbers) {
            case 0..<(grows ? 6 : 2):
                let at = now + Int64.random(in: 0..<1_000, using: &numbers)
                bench.add(step, at: at)
                model.append((step, at))
            case 6..<9 where !model.isEmpty:
                let victim = model.remove(at: Int.random(in: 0..<model.count, using: &numbers))
                #expect(bench.cancel(victim.number))
            default:
                now += Int64.random(in: 0..<(grows ? 3 : 30), using: &numbers)
                let due = model.filter { $0.at <= now }
                    .sorted { ($0.at, $0.number) < ($1.at, $1.number) }
                model.removeAll { $0.at <= now }
                #expect(bench.ring(until: now) == due.map { $0.number })
                for alarm in due { #expect(!bench.cancel(alarm.number)) }
            }
            #expect(bench.queue.count == model.count)
            #expect(bench.queue.next == model.map { $0.at }.min().map(Self.moment))
        }
    }
}
