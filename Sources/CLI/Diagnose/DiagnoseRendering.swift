internal import HTTPDNSDiagnosis
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSTrust
internal import HTTPDNSWire

/// A diagnosis for a terminal: the verdict, a line for each layer, then the evidence. Pure; every line
/// is printable.
struct DiagnoseRendering {
    private let diagnosis: Diagnosis
    private let paint: Paint
    private let showsRaw: Bool

    private var evidence: Evidence { diagnosis.evidence }
    private var judgement: Judgement { diagnosis.judgement }

    init(_ diagnosis: Diagnosis, _ paint: Paint, showsRaw: Bool) {
        self.diagnosis = diagnosis
        self.paint = paint
        self.showsRaw = showsRaw
    }

    var lines: [String] {
        [headline] + layers + [""] + reasons + sources + addresses + probes + remainder
    }

    private var headline: String {
        let words = DiagnoseWords.headline(judgement)
        let painted =
            switch judgement.verdict.exitCode {
            case .succeeded: paint.green(words.printable)
            case .negative: paint.red(words.printable)
            default: paint.yellow(words.printable)
            }
        let name = evidence.name.shownBothWays.printable
        // How sure it is that nothing is sure is no news.
        guard case .inconclusive = judgement.verdict else {
            return "\(paint.bold(name)): \(painted) (\(judgement.confidence.rawValue))"
        }
        return "\(paint.bold(name)): \(painted)"
    }

    private var layers: [String] {
        judgement.layers.map { line in
            let state = DiagnoseWords.words(line.state)
            let painted =
                switch line.state {
                case .good: paint.green(state)
                case .bad: paint.red(state)
                case .unclear: paint.yellow(state)
                case .notTried: paint.dim(state)
                }
            let name = line.layer.rawValue
            return "  " + name + String(repeating: " ", count: 9 - name.count) + painted
                + String(repeating: " ", count: 11 - state.count) + line.text.printable
        }
    }

    private var reasons: [String] {
        var lines: [String] = []
        let parts: [(String, [Finding])] = [
            ("Because:", judgement.evidenceFor), ("Against it:", judgement.evidenceAgainst),
            ("Besides:", judgement.notes),
        ]
        for (title, findings) in parts where !findings.isEmpty {
            lines.append(paint.bold(title))
            lines += findings.map { "  - " + $0.text.printable }
        }
        if !judgement.advice.isEmpty {
            lines.append(paint.bold("What to do:"))
            lines += judgement.advice.map { "  - " + $0.text.printable }
        }
        return lines + [""]
    }

    private var sources: [String] {
        var table = TextTable(["SOURCE", "JUDGED", "TYPE", "TTL", "MS", "SAYS"])
        for judged in judgement.sources {
            let answers = evidence.answers.filter { $0.source == judged.source }
            let said = answers.isEmpty ? [nil] : answers.map { Optional($0) }
            for (number, answer) in said.enumerated() {
                let isFirst = number == 0
                table.add(row(isFirst ? judged : nil, answer).map(\.printable))
            }
        }
        let races = evidence.races.map { race in
            "two answers from \(race.source.label), \(race.millisecondsApart) ms apart: "
                + "\(DiagnoseWords.words(race.first)) / \(DiagnoseWords.words(race.second))"
        }
        return table.lines(paint) + races.map(\.printable) + [""]
    }

    private func row(_ judged: SourceJudgement?, _ answer: AnswerEvidence?) -> [String] {
        let standing = judged.map { DiagnoseWords.standing(of: $0) } ?? ""
        guard let answer else {
            return [judged?.source.label ?? "", standing, "–", "–", "–", "nothing in time"]
        }
        let life = answer.statement?.ttlSeconds.map { String($0) } ?? "–"
        return [
            judged?.source.label ?? "", standing, answer.type.name, life,
            String(answer.seen.tookMilliseconds), DiagnoseWords.words(answer),
        ]
    }

    private var addresses: [String] {
        guard !judgement.addresses.isEmpty else { return [] }
        var table = TextTable([
            "ADDRESS", "FOUND", "CONNECTION", "WITH THE NAME", "WITHOUT", "OTHER",
        ])
        for judged in judgement.addresses.prefix(DiagnoseWords.mostAddresses) {
            let peer = evidence.peers.first { $0.address == judged.address }
            table.add(
                [
                    judged.address.description, DiagnoseWords.words(judged.standing),
                    peer.map { DiagnoseWords.words($0.connection) } ?? "–",
                    DiagnoseWords.words(peer?.real), DiagnoseWords.words(peer?.withoutName),
                    DiagnoseWords.words(peer?.otherName),
                ].map(\.printable))
        }
        return table.lines(paint) + certificates + [""]
    }

    /// Of those that were refused: who made them, and for whom.
    private var certificates: [String] {
        evidence.peers.flatMap { peer -> [String] in
            guard case .untrusted(let failure) = peer.real else { return [] }
            return failure.facts.chain.prefix(8).enumerated().map { number, certificate in
                let names = VerdictRendering.names(of: certificate).prefix(6)
                let list = names.isEmpty ? "none" : names.joined(separator: ", ")
                return "  \(peer.address) certificate \(number): \(certificate.subject.clipped); "
                    + "names \(list.clipped); issuer \(certificate.issuer.clipped); "
                    + "\(certificate.notBefore.iso8601) to \(certificate.notAfter.iso8601)"
            }
        }.map(\.printable)
    }

    private var probes: [String] {
        var lines = evidence.sources.compactMap { source in
            source.alternateOf.map { "\(source.label) is another port of \($0)" }
        }
        lines += evidence.randomNames.compactMap { probe -> String? in
            guard probe.answer.statement?.isPositive == true else { return nil }
            return "made-up \(probe.answer.name): \(probe.answer.source.label) says "
                + DiagnoseWords.words(probe.answer)
        }
        if let dark = evidence.dark {
            lines.append(
                "\(dark.address), where no name server is: "
                    + (dark.statement.map(DiagnoseWords.words) ?? "no answer, as it should be"))
        }
        lines += evidence.vacantPorts.map(DiagnoseWords.words)
        lines += evidence.identities.map {
            "\($0.source.label), asked \($0.probe): "
                + ($0.texts.isEmpty ? "nothing" : $0.texts.joined(separator: ", ").clipped)
        }
        lines += evidence.fetches.map(DiagnoseRendering.line)
        lines += evidence.times.map(DiagnoseRendering.line)
        if let told = evidence.network.translation {
            lines.append("\(told.resolver) ipv4only.arpa: " + DiagnoseWords.words(told))
        }
        return lines.isEmpty ? [] : lines.map(\.printable) + [""]
    }

    static func line(_ fetch: FetchEvidence) -> String {
        let place = fetch.address.map { " at \($0)" } ?? ""
        return "\(fetch.url)\(place): \(outcome(of: fetch))"
    }

    static func outcome(of fetch: FetchEvidence) -> String {
        switch fetch.result {
        case .failure(let failure): return failure.reason.clipped
        case .success(let page):
            let leads = page.location.map { ", leads to \($0.clipped)" } ?? ""
            return "\(page.status)\(leads), \(page.bodyOctets) octets"
        }
    }

    static func line(_ told: TimeEvidence) -> String {
        let proof = told.isProven ? "" : ", unproven"
        let way = told.form == .dateField ? "by its Date field" : "in its answer"
        return "\(told.teller) says \(way) that it is \(told.time.iso8601)\(proof)"
    }

    private var remainder: [String] {
        var lines: [String] = []
        if showsRaw { lines += RawLines(evidence).all }
        lines += evidence.unfinished.map { "not finished: \($0)" }
        lines += evidence.shortages.map { "not asked for want of it: \($0)" }
        if !evidence.skipped.isEmpty {
            lines.append("not looked into: " + evidence.skipped.joined(separator: "; "))
        }
        lines.append("\(DurationText.precise(milliseconds: Double(evidence.tookMilliseconds)))")
        return lines.map(\.printable)
    }
}

// Events, for --verbose
extension DiagnoseRendering {
    /// One line for standard error; nil for what is not worth one.
    static func line(of event: DiagnosisEvent) -> String? {
        switch event {
        case .started(let sources):
            "asking " + sources.map(\.label).joined(separator: ", ")
        case .answered(let answer):
            "\(answer.seen.atMilliseconds) ms  \(answer.source.label) \(answer.type): "
                + DiagnoseWords.words(answer)
        case .raced(let race):
            "\(race.seen.atMilliseconds) ms  \(race.source.label) \(race.type): a second answer, "
                + DiagnoseWords.words(race.second)
        case .asked(let probe):
            "\(probe.answer.seen.atMilliseconds) ms  \(probe.answer.source.label) "
                + "\(probe.answer.name): \(DiagnoseWords.words(probe.answer))"
        case .listened(let dark):
            "\(dark.seen.atMilliseconds) ms  \(dark.address): "
                + (dark.statement.map(DiagnoseWords.words) ?? "no answer, as it should be")
        case .knocked(let vacant):
            "\(vacant.seen.atMilliseconds) ms  \(DiagnoseWords.words(vacant))"
        case .identified(let identity):
            "\(identity.seen.atMilliseconds) ms  \(identity.source.label) \(identity.probe): "
                + identity.texts.joined(separator: ", ")
        case .met(let peer):
            "\(peer.seen.atMilliseconds) ms  \(peer.address): "
                + "\(DiagnoseWords.words(peer.connection)), \(DiagnoseWords.words(peer.real))"
        case .fetched(let fetch): "\(fetch.seen.atMilliseconds) ms  \(line(fetch))"
        case .timed(let told): "\(told.seen.atMilliseconds) ms  \(line(told))"
        case .routed(let routes):
            "\(routes.seen.atMilliseconds) ms  \(DiagnoseWords.words(routes))"
        case .translated(let told):
            "\(told.seen.atMilliseconds) ms  \(told.resolver) ipv4only.arpa: "
                + DiagnoseWords.words(told)
        case .judged(let judgement): DiagnoseWords.headline(judgement)
        }
    }
}
