import Glibc
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSResolution

/// One run: begin, warm up, measure, calm down, judge.
struct Soak {
    let options: SoakOptions
    let ledger: Ledger
    let servers: SoakServers
    let worlds: SoakWorlds
    let load: SoakLoad
    let conductor: SoakConductor
    private let clock = SystemMonotonicClock()
    private let start: Monotonic
    private let metronome = Metronome()
    private var course = UsageCourse()

    /// Runs to the end; what it came to.
    static func run(_ options: SoakOptions) async throws -> SoakReport {
        var soak = try Soak(options)
        return await soak.run()
    }

    private init(_ options: SoakOptions) throws {
        self.options = options
        start = clock.now()
        ledger = Ledger(
            allowedMilliseconds: options.latenessMilliseconds, metronome: metronome)
        servers = try SoakServers(ledger: ledger, from: start)
        worlds = try SoakWorlds(servers, clock: clock)
        let check = AnswerCheck(ledger: ledger, start: start, proven: worlds.proven)
        load = SoakLoad(worlds.all, ledger: ledger, check: check, options: options)
        conductor = SoakConductor(servers, worlds.all, ledger: ledger, seed: options.seed)
    }

    private mutating func run() async -> SoakReport {
        let tickers = makeTickers()
        for ticker in tickers { ticker.start() }
        let begun = clock.now()
        var lastLine = begun
        var lastSample = begun
        while clock.now().milliseconds(since: begun) < options.seconds * 1_000 {
            await pause(milliseconds: 1_000)
            let now = clock.now()
            let usage = Usage.now()
            course.sawPeak(of: usage)
            if now.milliseconds(since: begun) > options.warmUpSeconds * 1_000,
                now.milliseconds(since: lastSample) >= Soak.sampleMilliseconds
            {
                course.add(Usage.now(isTrimmed: true))
                lastSample = now
            }
            guard now.milliseconds(since: lastLine) >= Soak.lineMilliseconds else { continue }
            say(usage, seconds: now.milliseconds(since: begun) / 1_000, since: lastLine, now)
            lastLine = now
        }
        load.stop()
        for ticker in tickers { ticker.stop() }
        let took = clock.now().milliseconds(since: begun)
        await calmDown()
        let report = SoakReport(
            options: options, ledger: ledger, course: course, end: Usage.now(isTrimmed: true),
            laboratory: servers.laboratory.usage(), milliseconds: took,
            machineLateMilliseconds: metronome.worstEver,
            withoutProcessorMilliseconds: millisecondsWithoutProcessor())
        servers.laboratory.stop()
        return report
    }

    private func makeTickers() -> [Ticker] {
        let (load, conductor, metronome) = (load, conductor, metronome)
        let storms = [UInt64(3), 4].map { part in
            let numbers = Locked(SeededNumbers(seed: options.seed &+ part))
            return Ticker(everyMilliseconds: 20) { load.storm(numbers) }
        }
        return storms + [
            Ticker(everyMilliseconds: Metronome.milliseconds) { metronome.tick() },
            Ticker(everyMilliseconds: 5) { load.tick() },
            Ticker(everyMilliseconds: 200) { conductor.tick() },
        ]
    }

    /// Waits until everybody was told and nothing runs; says what does not come to rest.
    private func calmDown() async {
        conductor.calm()
        let begun = clock.now()
        while clock.now().milliseconds(since: begun) < Soak.calmMilliseconds {
            guard ledger.told < ledger.begun || conductor.unrest != nil else { return }
            await pause(milliseconds: 100)
        }
        if let unrest = conductor.unrest { ledger.fault(unrest) }
        for one in ledger.waiting { ledger.fault("never told: \(one)") }
    }

    private func say(_ usage: Usage, seconds: Int64, since: Monotonic, _ now: Monotonic) {
        let (spread, outcomes) = ledger.takeRecent()
        let rate = Int64(spread.count) * 1_000 / max(1, now.milliseconds(since: since))
        let shown = outcomes.sorted { $0.value > $1.value }.prefix(6)
            .map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        print(
            "\(seconds) s: \(rate)/s, p50 \(spread.show(perMille: 500)), "
                + "p99 \(spread.show(perMille: 990)), \(usage.mebibytes) MiB, "
                + "\(usage.descriptors) fds, \(usage.threads) threads"
                + (servers.laboratory.usage().map { "; servers \($0.mebibytes) MiB" } ?? "")
                + " | \(shown)")
        fflush(nil)
    }

    private static let lineMilliseconds: Int64 = 10_000
    /// Because: giving memory back takes some milliseconds, which nobody should notice.
    private static let sampleMilliseconds: Int64 = 5_000
    /// Because: the longest patience, and the ends of those who were asked last, are over by then.
    private static let calmMilliseconds: Int64 = 20_000
}
