internal import HTTPDNSDiagnosis
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSTrust
internal import HTTPDNSWire

/// The picture of who said what: a row a source, a column an address, and in each place where they meet
/// what is to be thought of that address.
struct PagePicture {
    private let evidence: Evidence
    private let judgement: Judgement

    init(_ diagnosis: Diagnosis) {
        evidence = diagnosis.evidence
        judgement = diagnosis.judgement
    }

    var section: Markup {
        let shown = Array(judgement.addresses.prefix(PagePicture.mostColumns))
        let columns =
            [Markup.text("Source"), .text("Judged")] + shown.map { PagePicture.mono($0.address) }
            + [.text("Said besides")]
        let left = judgement.addresses.count - shown.count
        let more = left > 0 ? "; \(left) more addresses are in the evidence below" : ""
        return .section(
            "Who said what",
            [
                .table(
                    "picture stacked",
                    caption: "Each source, and what stands at each address it gives" + more,
                    columns: columns.map { .columnHead($0) },
                    rows: judgement.sources.map { row($0, shown) })
            ])
    }

    private static func mono(_ address: IPAddress) -> Markup {
        .element("span", class: "mono", [.text(address.description)])
    }

    private func row(_ judged: SourceJudgement, _ shown: [AddressJudgement]) -> Markup {
        let cells = shown.map { address in
            Markup.cell(
                address.address.description,
                address.givenBy.contains(judged.source.label)
                    ? [PageTone(address.standing).pill(DiagnoseWords.words(address.standing))]
                    : [])
        }
        let besides = besides(judged.source)
        return .row(
            [
                .rowHead(.element("span", class: "mono", [.text(judged.source.label)])),
                .cell(
                    "Judged",
                    [PageTone(judged.standing).pill(DiagnoseWords.standing(of: judged))]),
            ] + cells + [.cell("Said besides", besides.isEmpty ? [] : [.text(besides)])])
    }

    /// What is no address.
    private func besides(_ source: EvidenceSource) -> String {
        let answers = evidence.answers.filter {
            $0.source == source && $0.statement?.addresses.isEmpty != false
        }
        // What is said of A is often said of AAAA.
        var types: [(words: String, types: [String])] = []
        for answer in answers {
            let words = DiagnoseWords.words(answer)
            if let place = types.firstIndex(where: { $0.words == words }) {
                types[place].types.append(answer.type.name)
            } else {
                types.append((words, [answer.type.name]))
            }
        }
        var said = source.alternateOf.map { ["another port of \($0)"] } ?? []
        said += types.map { "\($0.types.joined(separator: " and ")): \($0.words)" }
        if evidence.answers.allSatisfy({ $0.source != source }) { said.append("nothing in time") }
        return said.joined(separator: "; ")
    }

    /// Because: what a screen shows without losing the row; all of them are listed below.
    private static let mostColumns = 10
}

/// When what came.
struct PageTimeline {
    private let evidence: Evidence
    private let judgement: Judgement

    init(_ diagnosis: Diagnosis) {
        evidence = diagnosis.evidence
        judgement = diagnosis.judgement
    }

    private struct Entry {
        let seen: Sighting
        let what: String
        let outcome: String
        let tone: PageTone
    }

    var section: Markup {
        let entries = self.entries.sorted { $0.seen.atMilliseconds < $1.seen.atMilliseconds }
        guard !entries.isEmpty else { return .nothing }
        let total = max(evidence.tookMilliseconds, 1)
        let rows = entries.map { entry in
            Markup.row([
                .rowHead(.text(entry.what)), .cell("When", [bar(entry, total)]),
                .cell("At", [.text("\(entry.seen.atMilliseconds) ms")]),
                .cell("Outcome", [.text(entry.outcome)]),
            ])
        }
        return .section(
            "Timeline",
            [
                .table(
                    "timeline stacked", caption: "From the start to the end, \(total) ms",
                    columns: ["What", "When", "At", "Outcome"].map { .columnHead(.text($0)) },
                    rows: rows)
            ])
    }

    /// From the asking to the outcome; the numbers beside it say the same.
    private func bar(_ entry: Entry, _ total: Int64) -> Markup {
        let scale = { (milliseconds: Int64) in min(max(milliseconds, 0), total) * 1_000 / total }
        let end = scale(entry.seen.atMilliseconds)
        let width = max(scale(entry.seen.tookMilliseconds), PageTimeline.leastWidth)
        let start = min(max(end - width, 0), 1_000 - width)
        let place: [(StaticString, String)] = [
            ("class", entry.tone.rawValue), ("x", String(start)), ("y", "1"),
            ("width", String(width)), ("height", "8"),
        ]
        return .element(
            "svg",
            [
                ("class", "bar"), ("viewBox", "0 0 1000 10"), ("preserveAspectRatio", "none"),
                ("aria-hidden", "true"), ("focusable", "false"),
            ], [.element("rect", place)])
    }

    /// Of a thousand. Because: what takes no time must still be seen.
    private static let leastWidth: Int64 = 8

    private static func words(_ fetch: FetchEvidence) -> String {
        let place = fetch.address.map { " at \($0)" } ?? ""
        switch fetch.purpose {
        case .portalProbe: return "the probe page" + place
        case .plain, .reference: return "page in clear" + place
        case .verified: return "page over TLS" + place
        }
    }

    private var entries: [Entry] {
        let standings = Dictionary(
            judgement.addresses.map { ($0.address, $0.standing) }, uniquingKeysWith: { $1 })
        let judged = Dictionary(
            judgement.sources.map { ($0.source.label, PageTone($0.standing)) },
            uniquingKeysWith: { $1 })
        let answers = evidence.answers.filter { $0.source.standing != .hosts }.map { answer in
            let tone: PageTone =
                if let statement = answer.statement {
                    statement.isPositive || statement.isNegative
                        ? judged[answer.source.label] ?? .unclear : .unclear
                } else { PageTone.none }
            return Entry(
                seen: answer.seen, what: "\(answer.source.label) \(answer.type)",
                outcome: DiagnoseWords.words(answer), tone: tone)
        }
        let races = evidence.races.map {
            Entry(
                seen: $0.seen, what: "\($0.source.label) \($0.type), a second answer",
                outcome: DiagnoseWords.words($0.second), tone: .bad)
        }
        let peers = evidence.peers.map { peer in
            let standing = standings[peer.address] ?? .untried
            return Entry(
                seen: peer.seen, what: "handshake with \(peer.address)",
                outcome: DiagnoseWords.words(standing), tone: PageTone(standing))
        }
        let fetches = evidence.fetches.map { fetch in
            let isThere = (try? fetch.result.get()) != nil
            return Entry(
                seen: fetch.seen, what: PageTimeline.words(fetch),
                outcome: DiagnoseRendering.outcome(of: fetch),
                tone: isThere ? .good : PageTone.none)
        }
        return answers + races + peers + fetches + nowhere
    }

    /// What was asked where nobody should answer.
    private var nowhere: [Entry] {
        let places =
            evidence.vacantPorts.map { ($0.place, $0.statement, $0.seen) }
            + (evidence.dark.map { [($0.address, $0.statement, $0.seen)] } ?? [])
        return places.map { place, statement, seen in
            Entry(
                seen: seen, what: "udp://\(place), where no DNS is",
                outcome: statement.map(DiagnoseWords.words) ?? "no answer, as it should be",
                tone: statement == nil ? .good : .bad)
        }
    }
}

/// What was found at each address, with the certificates.
struct PageChains {
    private let evidence: Evidence
    private let judgement: Judgement

    init(_ diagnosis: Diagnosis) {
        evidence = diagnosis.evidence
        judgement = diagnosis.judgement
    }

    var section: Markup {
        guard !judgement.addresses.isEmpty else { return .nothing }
        return .section(
            "Addresses and certificates",
            judgement.addresses.prefix(DiagnoseWords.mostAddresses).map { block($0) })
    }

    private func block(_ judged: AddressJudgement) -> Markup {
        let peer = evidence.peers.first { $0.address == judged.address }
        var parts: [Markup] = [
            .element(
                "h3", [],
                [
                    .element("span", class: "mono", [.text(judged.address.description + " ")]),
                    PageTone(judged.standing).pill(DiagnoseWords.words(judged.standing)),
                ]),
            .element(
                "p", class: "soft",
                [.text("Given by " + judged.givenBy.joined(separator: ", ") + ".")]),
        ]
        guard let peer else { return .joined(parts) }
        var facts = ["Connection on port \(peer.port): " + DiagnoseWords.words(peer.connection)]
        let handshakes: [(String, Handshake?)] = [
            ("With the name", peer.real), ("Without a name", peer.withoutName),
            ("With another name", peer.otherName),
        ]
        if let other = peer.otherPort {
            facts.append(
                "Connection on port \(other.port): " + DiagnoseWords.words(other.connection))
        }
        facts += handshakes.filter { $0.1 != nil }.map {
            "\($0.0): " + DiagnoseWords.words($0.1)
        }
        parts.append(.list(facts.map { .text($0) }))
        if let chain = peer.real?.chain, !chain.isEmpty { parts.append(self.chain(chain)) }
        return .joined(parts)
    }

    private func chain(_ chain: [CertificateFacts]) -> Markup {
        .element("ol", class: "chain", chain.prefix(8).map { .element("li", [], certificate($0)) })
    }

    private func certificate(_ certificate: CertificateFacts) -> [Markup] {
        let names = VerdictRendering.names(of: certificate)
        var rows = ["Issuer: " + (certificate.issuer.isEmpty ? "none" : certificate.issuer)]
        if !names.isEmpty {
            let more = names.count > 8 ? ", …" : ""
            rows.append("Names: " + names.prefix(8).joined(separator: ", ") + more)
        }
        rows.append("Valid \(certificate.notBefore.iso8601) to \(certificate.notAfter.iso8601)")
        rows.append("Key \(certificate.key), pin \(certificate.pin)")
        let subject = certificate.subject.isEmpty ? "no subject" : certificate.subject
        let head = Markup.element("strong", [], [.text(subject.clipped)])
        return [head]
            + rows.map { .element("br") + .element("span", class: "soft", [.text($0.clipped)]) }
    }
}
