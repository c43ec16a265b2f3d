import Foundation
import FoundationNetworking
import HTTPDNSClient
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport
import Testing

/// Equal requests at once: one goes to the origin, the others wait for what it brings. RFC 9111 §4.
@Suite(.timeLimit(.minutes(5))) struct CachingJoinTests {
    private static func fresh(_ number: Int, _ control: String = "max-age=600") -> LabResponse {
        .text("\(number)").with(["Cache-Control": control])
    }

    private func httpdns(
        _ lab: CachingLab, joining: Duration = .seconds(600)
    ) throws -> HTTPDNS {
        try lab.httpdns { $0.joining = joining }
    }

    private func joined(_ httpdns: HTTPDNS) throws -> JoinedRequests {
        try #require(httpdns.client.parts.cache).joined
    }

    /// Starts so many, each of which is then either held at the origin or waits for another.
    private func start(
        _ count: Int, _ httpdns: HTTPDNS, _ url: String,
        _ fields: KeyValuePairs<String, String> = [:]
    ) -> [Task<Fetched, any Error>] {
        let pairs = fields.map { ($0.key, $0.value) }
        return (0..<count).map { _ in
            Task {
                try await httpdns.fetch(url) { request in
                    for (name, value) in pairs { try? request.head.fields.set(name, value) }
                }
            }
        }
    }

    private func wait(_ count: Int, in httpdns: HTTPDNS) async throws {
        let joined = try joined(httpdns)
        #expect(await eventually(withinMilliseconds: 60_000) { joined.waiting == count })
    }

    @Test func `§4 many equal requests at once go to the origin once`() async throws {
        let lab = try CachingLab()
        let origin = try HeldOrigin(lab) { _, number in Self.fresh(number) }
        defer { origin.stop() }
        let httpdns = try httpdns(lab)
        let tasks = start(60, httpdns, origin.server.at("/a?q=1"))
        await origin.calls.begun(1)
        try await wait(59, in: httpdns)
        origin.calls.release()
        var outcomes: [String] = []
        for task in tasks {
            let fetched = try await task.value
            #expect(fetched.text == "1")
            let cache = try #require(fetched.cache)
            outcomes.append(cache.outcome.rawValue + " " + (cache.remark ?? ""))
        }
        #expect(outcomes.count { $0 == "missed " } == 1)
        #expect(outcomes.count { $0 == "hit joined" } == 59)
        #expect(origin.server.count == 1)
        #expect(try joined(httpdns).isEmpty)
    }

    @Test func `§4 what is stale is validated once for all`() async throws {
        let lab = try CachingLab()
        let origin = try HeldOrigin(lab, holding: .butFirst) { request, number in
            let tag = LabField("ETag", "\"x\"")
            guard number > 1 else {
                var first = Self.fresh(number, "max-age=10").with(["Age": "100"])
                first.fields.append(tag)
                return first
            }
            #expect(request.value(of: "If-None-Match") == "\"x\"")
            return LabResponse(
                status: 304, fields: [tag, LabField("Cache-Control", "max-age=600")])
        }
        defer { origin.stop() }
        let before = try httpdns(lab)
        _ = try await before.fetch(origin.server.at())
        await before.offlineCache?.flush()
        let httpdns = try httpdns(lab)
        let tasks = start(20, httpdns, origin.server.at())
        await origin.calls.begun(1)
        try await wait(19, in: httpdns)
        origin.calls.release()
        var outcomes: [CacheProvenance.Outcome] = []
        for task in tasks {
            let fetched = try await task.value
            #expect(fetched.text == "1")
            outcomes.append(try #require(fetched.outcome))
        }
        #expect(outcomes.count { $0 == .validated } == 1)
        #expect(outcomes.count { $0 == .hit } == 19)
        #expect(origin.server.count == 2)
    }

    @Test(arguments: [
        ["Cache-Control": "no-store"], ["Cache-Control": "no-cache"],
        ["Cache-Control": "max-age=0"], ["Cache-Control": "max-age=600", "Vary": "*"], [:],
    ])
    func `§4 what others may not use sends each of them to the origin, and the next ones at once`(
        _ fields: [String: String]
    ) async throws {
        let lab = try CachingLab()
        let together = BlockedCalls()
        let end = ReleaseAtEnd(together)
        let origin = try HeldOrigin(lab, holding: .first) { _, number in
            if number > 8 { together.block() }
            var answer = LabResponse.text("\(number)")
            answer.fields += fields.map { LabField($0.key, $0.value) }
            return answer
        }
        defer { origin.stop() }
        let httpdns = try httpdns(lab)
        let tasks = start(8, httpdns, origin.server.at())
        await origin.calls.begun(1)
        try await wait(7, in: httpdns)
        origin.calls.release()
        var texts: Set<String> = []
        for task in tasks { texts.insert(try await task.value.text) }
        #expect(texts.count == 8)
        #expect(origin.server.count == 8)
        // Nobody waits there now: all of them are at the origin at the same time.
        let more = start(5, httpdns, origin.server.at())
        await together.begun(5)
        together.release()
        for task in more { _ = try await task.value }
        withExtendedLifetime(end) {}
    }

    @Test func `the first one's failure is its own: the others are sent`() async throws {
        let lab = try CachingLab()
        let origin = try HeldOrigin(lab, holding: .first) { _, number in
            guard number == 1 else { return Self.fresh(number) }
            return Self.fresh(number).conducting(.resets(afterBodyOctets: 0))
        }
        defer { origin.stop() }
        let httpdns = try httpdns(lab)
        let first = start(1, httpdns, origin.server.at())[0]
        await origin.calls.begun(1)
        let others = start(6, httpdns, origin.server.at())
        try await wait(6, in: httpdns)
        origin.calls.release()
        await #expect(throws: ExchangeFailure.self) { try await first.value }
        for task in others { #expect(try await task.value.head.status == 200) }
        #expect(try joined(httpdns).isEmpty)
    }

    @Test func `the first one is cancelled: the next is sent, and the rest waits for that`()
        async throws
    {
        let lab = try CachingLab()
        let origin = try HeldOrigin(lab) { _, number in Self.fresh(number) }
        defer { origin.stop() }
        let httpdns = try httpdns(lab)
        let first = start(1, httpdns, origin.server.at())[0]
        await origin.calls.begun(1)
        let others = start(9, httpdns, origin.server.at())
        try await wait(9, in: httpdns)
        first.cancel()
        await #expect(throws: (any Error).self) { try await first.value }
        await origin.calls.begun(2)
        try await wait(8, in: httpdns)
        origin.calls.release()
        for task in others { #expect(try await task.value.text == "2") }
        #expect(origin.server.count == 2)
    }

    @Test func `one that waits can be cancelled, and has its own deadline`() async throws {
        let lab = try CachingLab()
        let origin = try HeldOrigin(lab) { _, number in Self.fresh(number) }
        defer { origin.stop() }
        let httpdns = try httpdns(lab)
        let first = start(1, httpdns, origin.server.at())[0]
        await origin.calls.begun(1)
        let others = start(2, httpdns, origin.server.at())
        try await wait(2, in: httpdns)
        others[0].cancel()
        await #expect(throws: (any Error).self) { try await others[0].value }
        let late = await #expect(throws: ExchangeFailure.self) {
            try await httpdns.fetch(origin.server.at()) { $0.limits.total = .milliseconds(30) }
        }
        #expect(late?.label.hasPrefix("timed_out") == true, "\(late?.label ?? "-")")
        try await wait(1, in: httpdns)
        origin.calls.release()
        #expect(try await first.value.text == "1")
        #expect(try await others[1].value.outcome == .hit)
        #expect(origin.server.count == 1)
    }

    @Test(arguments: [true, false])
    func
        `§4.4 who asks after a change does not wait for who asked before, whose answer is not kept`(
            isPosted: Bool
        ) async throws
    {
        let lab = try CachingLab()
        let origin = try HeldOrigin(lab, holding: .first) { request, number in
            request.method == "POST" ? .text("changed") : Self.fresh(number)
        }
        defer { origin.stop() }
        let httpdns = try httpdns(lab)
        let before = start(1, httpdns, origin.server.at())[0]
        await origin.calls.begun(1)
        let waiting = start(1, httpdns, origin.server.at())[0]
        try await wait(1, in: httpdns)
        if isPosted {
            _ = try await httpdns.fetch(origin.server.at(), .post, body: .bytes([1]))
        } else {
            await httpdns.offlineCache?.removeAll()
        }
        let number = isPosted ? "3" : "2"
        #expect(try await httpdns.fetch(origin.server.at()).text == number)
        #expect(try await httpdns.fetch(origin.server.at()).outcome == .hit)
        origin.calls.release()
        let outdated = try await before.value
        #expect(outdated.text == "1")
        #expect(outdated.cache?.remark == "outdated")
        // It began before the change; what is kept now is of after it.
        _ = try await waiting.value
        #expect(try await httpdns.fetch(origin.server.at()).text != "1")
        #expect(try joined(httpdns).isEmpty)
    }

    @Test func `nobody waits for longer than its patience`() async throws {
        let lab = try CachingLab()
        let origin = try HeldOrigin(lab, holding: .first) { _, number in
            Self.fresh(number)
        }
        defer { origin.stop() }
        let httpdns = try httpdns(lab, joining: .milliseconds(1))
        let first = start(1, httpdns, origin.server.at())[0]
        await origin.calls.begun(1)
        #expect(try await httpdns.fetch(origin.server.at()).text == "2")
        origin.calls.release()
        #expect(try await first.value.text == "1")
        #expect(origin.server.count == 2)
    }

    @Test func `without joining each is sent`() async throws {
        let lab = try CachingLab()
        let origin = try HeldOrigin(lab) { _, number in Self.fresh(number) }
        defer { origin.stop() }
        let httpdns = try httpdns(lab, joining: .zero)
        let tasks = start(4, httpdns, origin.server.at())
        await origin.calls.begun(4)
        origin.calls.release()
        for task in tasks { #expect(try await task.value.outcome == .missed) }
    }

    @Test(arguments: [
        ["Authorization": "Bearer b"], ["Cookie": "sid=2"], ["Accept": "text/html"],
        ["Cache-Control": "no-cache"], ["Cache-Control": "no-store"],
        ["Cache-Control": "max-age=0"], ["Range": "bytes=0-0"], ["If-None-Match": "\"a\""],
    ])
    func `who differs, or could not be answered, does not wait`(_ fields: [String: String])
        async throws
    {
        let lab = try CachingLab()
        let origin = try HeldOrigin(lab, holding: .first) { _, number in
            Self.fresh(number)
        }
        defer { origin.stop() }
        let httpdns = try httpdns(lab)
        let first = start(1, httpdns, origin.server.at())[0]
        await origin.calls.begun(1)
        let other = try await httpdns.fetch(origin.server.at()) { request in
            for (name, value) in fields { try? request.head.fields.set(name, value) }
        }
        #expect(other.text == "2")
        for mode in [CacheMode.validate, .refresh, .none] {
            #expect(try await httpdns.fetch(origin.server.at(), mode: mode).outcome != .hit)
        }
        origin.calls.release()
        #expect(try await first.value.text == "1")
    }

    @Test func `a redirect and what it leads to go out once each`() async throws {
        let lab = try CachingLab()
        let origin = try HeldOrigin(lab) { request, number in
            request.path == "/old"
                ? LabResponse.redirect(to: "/new", status: 301).with([
                    "Cache-Control": "max-age=600"
                ]) : Self.fresh(number)
        }
        defer { origin.stop() }
        let httpdns = try httpdns(lab)
        let tasks = start(12, httpdns, origin.server.at("/old"))
        await origin.calls.begun(1)
        try await wait(11, in: httpdns)
        origin.calls.release()
        for task in tasks { #expect(try await task.value.text == "2") }
        #expect(origin.server.record.requests.map(\.path) == ["/old", "/new"])
    }

    @Test func `sessions of one client wait for each other, and a task that is cancelled for none`()
        async throws
    {
        let lab = try CachingLab()
        let origin = try HeldOrigin(lab) { _, number in Self.fresh(number) }
        defer { origin.stop() }
        let httpdns = try httpdns(lab)
        let sessions = (0..<3).map { _ in httpdns.session(configuration: .ephemeral) }
        let url = try #require(URL(string: origin.server.at("/a")))
        let begin = { (session: URLSession) in
            Task { String(decoding: try await session.data(from: url).0, as: UTF8.self) }
        }
        let first = begin(sessions[0])
        await origin.calls.begun(1)
        let others = sessions.flatMap { session in (0..<4).map { _ in begin(session) } }
        try await wait(12, in: httpdns)
        first.cancel()
        await #expect(throws: (any Error).self) { try await first.value }
        await origin.calls.begun(2)
        try await wait(11, in: httpdns)
        origin.calls.release()
        for task in others { #expect(try await task.value == "2") }
        #expect(origin.server.count == 2)
        #expect(
            await eventually(withinMilliseconds: 60_000) {
                (try? self.joined(httpdns))?.isEmpty == true
            })
    }

    @Test func `an origin in trouble keeps nobody: each is stood in for by what is kept`()
        async throws
    {
        let lab = try CachingLab()
        let origin = try HeldOrigin(lab, holding: .butFirst) { _, number in
            guard number == 1 else { return .text("sorry", status: 503) }
            return Self.fresh(number, "max-age=1, stale-if-error=600").with([
                "Age": "5", "ETag": "\"x\"",
            ])
        }
        defer { origin.stop() }
        let before = try httpdns(lab)
        _ = try await before.fetch(origin.server.at())
        await before.offlineCache?.flush()
        let httpdns = try httpdns(lab)
        let tasks = start(6, httpdns, origin.server.at())
        await origin.calls.begun(1)
        try await wait(5, in: httpdns)
        origin.calls.release()
        for task in tasks {
            let fetched = try await task.value
            #expect(fetched.text == "1" && fetched.outcome == .stale)
        }
        #expect(try joined(httpdns).isEmpty)
    }
}
