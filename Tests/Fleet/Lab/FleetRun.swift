import HTTPDNS
import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPlatform
import TestSupport

/// One run: hosts ask all the time, and servers go.
package struct FleetRun: Sendable {
    package var rate: Int64 = 1_000
    package var hosts = 40
    package var unbounds = 3
    /// Of each phase.
    package var seconds: Int64 = 10
    /// The command-line tool.
    package var tool: String
    /// Is told what happens, a line each.
    package var say: @Sendable (String) -> Void = { _ in }

    package init(tool: String) { self.tool = tool }

    /// What is done to the tier when a phase begins.
    private struct Event: Sendable {
        let title: String
        let act: @Sendable (FleetTier) throws -> Void
    }

    private static let events = [
        Event(title: "undisturbed") { _ in },
        Event(title: "one unbound killed") { try $0.resolvers[0].kill() },
        Event(title: "it is back") { tier in
            tier.resolvers[0].end()
            try tier.resolvers[0].start()
        },
        Event(title: "one dnsdist killed") { try $0.fronts[0].kill() },
        Event(title: "it is back") { tier in
            tier.fronts[0].end()
            try tier.fronts[0].start()
        },
        Event(title: "one dnsdist frozen") { $0.fronts[1].freeze() },
        Event(title: "it goes on") { $0.fronts[1].thaw() },
    ]

    /// Runs to the end.
    ///
    /// - Throws: the tier does not start.
    package func run() async throws -> FleetReport {
        say("starting 2 dnsdist and \(unbounds) unbound")
        let tier = try await FleetTier.started(unbounds: unbounds)
        var report = FleetReport(rate: rate, hosts: hosts)
        report.commands.append(await command(tier, "before"))
        let questions = FleetLoad.Questions()
        // Half of the hosts prefer the other front: so both work, and each can take over.
        let load = FleetLoad(
            tier,
            hosts: try (0..<hosts).map {
                try tier.host(asking: $0 % 2 == 0 ? [0, 1] : [1, 0]) { questions.saw($0) }
            }, rate: rate)
        let clock = SystemMonotonicClock()
        let cold = await Ledger(tier)
        await load.greet()
        let before = await Ledger(tier)
        report.greeted(cold, before)
        load.start()
        var moments: [Monotonic] = []
        for (number, event) in FleetRun.events.enumerated() {
            say("\(event.title), \(seconds) s")
            moments.append(clock.now())
            try await offPool { try event.act(tier) }
            if number == 4 { report.commands.append(await command(tier, "after the return")) }
            if number == 3 { report.commands.append(await command(tier, "one dnsdist dead")) }
            await pause(until: (moments.last ?? clock.now()).adding(seconds: seconds))
            if number == 0 { report.take(before, await Ledger(tier)) }
        }
        let end = clock.now()
        load.stop()
        await settle(load)
        report.take(load.course, questions.all, moments, FleetRun.events.map(\.title), end: end)
        return report
    }

    /// Waits until all were told; the patience of a lookup is over long before.
    private func settle(_ load: FleetLoad) async {
        _ = await eventually(withinMilliseconds: 30_000) {
            let course = load.course
            return course.samples.count == course.begun
        }
    }

    /// One lookup with the command line.
    private func command(
        _ tier: FleetTier, _ when: String
    ) async -> (when: String, answer: String, isRight: Bool) {
        let name = "cli-\(when.split(separator: " ").joined(separator: "-")).\(FleetTier.zone)"
        let result = try? await TestSupport.run(
            tool, ["lookup", name, "A", "--config", tier.configurationFile, "--json"])
        let answer = result.flatMap { try? JSONValue.parse($0.outputText) }
        let addresses = answer?["addresses"]?.array?.compactMap(\.string) ?? []
        let source = answer?["resolver"]?.string ?? "nobody"
        return (
            when, "\(addresses.joined(separator: " ")) from \(source)",
            result?.status == 0 && addresses == ["\(FleetTier.answer)"]
        )
    }

    private func pause(until moment: Monotonic) async {
        await withCheckedContinuation { continuation in
            _ = AlarmThread.shared.schedule(at: moment) { continuation.resume() }
        }
    }
}

/// What the engines have counted and spent so far.
struct Ledger: Sendable {
    let hits: Int64
    let misses: Int64
    let frontNanoseconds: Int64
    let resolverNanoseconds: Int64
    let frontOctets: Int64

    init(_ tier: FleetTier) async {
        var hits: Int64 = 0
        var misses: Int64 = 0
        for number in tier.fronts.indices {
            let counts = await tier.statistics(number)
            hits += counts["cache-hits"] ?? 0
            misses += counts["cache-misses"] ?? 0
        }
        self.hits = hits
        self.misses = misses
        frontOctets = tier.fronts.reduce(0) { $0 + $1.residentOctets }
        frontNanoseconds = tier.fronts.reduce(0) { $0 + $1.nanosecondsComputed }
        resolverNanoseconds = tier.resolvers.reduce(0) { $0 + $1.nanosecondsComputed }
    }
}

extension FleetReport {
    init(rate: Int64, hosts: Int) {
        self.rate = rate
        self.hosts = hosts
    }

    /// The undisturbed phase, as the engines saw it.
    mutating func take(_ before: Ledger, _ after: Ledger) {
        cacheHits = after.hits - before.hits
        cacheMisses = after.misses - before.misses
        let asked = cacheHits + cacheMisses
        spend(
            "dnsdist, a question over DoH", after.frontNanoseconds - before.frontNanoseconds, asked)
        spend(
            "unbound, a question that no cache knew",
            after.resolverNanoseconds - before.resolverNanoseconds, cacheMisses)
    }

    /// The first question of each host, as the fronts saw it.
    mutating func greeted(_ before: Ledger, _ after: Ledger) {
        spend(
            "dnsdist, a first question: TCP, TLS 1.3, DoH",
            after.frontNanoseconds - before.frontNanoseconds, Int64(hosts))
        octetsPerConnection = max(0, after.frontOctets - before.frontOctets) / Int64(hosts)
    }

    private mutating func spend(_ engine: String, _ nanoseconds: Int64, _ questions: Int64) {
        spendings.append(
            Spending(
                engine: engine, questions: questions,
                microsecondsPerQuestion: Double(nanoseconds) / 1_000
                    / Double(max(1, questions))))
    }

    mutating func take(
        _ course: (begun: Int, samples: [FleetLoad.Sample]), _ questions: [Monotonic],
        _ moments: [Monotonic], _ titles: [String], end: Monotonic
    ) {
        unanswered = course.begun - course.samples.count
        for (number, title) in titles.enumerated() {
            let from = moments[number]
            let to = number + 1 < moments.count ? moments[number + 1] : .distantFuture
            phases.append(
                Phase(
                    title, at: from, course.samples.filter { from <= $0.begun && $0.begun < to },
                    questions: questions.count { from <= $0 && $0 < to }))
        }
        faults = course.samples.compactMap(\.fault).prefix(5).map { $0 }
        let wanted = end.milliseconds(since: moments[0]) * rate / 1_000
        isRateKept = Int64(course.begun) * 100 >= wanted * 95
    }
}
