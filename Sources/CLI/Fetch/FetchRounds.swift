internal import HTTPDNS
internal import HTTPDNSClient
package import HTTPDNSExchange
internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// Sends one request many times: `--repeat` and `--parallel`.
struct FetchRounds {
    let run: FetchRun
    let rounds: FetchPlan.Rounds

    private var plan: FetchPlan { run.plan }
    private var console: Console { run.console }

    private struct Ended: Sendable {
        let round: Int
        let report: ExchangeReport
        let octets: Int64
        let trouble: FetchTrouble?
    }

    /// - Throws: ``CommandFault``: what cannot even be tried.
    func run() async throws(CommandFault) -> ExitCode {
        let httpdns = try await run.assembled()
        var tally = FetchTally()
        let began = SystemMonotonicClock().now()
        var progress = RoundsProgress(console, of: rounds.count, now: began)
        await withTaskGroup(of: Ended.self) { group in
            var next = 1
            while next <= rounds.count || !group.isEmpty {
                while next <= rounds.count, next <= rounds.atOnce {
                    add(next, to: &group, httpdns.client)
                    next += 1
                }
                guard let ended = await group.next() else { break }
                tell(ended)
                tally.add(ended.report, octets: ended.octets, trouble: ended.trouble)
                progress.show(tally.count, now: SystemMonotonicClock().now())
                guard next <= rounds.count, !Interruption.hasCome else {
                    next = rounds.count + 1
                    continue
                }
                add(next, to: &group, httpdns.client)
                next += 1
            }
        }
        await httpdns.offlineCache?.flush()
        progress.clear()
        await finishRecording(&tally)
        let took = SystemMonotonicClock().now().milliseconds(since: began)
        let lines = tally.lines(milliseconds: took, of: rounds.count)
        for line in lines { plan.isJSON ? console.note(line) : console.print(line.printable) }
        guard let unkept = await run.keep(httpdns) else { return tally.code }
        tell(unkept)
        return max(unkept.code, tally.code)
    }

    /// What could not be kept is of no one round: with `--json` an object of its own.
    func tell(_ unkept: FetchTrouble) {
        guard plan.isJSON else { return }
        let fault = CommandFault(unkept.message, code: unkept.code, label: unkept.label)
        let json = FetchRendering.json(fault, url: plan.url.description)
        guard var object = json.object else { return }
        object["round"] = .null
        console.print(json: .object(object))
    }

    private func add(
        _ round: Int, to group: inout TaskGroup<Ended>, _ client: HTTPDNSClient
    ) {
        group.addTask { [plan] in await FetchRounds.send(plan, round, client) }
    }

    /// The body is read to its end, so that the connection can be used again, and kept nowhere.
    private static func send(
        _ plan: FetchPlan, _ round: Int, _ client: HTTPDNSClient
    ) async -> Ended {
        var octets: Int64 = 0
        do throws(ExchangeFailure) {
            let response = try await client.send(plan.outgoing, within: plan.rules)
            var body = response.body.makeAsyncIterator()
            while let chunk = try await body.nextChunk() { octets += Int64(chunk.count) }
            let report = response.body.report
            return Ended(
                round: round, report: report, octets: octets, trouble: FetchCache.trouble(report))
        } catch {
            return Ended(
                round: round, report: error.report, octets: octets, trouble: FetchTrouble(error))
        }
    }

    private func tell(_ ended: Ended) {
        if plan.isVerbose {
            let lines = FetchRendering.timeline(
                ended.report, bytes: ended.octets, console.errorPaint, trust: plan.trust)
            console.errors.write(
                (["round \(ended.round)"] + lines).map { $0 + "\n" }.joined())
        }
        guard plan.isJSON else { return }
        let json = FetchRendering.json(
            url: plan.url, report: ended.report, bytes: ended.octets, trouble: ended.trouble,
            trust: plan.trust, notes: plan.notes + plan.remarks)
        guard var object = json.object else { return }
        object["round"] = .integer(Int64(ended.round))
        console.print(json: .object(object))
    }
}

/// What became of many requests. Pure.
package struct FetchTally: Sendable {
    package private(set) var count = 0
    package private(set) var code = ExitCode.succeeded
    private var statuses: [Int: Int] = [:]
    private var troubles: [String: (count: Int, message: String)] = [:]
    private var octets: Int64 = 0
    private var reused = 0
    /// Of those that were answered whole.
    private var times: [Double] = []

    package init() {}

    package mutating func add(_ report: ExchangeReport, octets: Int64, trouble: FetchTrouble?) {
        count += 1
        self.octets &+= octets
        if report.hops.last?.isReusedConnection == true { reused += 1 }
        if let trouble {
            code = max(code, trouble.code)
            let message = trouble.message.split(separator: "\n").first.map(String.init) ?? ""
            troubles[trouble.label, default: (0, message)].count += 1
        } else {
            times.append(report.totalMilliseconds)
            if let status = report.hops.last?.status { statuses[status, default: 0] += 1 }
        }
    }

    /// What was lost of all of them.
    package mutating func add(_ trouble: FetchTrouble) {
        code = max(code, trouble.code)
        let message = trouble.message.split(separator: "\n").first.map(String.init) ?? ""
        troubles[trouble.label, default: (0, message)].count += 1
    }

    /// For people.
    package func lines(milliseconds: Int64, of wanted: Int) -> [String] {
        let seconds = Double(max(milliseconds, 1)) / 1_000
        let rate = (Double(count) / seconds * 10).rounded() / 10
        let cut = count < wanted ? " of \(wanted), interrupted" : ""
        var lines = [
            "\(count) requests\(cut) in \(DurationText.elapsed(milliseconds: Double(milliseconds))), "
                + "\(rate) a second; \(octets) octets of body; \(reused) on a connection open already"
        ]
        for (status, count) in statuses.sorted(by: { $0.key < $1.key }) {
            lines.append("  \(status): \(count)")
        }
        for (label, trouble) in troubles.sorted(by: { $0.key < $1.key }) {
            lines.append("  \(label): \(trouble.count), the first: \(trouble.message)")
        }
        guard !times.isEmpty else { return lines }
        let shares = [("min", 0), ("median", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1)]
        let sorted = times.sorted()
        let cells = shares.map { name, share in
            // The nearest rank: each time is one that was measured.
            let rank = Int((share * Double(sorted.count)).rounded(.up))
            let time = sorted[min(max(rank, 1), sorted.count) - 1]
            return "\(name) \(DurationText.precise(milliseconds: time))"
        }
        return lines + ["  " + cells.joined(separator: ", ")]
    }
}

/// How far a repetition is, on a terminal.
private struct RoundsProgress {
    private let console: Console
    private let wanted: Int
    private let began: Monotonic
    private var drawn: Monotonic?

    init(_ console: Console, of wanted: Int, now: Monotonic) {
        self.console = console
        self.wanted = wanted
        began = now
    }

    /// As often as the progress of a long body.
    mutating func show(_ count: Int, now: Monotonic) {
        guard console.errors.isTerminal,
            now.milliseconds(since: drawn ?? began) >= (drawn == nil ? 1_000 : 100)
        else { return }
        drawn = now
        console.errors.write("\r\u{1B}[K\(count) of \(wanted) requests")
    }

    func clear() { if drawn != nil { console.errors.write("\r\u{1B}[K") } }
}
