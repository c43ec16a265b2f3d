import HTTPDNSNames
import HTTPDNSPlatform
import Testing

@Suite(.timeLimit(.minutes(1))) struct AlarmThreadTests {
    @Test func `when the system has no thread at first, the next alarm rings them all`() async {
        let isRefused = Locked(true)
        let alarms = AlarmThread { serve in
            let refuses = isRefused.withLock { refused in
                defer { refused = false }
                return refused
            }
            return !refuses && DetachedThread.start(named: "alarm-test", serve)
        }
        let rung = Locked<[Int]>([])
        let now = SystemMonotonicClock().now()
        await withCheckedContinuation { continuation in
            _ = alarms.schedule(at: now) { rung.withLock { $0.append(1) } }
            _ = alarms.schedule(at: now.adding(milliseconds: 1)) {
                rung.withLock { $0.append(2) }
                continuation.resume()
            }
        }
        #expect(rung.withLock { $0 } == [1, 2])
    }

    @Test func `alarms ring in the order of their moments, and a cancelled one does not`() async {
        let rung = Locked<[Int]>([])
        let now = SystemMonotonicClock().now()
        await withCheckedContinuation { continuation in
            let alarms = AlarmThread.shared
            for number in [5, 3, 1, 4, 2] {
                let moment = now.adding(milliseconds: Int64(number))
                let id = alarms.schedule(at: moment.adding(milliseconds: 100)) {
                    rung.withLock { $0.append(number) }
                    if number == 5 { continuation.resume() }
                }
                if number == 3 { alarms.cancel(id) }
            }
        }
        #expect(rung.withLock { $0 } == [1, 2, 4, 5])
    }

    @Test func `a nearer alarm rings while the thread sleeps towards a far or a cancelled one`()
        async
    {
        let alarms = AlarmThread { DetachedThread.start(named: "alarm-test", $0) }
        let clock = SystemMonotonicClock()
        let rung = Locked(0)
        for round in 0..<20 {
            let far = alarms.schedule(at: clock.now().adding(seconds: 3_600)) {
                rung.withLock { $0 += 1_000 }
            }
            if round.isMultiple(of: 2) { alarms.cancel(far) }
            await withCheckedContinuation { continuation in
                _ = alarms.schedule(at: clock.now().adding(milliseconds: 2)) {
                    rung.withLock { $0 += 1 }
                    continuation.resume()
                }
            }
        }
        #expect(rung.withLock { $0 } == 20)
    }
}
