import HTTPDNSExchange
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSTrust
import Testing

/// When a request goes out again, and where.
@Suite struct ExchangeRetryTests {
    private typealias Trace = ExchangeTrace
    private let first = ExchangeTrace.first
    private let second = ExchangeTrace.second
    private static let post = HTTPMethod.post

    private func dead() -> TransportFailure { .cannotConnect("refused") }

    // MARK: Lost requests

    @Test(arguments: [
        "GET", "HEAD", "OPTIONS", "PUT", "DELETE", "QUERY", "PROPFIND", "PROPPATCH", "REPORT",
        "MKCOL", "MOVE", "UNLOCK", "SEARCH", "VERSION-CONTROL",
    ])
    func `what may be done twice goes out again after a stale connection`(
        method: String
    ) throws {
        var trace = try Trace.connecting(
            try #require(HTTPMethod(method)), to: [first, second])
        let next = trace.machine.finished(
            .failure(.requestLost(.stale, "closed")), remote: try IPAddress(first), now: .at(2))
        #expect(next.transfer?.route == (try trace.route([first, second])))
        #expect(next.transfer?.freshly == true)
        #expect(trace.machine.reportSoFar.hops[0].attempts.map(\.label) == ["stale_connection"])
    }

    @Test(arguments: ["POST", "PATCH", "LOCK", "CONNECT", "PURGE", "get", "PropFind"])
    func `what may not be done twice does not go out again after a stale connection`(
        method: String
    ) throws {
        var trace = try Trace.connecting(try #require(HTTPMethod(method)))
        let isRepeated = trace.machine.mayRepeat(after: .stale, remote: nil)
        #expect(!isRepeated)
        let end = trace.machine.finished(
            .failure(.requestLost(.stale, "closed")), remote: nil, now: .at(2))
        #expect(end.failure?.cause == .connectionLost("closed", hadResponse: false))
        #expect(end.failure?.report.hops[0].attempts.map(\.label) == ["stale_connection"])
    }

    @Test func `what the peer did not process goes out again, whatever it is`() throws {
        var trace = try Trace.connecting(Self.post) { $0.hasBody = true }
        let isRepeated = trace.machine.mayRepeat(
            after: .unprocessed, remote: try IPAddress(first))
        #expect(isRepeated)
        let next = trace.machine.finished(
            .failure(.requestLost(.unprocessed, "refused")), remote: nil, now: .at(2))
        #expect(next.transfer?.sendsBody == true)
        #expect(
            trace.machine.reportSoFar.hops[0].attempts.map(\.label)
                == ["not_processed", "not_processed"])
    }

    @Test func `a body that cannot be read twice goes out once`() throws {
        for loss in [RequestLoss.stale, .unprocessed] {
            var trace = try Trace.connecting(.put) {
                $0.hasBody = true
                $0.canReplayBody = false
            }
            let isRepeated = trace.machine.mayRepeat(after: loss, remote: nil)
            #expect(!isRepeated)
            let end = trace.machine.finished(
                .failure(.requestLost(loss, "closed")), remote: nil, now: .at(2))
            #expect(end.failure?.label == "connection_lost")
        }
    }

    @Test func `a request that is lost each time is given up after three repeats`() throws {
        var trace = try Trace.connecting()
        for _ in 0..<3 {
            let next = trace.machine.finished(
                .failure(.requestLost(.stale, "closed")), remote: nil, now: .at(2))
            #expect(next.transfer != nil)
        }
        let end = trace.machine.finished(
            .failure(.requestLost(.stale, "closed")), remote: nil, now: .at(2))
        #expect(end.failure?.report.hops[0].attempts.count == 4)
    }

    @Test func `the last of the repeats is on a connection of its own`() throws {
        var trace = try Trace.connecting()
        let shared = (0..<3).map { _ in
            trace.machine.mayRepeat(after: .unprocessed, remote: nil)
        }
        #expect(shared == [true, true, false])
        let alone = trace.machine.finished(
            .failure(.requestLost(.unprocessed, "refused")), remote: nil, now: .at(2))
        guard case .transfer(_, _, _, freshly: true, _)? = alone.first else {
            Issue.record("\(alone)")
            return
        }
        let end = trace.machine.finished(
            .failure(.requestLost(.unprocessed, "refused")), remote: nil, now: .at(3))
        #expect(end.failure?.label == "connection_lost")
    }

    @Test func `an answer of very many liars does not make us dial them all`() throws {
        let many = (1...40).map { "192.0.2.\($0)" }
        var trace = try Trace.connecting(to: many)
        var dialled = 1
        for address in many {
            let next = trace.machine.finished(
                .failure(trace.distrust()), remote: try IPAddress(address), now: .at(2))
            guard next.transfer != nil else { break }
            dialled += 1
        }
        #expect(dialled == 16)
    }

    // MARK: 421

    @Test func `a misdirected request goes out once more, on a fresh connection`() throws {
        var trace = try Trace.connecting(Self.post, to: [first, second]) { $0.hasBody = true }
        trace.machine.verified(
            nil,
            connection: ConnectionFacts(
                remote: Endpoint(address: try IPAddress(first), port: trace.url.origin.port),
                isReused: true))
        #expect(trace.machine.received(try trace.response(421)) == [.cancelTransfer])
        #expect(trace.machine.bodyUse == .discard)
        let next = trace.machine.finished(.failure(.cancelled), remote: nil, now: .at(3))
        #expect(next.transfer?.freshly == true)
        #expect(next.transfer?.sendsBody == true)
        let answer = try trace.response(200)
        #expect(trace.machine.received(answer) == [.deliver(answer)])
        let hop = trace.machine.reportSoFar.hops[0]
        #expect(hop.attempts.map(\.label) == ["misdirected"])
        #expect(hop.attempts.map(\.address) == [try IPAddress(first)])
    }

    @Test func `the second 421 is the caller's`() throws {
        var trace = try Trace.connecting()
        _ = trace.machine.received(try trace.response(421))
        _ = trace.machine.finished(Trace.over, remote: nil, now: .at(3))
        let answer = try trace.response(421)
        #expect(trace.machine.received(answer) == [.deliver(answer)])
    }

    @Test func `421 for a body that cannot be read twice is the caller's`() throws {
        var trace = try Trace.connecting(Self.post) {
            $0.hasBody = true
            $0.canReplayBody = false
        }
        let answer = try trace.response(421)
        #expect(trace.machine.received(answer) == [.deliver(answer)])
    }

    @Test func `a stop while a misdirected answer is left ends the exchange`() throws {
        var trace = try Trace.connecting()
        _ = trace.machine.received(try trace.response(421))
        #expect(trace.machine.stopped(because: .cancelled, now: .at(3)) == [])
        let end = trace.machine.finished(.failure(.cancelled), remote: nil, now: .at(4))
        #expect(end.failure?.cause == .cancelled)
    }

    // MARK: A host that moved

    @Test func `when all addresses of a kept answer are dead, the host is asked for anew`() throws {
        var trace = try Trace()
        _ = trace.machine.start(now: .at(0))
        _ = try trace.resolve(to: [first], isKept: true)
        let again = trace.machine.finished(.failure(dead()), remote: nil, now: .at(2))
        #expect(again == [.refresh(trace.url.origin.host)])
        let next = try trace.resolve(to: [first, second], at: 3)
        #expect(next.transfer?.route == (try trace.route([second])))
        #expect(trace.machine.reportSoFar.hops[0].wasRefreshed)
        let end = trace.machine.finished(.failure(dead()), remote: nil, now: .at(4))
        #expect(end.failure?.label == "cannot_connect")
    }

    @Test func `a host that did not move is told as it was`() throws {
        var trace = try Trace()
        _ = trace.machine.start(now: .at(0))
        _ = try trace.resolve(to: [first], isKept: true)
        _ = trace.machine.finished(
            .failure(trace.distrust()), remote: try IPAddress(first), now: .at(2))
        let end = try trace.resolve(to: [first], at: 3)
        #expect(end.failure?.label == "wrong_name")
    }

    @Test func `a refresh that fails leaves the first failure on top`() throws {
        var trace = try Trace()
        _ = trace.machine.start(now: .at(0))
        _ = try trace.resolve(to: [first], isKept: true)
        _ = trace.machine.finished(.failure(dead()), remote: nil, now: .at(2))
        let end = trace.machine.resolutionFailed(.failed(.cancelled), now: .at(3))
        #expect(end.failure?.label == "cannot_connect")
    }

    @Test func `an answer that was fresh is not asked for again`() throws {
        var trace = try Trace.connecting(to: [first])
        let end = trace.machine.finished(.failure(dead()), remote: nil, now: .at(2))
        #expect(end.failure?.label == "cannot_connect")
    }

    // MARK: The system

    @Test func `the system is asked where that is allowed, after all others, and it is told`()
        throws
    {
        var trace = try Trace(change: { $0.allowsSystem = { _ in true } })
        let host = trace.url.origin.host
        _ = trace.machine.start(now: .at(0))
        let failure = try trace.exhausted()
        #expect(trace.machine.resolutionFailed(failure, now: .at(1)) == [.resolveBySystem(host)])
        #expect(try trace.resolve(to: [first]).transfer != nil)
        #expect(trace.machine.reportSoFar.hops[0].systemFallback == failure)
    }

    @Test func `the system is not asked where that is not allowed`() throws {
        var trace = try Trace()
        _ = trace.machine.start(now: .at(0))
        let failure = try trace.exhausted()
        #expect(
            trace.machine.resolutionFailed(failure, now: .at(1)).failure?.cause
                == .notResolved(failure))
        #expect(trace.machine.reportSoFar.hops[0].systemFallback == nil)
    }

    @Test func `when the system knows nothing either, the first failure is told`() throws {
        var trace = try Trace(change: { $0.allowsSystem = { _ in true } })
        _ = trace.machine.start(now: .at(0))
        let failure = try trace.exhausted()
        _ = trace.machine.resolutionFailed(failure, now: .at(1))
        let end = trace.machine.resolutionFailed(.failed(.cancelled), now: .at(2))
        #expect(end.failure?.cause == .notResolved(failure))
    }

    @Test func `a host that does not exist is not looked for at the system`() throws {
        var trace = try Trace(change: { $0.allowsSystem = { _ in true } })
        _ = trace.machine.start(now: .at(0))
        let end = trace.machine.resolutionFailed(try trace.denied(), now: .at(1))
        #expect(end.failure?.label == "no_such_name")
    }
}
