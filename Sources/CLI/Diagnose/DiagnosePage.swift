internal import HTTPDNSDiagnosis
internal import HTTPDNSJSON
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// A diagnosis as one page that needs nothing else: for a person who was not there. Pure but for
/// ``write(to:)``.
struct DiagnosePage {
    private let diagnosis: Diagnosis
    private let showsRaw: Bool

    private var evidence: Evidence { diagnosis.evidence }
    private var judgement: Judgement { diagnosis.judgement }

    init(_ diagnosis: Diagnosis, showsRaw: Bool) {
        self.diagnosis = diagnosis
        self.showsRaw = showsRaw
    }

    /// Before anybody is asked.
    ///
    /// - Throws: ``CommandFault``.
    static func checkWritable(_ path: String) throws(CommandFault) {
        do throws(FileFault) { try ReplacedFile.checkReplaceable(path) } catch {
            throw .usage("--html \(error)")
        }
    }

    /// - Throws: ``CommandFault``.
    func write(to path: String) throws(CommandFault) {
        do throws(FileFault) { try ReplacedFile.replace(path, with: Array(html.utf8)) } catch {
            throw .usage("--html \(error)")
        }
    }

    var html: String {
        let name = evidence.name.shownBothWays
        let parts = [
            verdict(name), layers, reasons, PagePicture(diagnosis).section,
            PageTimeline(diagnosis).section, PageChains(diagnosis).section, besides, raw, foot,
        ]
        return Markup.document(
            title: "\(name): \(DiagnoseWords.headline(judgement))",
            style: PageStyle.text, body: [Markup.element("main", [], parts)])
    }

    // MARK: Verdict

    private func verdict(_ name: String) -> Markup {
        let tone = PageTone(judgement.verdict)
        let advice = judgement.advice.map { advice in
            Markup.element("p", [], [Markup.text(advice.text)])
        }
        return .element(
            "header", class: "verdict " + tone.rawValue,
            [
                .element(
                    "h1", [],
                    [
                        .element("span", [("aria-hidden", "true")], [.text(tone.sign + " ")]),
                        .text(name + ": " + DiagnoseWords.headline(judgement)),
                    ]),
                .element(
                    "p", [],
                    [
                        .text(
                            "Verdict \(judgement.verdict.label)\(confidence). "
                                + "Looked at \(evidence.now.iso8601), for "
                                + DurationText.precise(
                                    milliseconds: Double(evidence.tookMilliseconds)) + ".")
                    ]),
            ] + advice)
    }

    private var confidence: String {
        if case .inconclusive = judgement.verdict { return "" }
        return ", " + judgement.confidence.rawValue
    }

    private var layers: Markup {
        let rows = judgement.layers.map { line in
            Markup.row([
                .rowHead(.text(line.layer.rawValue)),
                .cell("State", [PageTone(line.state).pill(DiagnoseWords.words(line.state))]),
                .cell("Found", [.text(line.text)]),
            ])
        }
        return .section(
            "Layer by layer",
            [
                .table(
                    "layers", caption: "From the network up to the page",
                    columns: ["Layer", "State", "Found"].map { .columnHead(.text($0)) }, rows: rows)
            ])
    }

    private var reasons: Markup {
        let parts: [(String, [Finding])] = [
            ("What speaks for it", judgement.evidenceFor),
            ("What speaks against it", judgement.evidenceAgainst),
            ("What else was found", judgement.notes),
        ]
        return .joined(
            parts.filter { !$0.1.isEmpty }.map { title, findings in
                .section(title, [.list(findings.map { .text($0.text) })])
            })
    }

    // MARK: Besides

    private var besides: Markup {
        var items = evidence.randomNames.map { probe in
            "\(probe.answer.source.label), asked for the made-up name \(probe.answer.name): "
                + DiagnoseWords.words(probe.answer)
        }
        if let dark = evidence.dark {
            items.append(
                "\(dark.address), where no name server is: "
                    + (dark.statement.map(DiagnoseWords.words) ?? "no answer, as it should be"))
        }
        items += evidence.vacantPorts.map(DiagnoseWords.words)
        items += evidence.identities.map {
            "\($0.source.label), asked \($0.probe): "
                + ($0.texts.isEmpty ? "nothing" : $0.texts.joined(separator: ", "))
        }
        items += evidence.fetches.map(DiagnoseRendering.line)
        items += evidence.times.map(DiagnoseRendering.line)
        if let told = evidence.network.translation {
            items.append("\(told.resolver), asked for ipv4only.arpa: " + DiagnoseWords.words(told))
        }
        guard !items.isEmpty else { return .nothing }
        return .section(
            "Other questions",
            [
                .folded(
                    "\(items.count) more questions and their answers",
                    [.list(items.map { .text($0) })])
            ])
    }

    private var raw: Markup {
        let lines = DiagnoseRendering(diagnosis, Paint(isOn: false), showsRaw: false).lines
        let messages = showsRaw ? RawLines(evidence).all : []
        let octets = JSONWriter.octets(DiagnoseJSON(showsRaw: showsRaw).value(diagnosis))
        return .section(
            "Raw evidence",
            [
                .folded("As text", [.element("pre", [], [.lines(lines)])]),
                .folded(
                    "As JSON",
                    [.element("pre", [], [.text(String(decoding: octets, as: UTF8.self))])]),
                messages.isEmpty
                    ? .nothing
                    : .folded(
                        "\(messages.count) messages as they came",
                        [.list(messages.map { .element("code", [], [.text($0)]) })]),
            ])
    }

    private var foot: Markup {
        var lines = evidence.unfinished.map { "Not finished: \($0)." }
        lines += evidence.shortages.map { "Not asked for want of it: \($0)." }
        if !evidence.skipped.isEmpty {
            lines.append("Not looked into: " + evidence.skipped.joined(separator: "; ") + ".")
        }
        lines.append(
            "An address is right when its server proves the name by TLS. Different addresses alone "
                + "are no sign of a hijack.")
        lines.append("Made by httpdns \(CommandLineTool.version).")
        return .element(
            "footer", class: "soft", lines.map { .element("p", [], [.text($0)]) })
    }
}

extension Markup {
    static func section(_ title: String, _ content: [Markup]) -> Markup {
        element("section", [], [element("h2", [], [text(title)])] + content)
    }

    static func list(_ items: [Markup]) -> Markup {
        element("ul", [], items.map { element("li", [], [$0]) })
    }

    static func folded(_ title: String, _ content: [Markup]) -> Markup {
        element("details", [], [element("summary", [], [text(title)])] + content)
    }

    /// A table that scrolls by itself where the screen is narrow, by keyboard, too. What it is stays
    /// said by roles, since a narrow screen shows its rows as blocks.
    static func table(
        _ kind: String, caption: String, columns: [Markup], rows: [Markup]
    ) -> Markup {
        element(
            "div",
            [("class", "wide"), ("tabindex", "0"), ("role", "region"), ("aria-label", caption)],
            [
                element(
                    "table", [("class", kind), ("role", "table")],
                    [
                        element("caption", [], [text(caption)]),
                        element("thead", [("role", "rowgroup")], [row(columns)]),
                        element("tbody", [("role", "rowgroup")], rows),
                    ])
            ])
    }

    static func row(_ cells: [Markup]) -> Markup { element("tr", [("role", "row")], cells) }

    static func columnHead(_ content: Markup) -> Markup {
        element("th", [("scope", "col"), ("role", "columnheader")], [content])
    }

    static func rowHead(_ content: Markup) -> Markup {
        element("th", [("scope", "row"), ("role", "rowheader")], [content])
    }

    /// A cell that names its column where the columns' heads are not shown.
    static func cell(_ column: String, _ content: [Markup]) -> Markup {
        element("td", [("role", "cell"), ("data-label", column)], content)
    }
}

/// The four ways in which something stands out: a colour, a sign, and a word that goes with them.
enum PageTone: String {
    case good, bad, unclear, none

    init(_ verdict: Verdict) {
        switch verdict.exitCode {
        case .succeeded: self = .good
        case .negative: self = .bad
        default: self = .unclear
        }
    }

    init(_ state: LayerLine.State) {
        switch state {
        case .good: self = .good
        case .bad: self = .bad
        case .unclear: self = .unclear
        case .notTried: self = .none
        }
    }

    init(_ standing: AddressJudgement.Standing) {
        switch standing {
        case .proven: self = .good
        case .impostor, .filtered, .impossible: self = .bad
        case .badCertificate, .mute, .unreachable: self = .unclear
        case .untried: self = .none
        }
    }

    init(_ standing: SourceJudgement.Standing) {
        switch standing {
        case .honest: self = .good
        case .lies: self = .bad
        case .privateView, .unproven, .failing: self = .unclear
        case .silent: self = .none
        }
    }

    var sign: String {
        switch self {
        case .good: "✓"
        case .bad: "✗"
        case .unclear: "?"
        case .none: "–"
        }
    }

    func pill(_ word: String) -> Markup {
        .element(
            "span", class: "pill " + rawValue,
            [.element("span", [("aria-hidden", "true")], [.text(sign + " ")]), .text(word)])
    }
}
