import HTTPDNS
import HTTPDNSPinLab
import HTTPDNSPlatform
import Testing

/// Several variants of one URL, and which of them a 304 is about. RFC 9111 §4.3.1, §4.3.3, §4.3.4.
@Suite(.timeLimit(.minutes(2))) struct CachingVariantTests {
    /// Speaks German and English, by the first two letters of what is asked for; knows its tags.
    private static func bilingual(
        confirms: @escaping @Sendable (_ tag: String) -> [LabField] = {
            [LabField("ETag", $0), LabField("Cache-Control", "max-age=600")]
        }
    ) -> @Sendable (LabRequest) -> LabResponse {
        { request in
            let language = request.value(of: "Accept-Language")?.prefix(2) == "de" ? "de" : "en"
            let tag = "\"\(language)\""
            let known = request.value(of: "If-None-Match")?.split(separator: ",") ?? []
            guard !known.contains(where: { $0.drop { $0 == " " } == tag }) else {
                return LabResponse(
                    status: 304,
                    fields: confirms(tag) + [LabField("Vary", "Accept-Language")])
            }
            return LabResponse.text("hello in \(language)").with([
                "ETag": tag, "Vary": "Accept-Language", "Cache-Control": "max-age=50", "Age": "90",
            ])
        }
    }

    private func fetch(
        _ httpdns: HTTPDNS, _ server: LabServer, _ language: String,
        _ more: KeyValuePairs<String, String> = [:]
    ) async throws -> Fetched {
        let pairs = more.map { ($0.key, $0.value) }
        return try await httpdns.fetch(server.at()) { request in
            try? request.head.fields.set("Accept-Language", language)
            for (name, value) in pairs { try? request.head.fields.set(name, value) }
        }
    }

    @Test func `§4.3.1 a request that no variant answers asks about all of them`() async throws {
        let lab = try CachingLab()
        let server = try lab.origin(Self.bilingual())
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        #expect(try await fetch(httpdns, server, "en").outcome == .missed)
        let german = try await fetch(httpdns, server, "de")
        #expect(german.text == "hello in de")
        #expect(server.record.requests.last?.value(of: "If-None-Match") == "\"en\"")
        let swiss = try await fetch(httpdns, server, "de-CH")
        #expect(swiss.text == "hello in de")
        #expect(swiss.head.status == 200)
        #expect(swiss.outcome == .validated)
        #expect(swiss.cache?.remark == "another_variant")
        #expect(swiss.report.hops.last?.peer != nil)
        let asked = server.record.requests.last?.value(of: "If-None-Match")
        #expect(asked == "\"en\", \"de\"")
        #expect(server.record.requests.last?.value(of: "If-Modified-Since") == nil)
        #expect(server.count == 3)
    }

    @Test func `§4.3.4 a 304 freshens the variant that it names, and no other`() async throws {
        let lab = try CachingLab()
        let server = try lab.origin(Self.bilingual())
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        for language in ["en", "de"] { _ = try await fetch(httpdns, server, language) }
        _ = try await fetch(httpdns, server, "de-AT")
        // German is fresh for 600 seconds now; English is still stale.
        #expect(try await fetch(httpdns, server, "de").outcome == .hit)
        let english = try await fetch(httpdns, server, "en")
        #expect(english.outcome == .validated)
        #expect(english.cache?.remark == nil)
        #expect(try await fetch(httpdns, server, "en").text == "hello in en")
        #expect(server.count == 4)
    }

    @Test func `§4.3.4 all variants with the tag of a 304 are freshened`() async throws {
        let lab = try CachingLab()
        let server = try lab.origin { request in
            let fields: KeyValuePairs<String, String> = [
                "ETag": "\"one\"", "Vary": "Accept-Language",
            ]
            if request.value(of: "X-Whole") == nil,
                request.value(of: "If-None-Match")?.contains("\"one\"") == true
            {
                return LabResponse(status: 304).with(fields).with(["Cache-Control": "max-age=600"])
            }
            return LabResponse.text("one").with(fields).with([
                "Cache-Control": "max-age=50", "Age": "90",
            ])
        }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        for language in ["en", "de", "fr"] {
            _ = try await fetch(httpdns, server, language, ["X-Whole": "1"])
        }
        #expect(try await fetch(httpdns, server, "de").outcome == .validated)
        for language in ["en", "de", "fr"] {
            #expect(try await fetch(httpdns, server, language).outcome == .hit)
        }
        #expect(server.count == 4)
    }

    @Test(arguments: [
        [], [LabField("ETag", "\"unknown\"")], [LabField("ETag", "W/\"de\"")],
        [LabField("ETag", "bare")],
    ])
    func `§4.3.3 a 304 that names none of several is asked again, without conditions`(
        _ fields: [LabField]
    ) async throws {
        let lab = try CachingLab()
        let server = try lab.origin(Self.bilingual { _ in fields })
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        for language in ["en", "de"] { _ = try await fetch(httpdns, server, language) }
        let swiss = try await fetch(httpdns, server, "de-CH")
        #expect(swiss.text == "hello in de")
        #expect(swiss.outcome == .missed)
        #expect(swiss.cache?.remark == "validator_mismatch")
        #expect(server.record.requests.last?.value(of: "If-None-Match") == nil)
        #expect(server.count == 4)
    }

    @Test func `another user's variant is never named, and neither is a weak tag`() async throws {
        let lab = try CachingLab()
        let server = try lab.origin { request in
            let weak = request.value(of: "Accept-Language") == "fr"
            return LabResponse.text("x").with([
                "ETag": weak ? "W/\"fr\"" : "\"x\"", "Vary": "Accept-Language, Cookie",
                "Cache-Control": "max-age=600",
            ])
        }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        _ = try await fetch(httpdns, server, "en", ["Authorization": "Bearer a"])
        _ = try await fetch(httpdns, server, "en", ["Cookie": "sid=a"])
        _ = try await fetch(httpdns, server, "fr")
        _ = try await fetch(httpdns, server, "en", ["Accept-Encoding": "identity"])
        for more in [["Authorization": "Bearer b"], ["Cookie": "sid=b"], [:]] {
            let fetched = try await httpdns.fetch(server.at()) { request in
                try? request.head.fields.set("Accept-Language", "de")
                for (name, value) in more { try? request.head.fields.set(name, value) }
            }
            #expect(fetched.outcome == .missed)
            #expect(server.record.requests.last?.value(of: "If-None-Match") == nil)
        }
        // The same user in another language.
        _ = try await fetch(httpdns, server, "it", ["Cookie": "sid=a"])
        #expect(server.record.requests.last?.value(of: "If-None-Match") == "\"x\"")
    }

    @Test func `a variant that went meanwhile is asked for anew`() async throws {
        let lab = try CachingLab()
        let httpdns = Locked<HTTPDNS?>(nil)
        let answer = Self.bilingual()
        let server = try lab.origin { request in
            let response = answer(request)
            // The answer is on its way, and what it is about goes.
            if response.status == 304 {
                httpdns.withLock { $0 }?.client.parts.cache?.store.removeAll()
            }
            return response
        }
        defer { server.stop() }
        let own = try lab.httpdns()
        httpdns.withLock { $0 = own }
        _ = try await fetch(own, server, "de")
        let swiss = try await fetch(own, server, "de-CH")
        #expect(swiss.text == "hello in de")
        #expect(swiss.outcome == .missed)
        #expect(server.count == 3)
    }

    @Test func `the conditions of one with a date alone are its own`() throws {
        let bench = CachingBench()
        let tag = try #require(EntityTag("\"b\""))
        let dated = try bench.kept(["Last-Modified: " + CachingBench.date(-500)])
        #expect(
            ReuseRules.conditions(dated, others: [tag])?.fields.map(\.name)
                == ["If-Modified-Since"])
        let tagged = try bench.kept(["ETag: \"a\"", "Last-Modified: " + CachingBench.date(-500)])
        let both = try #require(ReuseRules.conditions(tagged, others: [tag]))
        #expect(both.first("If-None-Match") == "\"a\", \"b\"")
        #expect(both.contains("If-Modified-Since"))
        #expect(
            ReuseRules.conditions(nil, others: [tag])?.first("If-None-Match") == "\"b\"")
        #expect(ReuseRules.conditions(nil, others: []) == nil)
    }

    @Test func `long tags, other policies and errors are not asked about`() throws {
        let bench = CachingBench()
        let asked = try CachingBench.request(["Accept-Language: de"])
        let vary = "Vary: Accept-Language"
        let english = try CachingBench.request(["Accept-Language: en"])
        var kept = [
            try bench.kept([vary, "ETag: \"good\""], to: english),
            try bench.kept(
                [vary, "ETag: \"\(String(repeating: "l", count: 300))\""], to: english),
            try bench.kept([vary, "ETag: \"policy\""], to: english, policy: [2]),
            try bench.kept([vary, "ETag: \"error\""], status: 404, to: english),
            try bench.kept([vary], to: english),
        ]
        for place in kept.indices { kept[place].number = Int64(place + 1) }
        let rules = ReuseRules(
            mode: .standard, policy: [1], now: bench.now, keepsPlainHTTP: false)
        #expect(rules.choose(kept, for: asked) == nil)
        #expect(
            rules.otherTags(kept, besides: nil, for: asked).map(\.text) == ["\"good\""])
    }
}
