import HTTPDNSExchange
import Testing

@testable import HTTPDNSClient

@Suite struct ExchangeHoldTests {
    private final class Running: RunningExchange {
        func cancel() {}
        func resumeBody() {}
        var report: ExchangeReport { ExchangeReport() }
    }

    @Test func `a cancel before the handle is known is for the handle`() {
        var hold = ExchangeHold()
        let running = Running()
        #expect(hold.cancel() == nil)
        #expect(hold.take(running) === running)
    }

    @Test func `a cancel while it runs is for it`() {
        var hold = ExchangeHold()
        let running = Running()
        #expect(hold.take(running) == nil)
        #expect(hold.cancel() === running)
    }

    @Test func `an exchange that was over before its handle was known is not kept`() {
        var hold = ExchangeHold()
        hold.end()
        #expect(hold.take(Running()) == nil)
        #expect(hold.exchange == nil)
        #expect(hold.cancel() == nil)
    }
}
