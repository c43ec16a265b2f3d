internal import HTTPDNSClient
internal import HTTPDNSPlatform
public import HTTPDNSTrust

// Trust that changes while it is used.
extension HTTPDNS {
    /// What origins must prove now, besides their names.
    public var trust: TrustPolicy { policy.current }

    /// From the next request on `trust` decides about origins, for every user of this client, a
    /// `URLSession` it was installed into included.
    ///
    /// Nothing in flight is broken: an exchange that has begun ends under the policy it began with. No
    /// connection and no session that was made under another policy is used again. The policy of
    /// resolvers stays: see ``update(resolverTrust:)``. ``HTTPDNSConfiguration/report`` is told which
    /// ``DangerousOptions`` it has.
    ///
    /// - Throws: ``SetupFault/trust(_:)``; then the old policy stays.
    public func update(trust: TrustPolicy) throws(SetupFault) {
        try changeTrust { $0 = trust }
        confess(trust)
    }

    /// The same for pins alone: roots and all else stay as they are when the pins are put to use.
    ///
    /// - Throws: ``SetupFault/trust(_:)``; then the old policy stays.
    public func update(pins: PinSet) throws(SetupFault) {
        try changeTrust { $0.pins = pins }
    }

    private func changeTrust(_ edit: (inout TrustPolicy) -> Void) throws(SetupFault) {
        try policy.change(
            edit, build: { (policy) throws(SetupFault) in try ResolverFactory.verifier(policy) },
            publish: judgeOrigins)
        // What the network said of a host before it was pinned does not count for it any more.
        let pins = policy.current.pins
        resolver.withholdsOthers { pins.match(for: .name($0))?.rule != nil }
    }

    private func judgeOrigins(with verifier: any PeerVerifier) {
        client.judge(with: verifier)
        reportSender.judge(with: verifier)
    }

    /// What resolvers over TLS must prove now, besides their names.
    public var resolverTrust: TrustPolicy { resolverPolicy.current }

    /// From the next question on `resolverTrust` decides about resolvers, over new connections.
    ///
    /// Nothing in flight is broken: a question that is under way ends on its connection, under the
    /// policy that this began with. ``HTTPDNSConfiguration/report`` is told which ``DangerousOptions``
    /// it has.
    ///
    /// - Throws: ``SetupFault/trust(_:)``; then the old policy stays.
    public func update(resolverTrust: TrustPolicy) throws(SetupFault) {
        try changeResolverTrust { $0 = resolverTrust }
        confess(resolverTrust, ofResolvers: true)
    }

    /// The same for pins alone: roots and all else stay as they are when the pins are put to use.
    ///
    /// - Throws: ``SetupFault/trust(_:)``; then the old policy stays.
    public func update(resolverPins: PinSet) throws(SetupFault) {
        try changeResolverTrust { $0.pins = resolverPins }
    }

    private func changeResolverTrust(
        _ edit: (inout TrustPolicy) -> Void
    ) throws(SetupFault) {
        try resolverPolicy.change(
            edit, build: { (policy) throws(SetupFault) in try ResolverFactory.verifier(policy) },
            publish: resolverJudge.replace)
        resolver.reconnect()
    }

    /// Reads again the roots that both policies name, files, directories and the system's, and with them
    /// their lists, logs and client certificates; off the caller's thread and before anything is
    /// changed. The next request and the next question are judged with what was read, over new
    /// connections; nothing in flight is broken. A policy that is replaced meanwhile is read again, too.
    ///
    /// - Throws: ``SetupFault/trust(_:)``: then origins and resolvers are judged as before. A later
    ///   update may find the roots that could be read, as any later policy does.
    public func reloadRoots() async throws(SetupFault) {
        let outcome = await withCheckedContinuation { continuation in
            let work = { @Sendable in continuation.resume(returning: reread()) }
            // Without a thread it is slower, not wrong.
            if !DetachedThread.start(named: "httpdns-roots", work) { work() }
        }
        try outcome.get()
    }

    /// Blocks.
    private func reread() -> Result<Void, SetupFault> {
        do throws(SetupFault) {
            for _ in 0..<Self.mostReadings where try rereadOnce() {
                resolver.reconnect()
                return .success(())
            }
            return .failure(
                .trust(.unexpected("the policy was replaced each time its roots had been read")))
        } catch { return .failure(error) }
    }

    /// False when a policy was replaced meanwhile: its judge may have the roots of before.
    private func rereadOnce() throws(SetupFault) -> Bool {
        let (origins, resolvers) = (policy.edition, resolverPolicy.edition)
        let verifier = try ResolverFactory.rereadVerifier(origins.policy)
        let resolverVerifier =
            resolvers.policy == origins.policy
            ? verifier : try ResolverFactory.rereadVerifier(resolvers.policy)
        let isOriginsDone = policy.renew(origins) { judgeOrigins(with: verifier) }
        let isResolversDone = resolverPolicy.renew(resolvers) {
            resolverJudge.replace(by: resolverVerifier)
        }
        return isOriginsDone && isResolversDone
    }

    /// Because: a turn is lost only to an update that fell into its tenth of a second; who updates
    /// without a pause must hear that roots were not read rather than wait for ever.
    private static let mostReadings = 32
}
