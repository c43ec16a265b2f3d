import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport
import Testing

/// Stubs reach tasks of every kind as responses do.
@Suite(.timeLimit(.minutes(2))) struct RuleSessionTests {
    let lab: RuleLab
    let url = "https://shop.example.test/v1"
    static let large = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) })

    init() throws { lab = try RuleLab() }

    private func request(_ method: String = "GET") throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        return request
    }

    private func large() -> LiveRules {
        [RequestRule("large", .any, .stub(StubResponse.data(RuleSessionTests.large)))]
    }

    @Test func `handlers, async calls, delegates and downloads get a stub whole`() async throws {
        let rules = large()
        let session = try lab.session(rules)
        let handled = await session.answer(try request())
        #expect(handled.data == RuleSessionTests.large)
        #expect(handled.response?.expectedContentLength == 700_000)
        #expect(handled.response?.url?.absoluteString == url)
        let (data, _) = try await session.data(for: try request())
        #expect(data == RuleSessionTests.large)
        #expect(await session.downloadAnswer(try request()).data == RuleSessionTests.large)
        let (file, _) = try await session.download(for: try request())
        #expect(try Data(contentsOf: file) == RuleSessionTests.large)
        try FileManager.default.removeItem(at: file)
        for isDownload in [false, true] {
            let delegate = RuledDelegate()
            let own = try lab.session(rules, delegate: delegate)
            if isDownload {
                own.downloadTask(with: try request()).resume()
            } else {
                own.dataTask(with: try request()).resume()
            }
            let story = await delegate.ended()
            #expect((isDownload ? story.file : story.data) == RuleSessionTests.large)
            #expect(story.ends.count == 1 && story.ends[0] == nil)
        }
        try rules.expect("large", called: 6)
    }

    @Test func `uploads are read away, and their bodies can be matched and answered`() async throws
    {
        let rules: LiveRules = [
            RequestRule("secret", .body(containing: "secret"), .stub(.text("found"))),
            RequestRule(
                "echo", .any,
                .stub(Stub { StubResponse(body: .octets(Array(($0.body ?? []).reversed()))) })),
        ]
        let delegate = RuledDelegate()
        let session = try lab.session(rules)
        let small = Data("a secret".utf8)
        #expect(await session.uploadAnswer(try request("POST"), from: small).text == "found")
        let other = await session.uploadAnswer(try request("POST"), from: Data("abc".utf8))
        #expect(other.text == "cba")
        let own = try lab.session(rules, delegate: delegate)
        own.uploadTask(with: try request("POST"), from: RuleSessionTests.large).resume()
        let story = await delegate.ended()
        #expect(story.sent == 700_000)
        #expect(story.data == Data(RuleSessionTests.large.reversed()))
        var streamed = try request("POST")
        streamed.httpBodyStream = InputStream(data: RuleSessionTests.large)
        #expect(await session.answer(streamed).status == 200)
    }

    @Test func `HEAD and 204 have no body, and HEAD says how long it would be`() async throws {
        let rules: LiveRules = [
            RequestRule(
                "none", .method(.put), .stub(StubResponse(status: 204, body: .octets([1])))),
            RequestRule("text", .any, .stub(.text("hello"))),
        ]
        let session = try lab.session(rules)
        let head = await session.answer(try request("HEAD"))
        #expect(head.data?.isEmpty != false && head.status == 200)
        #expect(head.response?.value(forHTTPHeaderField: "Content-Length") == "5")
        let none = await session.answer(try request("PUT"))
        #expect(none.data?.isEmpty != false && none.status == 204)
    }

    @Test func `redirects in stubs are followed, offered to the delegate, and judged anew`()
        async throws
    {
        let origin = try lab.origin()
        defer { origin.stop() }
        let real = origin.url(host: "shop.example.test", path: "/real")
        let rules: LiveRules = [
            RequestRule("first", try .path("/v1"), .stub(.redirect(to: "/v2"))),
            RequestRule("second", try .path("/v2"), .stub(.redirect(to: real, status: 307))),
        ]
        let delegate = RuledDelegate()
        let session = try lab.session(rules, delegate: delegate)
        session.dataTask(with: try request()).resume()
        let story = await delegate.ended()
        #expect(story.data == Data("real /real".utf8))
        #expect(story.redirects == ["302 https://shop.example.test/v2", "307 \(real)"])
        #expect(story.statuses == [200])
        let refusing = RuledDelegate(follows: false)
        try lab.session(rules, delegate: refusing).dataTask(with: try request()).resume()
        #expect(await refusing.ended().statuses == [302])
        #expect(rules.seen.map(\.verdict) == ["stub", "stub", "resolve", "stub"])
    }

    @Test func `a circle of stubs ends as a circle of servers does`() async throws {
        let rules: LiveRules = [RequestRule("circle", .any, .stub(.redirect(to: "/v1?again")))]
        let answer = await (try lab.session(rules)).answer(try request())
        #expect(answer.code == .httpTooManyRedirects)
        try rules.expect("circle", called: 21)
    }

    @Test func `cookies of a stub are kept, and sent to the origin it speaks for`() async throws {
        let origin = try lab.origin { LabResponse.text($0.value(of: "Cookie") ?? "none") }
        defer { origin.stop() }
        let login = try StubResponse.text("in").with("Set-Cookie", "sid=7; Path=/; Secure")
        let rules: LiveRules = [RequestRule("login", try .path("/login"), .stub(login))]
        let session = try lab.session(rules)
        let host = "shop.example.test"
        _ = try await session.answer(origin.url(host: host, path: "/login"))
        #expect(try await session.answer(origin.url(host: host, path: "/me")).text == "sid=7")
    }

    @Test func `a stub that waits longer than the request bears times out`() async throws {
        let rules: LiveRules = [
            RequestRule("slow", .any, .stub(StubResponse.text("late").after(.seconds(600))))
        ]
        let session = try lab.session(rules) { $0.timeoutIntervalForRequest = 0.05 }
        #expect(await session.answer(try request()).code == .timedOut)
        let whole = try lab.session(rules) { $0.timeoutIntervalForResource = 0.05 }
        #expect(await whole.answer(try request()).code == .timedOut)
    }

    @Test func `a stub that waits can be cancelled, and nothing comes after`() async throws {
        let rules: LiveRules = [
            RequestRule("slow", .any, .stub(StubResponse.text("late").after(.seconds(600))))
        ]
        let session = try lab.session(rules)
        let task = Task { try await session.data(for: try request()) }
        #expect(
            await eventually(withinMilliseconds: 60_000) { rules.calls(of: "slow") == 1 })
        task.cancel()
        let error = await #expect(throws: URLError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }

    @Test func `a stub breaks off after so many octets, with the failure it is told to have`()
        async throws
    {
        let stub = StubResponse.data(Data("0123456789".utf8)).failing(afterOctets: 4)
        let rules: LiveRules = [RequestRule("broken", .any, .stub(stub))]
        let delegate = RuledDelegate()
        try lab.session(rules, delegate: delegate).dataTask(with: try request()).resume()
        let story = await delegate.ended()
        #expect(story.data == Data("0123".utf8))
        #expect((story.ends[0] as? URLError)?.code == .networkConnectionLost)
        rules.rules = [
            RequestRule(
                "head", .any,
                .stub(StubResponse.text("x").failing(afterOctets: 0, .url(.badServerResponse))))
        ]
        #expect(await (try lab.session(rules)).answer(try request()).code == .badServerResponse)
    }

    @Test func `a throttled stub is no faster than it says, also where its task is held`()
        async throws
    {
        let body = Data((0..<2_000).map { UInt8(truncatingIfNeeded: $0) })
        let stub = StubResponse.data(body).throttled(octetsPerSecond: 8_000)
        let rules: LiveRules = [RequestRule("slow", .any, .stub(stub))]
        let isHeld = Locked(false)
        let delegate = RuledDelegate { task in
            let isFirst = isHeld.withLock { held in
                defer { held = true }
                return !held
            }
            guard isFirst else { return }
            task.suspend()
            task.resume()
        }
        let session = try lab.session(rules, delegate: delegate)
        let begun = ContinuousClock.now
        session.dataTask(with: try request()).resume()
        let story = await delegate.ended()
        // Five pieces, twenty a second, the first at once: how many arrive together is up to the
        // machine, and the last is due after 200 ms.
        #expect(begun.duration(to: .now) >= .milliseconds(190))
        #expect(story.data == body && story.pieces >= 1)
    }

    @Test func `answers come one after the other, and then as the list says`() async throws {
        let both = [StubResponse.text("1"), .text("2")]
        for (after, expected) in [
            (Stub.AfterLast.stay, ["1", "2", "2"]), (.begin, ["1", "2", "1"]),
            (.goOn, ["1", "2", "3"]),
        ] {
            let rules: LiveRules = [
                RequestRule("list", .any, .stub(both, after: after)),
                RequestRule("rest", .any, .stub(.text("3"))),
            ]
            let session = try lab.session(rules)
            var texts: [String] = []
            for _ in 0..<3 { texts.append(await session.answer(try request()).text) }
            #expect(texts == expected)
        }
    }

    @Test func `images are replaced by a local file, with its type`() async throws {
        let directory = try TemporaryDirectory()
        let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3])
        let named = URL(fileURLWithPath: directory.path + "/cat.png")
        let bare = URL(fileURLWithPath: directory.path + "/cat")
        for file in [named, bare] {
            try png.write(to: file)
            let rules: LiveRules = [.replacingImages(with: file.path)]
            let session = try lab.session(rules)
            for path in ["a.jpg", "b/c.GIF?x=1", "d.webp"] {
                let answer = try await session.answer("https://shop.example.test/" + path)
                #expect(answer.data == png && answer.response?.mimeType == "image/png", "\(path)")
            }
            try rules.expect("images", called: 3)
        }
        let missing: LiveRules = [.replacingImages(with: directory.path + "/none.png")]
        let answer = try await (try lab.session(missing)).answer("https://shop.example.test/a.png")
        #expect(answer.code == .resourceUnavailable && answer.message.contains("none.png"))
    }

    @Test func `a closure may wait, and what it throws is the task's error`() async throws {
        struct Own: Error, Equatable {}
        let rules: LiveRules = [
            RequestRule(
                "later", .method(.get),
                .stub(
                    Stub { _ in
                        await Task.yield()
                        return .text("made")
                    })),
            RequestRule("never", .method(.put), .stub(Stub { _ in throw Own() })),
            RequestRule("own", .method(.delete), .block(.own(Own()))),
        ]
        let session = try lab.session(rules)
        #expect(await session.answer(try request()).text == "made")
        #expect(await session.answer(try request("PUT")).error is Own)
        #expect(await session.answer(try request("DELETE")).error is Own)
    }
}
