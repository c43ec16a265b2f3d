import HTTPDNS
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSWire
import TestSupport
import Testing

/// Aliyun's list of servers: a first server that hands it out, a near one that is in it.
@Suite(.timeLimit(.minutes(2))) struct ScheduleFixtureTests {
    private let directory: TemporaryDirectory
    private let first: FixtureLab
    private let near: FixtureLab
    private let reports = Locked<[String]>([])

    init() throws {
        directory = try TemporaryDirectory()
        first = try FixtureLab()
        near = try FixtureLab(sharing: first)
        first.server.settings.schedule = LabSchedule(
            [LabAddress.ipv4], port: near.server.port, status: "enable")
    }

    private var file: String { directory.path + "/servers.json" }

    private func application() throws -> HTTPDNS {
        let item = FixtureCase("scheduled", "aliyun") {
            ($0.account, $0.secret) = ("7", "IAmASecret")
        }
        let description = try item.description(at: first.server) { $0.serverListFile = file }
        let reports = reports
        return try first.application([description]) { text in
            reports.withLock { $0.append(text) }
        }
    }

    private func ask(_ application: HTTPDNS, _ name: String = "shop.pinlab.dev") async -> String {
        guard let host = try? HostName(name) else { return "no name" }
        let question = Question(name: host, type: .a)
        return await Outcome(application, question, patience: .seconds(20)).text
    }

    private func count(_ form: LabServiceForm, at lab: FixtureLab) -> Int {
        lab.server.events.filter { $0.form == form && $0.verdict == "success" }.count
    }

    private func hasFile(_ part: String) -> Bool {
        (try? ReplacedFile.read(file, maximumOctets: 65_536))
            .flatMap { $0 }.map { String(decoding: $0, as: UTF8.self).contains(part) } ?? false
    }

    @Test func `the list is fetched signed, kept, and asked by the next start`() async throws {
        let application = try application()
        #expect(await eventually { hasFile("\(near.server.port)") })
        #expect(first.server.events.first { $0.form == .aliyunSchedule }?.isSigned == true)
        #expect(await ask(application) == "ok")
        #expect(count(.aliyun, at: near) == 1)
        let again = try self.application()
        #expect(await ask(again) == "ok")
        #expect(count(.aliyun, at: near) == 2)
        #expect(count(.aliyun, at: first) == 0)
        #expect(reports.withLock { $0 }.isEmpty)
    }

    @Test(arguments: [("dnspod", "token"), ("dnspod-aes", "key"), ("dnspod-des", "key")])
    func `DNSPod's list is fetched as its questions are asked, and kept as long as it says`(
        provider: String, by credential: String
    ) async throws {
        guard provider != "dnspod-des" || LabHTTPDNSServer.speaksDES else { return }
        // The list has no ports: both servers listen at one, at two addresses.
        let item = try #require(
            FixtureCase.all.first { $0.provider == provider })
        let description = try item.description(at: first.server) { $0.serverListFile = file }
        first.server.settings.schedule = LabSchedule([LabAddress.ipv4])
        let reports = reports
        let application = try first.application([description]) { text in
            reports.withLock { $0.append(text) }
        }
        #expect(await eventually { hasFile("\"freshSeconds\":3600") })
        #expect(hasFile("127.0.0.1") && hasFile("\(first.server.port)"))
        #expect(await ask(application) == "ok")
        #expect(reports.withLock { $0 }.isEmpty)
        let asked = first.server.events.filter { $0.form == .tencent }
        #expect(asked.count == 2)
        #expect(asked.allSatisfy { credential == "token" ? $0.isSigned : $0.isEncrypted })
        #expect(!hasFile("dnspodpass") && !hasFile("0123456789abcdef") && !hasFile("800654663"))
    }

    @Test func `a server that is down is passed over, and still is after a restart`()
        async throws
    {
        let dead = LabAddress.ipv4(host: 253)
        first.server.settings.schedule?.addresses = [dead, LabAddress.ipv4]
        let application = try application()
        #expect(await eventually { hasFile("\(near.server.port)") })
        #expect(await ask(application) == "ok")
        #expect(await eventually { hasFile("\"cursor\":1") })
        let again = try self.application()
        #expect(await ask(again) == "ok")
        #expect(hasFile("\"cursor\":1"))
        #expect(count(.aliyun, at: near) == 2)
    }

    @Test func `another network asks for another list`() async throws {
        let application = try application()
        #expect(await eventually { count(.aliyunSchedule, at: first) == 1 })
        #expect(await eventually { hasFile("\(near.server.port)") })
        first.server.settings.schedule = LabSchedule(
            [LabAddress.ipv4], port: first.server.port)
        application.resolver.networkDidChange("elsewhere")
        #expect(await eventually { count(.aliyunSchedule, at: first) == 2 })
        #expect(await eventually { hasFile("\(first.server.port)") })
        #expect(await ask(application) == "ok")
        #expect(count(.aliyun, at: first) == 1)
    }

    @Test func `a damaged file and a list that does not come are told to the application`()
        async throws
    {
        try directory.write("servers.json", "{")
        first.server.misbehave([.status(500)], only: [.aliyunSchedule])
        let application = try application()
        #expect(await eventually { reports.withLock { $0.count } == 2 })
        let told = reports.withLock { $0 }
        #expect(told.contains { $0.hasPrefix("aliyun: ") && $0.contains("is damaged") })
        #expect(told.contains { $0.contains("could not be fetched") && $0.contains("500") })
        #expect(told.allSatisfy { !$0.contains("IAmASecret") })
        #expect(await ask(application) == "ok")
    }

    @Test(arguments: [
        (LabScheduleFault.dead, "unreachable"), (.empty, "ok"),
        (.disabled, "rejected ServiceDisabled"),
        (.changing, "ok"),
    ])
    func `a bad list does no more harm than it must`(
        fault: LabScheduleFault, outcome: String
    ) async throws {
        first.server.settings.schedule = nil
        first.server.misbehave([.schedule(fault)], only: [.aliyunSchedule])
        let application = try application()
        #expect(await eventually { count(.aliyunSchedule, at: first) >= 1 })
        if fault != .empty { #expect(await eventually { hasFile("port") }) }
        if fault == .empty { #expect(await eventually { !reports.withLock { $0 }.isEmpty }) }
        #expect(await ask(application) == outcome)
    }
}
