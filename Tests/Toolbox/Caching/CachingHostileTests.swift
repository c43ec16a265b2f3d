import Glibc
import HTTPDNS
import HTTPDNSPlatform
import HTTPDNSStore
import TestSupport
import Testing

/// Origins and files that mean harm to the store.
@Suite struct CachingHostileTests {
    typealias Kept = CachingStoreTests.Kept

    let directory: TemporaryDirectory
    var place: String { directory.path + "/cache" }

    init() throws { directory = try TemporaryDirectory() }

    /// As if a 304 had come for it, with a quarter of a megabyte under a new name.
    private func grow(_ number: Int, by turn: Int, in kept: Kept) throws {
        let request = try CachingBench.request(url: "https://a.test/\(number)")
        let head = try CachingBench.head(
            ["X-\(turn): " + String(repeating: "x", count: 250_000)], status: 304)
        kept.store.revise(try #require(request.key)) {
            $0.suffix(1)
        } _: { response in
            Freshening.confirmed(
                response, by: head, delaySeconds: 0, at: response.receivedAt,
                policy: response.policy)
        }
    }

    @Test func `fields added without end cost an origin its response, and others nothing`()
        async throws
    {
        let kept = Kept(place)
        for number in [1, 2] { try kept.keep(number) }
        for turn in 0..<6 { try grow(1, by: turn, in: kept) }
        #expect(try await kept.read(1) == nil)
        #expect(try await kept.read(2) == ProvenBody.octets(2, round: 1))
        #expect(kept.events.withLock { $0 } == [])
        #expect(try kept.names(place).count == 1)
    }

    @Test func `heads that grow count for the limit`() async throws {
        let limits = ResponseLimits(maximumOctets: 900_000, largestBodyOctets: 1 << 20)
        let kept = Kept(place, limits: limits)
        for number in [1, 2, 3] { try kept.keep(number) }
        for number in [1, 2, 3] {
            for turn in 0..<2 { try grow(number, by: turn, in: kept) }
        }
        await kept.store.flush()
        let contents = try #require(await kept.store.contents())
        #expect(contents.octets <= 900_000)
        #expect(contents.responses > 0)
        #expect(try kept.names(place).count == contents.responses)
    }

    /// Alters the one row as its maker would have written it, checksum and all.
    private func forge(_ change: String) async throws {
        let script = """
            import sqlite3, sys
            c = sqlite3.connect(sys.argv[1])
            c.execute("UPDATE response SET " + sys.argv[2])
            row = c.execute("SELECT key, variant, head, body, octets, sum, boot FROM response")
            key, variant, head, body, octets, sum, boot = row.fetchone()
            numbers = octets.to_bytes(8, "big", signed=True) + sum.to_bytes(8, "big", signed=True)
            top = 1 << 64
            h = 0xCBF29CE484222325
            for part in (key, variant, head, body, numbers, boot):
                for octet in part: h = ((h ^ octet) * 0x100000001B3) % top
                h = ((h ^ len(part)) * 0x100000001B3) % top
            c.execute("UPDATE response SET checksum = ?", (h - top if h >= top // 2 else h,))
            c.commit()
            """
        let forged = try await run("python3", ["-c", script, place + "/responses.db", change])
        #expect(forged.status == 0, "\(forged)")
    }

    @Test func `a row that is forged with its own values is still read`() async throws {
        let kept = Kept(place)
        try kept.keep(1)
        await kept.store.flush()
        try await forge("sum = sum")
        #expect(try await kept.read(1) == ProvenBody.octets(1, round: 1))
    }

    @Test(arguments: [
        "body = CAST('../../precious' AS BLOB)", "body = CAST('..' AS BLOB)",
        "body = CAST('abc' AS BLOB)", "body = CAST(substr(body, 1, 31) || 'G' AS BLOB)",
        "octets = 9223372036854775807", "octets = -1",
    ])
    func `a file from elsewhere neither removes what is not ours nor traps`(
        _ change: String
    ) async throws {
        let precious = try directory.write("precious", "not ours")
        do {
            let before = Kept(place)
            try before.keep(1)
            await before.store.flush()
        }
        try await forge(change)
        // Opening tidies, a small limit drops the row, and so does removing its URL.
        let after = Kept(
            place, limits: ResponseLimits(maximumOctets: 10_000, largestBodyOctets: 10_000))
        let key = try #require(try CachingBench.request(url: "https://a.test/1").key)
        after.store.remove([key])
        await after.store.flush()
        #expect(try contents(of: precious) == "not ours")
        #expect(after.events.withLock { $0.map(\.label) } == ["set_aside"])
        #expect(try await after.read(1) == nil)
    }

    @Test(arguments: [
        "../precious", "a/b", "..", ".", "", "ABC", String(repeating: "a", count: 33),
    ])
    func `a directory of bodies removes nothing under a name that is none of its own`(
        _ name: String
    ) throws {
        let precious = try directory.write("precious", "not ours")
        let bodies = try PrivateDirectory(directory.path + "/bodies")
        bodies.remove(name)
        bodies.remove(name, unless: { false })
        #expect(try contents(of: precious) == "not ours")
        #expect(bodies.names == [])
    }
}
