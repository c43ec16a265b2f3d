import HTTPDNS
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSRules
import TestSupport
import Testing

@Suite struct CachingClientTests {
    /// Answers `/path` with a number that counts, and the fields given.
    private static func counting(
        _ fields: KeyValuePairs<String, String>
    ) -> @Sendable (LabRequest) -> LabResponse {
        let count = Locked(0)
        let pairs = fields.map { ($0.key, $0.value) }
        return { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            var response = LabResponse.text("\(request.target) \(number)")
            response.fields += pairs.map { LabField($0.0, $0.1) }
            return response
        }
    }

    @Test func `what is fresh answers without a packet, after a restart too`() async throws {
        let lab = try CachingLab()
        let server = try lab.origin(Self.counting(["Cache-Control": "max-age=600", "Age": "7"]))
        defer { server.stop() }
        let before = try lab.httpdns()
        let first = try await before.fetch(server.at("/a?q=1"))
        await before.offlineCache?.flush()
        #expect(first.text == "/a?q=1 1")
        #expect(first.outcome == .missed)
        let again = try lab.httpdns()
        let second = try await again.fetch(server.at("/a?q=1"))
        #expect(second.text == "/a?q=1 1")
        #expect(second.outcome == .hit)
        let age = try #require(second.cache?.ageSeconds)
        #expect(age >= 7)
        #expect(second.head.fields.first("Age") == "\(age)")
        #expect(second.head.fields.first("Content-Type") == "text/plain; charset=utf-8")
        #expect(second.report.hops.first?.resolution == nil)
        #expect(second.report.hops.first?.remote == nil)
        // The query is part of the key.
        #expect(try await again.fetch(server.at("/a?q=2")).text == "/a?q=2 2")
        #expect(try await again.fetch(server.at("/a?q=1#end")).outcome == .hit)
        #expect(try await again.fetch(server.at("/a?q=1"), .head).outcome == .hit)
        #expect(try await again.fetch(server.at("/a?q=1"), .head).body == [])
        #expect(server.count == 2)
    }

    @Test func `what is stale is validated; the 304 renews it`() async throws {
        let lab = try CachingLab()
        let server = try lab.origin { request in
            let tagged = KeyValuePairs<String, String>(
                dictionaryLiteral: ("ETag", "\"one\""), ("Cache-Control", "max-age=50"))
            guard request.value(of: "If-None-Match") == "\"one\"" else {
                return LabResponse.text("body").with(tagged).with([
                    "Age": "100", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "X-Turn": "1",
                ])
            }
            return LabResponse(status: 304).with(tagged).with([
                "X-Turn": "2", "Set-Cookie": "turn=2",
            ])
        }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        #expect(try await httpdns.fetch(server.at()).outcome == .missed)
        let validated = try await httpdns.fetch(server.at())
        #expect(validated.outcome == .validated)
        #expect(validated.head.status == 200)
        #expect(validated.text == "body")
        #expect(validated.head.fields.all("X-Turn") == ["2"])
        #expect(!validated.head.fields.contains("Age"))
        #expect(validated.report.hops.last?.peer != nil)
        #expect(
            httpdns.cookies.cookieHeader(
                for: try HTTPURL(server.at()), now: WallTime(secondsSince1970: 1)) == "turn=2")
        let sent = try #require(server.record.requests.last)
        #expect(sent.value(of: "If-Modified-Since") == "Sun, 06 Nov 1994 08:49:37 GMT")
        let hit = try await httpdns.fetch(server.at())
        #expect(hit.outcome == .hit)
        #expect(hit.head.fields.all("X-Turn") == ["2"])
        #expect(!hit.head.fields.contains("Set-Cookie"))
        #expect(server.count == 2)
    }

    @Test func `a 304 for another tag sends the request once more, without conditions`()
        async throws
    {
        let lab = try CachingLab()
        let server = try lab.origin { request in
            request.value(of: "If-None-Match") == nil
                ? LabResponse.text("whole").with(["ETag": "\"one\"", "Cache-Control": "no-cache"])
                : LabResponse(status: 304).with(["ETag": "\"other\""])
        }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        _ = try await httpdns.fetch(server.at())
        let second = try await httpdns.fetch(server.at())
        #expect(second.head.status == 200)
        #expect(second.text == "whole")
        #expect(second.outcome == .missed)
        #expect(second.cache?.remark == "validator_mismatch")
        #expect(server.count == 3)
    }

    @Test func `POST is never kept, and makes what is kept out of date`() async throws {
        let lab = try CachingLab()
        let server = try lab.origin { request in
            request.method == "POST"
                ? LabResponse.text("made", status: 201).with([
                    "Cache-Control": "max-age=600", "Location": "/list?page=2",
                ]) : LabResponse.text(request.target).with(["Cache-Control": "max-age=600"])
        }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        for path in ["/item", "/list?page=2", "/other"] {
            _ = try await httpdns.fetch(server.at(path))
            #expect(try await httpdns.fetch(server.at(path)).outcome == .hit)
        }
        for mode in [CacheMode.standard, .none] {
            let made = try await httpdns.fetch(
                server.at("/item"), .post, mode: mode, body: .bytes([1]))
            #expect(made.text == "made")
        }
        #expect(try await httpdns.fetch(server.at("/item")).outcome == .missed)
        #expect(try await httpdns.fetch(server.at("/list?page=2")).outcome == .missed)
        #expect(try await httpdns.fetch(server.at("/other")).outcome == .hit)
        #expect(server.record.requests.filter { $0.method == "POST" }.count == 2)
    }

    @Test func `offline what is kept answers, and the rest is a 504 that sends nothing`()
        async throws
    {
        let lab = try CachingLab()
        let server = try lab.origin(Self.counting(["Cache-Control": "max-age=1", "Age": "5"]))
        let httpdns = try lab.httpdns()
        _ = try await httpdns.fetch(server.at("/kept"))
        server.stop()
        httpdns.offlineCache?.mode = .onlyIfCached
        let stale = try await httpdns.fetch(server.at("/kept"))
        #expect(stale.outcome == .stale)
        #expect(stale.text == "/kept 1")
        let missing = try await httpdns.fetch(server.at("/missing"))
        #expect(missing.head.status == 504)
        #expect(missing.outcome == .unsatisfied)
        #expect(missing.body == [])
        #expect(missing.report.hops.first?.resolution == nil)
        let posted = try await httpdns.fetch(server.at("/kept"), .post, body: .bytes([1]))
        #expect(posted.head.status == 504)
        let asked = try await httpdns.fetch(
            server.at("/missing"), .get, ["Cache-Control": "only-if-cached"], mode: .standard)
        #expect(asked.head.status == 504)
        // Without a cache nothing is sent either.
        let bare = try lab.httpdns { _ in
        } change: {
            $0.offlineCache = nil
        }
        let refused = try await bare.fetch(server.at("/kept"), mode: .onlyIfCached)
        #expect(refused.head.status == 504)
        #expect(refused.cache?.remark == "no_cache")
    }

    @Test func `offline finds what varies with the cookies that a rule adds`() async throws {
        let lab = try CachingLab()
        let server = try lab.origin(
            Self.counting(["Cache-Control": "max-age=600", "Vary": "Cookie"]))
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        let rules: LiveRules = [
            RequestRule("beta", try .path("/kept"), try .addCookies(["beta": "on"]))
        ]
        let request = HTTPRequest(.get, try HTTPURL(server.at("/kept")))
        for isOffline in [false, true] {
            rules.switches.isOffline = isOffline
            let response = try await httpdns.client.send(request, under: rules)
            let (body, report) = try await response.collect(upTo: 1_000)
            #expect(String(decoding: body, as: UTF8.self) == "/kept 1")
            #expect(report.hops.last?.cache?.outcome == (isOffline ? .hit : .missed))
        }
    }

    @Test func `an origin that moved to another address still hits`() async throws {
        let lab = try CachingLab()
        let server = try lab.origin(Self.counting(["Cache-Control": "max-age=600"]))
        defer { server.stop() }
        let before = try lab.httpdns()
        _ = try await before.fetch(server.at())
        await before.offlineCache?.flush()
        let moved = try lab.httpdns(at: LabAddress.ipv6)
        #expect(try await moved.fetch(server.at()).outcome == .hit)
    }

    @Test func `redirects are kept, and lead to what is kept`() async throws {
        let lab = try CachingLab()
        let server = try lab.origin { request in
            request.path == "/old"
                ? LabResponse.redirect(to: "/new", status: 301).with([
                    "Cache-Control": "max-age=600"
                ]) : LabResponse.text("new").with(["Cache-Control": "max-age=600"])
        }
        let httpdns = try lab.httpdns()
        let first = try await httpdns.fetch(server.at("/old"))
        #expect(first.text == "new")
        server.stop()
        let second = try await httpdns.fetch(server.at("/old"))
        #expect(second.text == "new")
        #expect(second.report.hops.map(\.cache?.outcome) == [.hit, .hit])
        #expect(second.head.url.target == "/new")
        let handed = try await httpdns.fetch(server.at("/old")) { $0.followsRedirects = false }
        #expect(handed.head.status == 301)
        #expect(handed.outcome == .hit)
    }

    @Test func `each Vary variant answers its own requests; star answers none`() async throws {
        let lab = try CachingLab()
        let server = try lab.origin { request in
            LabResponse.text(request.value(of: "Accept-Language") ?? "none").with([
                "Cache-Control": "max-age=600",
                "Vary": request.path == "/star" ? "*" : "Accept-Language",
            ])
        }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        for _ in 0..<2 {
            for language in ["de", "en"] {
                let fetched = try await httpdns.fetch(
                    server.at(), .get, ["Accept-Language": language])
                #expect(fetched.text == language)
            }
        }
        #expect(server.count == 2)
        for _ in 0..<2 {
            let star = try await httpdns.fetch(server.at("/star"))
            #expect(star.cache?.remark == "vary_star")
        }
        #expect(server.count == 4)
        let userA = try await httpdns.fetch(server.at("/me"), .get, ["Authorization": "Bearer a"])
        #expect(userA.outcome == .missed)
        let userB = try await httpdns.fetch(server.at("/me"), .get, ["Authorization": "Bearer b"])
        #expect(userB.outcome == .missed)
        let again = try await httpdns.fetch(server.at("/me"), .get, ["Authorization": "Bearer a"])
        #expect(again.outcome == .hit)
    }

    @Test func `refresh fetches and keeps, none does neither, prefer takes what is old`()
        async throws
    {
        let lab = try CachingLab()
        let server = try lab.origin(
            Self.counting(["Cache-Control": "max-age=10", "Age": "100", "ETag": "\"x\""]))
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        #expect(try await httpdns.fetch(server.at(), mode: CacheMode.none).text == "/ 1")
        #expect(try await httpdns.fetch(server.at(), mode: .preferCache).text == "/ 2")
        let old = try await httpdns.fetch(server.at(), mode: .preferCache)
        #expect(old.outcome == .stale)
        #expect(try await httpdns.fetch(server.at(), mode: .refresh).text == "/ 3")
        #expect(server.record.requests.allSatisfy { $0.value(of: "If-None-Match") == nil })
        #expect(try await httpdns.fetch(server.at(), mode: .preferCache).text == "/ 3")
    }

    /// Whether it could have been validated makes no difference. Source: RFC 5861 §4.
    @Test(arguments: ["ETag", "X-No-Validator"])
    func `an origin in trouble is stood in for, one that does not prove itself is not`(
        field: String
    ) async throws {
        let lab = try CachingLab()
        let trouble = Locked(false)
        let server = try lab.origin { _ in
            trouble.withLock { $0 }
                ? LabResponse.text("sorry", status: 503)
                : LabResponse.text("good").with([
                    "Cache-Control": "max-age=1, stale-if-error=600", "Age": "5", field: "\"x\"",
                ])
        }
        let httpdns = try lab.httpdns()
        _ = try await httpdns.fetch(server.at())
        trouble.withLock { $0 = true }
        let excused = try await httpdns.fetch(server.at())
        #expect(excused.head.status == 200)
        #expect(excused.text == "good")
        #expect(excused.outcome == .stale)
        #expect(excused.cache?.remark == "stale_if_error")
        #expect(server.count == 2)
        let head = try await httpdns.fetch(server.at(), .head)
        #expect(head.head.status == 200 && head.text.isEmpty && head.outcome == .stale)
        #expect(server.count == 3)
        let port = server.port
        server.stop()
        let unreachable = try await httpdns.fetch(server.at())
        #expect(unreachable.text == "good")
        #expect(unreachable.outcome == .stale)
        #expect(unreachable.report.hops.last?.attempts.isEmpty == false)
        // Somebody else at that address.
        let stranger = try CachingLab()
        let impostor = try stranger.origin(port: port) { _ in .text("bad") }
        defer { impostor.stop() }
        await #expect(throws: ExchangeFailure.self) { try await httpdns.fetch(server.at()) }
        #expect(impostor.count == 0)
    }

    @Test
    func `under another trust policy nothing that is kept is vouched for, and offline refused`()
        async throws
    {
        let lab = try CachingLab()
        let count = Locked(0)
        // Whoever answered first chose the tag of what is true.
        let server = try lab.origin { request in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            guard request.value(of: "If-None-Match") == nil else { return LabResponse(status: 304) }
            return LabResponse.text(isFirst ? "poison" : "genuine")
                .with(["Cache-Control": "max-age=600", "ETag": "\"x\""])
        }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        _ = try await httpdns.fetch(server.at())
        var other = httpdns.trust
        other.minimumTLS = .tls13
        try httpdns.update(trust: other)
        let offline = try await httpdns.fetch(server.at(), mode: .onlyIfCached)
        #expect(offline.head.status == 504)
        #expect(offline.cache?.remark == "policy_changed")
        let anew = try await httpdns.fetch(server.at())
        #expect(anew.outcome == .missed && anew.text == "genuine")
        let again = try await httpdns.fetch(server.at(), mode: .onlyIfCached)
        #expect(again.outcome == .hit && again.text == "genuine")
        #expect(server.count == 2)
    }

    @Test func `plain http is not kept unless the application says so`() async throws {
        let lab = try CachingLab()
        let server = try lab.origin(
            security: .plain, Self.counting(["Cache-Control": "max-age=600"]))
        defer { server.stop() }
        let careful = try lab.httpdns()
        for _ in 0..<2 {
            let fetched = try await careful.fetch(server.at())
            #expect(fetched.cache == CacheProvenance(.missed, remark: "unproven"))
        }
        let trusting = try lab.httpdns { $0.keepsPlainHTTP = true }
        _ = try await trusting.fetch(server.at())
        #expect(try await trusting.fetch(server.at()).outcome == .hit)
    }

    @Test func `a GET with a body, and one with credentials, are neither kept nor answered`()
        async throws
    {
        let lab = try CachingLab()
        let server = try lab.origin(Self.counting(["Cache-Control": "max-age=600"]))
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        for number in 1...2 {
            let asked = try await httpdns.fetch(server.at(), body: .bytes([0x61]))
            #expect(asked.text == "/ \(number)")
            #expect(asked.cache == nil)
        }
        let url = try HTTPURL(server.at())
        for number in 3...4 {
            let asked = try await httpdns.fetch(server.at()) {
                $0.credentials = OriginCredentials(
                    "user", Secret("word"), by: .basic, for: url.origin)
            }
            #expect(asked.text == "/ \(number)")
            #expect(asked.cache == nil)
        }
        let offline = try await httpdns.fetch(
            server.at(), mode: .onlyIfCached, body: .bytes([0x61]))
        #expect(offline.head.status == 504)
        #expect(await httpdns.offlineCache?.contents()?.responses == 0)
    }

    @Test func `HEAD confirms what is kept, or makes it stale`() async throws {
        let lab = try CachingLab()
        let tag = Locked("\"one\"")
        let server = try lab.origin { request in
            LabResponse.text("12345").with([
                "ETag": tag.withLock { $0 }, "Cache-Control": "max-age=50",
                "Age": request.method == "HEAD" ? "0" : "100",
            ])
        }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        _ = try await httpdns.fetch(server.at())
        #expect(try await httpdns.fetch(server.at(), .head).outcome == .missed)
        #expect(try await httpdns.fetch(server.at()).outcome == .hit)
        tag.withLock { $0 = "\"two\"" }
        #expect(try await httpdns.fetch(server.at(), .head, mode: .validate).outcome == .missed)
        let offline = try await httpdns.fetch(server.at(), mode: .onlyIfCached)
        #expect(offline.outcome == .stale)
        #expect(offline.text == "12345")
        // And so it is for whoever opens the directory next.
        await httpdns.offlineCache?.flush()
        let next = try await lab.httpdns().fetch(server.at())
        #expect(next.outcome == .missed)
    }

    @Test func `offline, who has what is kept already is told so`() async throws {
        let lab = try CachingLab()
        let server = try lab.origin { _ in
            LabResponse.text("12345").with(["ETag": "\"one\"", "Cache-Control": "max-age=50"])
        }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        _ = try await httpdns.fetch(server.at())
        for (tag, status, text) in [("\"one\"", 304, ""), ("\"two\"", 200, "12345")] {
            let fetched = try await httpdns.fetch(
                server.at(), .get, ["If-None-Match": tag], mode: .onlyIfCached)
            #expect(fetched.head.status == status)
            #expect(fetched.text == text)
            #expect(fetched.outcome == .hit)
        }
        #expect(server.count == 1)
    }

    @Test func `what the origin forbids later is forgotten`() async throws {
        let lab = try CachingLab()
        let isSecret = Locked(false)
        let server = try lab.origin { _ in
            LabResponse.text("x").with([
                "Cache-Control": isSecret.withLock { $0 } ? "no-store" : "no-cache"
            ])
        }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        _ = try await httpdns.fetch(server.at())
        #expect(await httpdns.offlineCache?.contents()?.responses == 1)
        isSecret.withLock { $0 = true }
        #expect(try await httpdns.fetch(server.at()).cache?.remark == "no_store")
        #expect(await httpdns.offlineCache?.contents()?.responses == 0)
    }
}
