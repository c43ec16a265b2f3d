import HTTPDNS
import HTTPDNSPinLab
import TestSupport
import Testing

/// The cache before a server that nobody here wrote: tags, dates, 304, `Vary` and parts as nginx
/// does them.
@Suite(
    .timeLimit(.minutes(3)),
    .enabled(if: NginxOrigin.isInstalled, "there is no nginx; \"make setup\" installs it"))
struct CachingNginxTests {
    private static let more = """
        map $http_accept_language $language { default en; ~^de de; ~^fr fr; }
        """
    private static let locations = """
        location /guessed/ { alias @dir@/files/; }
        location /fresh/ { alias @dir@/files/; expires 1h; }
        location /stale/ { alias @dir@/files/; expires 0; }
        location /coded/ {
            alias @dir@/files/; expires 0;
            gzip on; gzip_types text/plain; gzip_min_length 1; gzip_vary on;
        }
        location = /greeting {
            root @dir@/files; try_files /$language.txt =404;
            add_header Vary Accept-Language; add_header Cache-Control max-age=0;
        }
        """

    private struct Scene {
        let lab: CachingLab
        let nginx: NginxOrigin
        let httpdns: HTTPDNS

        func fetch(
            _ path: String, _ fields: KeyValuePairs<String, String> = [:], mode: CacheMode? = nil
        ) async throws -> Fetched {
            try await httpdns.fetch(
                "https://\(CachingLab.host):\(nginx.endpoint.port)\(path)", .get, fields,
                mode: mode)
        }

        /// The status of each request that reached nginx.
        func statuses(_ count: Int) async throws -> [String] {
            try await nginx.log(count).map { String($0.split(separator: " ").last ?? "") }
        }
    }

    private func withScene(_ body: (Scene) async throws -> Void) async throws {
        let lab = try CachingLab()
        let leaf = try lab.root.leaf([.dns(CachingLab.host)])
        let nginx = try await NginxOrigin(leaf, more: Self.more, locations: Self.locations)
        do {
            try await body(Scene(lab: lab, nginx: nginx, httpdns: lab.httpdns()))
        } catch {
            try await nginx.stop()
            throw error
        }
        try await nginx.stop()
    }

    @Test func `a file is fresh as long as it says, and by its date as long as it is guessed`()
        async throws
    {
        try await withScene { scene in
            try scene.nginx.store("a.txt", "hello")
            // A tenth of ten days: one day.
            try scene.nginx.age("a.txt", bySeconds: 864_000)
            for path in ["/fresh/a.txt", "/guessed/a.txt"] {
                #expect(try await scene.fetch(path).outcome == .missed)
                let kept = try await scene.fetch(path)
                #expect(kept.outcome == .hit)
                #expect(kept.text == "hello")
            }
            #expect(try await scene.statuses(2) == ["200", "200"])
            // What changed a moment ago is not fresh any more.
            try scene.nginx.store("b.txt", "new")
            try scene.nginx.age("b.txt", bySeconds: -1_000)
            _ = try await scene.fetch("/guessed/b.txt")
            #expect(try await scene.fetch("/guessed/b.txt").outcome == .validated)
            #expect(try await scene.statuses(4).suffix(2) == ["200", "304"])
        }
    }

    @Test func `a 304 renews what is kept, until the file changes`() async throws {
        try await withScene { scene in
            try scene.nginx.store("a.txt", "first")
            let first = try await scene.fetch("/stale/a.txt")
            #expect(first.head.fields.first("ETag") != nil)
            #expect(first.head.fields.first("Last-Modified") != nil)
            for _ in 0..<2 {
                let again = try await scene.fetch("/stale/a.txt")
                #expect(again.outcome == .validated)
                #expect(again.text == "first")
                #expect(again.head.status == 200)
            }
            try scene.nginx.store("a.txt", "the second")
            let changed = try await scene.fetch("/stale/a.txt")
            #expect(changed.text == "the second")
            #expect(changed.outcome == .missed)
            #expect(try await scene.fetch("/stale/a.txt").text == "the second")
            #expect(try await scene.statuses(5) == ["200", "304", "304", "200", "304"])
        }
    }

    @Test func `what is compressed on the way has a weak tag, and is kept as it was read`()
        async throws
    {
        try await withScene { scene in
            let text = String(repeating: "again and again ", count: 4_000)
            try scene.nginx.store("a.txt", text)
            let first = try await scene.fetch("/coded/a.txt")
            #expect(first.text == text)
            #expect(first.head.fields.first("ETag")?.hasPrefix("W/") == true)
            #expect(first.head.fields.first("Vary") == "Accept-Encoding")
            let again = try await scene.fetch("/coded/a.txt")
            #expect(again.outcome == .validated)
            #expect(again.text == text)
            // Who takes no coding gets another variant, and never what was decoded for somebody else.
            let plain = try await scene.fetch("/coded/a.txt", ["Accept-Encoding": "identity"])
            #expect(plain.outcome == .missed)
            #expect(plain.text == text)
            let raw = try await scene.fetch("/coded/a.txt", ["Accept-Encoding": "gzip"])
            #expect(raw.outcome == .missed)
            #expect(raw.body.prefix(2) == [0x1F, 0x8B])
            #expect(
                try await scene.fetch("/coded/a.txt", ["Accept-Encoding": "gzip"]).body
                    == raw.body)
        }
    }

    @Test func `a part comes from nginx and is not kept; offline the whole answers`() async throws {
        try await withScene { scene in
            try scene.nginx.store("a.txt", "0123456789")
            let range: KeyValuePairs<String, String> = ["Range": "bytes=2-4"]
            for _ in 0..<2 {
                let part = try await scene.fetch("/fresh/a.txt", range)
                #expect(part.head.status == 206)
                #expect(part.text == "234")
                #expect(part.cache?.remark == "partial")
            }
            #expect(try await scene.fetch("/fresh/a.txt").outcome == .missed)
            #expect(try await scene.fetch("/fresh/a.txt", range).text == "234")
            let whole = try await scene.fetch("/fresh/a.txt", range, mode: .onlyIfCached)
            #expect(whole.head.status == 200)
            #expect(whole.text == "0123456789")
            #expect(try await scene.fetch("/fresh/a.txt").outcome == .hit)
            #expect(try await scene.statuses(4) == ["206", "206", "200", "206"])
        }
    }

    @Test func `nginx picks the variant out of the tags that it is told`() async throws {
        try await withScene { scene in
            for (name, text) in [("en", "hello"), ("de", "guten Tag"), ("fr", "bonjour a tous")] {
                try scene.nginx.store(name + ".txt", text)
            }
            for language in ["en", "de", "fr"] {
                let fetched = try await scene.fetch("/greeting", ["Accept-Language": language])
                #expect(fetched.outcome == .missed)
            }
            let swiss = try await scene.fetch("/greeting", ["Accept-Language": "de-CH"])
            #expect(swiss.text == "guten Tag")
            #expect(swiss.cache?.remark == "another_variant")
            let dutch = try await scene.fetch("/greeting", ["Accept-Language": "nl"])
            #expect(dutch.text == "hello")
            #expect(dutch.outcome == .validated)
            try scene.nginx.store("de.txt", "gruezi mitenand")
            let changed = try await scene.fetch("/greeting", ["Accept-Language": "de-CH"])
            #expect(changed.text == "gruezi mitenand")
            #expect(changed.outcome == .missed)
            #expect(
                try await scene.statuses(6) == ["200", "200", "200", "304", "304", "200"])
        }
    }

    @Test func `what was put is not answered with what was before`() async throws {
        try await withScene { scene in
            try scene.nginx.store("a.txt", "before")
            let url = "https://\(CachingLab.host):\(scene.nginx.endpoint.port)/files/a.txt"
            try scene.nginx.age("a.txt", bySeconds: 864_000)
            #expect(try await scene.httpdns.fetch(url).outcome == .missed)
            #expect(try await scene.httpdns.fetch(url).outcome == .hit)
            let put = try await scene.httpdns.fetch(
                url, .put, body: .bytes(Array("after that".utf8)))
            #expect((200...299).contains(put.head.status))
            #expect(try await scene.httpdns.fetch(url).text == "after that")
        }
    }
}
