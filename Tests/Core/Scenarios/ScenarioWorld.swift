import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSResolution
import HTTPDNSWire
import TestSupport

/// Replays a scenario against the resolver that applications use, on a clock that moves when told.
final class ScenarioWorld {
    private struct Seen {
        var lines: [String] = []
        var events: [String] = []
        /// Askings begun by the resolver, and those that arrived.
        var begun = 0
        var arrived = 0
        /// Replies given by the scenario, and those that the resolver has heard.
        var replied = 0
        var heard = 0
    }

    private let clock = FakeClock()
    private let alarms = ScriptedAlarms()
    private let seen = Locked(Seen())
    private let sources: [ScenarioBackend]
    private let bypass: ScenarioBackend?
    private let store: ScenarioStore
    private let options: ResolverOptions
    private var resolver: Resolver
    private var waiters: [String: any Stoppable] = [:]
    private var lastWaiter = 0

    init(_ scenario: Scenario) throws {
        let seen = seen
        let settings = try ScenarioSettings(scenario.settings)
        let tell: @Sendable (String) -> Void = { line in
            seen.withLock { seen in
                seen.lines.append(line)
                if line.contains(" asked ") { seen.arrived += 1 }
            }
        }
        let backend = { (source: ScenarioSettings.Source) in
            ScenarioBackend(
                label: source.label, isAuthenticated: source.isAuthenticated,
                isLocal: source.isLocal, tell: tell)
        }
        sources = settings.sources.filter { !$0.isBypass }.map(backend)
        bypass = settings.sources.first { $0.isBypass }.map(backend)
        store = ScenarioStore(clock: clock)
        var options = settings.options
        options.observer = { event in
            seen.withLock { seen in
                seen.events.append(ScenarioWorld.text(event))
                switch event {
                case .asked: seen.begun += 1
                case .answered, .failed: seen.heard += 1
                default: break
                }
            }
        }
        if settings.hasStore { options.store = store }
        self.options = options
        resolver = Resolver(
            sources: sources, bypass: bypass, options: options, clock: clock, alarms: alarms)
    }

    /// Plays one moment; what does not fit is told as a text.
    func play(_ moment: Scenario.Moment) async throws -> String? {
        seen.withLock {
            $0.lines = []
            $0.events = []
        }
        // Alarms ring at their own moments, not all at the end of a long leap.
        while let next = alarms.nextMoment,
            next < Monotonic.zero.adding(milliseconds: moment.milliseconds)
        {
            clock.advance(milliseconds: next.millisecondsLeft(from: clock.now()))
            alarms.ring(now: clock.now())
            await settle()
        }
        let left = Monotonic.zero.adding(milliseconds: moment.milliseconds)
            .millisecondsLeft(from: clock.now())
        clock.advance(milliseconds: left)
        alarms.ring(now: clock.now())
        await settle()
        do { try perform(moment.words) } catch {
            throw Scenario.Fault(line: moment.line, reason: "\(error)")
        }
        await settle(until: moment)
        return difference(from: moment)
    }

    /// Waits until everything begun has arrived, everything replied has been heard, and what is
    /// expected has happened; a while longer, in case more does.
    private func settle(until moment: Scenario.Moment? = nil) async {
        var quiet = 0
        // Threads of a busy machine may be late by seconds; what is expected is waited for.
        let end = ContinuousClock.now + .seconds(20)
        while quiet < 20 || moment.map({ difference(from: $0) != nil }) ?? false {
            guard ContinuousClock.now < end else { return }
            let isQuiet = seen.withLock { $0.begun == $0.arrived && $0.replied <= $0.heard }
            quiet = isQuiet ? quiet + 1 : 0
            await Task.yield()
        }
    }

    private func difference(from moment: Scenario.Moment) -> String? {
        let (lines, events) = seen.withLock { ($0.lines.sorted(), $0.events) }
        let expected = moment.expected.sorted()
        let missing = moment.events.filter { !events.contains($0) }
        guard lines != expected || !missing.isEmpty else { return nil }
        return """
            line \(moment.line), at \(moment.milliseconds) ms
              expected: \(expected.joined(separator: "; "))
              happened: \(lines.joined(separator: "; "))
              events missing: \(missing.joined(separator: "; "))
              events told: \(events.joined(separator: "; "))
            """
    }

    private func tell(_ line: String) { seen.withLock { $0.lines.append(line) } }
}

// What can happen
extension ScenarioWorld {
    private struct Misunderstood: Error, CustomStringConvertible {
        let description: String

        init(_ words: [String]) {
            description = "\"\(words.joined(separator: " "))\" means nothing"
        }
    }

    private func perform(_ words: [String]) throws {
        guard let verb = words.first else { return }
        let rest = Array(words.dropFirst())
        switch (verb, rest.count) {
        case ("ask", 2...): try ask(rest)
        case ("resolve", 1...): try resolve(rest)
        case ("cached", 1):
            let host = resolver.cachedHost(for: try HostName(rest[0]))
            tell("cache has \(host.map { ScenarioWorld.text($0) } ?? "nothing")")
        case ("leave", 1): waiters.removeValue(forKey: rest[0])?.stop()
        case ("report", 3...): try report(rest)
        case ("network", 1): resolver.networkDidChange(rest[0] == "unnamed" ? nil : rest[0])
        case ("hot", _): resolver.keepHot(Set(try rest.map { try HostName($0) }))
        case ("forget", 0): resolver.removeCachedAnswers()
        case ("restart", 0):
            resolver = Resolver(
                sources: sources, bypass: bypass, options: options, clock: clock, alarms: alarms)
        default:
            guard rest.count >= 3,
                let source = (sources + [bypass].compactMap { $0 }).first(where: {
                    $0.label == verb
                })
            else { throw Misunderstood(words) }
            try reply(source, rest)
        }
    }

    private func ask(_ words: [String]) throws {
        guard let type = RecordType(name: words[1]) else { throw Misunderstood(words) }
        var question = Question(name: try HostName(words[0]), type: type)
        var patience: Duration?
        var at = 2
        while at + 1 < words.count {
            switch words[at] {
            case "patience": patience = .milliseconds(Int64(words[at + 1]) ?? 0)
            case "subnet": question.clientSubnet = try AddressBlock(words[at + 1])
            case "sdns":
                let pair = words[at + 1].split(separator: "=").map(String.init)
                question.serviceParameters = try ServiceParameters([(pair[0], pair[1])])
            default: throw Misunderstood(words)
            }
            at += 2
        }
        lastWaiter += 1
        let name = "\(lastWaiter)"
        let seen = seen
        waiters[name] = resolver.startLookup(question, patience: patience) { result in
            let line = "\(name) \(ScenarioWorld.text(result))"
            seen.withLock { $0.lines.append(line) }
        }
    }

    private func resolve(_ words: [String]) throws {
        lastWaiter += 1
        let name = "\(lastWaiter)"
        let host: Host =
            if let address = try? IPAddress(words[0]) { .address(address) } else {
                .name(try HostName(words[0]))
            }
        let seen = seen
        waiters[name] = resolver.startResolving(host) { result in
            let text =
                switch result {
                case .success(let host): "told \(ScenarioWorld.text(host))"
                case .failure(let failure): "failed \(failure.label)"
                }
            seen.withLock { $0.lines.append("\(name) \(text)") }
        }
    }

    private func report(_ words: [String]) throws {
        let outcome: AddressOutcome =
            switch words[2] {
            case "connected": .connected(milliseconds: Int64(words.last ?? "") ?? 0)
            case "unreachable": .unreachable
            case "timed-out": .timedOut
            case "untrusted": .untrusted
            default: throw Misunderstood(words)
            }
        resolver.report(try IPAddress(words[0]), for: try HostName(words[1]), outcome: outcome)
    }

    /// `answers NAME TYPE …` or `fails NAME TYPE …`.
    private func reply(_ source: ScenarioBackend, _ words: [String]) throws {
        guard let type = RecordType(name: words[2]) else { throw Misunderstood(words) }
        let what = Array(words.dropFirst(3))
        // Counted first: the resolver may hear it on another thread before this one goes on.
        seen.withLock { $0.replied += 1 }
        let isHeard = try source.reply(to: try HostName(words[1]), type) { question in
            words[0] == "fails"
                ? .failure(try ScenarioReply.failure(what))
                : .success(try ScenarioReply.testimony(what, question, by: source.label))
        }
        guard isHeard else {
            seen.withLock { $0.replied -= 1 }
            throw Misunderstood(words + ["(nobody is waiting for that)"])
        }
    }
}

// How results are written
extension ScenarioWorld {
    static func text(_ event: ResolverEvent) -> String {
        switch event {
        case .began(let subject): "began \(subject)"
        case .joined(let subject): "joined \(subject)"
        case .served(let subject, let store): "served \(store.rawValue) \(subject)"
        case .asked(let subject, let source): "asked \(source) \(subject)"
        case .answered(let subject, let source, _): "answered \(source) \(subject)"
        case .failed(let subject, let source, let failure):
            "failed \(source) \(subject) \(failure.label)"
        case .failedOver(let subject, let from, let to):
            "failed over \(subject) from \(from) to \(to)"
        case .ended(let subject, let ending, _): "ended \(subject) \(ending.rawValue)"
        case .refreshed(let subject): "refreshed \(subject)"
        case .refreshFailed(let subject): "refresh failed \(subject)"
        case .prefetched(let subject): "prefetched \(subject)"
        case .failureHeld(let subject, let time): "failure held \(subject) \(time)"
        case .evicted(let count): "evicted \(count)"
        case .broke(let source, _): "broke \(source)"
        case .probed(let source): "probed \(source)"
        case .restored(let source): "restored \(source)"
        case .overQuota(let source, _): "over quota \(source)"
        case .addressesRefused(let subject, let source, _): "refused \(source) \(subject)"
        case .disagreed(let found):
            "disagreed \(found.authenticated.source.resolver) \(found.plain.source.resolver)"
        case .networkChanged: "network changed"
        case .storeFailed: "store failed"
        }
    }

    static func text(_ result: Result<LookupAnswer, LookupFailure>) -> String {
        switch result {
        case .failure(let failure): return "failed \(failure.label)"
        case .success(let answer):
            let what: String
            switch answer.outcome {
            case .records: what = answer.addresses.map(\.description).joined(separator: ",")
            case .noData: what = "no-data"
            case .noSuchName: what = "no-such-name"
            case .serverFailure(let code): what = code.name.lowercased()
            }
            return "told \(what) ttl \(answer.ttlSeconds) by \(answer.testimony.source.resolver)"
                + (answer.isCached ? " cached" : "") + (answer.isStale ? " stale" : "")
        }
    }

    static func text(_ host: ResolvedHost) -> String {
        host.addresses.map(\.description).joined(separator: ",")
            + " ttl \(host.ttlSeconds) by \(host.source.resolver)"
            + (host.isCached ? " cached" : "") + (host.isStale ? " stale" : "")
    }
}
