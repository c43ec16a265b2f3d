import HTTPDNS
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSRules
import TestSupport
import Testing

/// What stays of a request under rules when it is over.
@Suite(.timeLimit(.minutes(2))) struct RuledExchangeTests {
    let lab: RuleLab

    init() throws { lab = try RuleLab() }

    /// Runs one request to its end; true when nothing of it is left then.
    private func isForgotten(
        _ rules: LiveRules, cacheMode: CacheMode? = nil
    ) async throws -> Bool {
        let client = try lab.httpdns().client
        var request = HTTPRequest(.get, try HTTPURL("https://shop.example.test/v1"))
        request.cacheMode = cacheMode
        let isGone = Locked(false)
        do {
            let watch = EndWatch(isGone)
            let exchange = client.exchange(
                request, rules.decide(client.ruled(request)), under: rules, observer: watch,
                cookies: client.parts.cookies)
            exchange.start()
            #expect(await eventually(withinMilliseconds: 60_000) { watch.ends.count == 1 })
        }
        return await eventually(withinMilliseconds: 10_000) { isGone.withLock { $0 } }
    }

    @Test func `an exchange that ends while it begins is let go of`() async throws {
        #expect(
            try await isForgotten(
                [RequestRule("tag", .any, try .setHeaders(["X-A": "1"]))],
                cacheMode: .onlyIfCached))
    }

    @Test func `so are those that are stubbed, blocked and offline`() async throws {
        #expect(try await isForgotten([RequestRule("stub", .any, .stub(.text("stub")))]))
        #expect(try await isForgotten([RequestRule("block", .any, .block)]))
        let rules = LiveRules(RequestRules())
        rules.switches.isOffline = true
        #expect(try await isForgotten(rules))
    }

    @Test func `a decision that is taken back withdraws its own request and no other`() throws {
        let rules: LiveRules = [RequestRule("any", .any, .stub(.text("")))]
        let ruled = { (path: String) in
            RuledRequest(
                RequestHead(
                    method: .get, url: try HTTPURL("https://shop.example.test" + path),
                    fields: HTTPFields()))
        }
        let (own, other) = (try ruled("/own"), try ruled("/other"))
        let ticket = RuleTicket(url: "own", method: "GET", fields: [:], bodyOctets: nil)
        let isFirst = Locked(true)
        // Another request comes in between.
        rules.onDecision = { _ in
            let isNow = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            if isNow { _ = rules.decide(other) }
        }
        #expect(rules.reasonToPass(own, ticket) == nil)
        _ = rules.begin(own, ticket, isMore: true)
        #expect(rules.seen.map { $0.url.split(separator: "/").last } == ["own", "other", "own"])
        #expect(rules.seen.map(\.isWithdrawn) == [true, false, false])
    }
}
