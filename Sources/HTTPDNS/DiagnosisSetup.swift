public import HTTPDNSDiagnosis
public import HTTPDNSEvidence
internal import HTTPDNSLookup
public import HTTPDNSNames
internal import HTTPDNSTransport
public import HTTPDNSTrust

extension DiagnosisOptions {
    /// Options with trusted resolvers by their descriptions; those that prove nothing are left out.
    ///
    ///     var options = try DiagnosisOptions(resolvers: ResolverDescription.builtIn)
    ///     options.darkAddress = …
    ///     let diagnosis = try await Diagnosis.run(name, options: options) { event in … }
    ///
    /// - Parameters:
    ///   - resolvers: what others are measured by.
    ///   - resolverTrust: what those resolvers must prove, besides their names.
    /// - Throws: ``SetupFault``: a resolver or trust setting that cannot work.
    public init(
        resolvers: [ResolverDescription], resolverTrust: TrustPolicy = TrustPolicy()
    ) throws(SetupFault) {
        let factory = try ResolverFactory(trust: resolverTrust, transport: Transport())
        let backends = try factory.backends(for: resolvers)
        self.init(trusted: backends.filter { $0.isAuthenticated || $0.isLocal })
    }
}

extension Diagnosis {
    /// Finds out what is going on with a name on this network, measured by the built-in resolvers.
    ///
    /// - Parameters:
    ///   - name: the name under test.
    ///   - onEvent: told of each thing as it is found out, one at a time; must return at once.
    /// - Throws: ``SetupFault`` when the system's roots cannot be loaded.
    public static func run(
        _ name: HostName, onEvent: @escaping @Sendable (DiagnosisEvent) -> Void = { _ in }
    ) async throws(SetupFault) -> Diagnosis {
        let options = try DiagnosisOptions(resolvers: ResolverDescription.builtIn)
        do throws(TrustSetupError) {
            return try await run(name, options: options, onEvent: onEvent)
        } catch { throw .trust(error) }
    }
}
