internal import HTTPDNS
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTransport
internal import HTTPDNSTrust

/// Makes the back-ends of a command: one transport, one verifier for each policy, and nothing of
/// either where plain DNS needs none.
final class BackendMaker: Sendable {
    private struct Made {
        var transport: Transport?
        var factories: [TrustPolicy: ResolverFactory] = [:]
    }

    private let console: Console
    private let made = Locked(Made())

    init(console: Console) { self.console = console }

    /// The back-end of a resolver, and its description with the addresses it is asked at.
    ///
    /// - Throws: ``QueryFailure``: its host is not found, or a setting cannot work.
    func backend(
        for resolver: NamedResolver, deadline: Monotonic
    ) async throws(QueryFailure) -> (backend: any ResolverBackend, addressed: ResolverDescription) {
        let addressed = try await SystemBootstrap.addressed(
            resolver.description, deadline: deadline, console)
        if let plain = ResolverFactory.trustlessBackend(for: addressed) {
            return (plain, addressed)
        }
        do throws(SetupFault) {
            let policy = resolver.trust.policy(for: addressed.provenHost)
            return (try factory(policy).backend(for: addressed), addressed)
        } catch {
            switch error {
            case .resolver(_, let failure): throw failure
            case .trust(let error):
                let place = resolver.trust.rootPlace.map { "\($0): " } ?? ""
                throw .misconfigured(place + "\(error)")
            }
        }
    }

    private func factory(_ policy: TrustPolicy) throws(SetupFault) -> ResolverFactory {
        let result = made.withLock { made -> Result<ResolverFactory, SetupFault> in
            if let factory = made.factories[policy] { return .success(factory) }
            let transport = made.transport ?? Transport()
            made.transport = transport
            do throws(SetupFault) {
                let factory = try ResolverFactory(
                    trust: policy, transport: transport,
                    report: { [console] in console.note("note: " + $0) })
                made.factories[policy] = factory
                return .success(factory)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
