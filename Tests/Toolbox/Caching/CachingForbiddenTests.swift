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
}
