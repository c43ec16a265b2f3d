import HTTPDNSExchange
import HTTPDNSNames
import Testing

@testable import HTTPDNSTransport

/// Which attempts to connect are over, and which are given up for the next address.
@Suite struct DiallingTests {
    private let start = Monotonic(nanoseconds: 1_000_000_000)
    private var planned: [IPAddress] {
        ["127.0.0.1", "127.0.0.2", "::1"].compactMap { try? IPAddress($0) }
    }

    private func endpoint(_ text: String) throws -> Endpoint {
        Endpoint(address: try IPAddress(text), port: .https)
    }

    private func socket(_ number: Int32, _ inode: UInt64) -> Dialling.Socket {
        Dialling.Socket(number: number, inode: inode)
    }

    private func later(_ milliseconds: Int64) -> Monotonic {
        start.adding(milliseconds: milliseconds)
    }

    @Test func `a silent address is given up for one that is left, and not before its time`() throws
    {
        var dialling = Dialling()
        dialling.begins(try endpoint("127.0.0.1"), on: socket(5, 50))
        #expect(dialling.due(among: planned) == .distantFuture)
        dialling.settle(now: start)
        #expect(dialling.due(among: planned) == later(Dialling.patienceMilliseconds))
        #expect(dialling.overdue(now: later(1_999), among: planned).isEmpty)
        #expect(dialling.overdue(now: later(2_000), among: planned) == [socket(5, 50)])
        dialling.gaveUp(socket(5, 50))
        #expect(dialling.overdue(now: later(9_000), among: planned).isEmpty)
        #expect(dialling.passedOver == [PassedOver(try IPAddress("127.0.0.1"), wasSilent: true)])
        // libcurl is called when its socket is gone: then alone it can begin the next.
        #expect(dialling.open.map(\.socket) == [socket(5, 50)])
        let isNews = dialling.lost(socket(5, 50))
        #expect(isNews && dialling.open.isEmpty)
        #expect(dialling.passedOver == [PassedOver(try IPAddress("127.0.0.1"), wasSilent: true)])
    }

    @Test func `the last of a family has all the time`() throws {
        var dialling = Dialling()
        dialling.begins(try endpoint("127.0.0.1"), on: socket(5, 50))
        dialling.begins(try endpoint("127.0.0.2"), on: socket(6, 60))
        dialling.settle(now: start)
        // The other family has an attempt of its own beside it.
        #expect(dialling.due(among: planned) == .distantFuture)
        #expect(dialling.overdue(now: later(60_000), among: planned).isEmpty)
    }

    @Test func `what is connected is not given up`() throws {
        var dialling = Dialling()
        dialling.begins(try endpoint("127.0.0.1"), on: socket(5, 50))
        dialling.settle(now: start)
        dialling.made(socket(5, 50))
        #expect(dialling.due(among: planned) == .distantFuture)
        #expect(dialling.passedOver.isEmpty)
        // It may still come to nothing.
        let isNews = dialling.lost(socket(5, 50))
        #expect(isNews)
        #expect(dialling.passedOver.map(\.wasSilent) == [false])
    }

    @Test
    func `a socket that is closed is told once, and a number that is given again is another's`()
        throws
    {
        var dialling = Dialling()
        dialling.begins(try endpoint("127.0.0.1"), on: socket(5, 50))
        dialling.begins(try endpoint("127.0.0.2"), on: socket(5, 51))
        #expect(dialling.passedOver == [PassedOver(try IPAddress("127.0.0.1"), wasSilent: false)])
        #expect(dialling.open.map(\.socket) == [socket(5, 51)])
        let news = [socket(5, 50), socket(5, 51), socket(5, 51)].map { dialling.lost($0) }
        #expect(news == [false, true, false])
        #expect(dialling.passedOver.count == 2)
    }

    @Test func `the loser of a race is no failure`() throws {
        var dialling = Dialling()
        dialling.begins(try endpoint("::1"), on: socket(5, 50))
        dialling.begins(try endpoint("127.0.0.1"), on: socket(6, 60))
        dialling.forget([socket(5, 50)])
        #expect(dialling.passedOver.isEmpty)
        #expect(dialling.open.map(\.socket) == [socket(6, 60)])
    }
}
