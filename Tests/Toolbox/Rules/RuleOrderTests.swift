import FoundationNetworking
import HTTPDNS
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSRules
import HTTPDNSURLSession
import TestSupport
import Testing

/// In what order requests count that are asked about before they begin, and what ends them.
@Suite(.timeLimit(.minutes(2))) struct RuleOrderTests {
    private let lab: RuleLab

    init() throws { lab = try RuleLab() }

    /// A list in which something may pass, so that all are asked about before they begin.
    private func rules(_ first: RequestRule) throws -> LiveRules {
        [first, RequestRule("others", try .path("/passes"), .pass(because: "not ours"))]
    }

    private func asked(_ path: String) throws -> (request: RuledRequest, ticket: RuleTicket) {
        let url = "https://shop.example.test" + path
        let head = RequestHead(method: .get, url: try HTTPURL(url), fields: HTTPFields())
        return (
            RuledRequest(head), RuleTicket(url: url, method: "GET", fields: [:], bodyOctets: nil)
        )
    }

    private func text(_ decision: RuleDecision) -> String {
        guard case .stub(.listed(let responses, _), _) = decision.verdict,
            case .octets(let octets) = responses.first?.body
        else { return "\(decision.verdict)" }
        return String(decoding: octets, as: UTF8.self)
    }

    @Test(arguments: [true, false])
    func `what is asked about first counts first, however much is known later`(isMore: Bool) throws
    {
        let rules = try rules(RequestRule("once", .any, .stub(.text("stub"))).first(1))
        let (one, two) = (try asked("/one"), try asked("/two"))
        #expect(rules.reasonToPass(one.request, one.ticket) == nil)
        #expect(rules.reasonToPass(two.request, two.ticket) == nil)
        #expect(text(rules.begin(one.request, one.ticket, isMore: isMore)) == "stub")
        #expect(text(rules.begin(two.request, two.ticket, isMore: isMore)) == "resolve")
        #expect(rules.calls(of: "once") == 1)
        #expect(rules.seen.filter { !$0.isWithdrawn }.count == 2)
    }

    @Test func `each answer of a sequence is given once`() throws {
        let rules = try rules(
            RequestRule("turns", .any, .stub(["a", "b", "c"].map { .text($0) })))
        let all = try ["/1", "/2", "/3"].map(asked)
        for one in all { #expect(rules.reasonToPass(one.request, one.ticket) == nil) }
        let given = all.map { text(rules.begin($0.request, $0.ticket, isMore: true)) }
        #expect(given == ["a", "b", "c"])
    }

    @Test func `a decision that no task took is none of another list, nor of another switch`()
        throws
    {
        let rules = try rules(RequestRule("old", .any, .stub(.text("old"))))
        let one = try asked("/one")
        #expect(rules.reasonToPass(one.request, one.ticket) == nil)
        rules.rules = RequestRules([RequestRule("new", .any, .stub(.text("new")))])
        #expect(text(rules.begin(one.request, one.ticket, isMore: false)) == "new")
        rules.rules = try self.rules(RequestRule("old", .any, .resolve)).rules
        #expect(rules.reasonToPass(one.request, one.ticket) == nil)
        rules.switches.isOffline = true
        let decision = rules.begin(one.request, one.ticket, isMore: false)
        guard case .offline = decision.verdict else {
            Issue.record("\(decision.verdict)")
            return
        }
    }

    @Test func `what was asked about and never began is taken back in the end`() throws {
        let rules = try rules(RequestRule("any", .any, .stub(.text(""))))
        for number in 0..<1_000 {
            let one = try asked("/\(number)")
            #expect(rules.reasonToPass(one.request, one.ticket) == nil)
        }
        for number in 0..<1_000 {
            let one = try asked("/\(number)")
            _ = rules.begin(one.request, one.ticket, isMore: number.isMultiple(of: 2))
        }
        #expect(rules.calls(of: "any") == 1_000)
    }

    @Test func `a closure that changes the rules each time is asked a few times`() throws {
        let place = Locked<LiveRules?>(nil)
        let asked = Locked(0)
        let rules: LiveRules = [
            RequestRule(
                "own",
                .custom("changing") { _ in
                    asked.withLock { $0 += 1 }
                    place.withLock { $0 }?.forget()
                    return true
                }, .stub(.text("own")))
        ]
        place.withLock { $0 = rules }
        #expect(text(rules.decide(try self.asked("/").request)) == "own")
        #expect((2...16).contains(asked.withLock { $0 }))
        #expect(rules.calls(of: "own") == 1)
        place.withLock { $0 = nil }
    }

    @Test func `redirects that are kept and go in a circle end`() async throws {
        let origin = try lab.origin { request in
            let other = request.path == "/a" ? "/b" : "/a"
            var response = LabResponse.redirect(to: other, status: 301)
            response.fields.append(LabField("Cache-Control", "max-age=3600"))
            return response
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        var configuration = try lab.configuration()
        configuration.offlineCache = OfflineCacheSettings(directory: directory.path + "/cache")
        let httpdns = try HTTPDNS(configuration)
        let request = HTTPRequest(
            .get, try HTTPURL(origin.url(host: "shop.example.test", path: "/a")))
        let rules: LiveRules = []
        for isOffline in [false, true] {
            rules.switches.isOffline = isOffline
            let failure = await #expect(throws: ExchangeFailure.self) {
                try await httpdns.client.send(request, under: rules)
            }
            let circle = RedirectFault.circle(
                at: try HTTPURL(origin.url(host: "shop.example.test", path: "/b")), within: 20)
            #expect(failure?.cause == .redirectRefused(circle), "offline \(isOffline)")
            #expect((failure?.report.hops.count ?? 0) <= 21)
        }
    }

    @Test func `a stub that is never made ends as silence does`() async throws {
        let isCancelled = Locked(false)
        let (silence, keeper) = AsyncStream<Int>.makeStream()
        let rules: LiveRules = [
            RequestRule(
                "never", .any,
                .stub(
                    Stub { _ in
                        for await _ in silence {}
                        isCancelled.withLock { $0 = Task.isCancelled }
                        return .text("late")
                    }))
        ]
        var impatient = HTTPRequest(.get, try HTTPURL("https://shop.example.test/"))
        impatient.limits.idle = .milliseconds(200)
        let request = impatient
        let client = try lab.httpdns().client
        let failure = await #expect(throws: ExchangeFailure.self) {
            try await client.send(request, under: rules)
        }
        #expect(failure?.cause == .timedOut(waitingFor: "response"))
        #expect(await eventually(withinMilliseconds: 30_000) { isCancelled.withLock { $0 } })
        keeper.finish()
    }

    @Test func `offline holds what is out of scope, too`() async throws {
        let origin = try lab.origin(security: .plain)
        defer { origin.stop() }
        let rules: LiveRules = []
        let configuration = URLSessionConfiguration.ephemeral
        let host = try HostName("localhost")
        try lab.httpdns().install(
            into: configuration, scope: InterceptionScope(passing: [host]), rules: rules)
        let session = URLSession(configuration: configuration)
        let url = "http://localhost:\(origin.port)/"
        #expect(try await session.answer(url).status == 200)
        rules.switches.isOffline = true
        #expect(try await session.answer(url).cause?.label == "offline")
        #expect(origin.record.requests.count == 1)
        rules.switches.isOffline = false
        #expect(try await session.answer(url).status == 200)
    }
}
