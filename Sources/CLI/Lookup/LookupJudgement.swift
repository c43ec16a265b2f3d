internal import HTTPDNSDiagnosis
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSWire

/// What is to be thought of resolvers that disagree about a name: the judgement of `diagnose`, on what
/// a lookup has, which connects to nobody. So a difference of addresses alone decides nothing here.
struct LookupJudgement {
    let reports: [LookupReport]

    /// For the end of the line that says that they disagree; nil where there is nothing to judge.
    var phrase: String? {
        guard let name = reports.lazy.compactMap({ try? $0.subject.name.get() }).first,
            reports.contains(where: { !$0.addresses.isEmpty })
        else { return nil }
        var evidence = Evidence(name: name, now: WallTime(secondsSince1970: 0))
        for (number, report) in reports.enumerated() {
            let source = source(of: report, number)
            evidence.sources.append(source)
            evidence.answers += report.parts.compactMap { answer($0, source, name) }
        }
        let judgement = Judgement(of: evidence)
        if case .dnsHijacked(let source, let how) = judgement.verdict {
            return "\(source.label.printable) \(DiagnoseWords.words(how)) "
                + "(\(judgement.confidence.rawValue))"
        }
        return "that alone is no hijack: httpdns diagnose \(name) tells"
    }

    private func source(of report: LookupReport, _ number: Int) -> EvidenceSource {
        let transport = report.answerSource?.transport ?? .udp
        // One that is asked twice is two sources here.
        let isAgain = reports[..<number].contains { $0.source.label == report.source.label }
        let label = report.source.shown(report.source.label)
        return EvidenceSource(
            label: isAgain ? "\(label) (\(number + 1))" : label,
            standing: report.source.isAuthenticated ? .trusted : .resolver, transport: transport)
    }

    private func answer(
        _ part: LookupReport.Part, _ source: EvidenceSource, _ name: HostName
    ) -> AnswerEvidence? {
        guard [.a, .aaaa].contains(part.type), case .success(let answer) = part.result else {
            return nil
        }
        let testimony = answer.testimony
        return AnswerEvidence(
            source: source, name: name, type: part.type,
            result: .success(
                Statement(
                    code: testimony.code, addresses: answer.addresses, aliases: answer.aliases,
                    ttlSeconds: answer.ttlSeconds, isAuthenticData: testimony.isAuthenticData,
                    extendedErrors: testimony.extendedErrors)))
    }
}
