import HTTPDNSExchange
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSTransport
import HTTPDNSVendor
import HTTPDNSWire
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct FailoverTests {
    private let codec: AliyunCodec
    private let question: Question

    init() throws {
        codec = try AliyunCodec(account: "1", secret: nil)
        question = try VendorLab.question("a.example.test")
    }

    @Test func `a first server that is closed costs no more than two seconds`() async throws {
        let closed = try WrittenService.aliyun("192.0.2.9")
        closed.server.refuseOthers()
        let good = try WrittenService.aliyun()
        let backend = try VendorLab.backend(codec, [closed.server, good.server])
        let start = SystemMonotonicClock().now()
        #expect(await VendorLab.outcome(backend, question) == "192.0.2.1")
        #expect(SystemMonotonicClock().now().milliseconds(since: start) < 2_000)
        #expect(await VendorLab.outcome(backend, question) == "192.0.2.1")
    }

    @Test(arguments: [
        "500 Oops", "502 Bad Gateway", WrittenService.json + "\r\nX: garbage",
    ])
    func `a server with a fault gives way to the next and stays behind`(
        start: String
    ) async throws {
        let faulty = try WrittenService { _ in (start, "<html>") }
        let good = try WrittenService.aliyun()
        let backend = try VendorLab.backend(codec, [faulty.server, good.server])
        for _ in 0..<3 { #expect(await VendorLab.outcome(backend, question) == "192.0.2.1") }
        #expect(faulty.targets.count == 1)
        #expect(good.targets.count == 3)
    }

    @Test(arguments: [
        #"{"host":"other.example.test","ips":["192.0.2.9"]}"#, #"{"host":"odd.example.test"}"#,
        #"{"unrelated":true}"#,
    ])
    func `an answer of no use to one name is asked for elsewhere, and no server is blamed`(
        body: String
    ) async throws {
        let first = try WrittenService { target in
            target.contains("host=odd.")
                ? (WrittenService.json, body.replacing("odd.", with: "x."))
                : (WrittenService.json, WrittenService.aliyunBody(target, "192.0.2.1"))
        }
        let second = try WrittenService.aliyun("192.0.2.2")
        let watched = WatchedServers([first.server.endpoint, second.server.endpoint])
        let backend = try VendorLab.backend(codec, [first.server]) { $0.servers = watched }
        let odd = try VendorLab.question("odd.example.test")
        for _ in 0..<3 {
            #expect(await VendorLab.outcome(backend, odd) == "192.0.2.2")
            // What answers last is asked first from then on; here the first one is to be.
            watched.answered(first.server.endpoint)
        }
        #expect(await VendorLab.outcome(backend, question) == "192.0.2.1")
        #expect(watched.blamed.isEmpty)
        #expect((first.targets.count, second.targets.count) == (4, 3))
    }

    @Test func `an answer of no use everywhere costs one request a server`() async throws {
        let services = try (0..<2).map { _ in
            try WrittenService { _ in (WrittenService.json, "{}") }
        }
        let watched = WatchedServers(services.map(\.server.endpoint))
        let backend = try VendorLab.backend(codec, services.map(\.server)) { $0.servers = watched }
        #expect(await VendorLab.outcome(backend, question) == "malformed")
        #expect(services.map(\.targets.count) == [1, 1])
        #expect(watched.blamed.isEmpty)
    }

    @Test(arguments: ["<html>", "192.0.2.1", ""])
    func `a body that is none of the protocol counts against its server`(
        body: String
    ) async throws {
        let service = try WrittenService { _ in ("200 OK\r\nContent-Type: text/html", body) }
        let watched = WatchedServers([service.server.endpoint])
        let backend = try VendorLab.backend(codec, [service.server]) { $0.servers = watched }
        #expect(await VendorLab.outcome(backend, question) == "malformed")
        #expect(watched.blamed == [service.server.endpoint])
    }

    @Test func `a question over the quota does not use up the probe of a service at rest`()
        async throws
    {
        let service = try WrittenService.aliyun()
        let clock = MovedClock(isStopped: true)
        let quota = QuotaGuard(requestsPerSecond: 1, clock: clock)
        let watched = WatchedServers([service.server.endpoint])
        let backend = try VendorLab.backend(codec, [service.server]) {
            $0.servers = watched
            $0.quota = quota
        }
        #expect(await VendorLab.outcome(backend, question) == "192.0.2.1")
        #expect(await VendorLab.outcome(backend, question) == "over_quota")
        #expect(watched.plans == 1)
        // What rests costs no quota.
        clock.advance(seconds: 1)
        watched.rest(true)
        #expect(await VendorLab.outcome(backend, question) == "resting")
        watched.rest(false)
        #expect(await VendorLab.outcome(backend, question) == "192.0.2.1")
    }

    @Test func `a server that never answers is left after a second`() async throws {
        let silent = try WrittenService { _ in nil }
        let good = try WrittenService.aliyun()
        let backend = try VendorLab.backend(codec, [silent.server, good.server])
        #expect(await VendorLab.outcome(backend, question) == "192.0.2.1")
        #expect(silent.targets.count == 1)
    }

    @Test func `when all fail the last failure is told, after three requests at most`()
        async throws
    {
        let services = try (0..<5).map { _ in try WrittenService { _ in ("503 No", "") } }
        let backend = try VendorLab.backend(codec, services.map(\.server))
        #expect(await VendorLab.outcome(backend, question) == "status 503")
        #expect(services.map(\.targets.count).reduce(0, +) == 3)
    }

    @Test(arguments: [
        ("InvalidSignature", "rejected InvalidSignature"),
        ("TooManyHosts", "rejected TooManyHosts"),
    ])
    func `a refusal of the request is not asked again elsewhere`(
        code: String, outcome: String
    ) async throws {
        let first = try WrittenService { _ in
            ("403 No\r\nContent-Type: application/json", #"{"code":"\#(code)"}"#)
        }
        let second = try WrittenService.aliyun()
        let backend = try VendorLab.backend(codec, [first.server, second.server])
        #expect(await VendorLab.outcome(backend, question) == outcome)
        #expect(second.targets.isEmpty)
    }

    @Test func `a refused account is asked for once in an hour`() async throws {
        let service = try WrittenService { _ in ("403 No", #"{"code":"InvalidAccount"}"#) }
        let clock = MovedClock()
        let backend = try VendorLab.backend(codec, [service.server]) {
            $0.clock = clock
            $0.alarms = clock
        }
        for _ in 0..<3 {
            #expect(await VendorLab.outcome(backend, question) == "rejected InvalidAccount")
        }
        #expect(service.targets.count == 1)
        clock.advance(seconds: 3_601)
        _ = await VendorLab.outcome(backend, question, milliseconds: 7_200_000)
        #expect(service.targets.count == 2)
    }

    @Test func `a redirect is no answer and is not followed`() async throws {
        let target = try WrittenService.aliyun()
        let place = "http://\(target.server.endpoint)/"
        let service = try WrittenService { _ in ("302 Found\r\nLocation: \(place)", "") }
        let backend = try VendorLab.backend(codec, [service.server])
        #expect(await VendorLab.outcome(backend, question) == "status 302")
        #expect(target.targets.isEmpty)
    }

    @Test(arguments: [("429 Slow down", "Retry-After: 20"), ("503 Later", "Retry-After: 20")])
    func `a service that says when to come back is left alone until then`(
        status: String, field: String
    ) async throws {
        let service = try WrittenService { _ in (status + "\r\n" + field, "") }
        let clock = MovedClock()
        let backend = try VendorLab.backend(codec, [service.server]) {
            $0.clock = clock
            $0.alarms = clock
        }
        #expect(await VendorLab.outcome(backend, question).hasPrefix("status"))
        #expect(await VendorLab.outcome(backend, question) == "resting")
        #expect(service.targets.count == 1)
        clock.advance(seconds: 21)
        #expect(
            await VendorLab.outcome(backend, question, milliseconds: 60_000).hasPrefix("status"))
    }

    @Test func `two back-ends of one account share its quota`() async throws {
        let service = try WrittenService.aliyun()
        let clock = MovedClock(isStopped: true)
        let quota = QuotaGuard(requestsPerSecond: 2, clock: clock)
        let backends = try (0..<2).map { _ in
            try VendorLab.backend(codec, [service.server]) { $0.quota = quota }
        }
        var outcomes: [String] = []
        for number in 0..<4 {
            outcomes.append(await VendorLab.outcome(backends[number % 2], question))
        }
        #expect(outcomes == ["192.0.2.1", "192.0.2.1", "over_quota", "over_quota"])
        #expect(service.targets.count == 2)
        clock.advance(seconds: 1)
        #expect(await VendorLab.outcome(backends[0], question) == "192.0.2.1")
    }

    @Test func `an account named alike is one account`() {
        let one = QuotaGuard.shared(account: "lab/1", requestsPerSecond: 5)
        #expect(one === QuotaGuard.shared(account: "lab/1", requestsPerSecond: 9))
        #expect(one !== QuotaGuard.shared(account: "lab/2", requestsPerSecond: 5))
    }

    @Test func `a wrong clock is corrected by the service's own, once`() async throws {
        let service = try WrittenService { target in
            target.contains("&t=1600000600&")
                ? (
                    WrittenService.json,
                    #"{"msg":"ok","data":{"a.example.test":{"ip":["192.0.2.1"]}}}"#
                )
                : (WrittenService.json, #"{"msg":"SignatureExpired","timestamp":1600000000}"#)
        }
        let backend = try VendorLab.backend(
            BaiduCodec(account: "1", secret: Secret("s")), [service.server]
        ) { $0.wallClock = MovedClock() }
        #expect(await VendorLab.outcome(backend, question) == "192.0.2.1")
        #expect(service.targets.count == 2)
        #expect(await VendorLab.outcome(backend, question) == "192.0.2.1")
        #expect(service.targets.count == 3)
    }

    @Test func `a service that never takes our date is asked twice, not for ever`() async throws {
        let service = try WrittenService { _ in
            (WrittenService.json, #"{"msg":"SignatureExpired","timestamp":1600000000}"#)
        }
        let backend = try VendorLab.backend(
            BaiduCodec(account: "1", secret: Secret("s")), [service.server])
        #expect(await VendorLab.outcome(backend, question) == "rejected SignatureExpired")
        #expect(service.targets.count == 2)
    }

    @Test func `JSON that cannot be read is asked for once more as a DNS message`() async throws {
        let service = try WrittenService { target in
            target.hasPrefix("/dns-query?dns=")
                ? ("200 OK\r\nContent-Type: application/dns-message", "not DNS")
                : (WrittenService.json, #"{"Status":0,"Answer":[{"data":"""}]}"#)
        }
        let backend = try VendorLab.backend(
            JSONDoHCodec(path: "/resolve", wirePath: "/dns-query"), [service.server])
        #expect(await VendorLab.outcome(backend, question) == "malformed")
        #expect(service.targets.count == 2)
        #expect(service.targets.last?.hasPrefix("/dns-query?dns=AAAB") == true)
    }
}

@Suite(.timeLimit(.minutes(2))) struct ScheduledServersTests {
    private let directory: TemporaryDirectory
    private let reports = Locked<[String]>([])

    init() throws { directory = try TemporaryDirectory() }

    private func servers(_ service: WrittenService) throws -> ScheduledServers {
        var settings = ScheduledServers.Settings()
        settings.store = FileCursorStore(path: directory.path + "/servers.json")
        let reports = reports
        settings.report = { text in reports.withLock { $0.append(text) } }
        let endpoint = service.server.endpoint
        let origin = Origin(scheme: .http, host: .address(endpoint.address), port: endpoint.port)
        return ScheduledServers(
            codec: try AliyunScheduleCodec(account: "1", secret: Secret("s")),
            service: try HTTPService(origin: origin, bootstrap: [], verifier: nil),
            transport: sharedTransport, settings: settings)
    }

    @Test func `the list of the service is asked next, and lasts`() async throws {
        let near = try WrittenService.aliyun("192.0.2.7")
        let port = near.server.endpoint.port
        let bootstrap = try WrittenService { target in
            target.hasPrefix("/1/ss?")
                ? (
                    WrittenService.json,
                    #"{"service_ip":["127.0.0.1"],"service_ip_port":[\#(port)]}"#
                ) : (WrittenService.json, WrittenService.aliyunBody(target, "192.0.2.1"))
        }
        let servers = try servers(bootstrap)
        let backend = try VendorLab.backend(
            AliyunCodec(account: "1", secret: nil), [bootstrap.server]
        ) { $0.servers = servers }
        // Before the list is there the bootstrap server answers.
        let question = try VendorLab.question("a.example.test")
        #expect(await VendorLab.outcome(backend, question).hasPrefix("192.0.2."))
        #expect(
            await eventually { (try? servers.plan())?.current == near.server.endpoint })
        #expect(await VendorLab.outcome(backend, question) == "192.0.2.7")
        // The file is written after the list is in use.
        let store = FileCursorStore(path: directory.path + "/servers.json")
        #expect(await eventually { (try? store.load())?.servers == [near.server.endpoint] })
        let again = try self.servers(bootstrap)
        #expect(try again.plan().current == near.server.endpoint)
        #expect(reports.withLock { $0 }.isEmpty)
    }

    @Test func `what is newest stays on the disk, whoever saves it`() throws {
        let service = try WrittenService { _ in ("500 Oops", "") }
        let store = EagerStore(
            try (1...3).map { Endpoint(address: try IPAddress("192.0.2.\($0)"), port: .http) })
        var settings = ScheduledServers.Settings()
        settings.store = store
        let endpoint = service.server.endpoint
        let origin = Origin(scheme: .http, host: .address(endpoint.address), port: endpoint.port)
        let servers = ScheduledServers(
            codec: try AliyunScheduleCodec(account: "1", secret: Secret("s")),
            service: try HTTPService(origin: origin, bootstrap: [], verifier: nil),
            transport: sharedTransport, settings: settings)
        // While one writes, something newer is to be saved.
        store.whileSaving { servers.answered(store.servers[2]) }
        servers.answered(store.servers[1])
        #expect(store.saved == [1, 2])
        #expect(try servers.plan().cursor == 2)
    }

    @Test func `a damaged file and a failed fetch are told, and nothing stops`() async throws {
        try directory.write("servers.json", "{")
        let service = try WrittenService { target in
            target.hasPrefix("/1/ss?")
                ? ("500 Oops", "")
                : (WrittenService.json, WrittenService.aliyunBody(target, "192.0.2.1"))
        }
        let servers = try servers(service)
        servers.start()
        #expect(await eventually { reports.withLock { $0.count } == 2 })
        let backend = try VendorLab.backend(
            AliyunCodec(account: "1", secret: nil), [service.server]
        ) { $0.servers = servers }
        let question = try VendorLab.question("a.example.test")
        #expect(await VendorLab.outcome(backend, question) == "192.0.2.1")
    }
}
