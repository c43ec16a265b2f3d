import HTTPDNSDatagram
import HTTPDNSNames
import Testing

@Suite struct ServerSelectionTests {
    var selection = ServerSelection()
    let servers: [Endpoint]

    init() throws {
        servers = try ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map {
            Endpoint(address: try IPAddress($0), port: .dns)
        }
    }

    @Test mutating func `servers that nothing is known of are asked as given`() {
        #expect(selection.order(servers, by: .asGiven, now: .zero) == [0, 1, 2])
        #expect(selection.order([servers[0]], by: .rotate, now: .zero) == [0])
        #expect(selection.order([], by: .rotate, now: .zero) == [])
    }

    @Test mutating func `a refused server is asked last until its rest is over`() {
        selection.refused(servers[0], now: .zero)
        #expect(selection.order(servers, by: .asGiven, now: .after(4_999)) == [1, 2, 0])
        #expect(selection.order(servers, by: .asGiven, now: .after(5_000)) == [0, 1, 2])
    }

    @Test mutating func `one question alone finds out whether a server is back`() {
        selection.refused(servers[0], now: .zero)
        #expect(selection.order(servers, by: .asGiven, now: .after(5_000)).first == 0)
        #expect(selection.order(servers, by: .asGiven, now: .after(5_001)).first == 1)
        selection.answered(servers[0], afterMicroseconds: 900)
        #expect(selection.order(servers, by: .asGiven, now: .after(5_002)).first == 0)
        #expect(selection.order(servers, by: .asGiven, now: .after(5_003)).first == 0)
    }

    @Test mutating func `each failure in a row doubles the rest, up to a limit`() {
        var now: Int64 = 0
        for rest in [5_000, 10_000, 20_000, 40_000, 80_000, 80_000] as [Int64] {
            selection.refused(servers[0], now: .after(now))
            #expect(selection.isResting(servers[0], .after(now + rest - 1)))
            #expect(!selection.isResting(servers[0], .after(now + rest)))
            now += rest
        }
    }

    @Test mutating func `one silence is forgiven, two in a row are not`() {
        selection.silent(servers[0], now: .zero)
        #expect(!selection.isResting(servers[0], .after(1)))
        selection.answered(servers[0], afterMicroseconds: 5)
        selection.silent(servers[0], now: .zero)
        #expect(!selection.isResting(servers[0], .after(1)))
        selection.silent(servers[0], now: .zero)
        #expect(selection.isResting(servers[0], .after(1)))
    }

    @Test mutating func `when all rest all are still asked`() {
        for server in servers { selection.refused(server, now: .zero) }
        #expect(selection.order(servers, by: .asGiven, now: .after(1)) == [0, 1, 2])
    }

    @Test mutating func `in turn each server is first equally often`() {
        var firsts = [0, 0, 0]
        for _ in 0..<30 {
            let order = selection.order(servers, by: .rotate, now: .zero)
            #expect(order.sorted() == [0, 1, 2])
            firsts[order[0]] += 1
        }
        #expect(firsts == [10, 10, 10])
    }

    @Test mutating func `the fastest is first, and one that was never measured is tried`() {
        selection.answered(servers[0], afterMicroseconds: 9_000)
        selection.answered(servers[1], afterMicroseconds: 1_000)
        #expect(selection.order(servers, by: .fastest, now: .zero) == [2, 1, 0])
        selection.answered(servers[2], afterMicroseconds: 5_000)
        #expect(selection.order(servers, by: .fastest, now: .zero) == [1, 2, 0])
    }

    @Test mutating func `round trips are smoothed by an eighth`() {
        selection.answered(servers[0], afterMicroseconds: 800)
        selection.answered(servers[0], afterMicroseconds: 1_600)
        #expect(selection.smoothedMicroseconds(servers[0]) == 900)
        selection.answered(servers[0], afterMicroseconds: -5)
        #expect(selection.smoothedMicroseconds(servers[0]) == 788)
    }

    @Test mutating func `the book of servers does not grow without end`() throws {
        for number in 0..<1_000 {
            let address = try IPAddress("192.0.\(number >> 8).\(number & 0xFF)")
            selection.answered(
                Endpoint(address: address, port: .dns), afterMicroseconds: 1)
        }
        #expect(selection.smoothedMicroseconds(servers[0]) == nil)
    }
}

extension Monotonic {
    fileprivate static func after(_ milliseconds: Int64) -> Monotonic {
        Monotonic.zero.adding(milliseconds: milliseconds)
    }
}
