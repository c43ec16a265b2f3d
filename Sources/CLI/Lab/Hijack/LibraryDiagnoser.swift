internal import HTTPDNS
internal import HTTPDNSDiagnosis
internal import HTTPDNSEvidence
internal import HTTPDNSExchange
internal import HTTPDNSLookup
internal import HTTPDNSNames
package import HTTPDNSPinLab
internal import HTTPDNSPlatform
internal import HTTPDNSTransport
internal import HTTPDNSTrust

/// This library's diagnosis, of what the hijack tells and nothing else: no resolver of this machine, no
/// packet beyond loopback.
package struct LibraryDiagnoser: HijackDiagnoser {
    let patienceMilliseconds: Int64

    package init(patienceMilliseconds: Int64) {
        self.patienceMilliseconds = patienceMilliseconds
    }

    package func diagnose(_ stage: HijackStage) -> HijackDiagnosis {
        let done = ConditionLocked<[HijackDiagnosis]>([])
        let target = stage.target
        Task.detached {
            let diagnosis = await diagnosis(of: target)
            done.withLockSignalling { $0 = [diagnosis] }
        }
        let ended = done.waitAndTake({ done, _ in done }, until: { _ in nil })
        return ended.first ?? HijackDiagnosis(nil)
    }

    private func diagnosis(of target: HijackTarget) async -> HijackDiagnosis {
        do {
            let options = try options(for: target)
            let diagnosis = try await Diagnosis.run(try HostName(target.host), options: options)
            return HijackDiagnosis(
                HijackFinding(diagnosis.verdict),
                output: LibraryDiagnoser.words(diagnosis.judgement),
                milliseconds: diagnosis.evidence.tookMilliseconds)
        } catch { return HijackDiagnosis(nil, output: "\(error)\n") }
    }

    private func options(for target: HijackTarget) throws -> DiagnosisOptions {
        let trust = TrustPolicy(roots: .pem(target.authorityPEM))
        let factory = try ResolverFactory(trust: trust, transport: Transport())
        let made = { (source: HijackSource) throws in
            try factory.backend(for: try HijackResolver.description(source))
        }
        var options = DiagnosisOptions(trusted: try target.trusted.map(made))
        options.nameservers = target.resolvers.filter { $0.form == .datagram }.map(\.endpoint)
        options.resolvers = try target.resolvers.filter { $0.form != .datagram }.map(made)
        options.asksSystem = false
        options.hostsFile = nil
        options.trust = trust
        options.securePort = target.port
        options.probe = try HTTPURL(target.probeURL)
        // The port of clear HTTP is not to be had; nobody is at this one but who is probed.
        options.plainPort = target.probePort
        options.darkAddress = target.vacantDNS.endpoint
        options.otherPort = target.otherPort
        options.vacantPort = target.vacantPort
        // Who answers is there: what is awaited comes, or is refused at once.
        options.vacantPatience = .milliseconds(patienceMilliseconds)
        options.patience = .milliseconds(patienceMilliseconds)
        options.staysOnLoopback = true
        return options
    }

    /// What was found, layer by layer, and what for.
    private static func words(_ judgement: Judgement) -> String {
        var lines = ["\(judgement.verdict.label), \(judgement.confidence.rawValue)"]
        lines += judgement.layers.map { "\($0.layer.rawValue): \($0.state.rawValue), \($0.text)" }
        lines += judgement.evidenceFor.map { "+ \($0.text)" }
        lines += judgement.evidenceAgainst.map { "- \($0.text)" }
        lines += judgement.notes.map { "  \($0.text)" }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension HijackSource {
    fileprivate var endpoint: Endpoint { Endpoint(address: address, port: port) }
}

extension HijackFinding {
    init(_ verdict: Verdict) {
        let ways: Set<String> =
            switch verdict {
            case .dnsHijacked(_, let how): [how.rawValue]
            case .inconclusive(let missing): Set(missing.map(\.rawValue))
            default: []
            }
        // The two lists are the issue's; a label that is none of these would be a fault of ours.
        self.init(HijackVerdict(rawValue: verdict.label) ?? .inconclusive, ways)
    }
}
