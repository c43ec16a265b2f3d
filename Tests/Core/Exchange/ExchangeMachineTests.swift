import HTTPDNSExchange
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSTrust
import Testing

@Suite struct ExchangeMachineTests {
    private typealias Trace = ExchangeTrace
    private let first = ExchangeTrace.first
    private let second = ExchangeTrace.second

    // MARK: One hop

    @Test func `a request is resolved, sent over the addresses, delivered and finished`() throws {
        var trace = try Trace()
        #expect(trace.machine.start(now: .at(0)) == [.resolve(trace.url.origin.host)])
        let sent = try trace.resolve(to: [first, second])
        #expect(
            sent == [
                .transfer(
                    RequestHead(url: trace.url), try trace.route([first, second]), sendsBody: false)
            ])
        let answer = try trace.response(200)
        #expect(trace.machine.received(answer) == [.deliver(answer)])
        #expect(trace.machine.handedOver(now: .at(2)) == [])
        #expect(trace.machine.bodyUse == .deliver)
        let end = trace.machine.finished(Trace.over, remote: nil, now: .at(5))
        #expect(end.isFinish)
        #expect(trace.machine.reportSoFar.totalMilliseconds == 5)
        #expect(trace.machine.reportSoFar.hops.map(\.status) == [200])
    }

    @Test func `a host without addresses ends the exchange`() throws {
        var trace = try Trace()
        _ = trace.machine.start(now: .at(0))
        let end = trace.machine.resolutionFailed(.failed(.cancelled), now: .at(1))
        #expect(end.failure?.cause == .notResolved(.failed(.cancelled)))
    }

    @Test func `what cannot be put on the wire ends the exchange`() throws {
        var trace = try Trace.connecting()
        let end = trace.machine.unsendable(.unusableCookies, now: .at(1))
        #expect(end.failure?.cause == .unsendable(.unusableCookies))
    }

    @Test func `cookies are stored under the logical URL before the caller has the head`() throws {
        var trace = try Trace.connecting()
        let answer = try trace.response(200, [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")])
        #expect(
            trace.machine.received(answer)
                == [.storeCookies(["a=1", "b=2"], from: trace.url), .deliver(answer)])
    }

    @Test func `a body that ends short is a failure`() throws {
        var trace = try Trace.receiving()
        let end = trace.machine.finished(
            .failure(.connectionLost("short", hadResponse: true)), remote: nil, now: .at(4))
        #expect(end.failure?.cause == .connectionLost("short", hadResponse: true))
    }

    @Test func `what was seen of a transfer that broke off is in the report`() throws {
        var trace = try Trace.receiving()
        var facts = TransferFacts()
        facts.firstByteMilliseconds = 2
        facts.totalMilliseconds = 3
        facts.sentOctets = 100
        facts.receivedOctets = 70
        trace.machine.brokeOff(facts)
        let end = trace.machine.finished(
            .failure(.connectionLost("short", hadResponse: true)), remote: nil, now: .at(4))
        let timings = try #require(end.failure?.report.hops.last?.timings)
        #expect(timings.firstByte == 2 && timings.total == 3)
        #expect(timings.sentOctets == 100 && timings.receivedOctets == 70)
    }

    @Test func `nothing overtakes the head while it is handed over`() throws {
        var trace = try Trace.connecting()
        _ = trace.machine.received(try trace.response(200))
        #expect(trace.machine.bodyUse == .hold)
        #expect(trace.machine.finished(Trace.over, remote: nil, now: .at(3)) == [])
        #expect(trace.machine.handedOver(now: .at(4)).isFinish)
    }

    // MARK: Addresses

    @Test func `the next address is tried after one that proves nothing`() throws {
        var trace = try Trace.connecting(to: [first, second])
        let next = trace.machine.finished(
            .failure(trace.distrust()), remote: try IPAddress(first), now: .at(2))
        #expect(next.transfer?.route == (try trace.route([second])))
        let answer = try trace.response(200)
        #expect(trace.machine.received(answer) == [.deliver(answer)])
        #expect(trace.machine.reportSoFar.hops[0].attempts.map(\.label) == ["wrong_name"])
    }

    @Test func `a trust failure stays on top when the last address is merely dead`() throws {
        var trace = try Trace.connecting(to: [first, second])
        _ = trace.machine.finished(
            .failure(trace.distrust()), remote: try IPAddress(first), now: .at(2))
        let again = trace.machine.finished(
            .failure(.cannotConnect("refused")), remote: nil, now: .at(3))
        #expect(again == [.refresh(trace.url.origin.host, doubting: "one")])
        let end = trace.machine.resolutionFailed(.failed(.cancelled), now: .at(4))
        #expect(end.failure?.label == "wrong_name")
        #expect(
            end.failure?.report.hops[0].attempts.map(\.label) == ["wrong_name", "cannot_connect"])
    }

    @Test func `the message names the address that lied, not one that was merely dead`() throws {
        var trace = try Trace.connecting(to: [first, second])
        _ = trace.machine.finished(
            .failure(trace.distrust()), remote: try IPAddress(first), now: .at(2))
        let again = trace.machine.finished(
            .failure(.cannotConnect("refused")), remote: try IPAddress(second), now: .at(3))
        #expect(again == [.refresh(trace.url.origin.host, doubting: "one")])
        let end = trace.machine.resolutionFailed(.failed(.cancelled), now: .at(4))
        #expect(end.failure?.description.contains("(connected to \(first), ") == true)
        #expect(end.failure?.description.contains("(connected to \(second)") == false)
    }

    @Test func `a broken handshake says more than a dead address`() throws {
        var trace = try Trace.connecting(to: [first, second])
        _ = trace.machine.finished(
            .failure(.handshakeFailed("wrong version")), remote: try IPAddress(first), now: .at(2))
        let end = trace.machine.finished(
            .failure(.cannotConnect("refused")), remote: nil, now: .at(3))
        #expect(end.failure?.label == "handshake_failed")
    }

    @Test func `addresses that were all dead are named, and who gave them`() throws {
        var trace = try Trace.connecting(to: [first, second])
        let end = trace.machine.finished(
            .failure(.cannotConnect("refused")), remote: nil, now: .at(3))
        #expect(end.failure?.description.contains("(tried \(first), \(second), given by ") == true)
    }

    @Test func `of two trust failures the last is reported`() throws {
        var trace = try Trace.connecting(to: [first, second])
        _ = trace.machine.finished(
            .failure(trace.distrust()), remote: try IPAddress(first), now: .at(2))
        let again = trace.machine.finished(
            .failure(trace.distrust(.expired)), remote: try IPAddress(second), now: .at(3))
        #expect(again == [.refresh(trace.url.origin.host, doubting: "one")])
        let end = trace.machine.resolutionFailed(.failed(.cancelled), now: .at(4))
        #expect(end.failure?.label == "expired")
    }

    @Test func `a request of which something was sent is not sent again`() throws {
        for failure in [
            TransportFailure.connectionLost("reset", hadResponse: false),
            .timedOut(phase: .response), .malformedResponse("no HTTP"),
        ] {
            var trace = try Trace.connecting(to: [first, second])
            let end = trace.machine.finished(
                .failure(failure), remote: try IPAddress(first), now: .at(2))
            #expect(end.failure?.label == failure.label)
        }
    }

    @Test func `an address that was not planned is not taken for a tried one`() throws {
        var trace = try Trace.connecting(to: [first, second])
        let end = trace.machine.finished(
            .failure(trace.distrust()), remote: try IPAddress("192.0.2.9"), now: .at(2))
        #expect(end.failure?.label == "wrong_name")
    }

    // MARK: Stopping

    @Test func `cancel before the start ends at once, and the start does nothing`() throws {
        var trace = try Trace()
        #expect(
            trace.machine.stopped(because: .cancelled, now: .at(9)).failure?.cause == .cancelled)
        #expect(trace.machine.start(now: .at(9)) == [])
        #expect(trace.machine.reportSoFar.totalMilliseconds == 0)
    }

    @Test func `cancel while resolving stops the lookup and ends at once`() throws {
        var trace = try Trace()
        _ = trace.machine.start(now: .at(0))
        let actions = trace.machine.stopped(because: .cancelled, now: .at(1))
        #expect(actions.first == .stopResolving)
        #expect(actions.failure?.cause == .cancelled)
        #expect(try trace.resolve(to: [first]) == [])
    }

    @Test func `cancel while connecting ends when the transfer is over`() throws {
        var trace = try Trace.connecting(to: [first, second])
        #expect(trace.machine.stopped(because: .cancelled, now: .at(1)) == [.cancelTransfer])
        #expect(trace.machine.bodyUse == .discard)
        #expect(trace.machine.received(try trace.response(200)) == [])
        let end = trace.machine.finished(
            .failure(.cancelled), remote: try IPAddress(first), now: .at(2))
        #expect(end.failure?.cause == .cancelled)
    }

    @Test func `cancel while receiving ends when the transfer is over, even if it ended well`()
        throws
    {
        var trace = try Trace.receiving()
        #expect(trace.machine.stopped(because: .cancelled, now: .at(4)) == [.cancelTransfer])
        #expect(trace.machine.stopped(because: .cancelled, now: .at(4)) == [])
        let end = trace.machine.finished(Trace.over, remote: nil, now: .at(5))
        #expect(end.failure?.cause == .cancelled)
    }

    @Test(arguments: [true, false])
    func `cancel while the head is handed over waits for that and for the transfer`(
        transferIsFirst: Bool
    ) throws {
        var trace = try Trace.connecting()
        _ = trace.machine.received(try trace.response(200))
        #expect(trace.machine.stopped(because: .cancelled, now: .at(2)) == [.cancelTransfer])
        #expect(trace.machine.stopped(because: .cancelled, now: .at(2)) == [])
        let end: [ExchangeMachine.Action]
        if transferIsFirst {
            #expect(trace.machine.finished(Trace.over, remote: nil, now: .at(3)) == [])
            end = trace.machine.handedOver(now: .at(4))
        } else {
            #expect(trace.machine.handedOver(now: .at(3)) == [])
            end = trace.machine.finished(.failure(.cancelled), remote: nil, now: .at(4))
        }
        #expect(end.failure?.cause == .cancelled)
    }

    @Test func `the deadline is a stop with its own name`() throws {
        var trace = try Trace.receiving()
        let deadline = ExchangeFailure.Cause.timedOut(waitingFor: "total")
        #expect(trace.machine.stopped(because: deadline, now: .at(9)) == [.cancelTransfer])
        // The caller's cancel comes too late to change the reason.
        #expect(trace.machine.stopped(because: .cancelled, now: .at(9)) == [])
        let end = trace.machine.finished(.failure(.cancelled), remote: nil, now: .at(10))
        #expect(end.failure?.cause == deadline)
    }

    @Test func `a stop and a body that is lost at the same moment end the exchange once`() throws {
        var trace = try Trace.connecting()
        #expect(trace.machine.stopped(because: .cancelled, now: .at(2)) == [.cancelTransfer])
        // No transfer has begun that could say that it is over.
        #expect(trace.machine.bodyLost(now: .at(3)).failure?.cause == .cancelled)
        #expect(trace.machine.bodyLost(isTaken: true, now: .at(4)) == [])
    }

    @Test func `events after the end are ignored`() throws {
        var trace = try Trace.receiving()
        let (ended, offer) = try Trace.asking()
        _ = trace.machine.finished(Trace.over, remote: nil, now: .at(5))
        #expect(trace.machine.finished(Trace.over, remote: nil, now: .at(6)) == [])
        #expect(trace.machine.received(try trace.response(500)) == [])
        #expect(trace.machine.stopped(because: .cancelled, now: .at(6)) == [])
        #expect(trace.machine.redirectAnswered(.follow, now: .at(6)) == [])
        #expect(trace.machine.handedOver(now: .at(6)) == [])
        #expect(trace.machine.unsendable(.zone, now: .at(6)) == [])
        #expect(trace.machine.bodyLost(now: .at(6)) == [])
        #expect(trace.machine.resolutionFailed(.failed(.cancelled), now: .at(6)) == [])
        #expect(try trace.resolve(to: [first]) == [])
        #expect(trace.machine.reportSoFar.hops.map(\.status) == [200])
        #expect(ended.url == offer.response.url)
    }
}
