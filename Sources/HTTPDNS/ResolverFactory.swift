internal import HTTPDNSDatagram
internal import HTTPDNSDoH
internal import HTTPDNSDoT
internal import HTTPDNSExchange
package import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSOpenSSLTrust
internal import HTTPDNSProfiles
internal import HTTPDNSPublicSuffix
internal import HTTPDNSSystem
package import HTTPDNSTransport
package import HTTPDNSTrust
internal import HTTPDNSVendor

/// Makes back-ends from descriptions.
package struct ResolverFactory: Sendable {
    /// By the port of a service.
    private let verifier: @Sendable (Port) -> any PeerVerifier
    private let transport: Transport
    private let report: @Sendable (String) -> Void

    /// - Parameters:
    ///   - trust: what resolvers must prove.
    ///   - transport: carries what they are asked over HTTP.
    ///   - report: is told what goes wrong in the background, where no lookup could say it.
    /// - Throws: ``SetupFault/trust(_:)``.
    package init(
        trust: TrustPolicy, transport: Transport,
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(SetupFault) {
        let verifier = try ResolverFactory.verifier(trust)
        self.verifier = { _ in verifier }
        self.transport = transport
        self.report = report
    }

    /// The same under a policy that may change.
    init(
        judge: ResolverJudge, transport: Transport, report: @escaping @Sendable (String) -> Void
    ) {
        verifier = { judge.at($0) }
        self.transport = transport
        self.report = report
    }

    /// A verifier for a policy, with the public suffix list.
    package static func verifier(_ policy: TrustPolicy) throws(SetupFault) -> any PeerVerifier {
        do { return try OpenSSLVerifier(policy: policy, isPublicSuffix: isPublicSuffix) } catch {
            throw .trust(error)
        }
    }

    /// The same with roots that are read anew.
    static func rereadVerifier(_ policy: TrustPolicy) throws(SetupFault) -> any PeerVerifier {
        do {
            return try OpenSSLVerifier.rereading(policy, isPublicSuffix: isPublicSuffix)
        } catch { throw .trust(error) }
    }

    @Sendable private static func isPublicSuffix(_ text: String) -> Bool {
        (try? HostName(text)).map { PublicSuffix.isPublicSuffix($0) } ?? false
    }

    /// - Throws: ``SetupFault/resolver(_:_:)``: what is missing, and how to give it.
    func backends(
        for descriptions: [ResolverDescription]
    ) throws(SetupFault) -> [any ResolverBackend] {
        var backends: [any ResolverBackend] = []
        for description in descriptions { backends.append(try backend(for: description)) }
        return backends
    }

    /// The same, each under a label that no other source has.
    ///
    /// - Throws: ``SetupFault/resolver(_:_:)``: what is missing, and how to give it.
    func backends(
        for descriptions: [ResolverDescription], _ labels: inout SourceLabels
    ) throws(SetupFault) -> [any ResolverBackend] {
        var backends: [any ResolverBackend] = []
        for description in descriptions {
            backends.append(labels.labelled(try backend(for: description), for: description))
        }
        return backends
    }

    /// - Throws: ``SetupFault/resolver(_:_:)``: what is missing, and how to give it.
    package func backend(
        for description: ResolverDescription
    ) throws(SetupFault) -> any ResolverBackend {
        do {
            return try made(description)
        } catch {
            throw .resolver(description.description, error)
        }
    }

    /// The back-end of a description that needs no trust: plain DNS and the system. Nil for others.
    ///
    /// Because: loading the roots costs a program that asks one question over UDP more than the
    /// question itself.
    package static func trustlessBackend(
        for description: ResolverDescription
    ) -> (any ResolverBackend)? {
        guard description.unresolvedHost == nil else { return nil }
        switch description.kind {
        case .datagram(let host, let port, let isTCPOnly):
            return datagram(addresses(description, of: host), port, isTCPOnly, description)
        case .system: return SystemBackend()
        case .resolvConf: return ResolvConfBackend()
        case .provider(let profile) where profile.kind == .udp:
            return datagram(servers(of: profile, description), .dns, false, description)
        case .dot, .doh, .jsonDoH, .provider: return nil
        }
    }

    private func made(
        _ description: ResolverDescription
    ) throws(QueryFailure) -> any ResolverBackend {
        if let host = description.unresolvedHost {
            throw .misconfigured(
                "it is named by the host \(host), whose addresses it cannot itself give: add its "
                    + "bootstrap addresses")
        }
        if let plain = ResolverFactory.trustlessBackend(for: description) { return plain }
        switch description.kind {
        case .datagram, .system, .resolvConf:
            throw .unexpected("ResolverFactory: plain DNS without a back-end")
        case .dot(let host, let port):
            return try dot(host, port, description.bootstrap)
        case .doh(let url):
            let addresses = ResolverFactory.addresses(description, of: url.origin.host)
            return try doh(url, addresses, description)
        case .jsonDoH(let url):
            return try vendor(
                JSONDoHCodec(path: url.target), at: url, description.bootstrap, description)
        case .provider(let profile): return try provider(profile, description)
        }
    }

    private static func addresses(
        _ description: ResolverDescription, of host: Host
    ) -> [IPAddress] {
        if !description.bootstrap.isEmpty { return description.bootstrap }
        if case .address(let address) = host { return [address] }
        return []
    }

    private static func servers(
        of profile: Profile, _ description: ResolverDescription
    ) -> [IPAddress] {
        description.bootstrap.isEmpty ? profile.bootstrap : description.bootstrap
    }

    private func provider(
        _ profile: Profile, _ description: ResolverDescription
    ) throws(QueryFailure) -> any ResolverBackend {
        if profile.kind == .dot { return try dot(profile, description) }
        guard let home = profile.url else {
            throw .misconfigured("its profile has no URL")
        }
        let url = description.endpoint ?? home
        let bootstrap =
            description.endpoint == nil
            ? ResolverFactory.servers(of: profile, description) : description.bootstrap
        if let plain = try dnsBackend(profile, url, bootstrap, description) { return plain }
        let codec = try ProviderCodecs.codec(profile, url, description)
        return try vendor(codec, at: url, bootstrap, description)
    }

    /// The back-end of a provider that speaks DNS; nil for the HTTP-DNS services.
    private func dnsBackend(
        _ profile: Profile, _ url: HTTPURL, _ bootstrap: [IPAddress],
        _ description: ResolverDescription
    ) throws(QueryFailure) -> (any ResolverBackend)? {
        switch profile.kind {
        case .udp: throw .unexpected("ResolverFactory: plain DNS without a back-end")
        case .doh:
            let backend = try doh(url, bootstrap, description)
            guard let quota = ProviderCodecs.quota(description) else { return backend }
            return QuotaBackend(backend, quota: quota)
        default: return nil
        }
    }

    private func dot(
        _ host: Host, _ port: Port, _ bootstrap: [IPAddress]
    ) throws(QueryFailure) -> any ResolverBackend {
        try DoTBackend(host: host, port: port, bootstrap: bootstrap, verifier: verifier(port))
    }

    /// The provider's own servers, or one of the user's own, whose name and port its URL says.
    private func dot(
        _ profile: Profile, _ description: ResolverDescription
    ) throws(QueryFailure) -> any ResolverBackend {
        guard let name = profile.dotName else {
            throw .misconfigured("its profile has no name for DNS over TLS")
        }
        let origin = description.endpoint?.origin
        let bootstrap =
            origin == nil
            ? ResolverFactory.servers(of: profile, description)
            : description.bootstrap
        let backend = try dot(
            origin?.host ?? .name(name), origin?.port ?? profile.dotPort, bootstrap)
        guard let quota = ProviderCodecs.quota(description) else { return backend }
        return QuotaBackend(backend, quota: quota)
    }

    private static func datagram(
        _ addresses: [IPAddress], _ port: Port, _ isTCPOnly: Bool,
        _ description: ResolverDescription
    ) -> any ResolverBackend {
        DatagramBackend(
            servers: addresses.map { Endpoint(address: $0, port: port) },
            mode: isTCPOnly ? .tcpOnly : .udpThenTCP,
            tries: description.tries ?? DatagramBackend.defaultTries)
    }

    private func doh(
        _ url: HTTPURL, _ bootstrap: [IPAddress], _ description: ResolverDescription
    ) throws(QueryFailure) -> any ResolverBackend {
        try DoHBackend(
            url: url,
            settings: DoHBackend.Settings(
                bootstrap: bootstrap, verifier: verifier(url.origin.port),
                method: description.usesPOST ? .post : .get),
            transport: transport)
    }

    private func vendor(
        _ codec: any HTTPDNSCodec, at url: HTTPURL, _ bootstrap: [IPAddress],
        _ description: ResolverDescription
    ) throws(QueryFailure) -> any ResolverBackend {
        let service = try HTTPService(
            origin: url.origin, bootstrap: bootstrap, verifier: verifier(url.origin.port))
        var settings = HTTPDNSBackend.Settings()
        settings.batchesNames = description.batchesNames
        settings.quota = ProviderCodecs.quota(description)
        settings.servers = try ProviderCodecs.servers(
            description, at: url, service: service, transport: transport, report: report)
        return try HTTPDNSBackend(
            label: description.endpoint.map { "\(description) at \($0.origin)" }
                ?? description.description,
            codec: codec, service: service, transport: transport, settings: settings)
    }
}
