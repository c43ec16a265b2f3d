internal import HTTPDNS
internal import HTTPDNSClient
internal import HTTPDNSExchange
internal import HTTPDNSIDNA
internal import HTTPDNSNames
internal import HTTPDNSPinLab
internal import HTTPDNSPlatform
internal import HTTPDNSPublicSuffix
internal import HTTPDNSTransport
internal import HTTPDNSTrust

/// This library as the laboratory's client: resolver, client, transport and verifier as applications
/// use them, with the addresses given and no other resolver.
struct LibraryClient: LabClient {
    let timeoutMilliseconds: Int64

    func excuse(for scenario: LabScenario) -> String? { nil }

    func play(_ stage: LabStage) -> LabPlay {
        let played = ConditionLocked<[LabPlay]>([])
        Task.detached {
            let play = await attempt(stage)
            played.withLockSignalling { $0 = [play] }
        }
        return played.waitAndTake({ played, _ in played }, until: { _ in nil }).first ?? LabPlay([])
    }

    /// Every step with the same transport: its connections and sessions are what a later step might
    /// wrongly use.
    private func attempt(_ stage: LabStage) async -> LabPlay {
        let begun = SystemMonotonicClock().now()
        var play = LabPlay([])
        play.checksCodes = true
        let transport = Transport()
        for step in stage.steps {
            let (outcome, words) = await outcome(of: step, stage, transport)
            play.outcomes.append(outcome)
            play.output += words
        }
        play.milliseconds = SystemMonotonicClock().now().milliseconds(since: begun)
        return play
    }

    private func outcome(
        of step: LabStep, _ stage: LabStage, _ transport: Transport
    ) async -> (LabOutcome, String) {
        do {
            let url = try HTTPURL(step.url)
            let client = try LibraryClient.client(step, stage, url, transport)
            var request = HTTPRequest(.get, url)
            let isStall = stage.scenario.isStall
            request.limits.total = .milliseconds(
                isStall
                    ? min(timeoutMilliseconds, LibraryClient.stallMilliseconds)
                    : timeoutMilliseconds)
            let response = try await client.send(request)
            let status = response.head.status
            for try await _ in response.body {}
            return status == 200
                ? (.accepted, "") : (.refused("status \(status)"), "status \(status)\n")
        } catch let failure as ExchangeFailure {
            return (.refused(FetchTrouble(failure).label), "\(failure)\n")
        } catch {
            return (.refused("\(error)"), "\(error)\n")
        }
    }

    private static func client(
        _ step: LabStep, _ stage: LabStage, _ url: HTTPURL, _ transport: Transport
    ) throws -> HTTPDNSClient {
        var configuration = HTTPDNSConfiguration()
        configuration.resolvers = []
        configuration.usesHostsFile = false
        if case .name(let name) = url.origin.host {
            configuration.overrides = [name: [stage.target.address]]
        }
        configuration.trust = TrustPolicy(roots: .pem(stage.target.authorityPEM))
        if stage.scenario.needs.contains(.transparency) {
            configuration.trust.transparency = TransparencyPolicy(
                .require(minimumLogs: 1), logs: [.text(stage.target.logList)])
        }
        if let lists = stage.target.revocationLists {
            configuration.trust.revocation = RevocationPolicy(.required, lists: [.pem(lists)])
        }
        if !step.pins.isEmpty {
            // What is tried is one pin; the rule that there be two is the policy file's.
            try configuration.trust.pins.add(
                step.pins.map(\.description), for: step.host, backup: .waived)
        }
        let isPublicSuffix: @Sendable (HostName) -> Bool = { PublicSuffix.isPublicSuffix($0) }
        return HTTPDNSClient(
            resolver: try HTTPDNS(configuration).resolver,
            parts: HTTPDNSClient.Parts(
                transport: transport, verifier: try ResolverFactory.verifier(configuration.trust),
                cookies: CookieBox(isPublicSuffix: isPublicSuffix),
                toASCII: { (text) throws(NameError) in try IDNA.toASCII(text) },
                isPublicSuffix: isPublicSuffix))
    }

    /// How long a server that stays silent is waited for.
    ///
    /// Because: on loopback an answer takes milliseconds; the limit is what is tested, not its length.
    private static let stallMilliseconds: Int64 = 2_000
}
