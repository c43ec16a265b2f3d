import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport
import Testing

/// What is turned on and off while sessions run. What is global is tested in a process of its own,
/// since other tests run beside this one.
@Suite(.timeLimit(.minutes(4))) struct SwitchTests {
    let lab: RuleLab

    init() throws { lab = try RuleLab() }

    // MARK: The kill switch

    @Test func `off, every session's next request goes to the system untouched; on, it is taken`()
        async
    {
        await #expect(processExitsWith: .success) {
            let scene = try SwitchScene()
            defer { scene.origin.stop() }
            #expect(Interception.isEnabled)
            let sessions = scene.sessions()
            for session in sessions.taken {
                #expect(try await session.answer(scene.url()).text == "by rule 1")
            }
            let (seen, recorded) = (scene.rules.seen.count, await scene.capture.all.count)
            #expect(seen == sessions.taken.count && recorded == seen)
            for _ in 0..<2 {
                Interception.isEnabled = false
                scene.origin.forget()
                #expect(try await sessions.stock.answer(scene.url()).text == "by none")
                let untouched = try #require(scene.origin.record.requests.last)
                for session in sessions.taken {
                    #expect(try await session.answer(scene.url()).text == "by none")
                    let request = try #require(scene.origin.record.requests.last)
                    #expect(SwitchScene.lines(request) == SwitchScene.lines(untouched))
                    // The installation is still there.
                    #expect(Interception.isRunning(session))
                }
                // Nothing of this library has seen them.
                #expect(scene.rules.seen.count == seen)
                #expect(await scene.capture.all.count == recorded)
                Interception.isEnabled = true
            }
            for session in sessions.taken {
                #expect(try await session.answer(scene.url()).text == "by rule 1")
            }
            #expect(scene.rules.seen.count == 2 * seen)
        }
    }

    @Test func `the kill switch is read once a request: what runs ends as it began`() async {
        await #expect(processExitsWith: .success) {
            let scene = try SwitchScene()
            defer { scene.origin.stop() }
            let session = scene.sessions().taken[0]
            // The origin turns the switch while it holds the request, and leads it on.
            #expect(try await session.answer(scene.url("/turn/off")).text == "by rule 1")
            #expect(!Interception.isEnabled)
            #expect(try await session.answer(scene.url()).text == "by none")
            #expect(try await session.answer(scene.url("/turn/on")).text == "by none")
            #expect(Interception.isEnabled)
            #expect(try await session.answer(scene.url()).text == "by rule 1")
        }
    }

    @Test func `while the kill switch is turned again and again, each request is whole`() async {
        await #expect(processExitsWith: .success) {
            let scene = try SwitchScene()
            defer { scene.origin.stop() }
            let session = scene.sessions().taken[0]
            let turning = Task {
                while !Task.isCancelled {
                    Interception.isEnabled.toggle()
                    await Task.yield()
                }
            }
            // The way leads over three hops; each says by whom it and the ones before came.
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<150 {
                    group.addTask { try await session.answer(scene.url("/way/3")).text }
                }
                return try await group.reduce(into: [String]()) { $0.append($1) }
            }
            turning.cancel()
            await turning.value
            #expect(texts.count == 150)
            let ways = Set(texts)
            #expect(
                ways.isSubset(of: ["rule 1, rule 1, rule 1, rule 1", "none, none, none, none"]),
                "\(ways)")
            Interception.isEnabled = true
            #expect(try await session.answer(scene.url()).text == "by rule 1")
        }
    }

    // MARK: Start and stop

    @Test func `interception starts and stops for URLSession.shared`() async {
        await #expect(processExitsWith: .success) {
            let scene = try SwitchScene()
            defer { scene.origin.stop() }
            let (url, before) = (scene.url(), Interception.isRunning())
            #expect(!before)
            #expect(try await URLSession.shared.answer(url).text == "by none")
            for turn in 1...2 {
                #expect(
                    Interception.start(through: scene.httpdns, rules: scene.rules) === scene.rules)
                // A second start is the same.
                Interception.start(through: scene.httpdns, rules: scene.rules)
                #expect(Interception.isRunning())
                #expect(try await URLSession.shared.answer(url).text == "by rule 1")
                try scene.rules.expect("rule 1", called: .exactly(turn))
                Interception.stop()
                #expect(!Interception.isRunning())
                #expect(try await URLSession.shared.answer(url).text == "by none")
            }
        }
    }

    @Test func `for a configuration it counts for the sessions made while it is on`() async throws {
        let scene = try SwitchScene()
        defer { scene.origin.stop() }
        let configuration = URLSessionConfiguration.ephemeral
        let before = URLSession(configuration: configuration)
        Interception.start(configuration, through: scene.httpdns, rules: scene.rules)
        let during = URLSession(configuration: configuration)
        Interception.stop(configuration)
        let after = URLSession(configuration: configuration)
        #expect(!Interception.isRunning(before))
        #expect(Interception.isRunning(during))
        #expect(!Interception.isRunning(after))
        #expect(try await before.answer(scene.url()).text == "by none")
        #expect(try await during.answer(scene.url()).text == "by rule 1")
        #expect(try await after.answer(scene.url()).text == "by none")
        Interception.stop(during)
        #expect(try await during.answer(scene.url()).text == "by none")
        Interception.start(before, through: scene.httpdns, rules: scene.rules)
        #expect(try await before.answer(scene.url()).text == "by rule 1")
        try scene.rules.expect("rule 1", called: 2)
    }

    @Test func `a task that runs goes on when interception stops`() async throws {
        let scene = try SwitchScene()
        defer { scene.origin.stop() }
        let session = scene.sessions().taken[0]
        let calls = BlockedCalls()
        let end = ReleaseAtEnd(calls)
        scene.hold(calls)
        async let held = session.answer(scene.url("/held/way/1"))
        await calls.begun(1)
        Interception.stop(session)
        calls.release()
        // Its redirect is still ours; the next task is not.
        #expect(try await held.text == "rule 1, rule 1")
        #expect(try await session.answer(scene.url()).text == "by none")
        withExtendedLifetime(end) {}
    }

    // MARK: Capture, stubs, offline

    /// All eight states, each reached from the one before by turning one switch.
    @Test func `each flag counts from the next request on, both ways, whatever the others are`()
        async throws
    {
        let origin = try lab.origin()
        defer { origin.stop() }
        let capture = Capture(CaptureConfiguration(ringRecords: 1_000))
        var configuration = try lab.configuration()
        configuration.capture = capture
        let rules: LiveRules = [RequestRule("fake", try .path("/fake"), .stub(.text("made up")))]
        let session = try lab.session(rules, HTTPDNS(configuration))
        let url = { (path: String) in origin.url(host: "shop.example.test", path: path) }
        for turn in 0..<17 {
            let gray = (turn ^ turn >> 1) & 7
            rules.switches.isCaptureEnabled = gray & 1 == 0
            rules.switches.isStubbingEnabled = gray & 2 == 0
            rules.switches.isOffline = gray & 4 != 0
            let before = (origin.record.requests.count, await capture.all.count)
            let fake = try await session.answer(url("/fake"))
            let real = try await session.answer(url("/real"))
            let (stubs, offline) = (gray & 2 == 0, gray & 4 != 0)
            #expect(
                fake.text == (stubs ? "made up" : offline ? "" : "real /fake"), "turn \(turn)")
            #expect(real.text == (offline ? "" : "real /real"), "turn \(turn)")
            #expect(real.cause?.label == (offline ? "offline" : nil), "turn \(turn)")
            let sent = offline ? 0 : stubs ? 1 : 2
            #expect(origin.record.requests.count - before.0 == sent, "turn \(turn)")
            #expect(await capture.all.count - before.1 == (gray & 1 == 0 ? 2 : 0), "turn \(turn)")
        }
    }

    @Test func `switches are shared by the sessions that share them, and by no others`()
        async throws
    {
        let origin = try lab.origin()
        defer { origin.stop() }
        let (shared, httpdns) = (ToolboxSwitches(), try lab.httpdns())
        let list: RequestRules = [RequestRule("fake", .any, .stub(.text("made up")))]
        let sessions = try [
            LiveRules(list, switches: shared), LiveRules(list, switches: shared), LiveRules(list),
        ].map { try lab.session($0, httpdns) }
        shared.isStubbingEnabled = false
        var texts: [String] = []
        for session in sessions {
            texts.append(
                try await session.answer(origin.url(host: "shop.example.test", path: "/a")).text)
        }
        #expect(texts == ["real /a", "real /a", "made up"])
    }
}

/// An origin on an address of this machine, which the system's loader reaches as well, and what
/// takes requests to it. It says which rule has touched each.
private struct SwitchScene {
    let origin: LabServer
    let httpdns: HTTPDNS
    let capture = Capture(CaptureConfiguration(ringRecords: 1_000))
    let rules: LiveRules
    private let held: Locked<BlockedCalls?>

    init() throws {
        let held = Locked<BlockedCalls?>(nil)
        self.held = held
        origin = try LabServer { SwitchScene.answer($0, held.withLock { $0 }) }
        try origin.start()
        var configuration = HTTPDNSConfiguration()
        configuration.resolvers = []
        configuration.capture = capture
        httpdns = try HTTPDNS(configuration)
        rules = [RequestRule("rule 1", .any, try .setHeaders(["X-By": "rule 1"]))]
    }

    func url(_ path: String = "/") -> String { origin.url(host: "127.0.0.1", path: path) }

    func hold(_ calls: BlockedCalls) { held.withLock { $0 = calls } }

    /// One that is left alone, and of each kind one that is taken.
    func sessions() -> (stock: URLSession, taken: [URLSession]) {
        let configuration = URLSessionConfiguration.ephemeral
        Interception.start(configuration, through: httpdns, rules: rules)
        let existing = URLSession(configuration: .ephemeral)
        Interception.start(existing, through: httpdns, rules: rules)
        return (
            URLSession(configuration: .ephemeral),
            [
                httpdns.session(configuration: .ephemeral, rules: rules),
                URLSession(configuration: configuration), existing,
            ]
        )
    }

    /// A request as it came, but for the order of its fields.
    static func lines(_ request: LabRequest) -> [String] {
        ["\(request.method) \(request.target)"]
            + request.fields.map { "\($0.name): \($0.value)" }.sorted()
    }

    /// `/turn/off`, `/turn/on`: turns the kill switch and leads on. `/way/N?by=…`: leads on N times,
    /// and says who sent each. `/held…`: waits first.
    private static func answer(_ request: LabRequest, _ held: BlockedCalls?) -> LabResponse {
        let by = request.value(of: "X-By") ?? "none"
        var path = request.path
        if path.hasPrefix("/held") {
            held?.block()
            path = String(path.dropFirst("/held".count))
        }
        if path.hasPrefix("/turn/") {
            Interception.isEnabled = path == "/turn/on"
            return .redirect(to: "/")
        }
        guard path.hasPrefix("/way/"), let left = Int(path.dropFirst(5)) else {
            return .text("by \(by)")
        }
        let all = (request.query["by"].map { [$0] } ?? []) + [by]
        guard left > 0 else { return .text(all.joined(separator: ", ")) }
        let text = all.joined(separator: ",%20").replacingOccurrences(of: " ", with: "%20")
        return .redirect(to: "/way/\(left - 1)?by=\(text)")
    }
}
