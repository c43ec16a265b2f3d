import HTTPDNS
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport
import Testing

/// What may no longer be kept, or no longer answer.
@Suite struct CachingForbiddenTests {
    let lab: CachingLab

    init() throws { lab = try CachingLab() }

    @Test func `what came over plain http answers no more once the application forbids it`()
        async throws
    {
        let turn = Locked(0)
        let server = try lab.origin(security: .plain) { _ in
            let number = turn.withLock { turn in
                turn += 1
                return turn
            }
            return LabResponse.text("\(number)").with(["Cache-Control": "max-age=600"])
        }
        defer { server.stop() }
        for mode in [CacheMode.standard, .onlyIfCached] {
            let trusting = try lab.httpdns { $0.keepsPlainHTTP = true }
            let before = try await trusting.fetch(server.at(), mode: .refresh).text
            #expect(try await trusting.fetch(server.at()).outcome == .hit)
            await trusting.offlineCache?.flush()
            let careful = try lab.httpdns()
            let fetched = try await careful.fetch(server.at(), mode: mode)
            #expect(fetched.text != before)
            #expect(fetched.cache?.remark == "unproven")
            #expect((fetched.head.status == 504) == (mode == .onlyIfCached))
            await careful.offlineCache?.flush()
            // It is gone, not hidden.
            #expect(await careful.offlineCache?.contents()?.responses == 0)
        }
    }

    /// An origin whose second answer, a 304 or one to `HEAD`, has these fields.
    private func origin(second fields: KeyValuePairs<String, String>) throws -> LabServer {
        let pairs = fields.map { LabField($0.key, $0.value) }
        return try lab.origin { request in
            var response = LabResponse.text("kept")
            response.fields += [LabField("ETag", "\"a\"")]
            if request.value(of: "If-None-Match") != nil {
                response = LabResponse(status: 304)
            } else if request.method != "HEAD" {
                return response.with(["Cache-Control": "no-cache", "Vary": "Accept"])
            }
            response.fields += pairs
            return response
        }
    }

    @Test(arguments: [
        ["Cache-Control": "no-store"], ["Cache-Control": "max-age=60, no-store"], ["Vary": "*"],
        ["Vary": "Accept, Cookie"], ["Vary": "Accept", "Cache-Control": "no-store"],
    ])
    func `a 304 that forbids keeping is answered from what was kept, which goes`(
        _ fields: [String: String]
    ) async throws {
        let server = try lab.origin { request in
            var response = LabResponse.text("kept").with(["ETag": "\"a\""])
            guard request.value(of: "If-None-Match") != nil else {
                return response.with(["Cache-Control": "no-cache", "Vary": "Accept"])
            }
            response = LabResponse(status: 304)
            response.fields += fields.map { LabField($0.key, $0.value) }
            return response
        }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        _ = try await httpdns.fetch(server.at())
        let second = try await httpdns.fetch(server.at())
        #expect(second.outcome == .validated)
        #expect(second.text == "kept")
        await httpdns.offlineCache?.flush()
        #expect(await httpdns.offlineCache?.contents()?.responses == 0)
    }

    @Test func `the answer to HEAD that forbids keeping removes what is kept`() async throws {
        for field in ["no-store", "max-age=60, no-store"] {
            let server = try origin(second: ["Cache-Control": field])
            defer { server.stop() }
            let httpdns = try lab.httpdns()
            _ = try await httpdns.fetch(server.at())
            _ = try await httpdns.fetch(server.at(), .head)
            await httpdns.offlineCache?.flush()
            #expect(await httpdns.offlineCache?.contents()?.responses == 0)
        }
    }

    @Test func `a request with no-store leaves no trace, not in what is kept either`()
        async throws
    {
        let server = try origin(second: ["Cache-Control": "max-age=600"])
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        _ = try await httpdns.fetch(server.at())
        let asked: KeyValuePairs = ["Cache-Control": "no-store"]
        _ = try await httpdns.fetch(server.at(), .head, asked)
        #expect(try await httpdns.fetch(server.at(), .get, asked).outcome == .validated)
        // Neither has renewed it.
        #expect(try await httpdns.fetch(server.at()).outcome == .validated)
        #expect(try await httpdns.fetch(server.at()).outcome == .hit)
        #expect(server.count == 4)
    }

    @Test func `no-store in an answer to the caller's own condition counts too`() async throws {
        let server = try lab.origin { request in
            guard request.value(of: "If-None-Match") == nil else {
                return LabResponse(status: 304).with(["Cache-Control": "no-store"])
            }
            return LabResponse.text("kept").with(["Cache-Control": "max-age=600"])
        }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        _ = try await httpdns.fetch(server.at())
        let own = try await httpdns.fetch(server.at(), .get, ["If-None-Match": "\"mine\""])
        #expect(own.head.status == 304)
        await httpdns.offlineCache?.flush()
        #expect(await httpdns.offlineCache?.contents()?.responses == 0)
    }

    @Test func `a coded answer to a range is not given to who asks for the whole`() async throws {
        let server = try lab.origin { request in
            guard request.value(of: "Range") != nil else { return .text("plain") }
            return LabResponse.text("coded octets").with([
                "Content-Encoding": "gzip", "Cache-Control": "max-age=600",
            ])
        }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        let part = try await httpdns.fetch(server.at(), .get, ["Range": "bytes=0-"])
        #expect(part.head.status == 200)
        #expect(part.text == "coded octets")
        #expect(part.cache?.remark == "undecoded")
        #expect(try await httpdns.fetch(server.at()).text == "plain")
    }

    @Test func `a redirect that was handed over is not read on once it is cancelled`()
        async throws
    {
        let server = try lab.origin { _ in
            LabResponse(
                status: 301,
                fields: [LabField("Location", "/new"), LabField("Cache-Control", "max-age=600")],
                body: [UInt8](repeating: 0x61, count: 9_000)
            ).conducting(.stalls(afterBodyOctets: 1_000))
        }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        var request = HTTPRequest(.get, try HTTPURL(server.at("/old")))
        request.limits.idle = .seconds(3_600)
        let isGone = Locked(false)
        do {
            let watch = EndWatch(isGone)
            let running = httpdns.client.start(request, observer: watch)
            #expect(await eventually(withinMilliseconds: 60_000) { watch.bodyOctets > 0 })
            running.cancel()
            #expect(await eventually(withinMilliseconds: 60_000) { watch.ends.count == 1 })
        }
        // Whom the transfer tells lives as long as it runs.
        #expect(await eventually(withinMilliseconds: 60_000) { isGone.withLock { $0 } })
    }

    @Test func `a redirect that was followed is read on for the cache when it is left`()
        async throws
    {
        let server = try lab.origin { request in
            guard request.path == "/old" else {
                return LabResponse.text("new").with(["Cache-Control": "no-store"])
            }
            // Of no stated length: the exchange does not wait for its end.
            return LabResponse(
                status: 301,
                fields: [LabField("Location", "/new"), LabField("Cache-Control", "max-age=600")],
                body: [UInt8](repeating: 0x61, count: 9_000)
            ).chunked(octets: 1_000, delayMilliseconds: 5)
        }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        #expect(try await httpdns.fetch(server.at("/old")).text == "new")
        let isKept = await eventually(withinMilliseconds: 60_000) {
            await httpdns.offlineCache?.flush()
            return await httpdns.offlineCache?.contents()?.responses ?? 0 > 0
        }
        #expect(isKept)
        let handed = try await httpdns.fetch(server.at("/old"), mode: .onlyIfCached) {
            $0.followsRedirects = false
        }
        #expect(handed.head.status == 301)
        #expect(handed.body.count == 9_000)
    }
}
