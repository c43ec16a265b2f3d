import HTTPDNSDatagram
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import Testing

@Suite struct DatagramQueryTests {
    let question: Question
    let first = DatagramQuery.Attempt(number: 1, server: 0, isOverTCP: false)
    let second = DatagramQuery.Attempt(number: 2, server: 1, isOverTCP: false)
    var query: DatagramQuery
    let plan: DatagramPlan

    init() throws {
        question = Question(name: try HostName("shop.example.test"), type: .a)
        plan = try Self.plan(["192.0.2.1", "192.0.2.2"])
        query = DatagramQuery(question: question, plan: plan, deadline: .after(10_000))
    }

    static func plan(
        _ servers: [String], mode: DatagramBackend.Mode = .udpThenTCP, rounds: Int = 2
    ) throws -> DatagramPlan {
        DatagramPlan(
            label: "udp://test",
            servers: try servers.map { Endpoint(address: try IPAddress($0), port: .dns) },
            mode: mode, rounds: rounds, firstPatienceMilliseconds: 1_000)
    }

    func reply(_ change: (inout Message) -> Void = { _ in }) throws -> [UInt8] {
        var message = question.query(id: 7)
        message.flags.isResponse = true
        change(&message)
        return try message.encode()
    }

    func result(_ actions: [DatagramQuery.Action]) throws -> Result<Testimony, QueryFailure> {
        guard case .settle(let result) = try #require(actions.last) else {
            throw QueryFailure.unexpected("not settled: \(actions)")
        }
        return result
    }

    @Test mutating func `the first server alone is asked at first`() {
        #expect(query.start(now: .zero) == [.send(first), .wake(at: .after(1_000))])
    }

    @Test mutating func `silence moves on to the next server, then to a longer second round`() {
        _ = query.start(now: .zero)
        #expect(query.woke(now: .after(1_000)) == [.send(second), .wake(at: .after(2_000))])
        let third = DatagramQuery.Attempt(number: 3, server: 0, isOverTCP: false)
        #expect(query.woke(now: .after(2_000)) == [.send(third), .wake(at: .after(4_000))])
        let fourth = DatagramQuery.Attempt(number: 4, server: 1, isOverTCP: false)
        #expect(query.woke(now: .after(4_000)) == [.send(fourth), .wake(at: .after(6_000))])
        #expect(query.woke(now: .after(6_000)) == [.settle(.failure(.timedOut(tries: 4)))])
    }

    @Test mutating func `a late reply to a silent attempt still counts`() throws {
        _ = query.start(now: .zero)
        _ = query.woke(now: .after(1_000))
        let settled = query.replied(first, try reply(), sends: 1, now: .after(1_100))
        let testimony = try result(settled).get()
        #expect(testimony.source.server == "192.0.2.1:53")
        #expect(testimony.source.tries == 2)
    }

    @Test mutating func `a refused server is passed over at once and not asked again`() {
        _ = query.start(now: .zero)
        #expect(
            query.failed(first, .network("Connection refused"), sends: 1, now: .after(1))
                == [.send(second), .wake(at: .after(1_001))])
        let third = DatagramQuery.Attempt(number: 3, server: 1, isOverTCP: false)
        #expect(query.woke(now: .after(1_001)) == [.send(third), .wake(at: .after(3_001))])
        #expect(
            query.woke(now: .after(3_001)) == [
                .settle(
                    .failure(
                        .unreachable(
                            "192.0.2.1:53: Connection refused; 192.0.2.2:53: no reply")))
            ])
    }

    @Test mutating func `a truncated reply asks the same server over TCP`() throws {
        _ = query.start(now: .zero)
        let cut = try reply { $0.flags.isTruncated = true }
        let overTCP = DatagramQuery.Attempt(number: 2, server: 0, isOverTCP: true)
        #expect(
            query.replied(first, cut, sends: 1, now: .after(5))
                == [.send(overTCP), .wake(at: .after(1_005))])
        let settled = query.replied(overTCP, try reply(), sends: 1, now: .after(6))
        #expect(try result(settled).get().source.transport == .tcp)
        #expect(try result(settled).get().source.tries == 2)
    }

    @Test(arguments: [ResponseCode.serverFailure, .refused, .notImplemented])
    func `another server is asked before a lame answer is believed`(code: ResponseCode) throws {
        var query = query
        _ = query.start(now: .zero)
        let lame = try reply { $0.code = code }
        #expect(
            query.replied(first, lame, sends: 1, now: .after(5))
                == [.send(second), .wake(at: .after(1_005))])
        let settled = query.failed(second, .closed, sends: 1, now: .after(6))
        #expect(try result(settled).get().code == code)
        #expect(try result(settled).get().source.server == "192.0.2.1:53")
    }

    @Test(arguments: [ResponseCode.formatError, .notImplemented])
    func `a server that does not know EDNS is asked again without it`(code: ResponseCode) throws {
        var query = query
        _ = query.start(now: .zero)
        let puzzled = try reply {
            $0.code = code
            $0.edns = nil
        }
        let plain = DatagramQuery.Attempt(
            number: 2, server: 0, isOverTCP: false, hasEDNS: false)
        #expect(
            query.replied(first, puzzled, sends: 1, now: .after(5))
                == [.send(plain), .wake(at: .after(1_005))])
        let settled = query.replied(plain, try reply { $0.edns = nil }, sends: 1, now: .after(9))
        #expect(try result(settled).get().source.tries == 2)
    }

    @Test func `a server that refuses a question without EDNS too is not asked a third time`()
        throws
    {
        var query = query
        _ = query.start(now: .zero)
        let puzzled = try reply {
            $0.code = .formatError
            $0.edns = nil
        }
        _ = query.replied(first, puzzled, sends: 1, now: .after(5))
        let plain = DatagramQuery.Attempt(
            number: 2, server: 0, isOverTCP: false, hasEDNS: false)
        let settled = query.replied(plain, puzzled, sends: 1, now: .after(9))
        #expect(try result(settled).get().code == .formatError)
    }

    @Test mutating func `a failure that comes with EDNS is no reason to leave it out`() throws {
        _ = query.start(now: .zero)
        let settled = query.replied(
            first, try reply { $0.code = .formatError }, sends: 1, now: .after(5))
        #expect(try result(settled).get().code == .formatError)
    }

    @Test mutating func `servers are asked in the order that it is started with`() {
        #expect(query.start(now: .zero, order: [1, 0]).first == .send(second.numbered(1)))
        #expect(query.woke(now: .after(1_000)).first == .send(first.numbered(2)))
        #expect(query.woke(now: .after(2_000)).first == .send(second.numbered(3)))
    }

    @Test func `without EDNS nothing that needs it is sent`() throws {
        var question = question
        question.wantsDNSSEC = true
        question.clientSubnet = try AddressBlock("198.51.100.0/24")
        let octets = try #require(DatagramReply.message(asking: question, id: 7, hasEDNS: false))
        #expect(try Message(decoding: octets).edns == nil)
        let whole = try #require(DatagramReply.message(asking: question, id: 7, asksForAD: true))
        #expect(try Message(decoding: whole).edns?.isDNSSECOK == true)
        #expect(try Message(decoding: whole).flags.isAuthenticData)
    }

    @Test mutating func `no such name is an answer, not a reason to ask on`() throws {
        _ = query.start(now: .zero)
        let settled = query.replied(
            first, try reply { $0.code = .noSuchName }, sends: 1, now: .after(5))
        #expect(try result(settled).get().code == .noSuchName)
    }

    @Test mutating func `a malformed reply outranks silence and refusal`() throws {
        _ = query.start(now: .zero)
        _ = query.replied(first, [1, 2, 3], sends: 1, now: .after(1))
        let settled = query.failed(second, .network("Connection refused"), sends: 1, now: .after(2))
        guard case .failure(.malformed(let why)) = try result(settled) else {
            Issue.record("\(settled)")
            return
        }
        #expect(why.hasPrefix("192.0.2.1:53: "))
        #expect(!why.contains("refused"))
    }

    @Test mutating func `the deadline ends it before the next try's time`() {
        var query = DatagramQuery(question: question, plan: plan, deadline: .after(1_500))
        _ = query.start(now: .zero)
        #expect(query.woke(now: .after(1_000)) == [.send(second), .wake(at: .after(1_500))])
        #expect(query.woke(now: .after(1_500)) == [.settle(.failure(.timedOut(tries: 2)))])
    }

    @Test mutating func `nothing that comes after the end changes anything`() throws {
        _ = query.start(now: .zero)
        #expect(query.cancelled() == [.settle(.failure(.cancelled))])
        #expect(query.replied(first, try reply(), sends: 1, now: .after(1)) == [])
        #expect(query.failed(first, .closed, sends: 1, now: .after(1)) == [])
        #expect(query.woke(now: .after(1)) == [])
        #expect(query.cancelled() == [])
    }

    @Test mutating func `a reply that comes twice is ignored`() throws {
        _ = query.start(now: .zero)
        let cut = try reply { $0.flags.isTruncated = true }
        _ = query.replied(first, cut, sends: 1, now: .after(1))
        #expect(query.replied(first, cut, sends: 1, now: .after(2)) == [])
    }

    @Test mutating func `a question whose time is over is not sent`() {
        var query = DatagramQuery(question: question, plan: plan, deadline: .after(5))
        #expect(query.start(now: .after(5)) == [.settle(.failure(.timedOut(tries: 0)))])
    }

    @Test func `a repeat that c-ares made itself is counted`() throws {
        var query = query
        _ = query.start(now: .zero)
        let settled = query.replied(first, try reply(), sends: 2, now: .after(1))
        #expect(try result(settled).get().source.tries == 2)
    }

    @Test func `TCP alone never sends a datagram`() throws {
        var query = DatagramQuery(
            question: question, plan: try Self.plan(["192.0.2.1"], mode: .tcpOnly),
            deadline: .after(10_000))
        let attempt = DatagramQuery.Attempt(number: 1, server: 0, isOverTCP: true)
        #expect(query.start(now: .zero).first == .send(attempt))
        let settled = query.failed(attempt, .closed, sends: 1, now: .after(1))
        #expect(
            settled == [
                .settle(
                    .failure(
                        .unreachable(
                            "tcp 192.0.2.1:53: it closed the connection before it answered")))
            ])
    }

    @Test func `no server at all is a matter of configuration`() throws {
        var query = DatagramQuery(
            question: question, plan: try Self.plan([]), deadline: .after(10_000))
        guard case .failure(.misconfigured) = try result(query.start(now: .zero)) else {
            Issue.record("not refused")
            return
        }
    }
}

extension DatagramQuery.Attempt {
    fileprivate func numbered(_ number: Int) -> DatagramQuery.Attempt {
        DatagramQuery.Attempt(number: number, server: server, isOverTCP: isOverTCP)
    }
}

@Suite struct TimerHeapTests {
    @Test func `owners come out by their moments, and not before`() {
        var heap = TimerHeap<Int>()
        for number in [5, 3, 9, 1, 7, 3] { heap.add(number, at: .after(Int64(number))) }
        var order: [Int] = []
        while let owner = heap.popDue(now: .after(7)) { order.append(owner) }
        #expect(order == [1, 3, 3, 5, 7])
        #expect(heap.first == .after(9))
    }

    @Test func `a moment that never comes takes no room`() {
        var heap = TimerHeap<Int>()
        heap.add(1, at: .distantFuture)
        #expect(heap.count == 0)
    }

    @Test func `entries that are not wanted go, the others keep their order`() {
        var heap = TimerHeap<Int>()
        for number in (0..<100).reversed() { heap.add(number, at: .after(Int64(number))) }
        heap.keep { owner, _ in owner.isMultiple(of: 10) }
        var order: [Int] = []
        while let owner = heap.popDue(now: .after(100)) { order.append(owner) }
        #expect(order == Array(stride(from: 0, to: 100, by: 10)))
    }
}

extension Monotonic {
    fileprivate static func after(_ milliseconds: Int64) -> Monotonic {
        Monotonic.zero.adding(milliseconds: milliseconds)
    }
}
