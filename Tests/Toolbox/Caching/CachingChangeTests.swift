import HTTPDNS
import HTTPDNSClient
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport
import Testing

/// What was asked for before a change is not kept after it, however it was asked. RFC 9111 §4.4.
@Suite(.timeLimit(.minutes(5))) struct CachingChangeTests {
    /// A way to the origin.
    enum Way: Sendable, CaseIterable {
        case plain
        case refresh
        case validate
        case noCache
        case maxAgeZero
        /// Nobody joins.
        case unjoined
        /// The URL's answers were of no use to others a moment ago.
        case alone
        /// It has waited for another for long enough.
        case outwaited

        var mode: CacheMode? {
            switch self {
            case .refresh: .refresh
            case .validate: .validate
            default: nil
            }
        }

        var fields: [String: String] {
            switch self {
            case .noCache: ["Cache-Control": "no-cache"]
            case .maxAgeZero: ["Cache-Control": "max-age=0"]
            default: [:]
            }
        }

        var joining: Duration {
            switch self {
            case .unjoined: .zero
            case .outwaited: .milliseconds(1)
            default: .seconds(600)
            }
        }

        /// The numbers of the requests that are held, one of them after the other.
        var held: [Int] {
            switch self {
            case .alone: [2]
            case .outwaited: [1, 2]
            default: [1]
            }
        }
    }

    private let lab: CachingLab

    init() throws { lab = try CachingLab() }

    private static func fresh(_ number: Int) -> LabResponse {
        .text("\(number)").with(["Cache-Control": "max-age=600"])
    }

    private func cache(_ httpdns: HTTPDNS) throws -> ResponseCache {
        try #require(httpdns.client.parts.cache)
    }

    private func change(_ httpdns: HTTPDNS, _ url: String, isPosted: Bool) async throws {
        guard isPosted else {
            await httpdns.offlineCache?.removeAll()
            return
        }
        _ = try await httpdns.fetch(url, .post, body: .bytes([1]))
    }

    private func kept(_ httpdns: HTTPDNS) async -> Int? {
        await httpdns.offlineCache?.flush()
        return await httpdns.offlineCache?.contents()?.responses
    }

    /// Bounded memory: nothing is remembered once nothing is on its way.
    private func expectNothingOpen(_ httpdns: HTTPDNS) async throws {
        let cache = try cache(httpdns)
        #expect(
            await eventually(withinMilliseconds: 60_000) {
                cache.changes.isEmpty && cache.joined.isEmpty
            })
    }

    @Test(arguments: Way.allCases, [true, false])
    func `what was asked for before a change is not kept after it`(
        _ way: Way, isPosted: Bool
    ) async throws {
        let origin = try HeldOrigin(lab, holding: .only(Set(way.held))) { request, number in
            if request.method == "POST" { return .text("changed") }
            guard way == .alone, number == 1 else { return Self.fresh(number) }
            return LabResponse.text("1").with(["Cache-Control": "no-store"])
        }
        defer { origin.stop() }
        let url = origin.server.at("/me")
        let httpdns = try lab.httpdns { $0.joining = way.joining }
        if way == .alone { _ = try await httpdns.fetch(url) }
        var before: [Task<Fetched, any Error>] = []
        for _ in way.held {
            before.append(
                Task {
                    try await httpdns.fetch(url, mode: way.mode) { request in
                        for (name, value) in way.fields {
                            try? request.head.fields.set(name, value)
                        }
                    }
                })
            await origin.calls.begun(before.count)
        }
        try await change(httpdns, url, isPosted: isPosted)
        origin.calls.release()
        for (task, number) in zip(before, way.held) {
            let outdated = try await task.value
            #expect(outdated.text == "\(number)")
            #expect(outdated.cache?.remark == "outdated")
        }
        #expect(await kept(httpdns) == 0)
        let next = try await httpdns.fetch(url)
        #expect(next.outcome == .missed)
        #expect(next.text == "\(origin.server.count)")
        #expect(try await httpdns.fetch(url).outcome == .hit)
        try await expectNothingOpen(httpdns)
    }

    @Test(arguments: [true, false])
    func `what was kept after a change is not put out by what was asked for before it`(
        isPosted: Bool
    ) async throws {
        let origin = try HeldOrigin(lab, holding: .first) { request, number in
            request.method == "POST" ? .text("changed") : Self.fresh(number)
        }
        defer { origin.stop() }
        let url = origin.server.at("/me")
        let httpdns = try lab.httpdns()
        let before = Task { try await httpdns.fetch(url, mode: .refresh) }
        await origin.calls.begun(1)
        try await change(httpdns, url, isPosted: isPosted)
        let after = try await httpdns.fetch(url)
        #expect(after.outcome == .missed)
        origin.calls.release()
        #expect(try await before.value.text == "1")
        #expect(await kept(httpdns) == 1)
        let next = try await httpdns.fetch(url)
        #expect(next.outcome == .hit)
        #expect(next.text == after.text)
        try await expectNothingOpen(httpdns)
    }

    @Test func `an answer to HEAD of before a change does not freshen what is kept after it`()
        async throws
    {
        let origin = try HeldOrigin(lab, holding: .first) { request, _ in
            LabResponse.text("page").with([
                "Cache-Control": "max-age=600",
                "X-User": request.method == "HEAD" ? "before" : "after",
            ])
        }
        defer { origin.stop() }
        let url = origin.server.at("/me")
        let httpdns = try lab.httpdns()
        let before = Task { try await httpdns.fetch(url, .head) }
        await origin.calls.begun(1)
        await httpdns.offlineCache?.removeAll()
        _ = try await httpdns.fetch(url)
        #expect(await kept(httpdns) == 1)
        origin.calls.release()
        #expect(try await before.value.head.fields.first("X-User") == "before")
        #expect(await kept(httpdns) == 1)
        let next = try await httpdns.fetch(url)
        #expect(next.outcome == .hit)
        #expect(next.head.fields.first("X-User") == "after")
        try await expectNothingOpen(httpdns)
    }

    @Test func `where a redirect leads after everything was removed is not kept either`()
        async throws
    {
        let origin = try HeldOrigin(lab, holding: .first) { request, number in
            request.path == "/old" ? .redirect(to: "/me", status: 302) : Self.fresh(number)
        }
        defer { origin.stop() }
        let httpdns = try lab.httpdns()
        let before = Task { try await httpdns.fetch(origin.server.at("/old")) }
        await origin.calls.begun(1)
        await httpdns.offlineCache?.removeAll()
        origin.calls.release()
        let outdated = try await before.value
        #expect(outdated.text == "2")
        #expect(outdated.cache?.remark == "outdated")
        #expect(await kept(httpdns) == 0)
        try await expectNothingOpen(httpdns)
    }

    @Test func `what a change itself leads to is kept`() async throws {
        let origin = try HeldOrigin(lab, holding: .only([])) { request, number in
            request.method == "POST" ? .redirect(to: "/me", status: 303) : Self.fresh(number)
        }
        defer { origin.stop() }
        let url = origin.server.at("/me")
        let httpdns = try lab.httpdns()
        #expect(try await httpdns.fetch(url, .post, body: .bytes([1])).text == "2")
        let next = try await httpdns.fetch(url)
        #expect(next.outcome == .hit)
        #expect(next.text == "2")
    }

    // MARK: Given up while the cache is about to be asked

    /// Is told when the cookies of a path are asked for, before the cache is.
    private struct WatchedCookies: CookieKeeper {
        let path: String
        let asked: @Sendable () -> Void

        func cookies(for url: HTTPURL) -> FieldText? {
            if url.target == path { asked() }
            return nil
        }

        func store(_ lines: [FieldText], from url: HTTPURL) {}
    }

    private final class FollowingWatch: ExchangeObserver {
        let ends = Locked<[String]>([])

        func exchange(
            offers redirect: RedirectOffer, answer: @escaping @Sendable (RedirectAnswer) -> Void
        ) { answer(.follow) }

        func exchange(
            sends fields: HTTPFields, in framing: SentFraming, of head: RequestHead
        ) {}

        func exchange(received head: ResponseHead, report: ExchangeReport) {}

        func exchange(received body: UnsafeRawBufferPointer) -> Flow { .more }

        func exchange(ended result: Result<ExchangeReport, ExchangeFailure>) {
            guard case .failure(let failure) = result else { return ends.withLock { $0 += ["-"] } }
            ends.withLock { $0.append(failure.label) }
        }
    }

    @Test func `a request that was given up on its way to the cache waits for nobody there`()
        async throws
    {
        let old = BlockedCalls()
        let end = ReleaseAtEnd(old)
        let origin = try HeldOrigin(lab, holding: .first) { request, number in
            guard request.path == "/old" else { return Self.fresh(number) }
            old.block()
            return .redirect(to: "/new", status: 302)
        }
        defer { origin.stop() }
        let httpdns = try lab.httpdns { $0.joining = .seconds(600) }
        let first = Task { try await httpdns.fetch(origin.server.at("/new")) }
        await origin.calls.begun(1)
        let running = Locked<(any RunningExchange)?>(nil)
        let watch = FollowingWatch()
        let started = httpdns.client.start(
            HTTPRequest(.get, try HTTPURL(origin.server.at("/old"))), observer: watch,
            cookies: WatchedCookies(path: "/new") { running.withLock { $0 }?.cancel() })
        running.withLock { $0 = started }
        await old.begun(1)
        old.release()
        #expect(await eventually(withinMilliseconds: 60_000) { !watch.ends.withLock(\.isEmpty) })
        #expect(watch.ends.withLock { $0 } == ["cancelled"])
        // By then the transport's thread has left the exchange, and the store has answered it.
        _ = try await httpdns.fetch(origin.server.at("/other"))
        await httpdns.offlineCache?.flush()
        #expect(try cache(httpdns).joined.waiting == 0)
        running.withLock { $0 = nil }
        origin.calls.release()
        #expect(try await first.value.text == "1")
        #expect(origin.server.record.requests.map(\.path).count { $0 == "/new" } == 1)
        withExtendedLifetime(end) {}
    }
}
