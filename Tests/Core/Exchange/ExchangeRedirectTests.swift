import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSTrust
import Testing

/// Redirects as ``ExchangeMachine`` lives them; which are followed, ``RedirectRules`` says.
@Suite struct ExchangeRedirectTests {
    private typealias Trace = ExchangeTrace
    private let first = ExchangeTrace.first

    @Test func `a followed redirect is a new hop through resolution, under its own URL`() throws {
        var (trace, offer) = try Trace.asking(location: "https://b.example.test/x")
        #expect(trace.machine.redirectAnswered(.follow, now: .at(3)) == [])
        let host = Host.name(try HostName("b.example.test"))
        #expect(
            trace.machine.finished(Trace.over, remote: nil, now: .at(4)) == [.resolve(host)])
        let sent = try trace.resolve(to: ["192.0.2.7"], at: 5)
        #expect(sent.transfer?.head == offer.step.head)
        #expect(sent.transfer?.route.addresses == [try IPAddress("192.0.2.7")])
        // The transport reports the URL it was given; the caller sees the logical one.
        let answer = try trace.response(200)
        guard case .deliver(let head)? = trace.machine.received(answer).first else {
            Issue.record("nothing was delivered")
            return
        }
        #expect(head.url.description == "https://b.example.test/x")
        #expect(
            trace.machine.reportSoFar.hops.map(\.url.description)
                == ["https://shop.example.test/", "https://b.example.test/x"])
    }

    @Test func `cookies of the redirecting answer are stored before the caller is asked`() throws {
        var trace = try Trace.connecting()
        let answer = try trace.response(302, [("Location", "/next"), ("Set-Cookie", "a=1")])
        let actions = trace.machine.received(answer)
        #expect(actions.first == .storeCookies(["a=1"], from: trace.url))
        #expect(actions.count == 2)
    }

    @Test func `credentials do not go on to another origin`() throws {
        var trace = try Trace.connecting(fields: [("Authorization", "Basic eA=="), ("X-A", "1")])
        let answer = try trace.response(
            302, [("Location", "https://b.example.test/"), ("Content-Length", "0")])
        _ = trace.machine.received(answer)
        _ = trace.machine.redirectAnswered(.follow, now: .at(3))
        _ = trace.machine.finished(Trace.over, remote: nil, now: .at(4))
        let sent = try trace.resolve(to: [first])
        #expect(sent.transfer?.head.fields.fields.map(\.name) == ["X-A"])
    }

    @Test func `an answer with a short body is drained, a long or unknown one is cut`() throws {
        var (short, _) = try Trace.asking(body: 65_536)
        #expect(short.machine.redirectAnswered(.follow, now: .at(3)) == [.limitDraining])
        #expect(short.machine.bodyUse == .discard)
        for body in [65_537, nil, -1] {
            var (long, _) = try Trace.asking(body: body)
            #expect(long.machine.redirectAnswered(.follow, now: .at(3)) == [.cancelTransfer])
            // A cancelled drain is how it was meant.
            let next = long.machine.finished(.failure(.cancelled), remote: nil, now: .at(4))
            #expect(next == [.resolve(long.url.origin.host)])
        }
    }

    @Test func `a body that does not come is waited for no longer than a moment`() throws {
        var (trace, _) = try Trace.asking(body: 10)
        #expect(trace.machine.drainedLongEnough() == [])
        #expect(trace.machine.redirectAnswered(.follow, now: .at(3)) == [.limitDraining])
        #expect(trace.machine.drainedLongEnough() == [.cancelTransfer])
        let next = trace.machine.finished(.failure(.cancelled), remote: nil, now: .at(4))
        #expect(next == [.resolve(trace.url.origin.host)])
        // Too late: the next hop is not cut.
        #expect(trace.machine.drainedLongEnough() == [])
        // Without a body there is nothing to wait for.
        var (empty, _) = try Trace.asking(body: 0)
        #expect(empty.machine.redirectAnswered(.follow, now: .at(3)) == [])
    }

    @Test(
        arguments: [
            (["http://127.1/"], "unreadable_location"),
            (["https://a@b@c.example.test/"], "unreadable_location"),
            (["http://%61.example.test/"], "unreadable_location"),
            (["http://[fe80::1%25lo]/"], "unreadable_location"),
            (["ftp://a.example.test/"], "unreadable_location"),
            (["/a", "/b"], "several_locations"), ([], nil),
        ] as [([String], String?)])
    func `a redirect that is handed over says why, where it names where to go on`(
        locations: [String], label: String?
    ) throws {
        var trace = try Trace.connecting()
        let answer = try trace.response(302, locations.map { ("Location", $0) })
        #expect(trace.machine.received(answer) == [.deliver(answer)])
        let reason = trace.machine.reportSoFar.hops[0].notFollowed
        #expect(reason?.label == label)
        #expect((reason.map { "\($0)" } ?? "-").isEmpty == false)
        var other = try Trace.connecting()
        _ = other.machine.received(try other.response(200, locations.map { ("Location", $0) }))
        #expect(other.machine.reportSoFar.hops[0].notFollowed == nil)
    }

    @Test func `octets of a Location are encoded one by one, whether they are UTF-8 or not`() throws
    {
        for (octets, target) in [
            ([0x2F, 0xE9] as [UInt8], "/%E9"), ([0x2F, 0xC3, 0xA9], "/%C3%A9"),
            ([0x2F, 0xC3, 0xA9, 0x3F, 0xFF], "/%C3%A9?%FF"),
        ] {
            var trace = try Trace.connecting()
            var answer = try trace.response(302)
            try answer.fields.append("Location", FieldText(octets: octets))
            guard case .offerRedirect(let offer)? = trace.machine.received(answer).last else {
                Issue.record("\(target) is not followed")
                continue
            }
            #expect(offer.step.head.url.target == target)
        }
    }

    @Test func `the body is held while the caller is asked, and is the caller's if it wants it`()
        throws
    {
        var (trace, offer) = try Trace.asking(body: 5)
        #expect(trace.machine.bodyUse == .hold)
        #expect(
            trace.machine.redirectAnswered(.deliver, now: .at(3)) == [.deliver(offer.response)])
        #expect(trace.machine.bodyUse == .hold)
        #expect(trace.machine.handedOver(now: .at(3)) == [])
        #expect(trace.machine.bodyUse == .deliver)
        #expect(trace.machine.finished(Trace.over, remote: nil, now: .at(4)).isFinish)
    }

    @Test func `the caller may answer after the transfer is over`() throws {
        var (trace, offer) = try Trace.asking()
        #expect(trace.machine.finished(Trace.over, remote: nil, now: .at(3)) == [])
        var other = trace
        #expect(
            trace.machine.redirectAnswered(.deliver, now: .at(4)) == [.deliver(offer.response)])
        #expect(trace.machine.handedOver(now: .at(4)).isFinish)
        #expect(
            other.machine.redirectAnswered(.follow, now: .at(4))
                == [.resolve(other.url.origin.host)])
    }

    @Test func `a redirecting answer whose own body is short fails when it is wanted`() throws {
        var (trace, _) = try Trace.asking(body: 5)
        let lost = TransportFailure.connectionLost("short", hadResponse: true)
        _ = trace.machine.finished(.failure(lost), remote: nil, now: .at(3))
        _ = trace.machine.redirectAnswered(.deliver, now: .at(4))
        #expect(trace.machine.handedOver(now: .at(4)).failure?.label == "connection_lost")
    }

    @Test func `cancel while the caller is asked`() throws {
        var (running, _) = try Trace.asking()
        #expect(running.machine.stopped(because: .cancelled, now: .at(3)) == [.cancelTransfer])
        #expect(running.machine.redirectAnswered(.follow, now: .at(4)) == [])
        let end = running.machine.finished(.failure(.cancelled), remote: nil, now: .at(5))
        #expect(end.failure?.cause == .cancelled)

        var (over, _) = try Trace.asking()
        _ = over.machine.finished(Trace.over, remote: nil, now: .at(3))
        let atOnce = over.machine.stopped(because: .cancelled, now: .at(4))
        #expect(atOnce.failure?.cause == .cancelled)
        #expect(over.machine.redirectAnswered(.deliver, now: .at(5)) == [])
    }

    @Test func `cancel while a redirect is drained does not begin the next hop`() throws {
        var (trace, _) = try Trace.asking(body: 9)
        _ = trace.machine.redirectAnswered(.follow, now: .at(3))
        #expect(trace.machine.stopped(because: .cancelled, now: .at(4)) == [.cancelTransfer])
        let end = trace.machine.finished(Trace.over, remote: nil, now: .at(5))
        #expect(end.failure?.cause == .cancelled)
    }

    @Test func `from https to http is refused when the transfer is over`() throws {
        var trace = try Trace.connecting()
        let answer = try trace.response(302, [("Location", "http://shop.example.test/")])
        #expect(trace.machine.received(answer) == [.cancelTransfer])
        let end = trace.machine.finished(.failure(.cancelled), remote: nil, now: .at(4))
        #expect(
            end.failure?.cause
                == .redirectRefused(.downgrade(to: try HTTPURL("http://shop.example.test/"))))
        #expect(end.failure?.report.hops.last?.refusedRedirect?.fields == answer.fields)
    }

    @Test func `a body that cannot be read twice is not sent twice`() throws {
        for (status, isRefused) in [(307, true), (308, true), (303, false), (302, false)] {
            var trace = try Trace.connecting(.post) {
                $0.hasBody = true
                $0.canReplayBody = false
            }
            let answer = try trace.response(status, [("Location", "/next")])
            let actions = trace.machine.received(answer)
            #expect((actions == [.cancelTransfer]) == isRefused)
            guard isRefused else { continue }
            let end = trace.machine.finished(.failure(.cancelled), remote: nil, now: .at(4))
            #expect(
                end.failure?.cause
                    == .bodyNotReplayable(to: try HTTPURL("https://shop.example.test/next")))
        }
    }

    @Test(arguments: [(307, true, "POST"), (303, false, "GET")])
    func `the status decides whether the next hop sends the body`(
        status: Int, sendsBody: Bool, method: String
    ) throws {
        var trace = try Trace.connecting(.post) { $0.hasBody = true }
        let answer = try trace.response(
            status, [("Location", "/next"), ("Content-Length", "0")])
        _ = trace.machine.received(answer)
        _ = trace.machine.redirectAnswered(.follow, now: .at(3))
        _ = trace.machine.finished(Trace.over, remote: nil, now: .at(4))
        let sent = try trace.resolve(to: [first])
        #expect(sent.transfer?.sendsBody == sendsBody)
        #expect(sent.transfer?.head.method.text == method)
    }

    @Test func `twenty redirects are followed and no more`() throws {
        var trace = try Trace.connecting()
        let answer = try trace.response(302, [("Location", "/again"), ("Content-Length", "0")])
        let places = try (1...20).map {
            try trace.response(302, [("Location", "/\($0)"), ("Content-Length", "0")])
        }
        for place in places {
            _ = trace.machine.received(place)
            _ = trace.machine.redirectAnswered(.follow, now: .at(3))
            _ = trace.machine.finished(Trace.over, remote: nil, now: .at(4))
            #expect(try trace.resolve(to: [first]).transfer != nil)
        }
        #expect(trace.machine.received(answer) == [.cancelTransfer])
        let end = trace.machine.finished(.failure(.cancelled), remote: nil, now: .at(5))
        #expect(end.failure?.cause == .redirectRefused(.tooMany(20)))
    }

    @Test func `a circle is told by the URL that came twice`() throws {
        var trace = try Trace.connecting { $0.redirects.maximumHops = 2 }
        for place in ["/a", "/b"] {
            let answer = try trace.response(302, [("Location", place), ("Content-Length", "0")])
            _ = trace.machine.received(answer)
            _ = trace.machine.redirectAnswered(.follow, now: .at(3))
            _ = trace.machine.finished(Trace.over, remote: nil, now: .at(4))
            _ = try trace.resolve(to: [first])
        }
        _ = trace.machine.received(try trace.response(302, [("Location", "/a")]))
        let end = trace.machine.finished(.failure(.cancelled), remote: nil, now: .at(5))
        let url = try HTTPURL("https://shop.example.test/a")
        #expect(end.failure?.cause == .redirectRefused(.circle(at: url, within: 2)))
    }

    @Test func `a pinned host is not asked over http, neither first nor by a redirect`() throws {
        let refusal = TrustFailure(
            code: .pinnedOverHTTP,
            facts: TrustFailure.Facts(host: .name(try HostName("shop.example.test"))))
        let refuses: (inout ExchangeMachine.Settings) -> Void = { settings in
            settings.redirects.allowsDowngrade = true
            settings.refusesCleartext = { $0 == refusal.facts.host ? refusal : nil }
        }
        var first = try Trace(.get, "http://shop.example.test/", change: refuses)
        #expect(first.machine.start(now: .at(0)).failure?.cause == .untrusted(refusal))
        var trace = try Trace.connecting(change: refuses)
        let answer = try trace.response(
            302, [("Location", "http://shop.example.test/"), ("Content-Length", "0")])
        _ = trace.machine.received(answer)
        _ = trace.machine.redirectAnswered(.follow, now: .at(3))
        let end = trace.machine.finished(Trace.over, remote: nil, now: .at(4))
        #expect(end.failure?.cause == .untrusted(refusal))
        #expect(end.failure?.label == "pinned_over_http")
        var other = try Trace(.get, "http://other.example.test/", change: refuses)
        #expect(
            other.machine.start(now: .at(0)) == [
                .resolve(.name(try HostName("other.example.test")))
            ])
    }

    @Test func `a caller that does not follow gets the redirect itself`() throws {
        var trace = try Trace.connecting { $0.followsRedirects = false }
        let answer = try trace.response(302, [("Location", "/next")])
        #expect(trace.machine.received(answer) == [.deliver(answer)])
    }
}
