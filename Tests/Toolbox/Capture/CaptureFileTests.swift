import Glibc
import HTTPDNS
import HTTPDNSPlatform
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct CaptureFileTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private var path: String { directory.path + "/traffic.sqlite" }

    private func capture(_ change: (inout CaptureConfiguration) -> Void = { _ in }) -> Capture {
        var configuration = CaptureConfiguration(path: path)
        change(&configuration)
        return Capture(configuration)
    }

    private func read(_ filter: CaptureFilter = CaptureFilter()) throws -> [CaptureRecord] {
        var records: [CaptureRecord] = []
        try CaptureFile(path).read(filter) { record in
            records.append(record)
            return true
        }
        return records
    }

    private func size() -> Int64 {
        ["", "-wal"].reduce(0) { sum, suffix in
            var facts = stat()
            return stat(path + suffix, &facts) == 0 ? sum + Int64(facts.st_size) : sum
        }
    }

    /// A record with everything in it.
    private var whole: CaptureRecord {
        var record = CaptureRecord.sample("/päth?q=\u{1F980}", body: Array("süß \u{1} \"x\"".utf8))
        record.initiator = .init("main", task: 7)
        record.rule = "fake"
        record.reason = "because"
        record.failure = .init(label: "cannot_connect", message: "no\nway")
        record.requestBody = .init([0xFF, 0xFE, 0])
        var hop = record.hops[0]
        hop.statusText = "OK"
        var found = CaptureRecord.Resolution(
            resolver: "doh", transport: "https", addresses: ["192.0.2.1", "2001:db8::1"],
            ttlSeconds: 60)
        found.server = "203.0.113.1:443"
        found.aliases = ["cdn.example."]
        found.isCached = true
        found.attempts = [.init(at: "one", label: "timed_out", message: "no reply")]
        hop.resolution = found
        hop.resolveMilliseconds = 1.5
        hop.remote = "192.0.2.1:443"
        hop.proxy = "http://127.0.0.1:3128"
        hop.isReusedConnection = true
        hop.isResumedSession = true
        hop.tlsVersion = "TLSv1.3"
        hop.peer = .init(
            host: "shop.example.test", matchedName: "*.example.test", subject: "CN=x",
            issuer: "CN=y", notAfter: CaptureTime(microsecondsSince1970: 1_800_000_000_000_000),
            pin: "sha256/AAAA", pinning: "matched")
        hop.timings.connected = 0.125
        hop.timings.secured = 3
        hop.timings.firstByte = 4.25
        hop.timings.total = 1_000
        hop.attempts = [.init(at: nil, label: "stale_connection", message: "gone")]
        hop.wasRefreshed = true
        hop.notFollowed = "its Location is not gone to"
        hop.systemFallback = "timed_out"
        hop.rules = ["fake"]
        hop.cache = "missed"
        record.hops = [hop, record.hops[0]]
        return record
    }

    @Test func `a record comes back as it went in`() async throws {
        let capture = capture()
        let given = whole
        capture.add(given)
        await capture.flush()
        var expected = given
        expected.id = 1
        #expect(try read() == [expected])
        #expect(try CaptureFile(path).record(1) == expected)
        #expect(try CaptureFile(path).record(2) == nil)
    }

    @Test func `a long body is kept whole in pieces, beside its beginning`() async throws {
        let capture = capture()
        let body = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let watch = try #require(capture.begin(.sample("/long")))
        watch.change { $0.hops[0].responseFields = [.init("Content-Type", "image/png")] }
        for start in stride(from: 0, to: body.count, by: 9_999) {
            body[start..<min(start + 9_999, body.count)].withUnsafeBytes { watch.received($0) }
        }
        watch.ended()
        await capture.flush()
        let file = try CaptureFile(path)
        let record = try #require(try file.record(1))
        #expect(record.responseBody.totalOctets == 400_000)
        #expect(record.responseBody.keptOctets == 400_000)
        #expect(record.responseBody.octets == Array(body.prefix(65_536)))
        #expect(try file.body(of: 1, .response) == body)
        #expect(try file.body(of: 1, .request) == [])
    }

    @Test func `a secret that crosses pieces and the limit is not in the file`() async throws {
        let secret = "Zq9vR7xKm2Lw8TnB4cYd"
        for (number, limit) in [Int64(1 << 20), 65_560, 65_540, 131_080].enumerated() {
            let path = directory.path + "/cut-\(number).sqlite"
            var configuration = CaptureConfiguration(path: path)
            configuration.limits.maximumBodyOctets = limit
            let capture = Capture(configuration)
            let watch = try #require(capture.begin(.sample("/long")))
            watch.change { $0.hops[0].responseFields = [.init("Content-Type", "application/json")] }
            let filler = String(repeating: "x", count: 65_515)
            let text =
                #"{"a":"\#(filler)","password":"\#(secret)","b":"\#(filler)","token":"\#(secret)"}"#
            Array(text.utf8).withUnsafeBytes { watch.received($0) }
            watch.ended()
            await capture.flush()
            let octets =
                try SmallFile.whole(path, most: 64 << 20)
                + ((try? SmallFile.whole(path + "-wal", most: 64 << 20)) ?? [])
            let haystack = String(decoding: octets, as: UTF8.self)
            #expect(!haystack.contains(secret.prefix(6)), "\(limit)")
            let body = try CaptureFile(path).body(of: 1, .response)
            #expect(body.count > 65_000)
        }
    }

    @Test func `filters find what fits and nothing else`() async throws {
        let capture = capture()
        let day = try #require(CaptureTime("2027-01-31T10:00:00Z"))
        for (host, path, status, hours) in [
            ("a.example.test", "/1", 200, 0.0), ("b.example.test", "/2", 404, 1),
            ("notexample.test", "/3", 500, 2), ("example.test", "/4", 200, 3),
        ] {
            capture.add(
                .sample(
                    path, status: status, host: host,
                    startedAt: day.adding(milliseconds: hours * 3_600_000)))
        }
        await capture.flush()
        func found(_ change: (inout CaptureFilter) -> Void) throws -> [String] {
            var filter = CaptureFilter()
            change(&filter)
            let inFile = try read(filter).map { CapturedPath.of($0.url) }
            // The same rules without a file.
            let all = try read()
            let fitting = all.filter(filter.fits).suffix(filter.last ?? all.count)
            #expect(fitting.map { CapturedPath.of($0.url) } == inFile)
            return inFile
        }
        #expect(try found { $0.host = "Example.test" } == ["/1", "/2", "/4"])
        #expect(try found { $0.host = "%" } == [])
        #expect(try found { $0.statuses = 400...599 } == ["/2", "/3"])
        #expect(try found { $0.isFailed = false } == ["/1", "/4"])
        #expect(try found { $0.method = "get" } == ["/1", "/2", "/3", "/4"])
        #expect(try found { $0.method = "POST" } == [])
        #expect(try found { $0.since = day.adding(milliseconds: 3_600_000) } == ["/2", "/3", "/4"])
        #expect(try found { $0.until = day.adding(milliseconds: 3_600_000) } == ["/1"])
        #expect(try found { $0.last = 1 } == ["/4"])
        #expect(
            try found {
                $0.host = "example.test"
                $0.last = 2
            } == ["/2", "/4"])
    }

    @Test func `the oldest go when there are too many`() async throws {
        let capture = capture { $0.limits.maximumRecords = 100 }
        for number in 0..<1_000 {
            capture.add(.sample("/\(number)"))
            if number % 50 == 49 { await capture.flush() }
        }
        await capture.flush()
        let numbers = try read().map(\.id)
        #expect((60...100).contains(numbers.count) && numbers.last == 1_000)
        #expect(try CaptureFile(path).contents().records == Int64(numbers.count))
    }

    @Test func `the file stays within its octets, pieces included`() async throws {
        let capture = capture { $0.limits.maximumOctets = 2 << 20 }
        let body = [UInt8](repeating: 0x2A, count: 300_000)
        for number in 0..<60 {
            var record = CaptureRecord.sample("/\(number)")
            record.hops[0].responseFields = [.init("Content-Type", "image/png")]
            record.responseBody = .init(body)
            capture.add(record)
            await capture.flush()
        }
        let contents = try CaptureFile(path).contents()
        #expect(contents.octets <= 2 << 20 && contents.records >= 4)
        // The log holds what was written since the last checkpoint.
        #expect(size() < 4 * (2 << 20), "\(size())")
    }

    @Test func `what is too old goes`() async throws {
        let old = Capture.now.adding(milliseconds: -3 * 86_400_000)
        let first = capture()
        first.add(.sample("/old", startedAt: old))
        first.add(.sample("/new"))
        await first.flush()
        #expect(try read().count == 2)
        let second = capture { $0.limits.maximumAge = .seconds(86_400) }
        second.add(.sample("/newer"))
        await second.flush()
        #expect(try read().map { CapturedPath.of($0.url) } == ["/new", "/newer"])
    }

    @Test
    func `a clock that was ahead keeps nothing for longer, and one that goes back loses nothing`()
        async throws
    {
        let day: Double = 86_400_000
        let first = capture()
        // Of a time that comes in a year, by a clock that was wrong.
        first.add(.sample("/ahead", startedAt: Capture.now.adding(milliseconds: 365 * day)))
        first.add(.sample("/old", startedAt: Capture.now.adding(milliseconds: -3 * day)))
        first.add(.sample("/back", startedAt: Capture.now.adding(milliseconds: 2 * day)))
        first.add(.sample("/new"))
        await first.close()
        let second = capture { $0.limits.maximumAge = .seconds(86_400) }
        second.add(.sample("/newer"))
        await second.flush()
        #expect(try read().map { CapturedPath.of($0.url) } == ["/back", "/new", "/newer"])
        #expect(try CaptureFile(path).contents().records == 3)
    }

    @Test func `clearing leaves nothing in the file`() async throws {
        let capture = capture()
        capture.add(.sample("/find-me", body: Array("find-me-too".utf8)))
        await capture.flush()
        capture.clear()
        await capture.flush()
        #expect(try read().isEmpty && CaptureFile(path).contents().octets == 0)
        let octets = try SmallFile.whole(path, most: 16 << 20)
        #expect(!String(decoding: octets, as: UTF8.self).contains("find-me"))
    }

    @Test func `the file is its owner's alone`() async throws {
        let capture = capture()
        capture.add(.sample())
        await capture.flush()
        for suffix in ["", "-wal", "-shm"] {
            var facts = stat()
            guard lstat(path + suffix, &facts) == 0 else { continue }
            #expect(facts.st_mode & 0o777 == 0o600, "\(suffix)")
        }
    }

    @Test func `several captures may write one file`() async throws {
        let captures = (0..<4).map { _ in capture() }
        for capture in captures { for _ in 0..<50 { capture.add(.sample()) } }
        for capture in captures { await capture.flush() }
        let numbers = try read().map(\.id)
        #expect(numbers.count == 200 && Set(numbers).count == 200)
        #expect(try CaptureFile(path).contents().records == 200)
    }

    @Test func `a process that is killed in the middle of writing leaves a sound file`()
        async throws
    {
        var rounds = 0
        for attempt in 0..<12 {
            let end = try await KilledChild.run("capture", path, after: rounds, attempt: attempt)
            #expect(end.wasKilled)
            rounds = end.round
            guard rounds > 0 else { continue }
            let found = try read()
            let flushed = found.filter { $0.rule == "\(rounds)" }
            // The next one begins again with a round of which nothing was said.
            #expect(flushed.count >= 50, "round \(rounds) was flushed")
            let file = try CaptureFile(path)
            #expect(try file.contents().records == Int64(found.count))
            let last = try #require(flushed.last)
            #expect(try file.body(of: last.id, .response).count == 100_000)
        }
        #expect(rounds > 3)
    }
}
