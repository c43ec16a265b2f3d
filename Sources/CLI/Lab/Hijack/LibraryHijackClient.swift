internal import HTTPDNS
internal import HTTPDNSClient
internal import HTTPDNSExchange
internal import HTTPDNSLookup
internal import HTTPDNSNames
package import HTTPDNSPinLab
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// This library as a hijack's client: as an application puts it together, with the resolvers that a step
/// names and no other.
package struct LibraryHijackClient: HijackClient {
    let timeoutMilliseconds: Int64

    package init(timeoutMilliseconds: Int64) { self.timeoutMilliseconds = timeoutMilliseconds }

    package func excuse(for scenario: HijackScenario) -> String? { nil }

    package func play(_ stage: HijackStage) -> HijackPlay {
        let played = ConditionLocked<[HijackPlay]>([])
        Task.detached {
            let play = await attempt(stage)
            played.withLockSignalling { $0 = [play] }
        }
        let ended = played.waitAndTake({ played, _ in played }, until: { _ in nil })
        return ended.first ?? HijackPlay([])
    }

    private func attempt(_ stage: HijackStage) async -> HijackPlay {
        let begun = SystemMonotonicClock().now()
        var play = HijackPlay([])
        var current: HTTPDNS?
        do {
            for (index, step) in stage.steps.enumerated() {
                try stage.begin(index)
                let httpdns: HTTPDNS
                if let current, !step.isNewClient {
                    httpdns = current
                } else {
                    httpdns = try LibraryHijackClient.made(step, stage.target)
                }
                current = httpdns
                let (outcome, words) = await outcome(of: step, stage, httpdns.client)
                play.outcomes.append(outcome)
                play.output += words
            }
        } catch { play.trouble = "\(error)" }
        play.milliseconds = SystemMonotonicClock().now().milliseconds(since: begun)
        return play
    }

    private func outcome(
        of step: HijackStep, _ stage: HijackStage, _ client: HTTPDNSClient
    ) async -> (HijackOutcome, String) {
        do {
            var request = HTTPRequest(.get, try HTTPURL(step.url))
            let limit =
                stage.scenario.isStall
                ? min(timeoutMilliseconds, LibraryHijackClient.stallMilliseconds)
                : timeoutMilliseconds
            request.limits.total = .milliseconds(limit)
            let response = try await client.send(request)
            var octets: [UInt8] = []
            for try await piece in response.body where octets.count < 65_536 { octets += piece }
            let text = String(decoding: octets, as: UTF8.self)
            return (.content(text), "\(step.aim): \(text)")
        } catch let failure as ExchangeFailure {
            let label = FetchTrouble(failure).label
            return (.refused(label), "\(step.aim): \(failure)\n")
        } catch {
            return (.refused("\(error)"), "\(step.aim): \(error)\n")
        }
    }

    private static func made(_ step: HijackStep, _ target: HijackTarget) throws -> HTTPDNS {
        var configuration = HTTPDNSConfiguration()
        configuration.resolvers = try step.resolvers.map(HijackResolver.description)
        configuration.usesHostsFile = false
        configuration.trust = TrustPolicy(roots: .pem(target.authorityPEM))
        configuration.resolverTrust = configuration.trust
        return try HTTPDNS(configuration)
    }

    /// How long what never comes is waited for.
    ///
    /// Because: on loopback an answer takes milliseconds; the limit is what is tested, not its length.
    private static let stallMilliseconds: Int64 = 2_000
}

/// A source of a hijack, as this library knows it.
enum HijackResolver {
    static func description(_ source: HijackSource) throws -> ResolverDescription {
        var description = try ResolverDescription(source.text)
        guard case .provider = source.form, let url = source.url else { return description }
        description.endpoint = try HTTPURL(url)
        description.account = source.account
        description.key = source.key
        return description
    }
}
