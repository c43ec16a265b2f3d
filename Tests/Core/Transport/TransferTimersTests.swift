import HTTPDNSExchange
import HTTPDNSNames
import Testing

@testable import HTTPDNSTransport

@Suite struct TransferTimersTests {
    private let start = Monotonic.zero.adding(seconds: 100)

    private func at(_ milliseconds: Int64) -> Monotonic {
        start.adding(milliseconds: milliseconds)
    }

    private func timers(deadline: Monotonic = .distantFuture) -> TransferTimers {
        var limits = TransportLimits()
        limits.connectMilliseconds = 1_000
        limits.idleMilliseconds = 300
        limits.deadline = deadline
        return TransferTimers(limits, now: start)
    }

    @Test func `connecting has its own limit, which silence does not shorten`() {
        var timers = timers()
        timers.settle(now: at(900), isWaitingForUs: false)
        #expect(timers.due(.connection) == (at(1_000), .connect))
        timers.heard()
        timers.settle(now: at(950), isWaitingForUs: false)
        #expect(timers.due(.connection) == (at(1_000), .connect))
    }

    @Test func `a connection made anew has its whole time, and the deadline stays`() {
        var timers = timers(deadline: at(2_500))
        timers.connectAnew(now: at(900))
        #expect(timers.due(.connection) == (at(1_900), .connect))
        timers.connectAnew(now: at(2_000))
        #expect(timers.due(.connection) == (at(2_500), .total))
    }

    @Test func `silence is counted from the last octet`() {
        var timers = timers()
        timers.heard()
        timers.settle(now: at(200), isWaitingForUs: false)
        timers.settle(now: at(400), isWaitingForUs: false)
        #expect(timers.due(.response) == (at(500), .response))
        #expect(timers.due(.octets) == (at(500), .idle))
    }

    @Test func `a pause of ours is not the network's silence`() {
        var timers = timers()
        timers.settle(now: at(10_000), isWaitingForUs: true)
        #expect(timers.due(.ourselves) == (.distantFuture, .total))
        timers.settle(now: at(10_100), isWaitingForUs: false)
        #expect(timers.due(.octets) == (at(10_300), .idle))
    }

    @Test func `the deadline goes before all others, also while we wait for ourselves`() {
        let timers = timers(deadline: at(100))
        for wait in [TransferTimers.Wait.connection, .response, .octets, .ourselves] {
            #expect(timers.due(wait) == (at(100), .total))
        }
    }

    @Test(arguments: [Int64.min, -1, 0, .max])
    func `limits out of range do not overflow`(limit: Int64) {
        var limits = TransportLimits()
        limits.connectMilliseconds = limit
        limits.idleMilliseconds = limit
        let timers = TransferTimers(limits, now: start)
        #expect(timers.due(.connection).at > start)
        #expect(timers.due(.octets).at > start)
    }
}
