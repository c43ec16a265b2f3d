import Glibc
import HTTPDNS
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport
import Testing

/// Bodies: whole or not at all.
@Suite struct CachingBodyTests {
    private static func fresh(_ response: LabResponse) -> LabResponse {
        response.with(["Cache-Control": "max-age=600"])
    }

    private static func body(_ octets: Int) -> [UInt8] {
        // A length that no power of two divides: a piece in the wrong place shows.
        let block = (0..<1_009).map { UInt8(truncatingIfNeeded: $0) }
        var body: [UInt8] = []
        while body.count < octets { body += block }
        return Array(body.prefix(octets))
    }

    private func files(_ lab: CachingLab) -> [String] {
        (try? PrivateDirectory(lab.place + "/bodies"))?.names ?? []
    }

    @Test(arguments: [
        LabResponse.Conduct.closes(afterBodyOctets: 40_000), .resets(afterBodyOctets: 40_000),
    ])
    func `a body that is cut off is not kept`(_ conduct: LabResponse.Conduct) async throws {
        let lab = try CachingLab()
        let server = try lab.origin { _ in
            Self.fresh(LabResponse(body: Self.body(100_000))).conducting(conduct)
        }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        await #expect(throws: ExchangeFailure.self) { try await httpdns.fetch(server.at()) }
        await httpdns.offlineCache?.flush()
        #expect(await httpdns.offlineCache?.contents()?.responses == 0)
        #expect(files(lab) == [])
    }

    @Test func `a reader that leaves in the middle leaves nothing half`() async throws {
        let lab = try CachingLab()
        let server = try lab.origin { _ in
            Self.fresh(LabResponse(body: Self.body(2_000_000))).conducting(
                .stalls(afterBodyOctets: 1_000_000))
        }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        do {
            let response = try await httpdns.client.send(
                HTTPRequest(.get, try HTTPURL(server.at())))
            var body = response.body.makeAsyncIterator()
            #expect(try await body.nextChunk() != nil)
        }
        // The exchange ends on the transport's thread; the store is told before anybody else is.
        let isClean = await eventually(withinMilliseconds: 60_000) {
            await httpdns.offlineCache?.flush()
            return files(lab).isEmpty
        }
        #expect(isClean)
        #expect(await httpdns.offlineCache?.contents()?.responses == 0)
        #expect(try await httpdns.fetch(server.at(), mode: .onlyIfCached).head.status == 504)
    }

    @Test func `a kept body can be left in the middle, and read again`() async throws {
        let lab = try CachingLab()
        let content = Self.body(3_000_000)
        let server = try lab.origin { _ in Self.fresh(LabResponse(body: content)) }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        #expect(try await httpdns.fetch(server.at()).body == content)
        for _ in 0..<20 {
            let response = try await httpdns.client.send(
                HTTPRequest(.get, try HTTPURL(server.at())))
            var body = response.body.makeAsyncIterator()
            #expect(try await body.nextChunk()?.first == 0)
        }
        let again = try await httpdns.fetch(server.at())
        #expect(again.outcome == .hit)
        #expect(again.body == content)
        #expect(server.count == 1)
    }

    @Test func `what was removed while it is read is read to its end`() async throws {
        let lab = try CachingLab()
        let content = Self.body(3_000_000)
        let server = try lab.origin { _ in Self.fresh(LabResponse(body: content)) }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        _ = try await httpdns.fetch(server.at())
        let response = try await httpdns.client.send(HTTPRequest(.get, try HTTPURL(server.at())))
        var reader = response.body.makeAsyncIterator()
        var read = try await reader.nextChunk() ?? []
        await httpdns.offlineCache?.removeAll()
        #expect(files(lab) == [])
        while let chunk = try await reader.nextChunk() { read += chunk }
        #expect(read == content)
        #expect(try await httpdns.fetch(server.at(), mode: .onlyIfCached).head.status == 504)
    }

    @Test func `coded bodies are kept as they were delivered, by who decodes`() async throws {
        let lab = try CachingLab()
        let (text, packed): ([UInt8], [UInt8]) = (
            Array("hello".utf8), [0x0B, 0x02, 0x80, 0x68, 0x65, 0x6C, 0x6C, 0x6F, 0x03]
        )
        let server = try lab.origin { _ in
            Self.fresh(
                LabResponse(
                    fields: [LabField("Content-Encoding", "br")], body: packed))
        }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        for outcome in [CacheProvenance.Outcome.missed, .hit] {
            let decoded = try await httpdns.fetch(server.at())
            #expect(decoded.body == text)
            #expect(decoded.outcome == outcome)
        }
        for outcome in [CacheProvenance.Outcome.missed, .hit] {
            let coded = try await httpdns.fetch(server.at(), .get, ["Accept-Encoding": "br"])
            #expect(coded.body == packed)
            #expect(coded.outcome == outcome)
        }
    }

    @Test func `an empty body is kept, without a file`() async throws {
        let lab = try CachingLab()
        let server = try lab.origin { _ in Self.fresh(LabResponse(status: 204)) }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        _ = try await httpdns.fetch(server.at())
        let hit = try await httpdns.fetch(server.at())
        #expect(hit.outcome == .hit)
        #expect(hit.head.status == 204)
        #expect(files(lab) == [])
    }

    @Test func `files are closed to others, and their names say nothing`() async throws {
        let lab = try CachingLab()
        let server = try lab.origin { _ in Self.fresh(LabResponse(body: Self.body(10))) }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        _ = try await httpdns.fetch(server.at("/secret?name=value"))
        await httpdns.offlineCache?.flush()
        let names = files(lab)
        #expect(names.count == 1)
        let hexadecimal = try #require(names.first).allSatisfy { $0.isHexDigit }
        #expect(hexadecimal)
        for (path, rights) in [
            ("", 0o700), ("/bodies", 0o700), ("/bodies/\(names[0])", 0o600),
            ("/responses.db", 0o600), ("/responses.db-wal", 0o600),
        ] as [(String, mode_t)] {
            var facts = stat()
            #expect(lstat(lab.place + path, &facts) == 0)
            #expect(facts.st_mode & 0o777 == rights, "\(path)")
        }
    }

    @Test func `equal requests at once each get the whole, and one is kept`() async throws {
        let lab = try CachingLab()
        let content = Self.body(300_000)
        let server = try lab.origin { _ in Self.fresh(LabResponse(body: content)) }
        defer { server.stop() }
        let httpdns = try lab.httpdns()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<60 {
                group.addTask {
                    let mode = number % 3 == 0 ? CacheMode.refresh : .standard
                    return try await httpdns.fetch(server.at(), mode: mode).body == content
                }
            }
            for try await isWhole in group { #expect(isWhole) }
        }
        #expect(await httpdns.offlineCache?.contents()?.responses == 1)
        #expect(files(lab).count == 1)
        #expect(try await httpdns.fetch(server.at(), mode: .onlyIfCached).body == content)
    }

    @Test func `the least used goes first, and the bound holds`() async throws {
        let lab = try CachingLab()
        let server = try lab.origin { _ in Self.fresh(LabResponse(body: Self.body(50_000))) }
        defer { server.stop() }
        let httpdns = try lab.httpdns {
            $0.maximumOctets = 200_000
            $0.largestBodyOctets = 100_000
        }
        for path in ["/1", "/2", "/3"] { _ = try await httpdns.fetch(server.at(path)) }
        _ = try await httpdns.fetch(server.at("/1"))
        _ = try await httpdns.fetch(server.at("/4"))
        let octets = try #require(await httpdns.offlineCache?.contents()?.octets)
        #expect(octets <= 200_000)
        #expect(files(lab).count == 3)
        for (path, status) in [("/1", 200), ("/2", 504), ("/3", 200), ("/4", 200)] {
            let found = try await httpdns.fetch(server.at(path), mode: .onlyIfCached)
            #expect(found.head.status == status, "\(path)")
        }
    }

    @Test func `a body above the bound is delivered and not kept, announced or not`()
        async throws
    {
        let lab = try CachingLab()
        let content = Self.body(150_000)
        let server = try lab.origin { request in
            let response = Self.fresh(LabResponse(body: content))
            return request.path == "/chunked" ? response.chunked(octets: 10_000) : response
        }
        defer { server.stop() }
        let httpdns = try lab.httpdns { $0.largestBodyOctets = 100_000 }
        #expect(try await httpdns.fetch(server.at()).body == content)
        #expect(try await httpdns.fetch(server.at("/chunked")).body == content)
        await httpdns.offlineCache?.flush()
        #expect(await httpdns.offlineCache?.contents()?.responses == 0)
        #expect(files(lab) == [])
    }
}
