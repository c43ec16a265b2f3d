internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSWire

// In which order addresses are tried, and what stands for them on a network without IPv4
extension Resolver {
    /// The addresses with those behind the others that did not do.
    func ranked(_ found: ResolvedHost, now: Monotonic) -> ResolvedHost {
        guard options.ranksAddresses, case .name(let host) = found.host,
            found.addresses.count > 1
        else { return found }
        let ordered = state.withLock {
            $0.rank.ordered(found.addresses, for: .name(host), now: now)
        }
        return found.replacing(addresses: ordered, synthesised: found.synthesised)
    }

    /// Measures new addresses behind the caller, where that is asked for: the next one gets them in
    /// the order of what came of it.
    func probe(_ found: ResolvedHost) {
        guard let port = options.probedPort, !found.isCached, case .name(let host) = found.host,
            found.addresses.count > 1
        else { return }
        let endpoints = found.addresses.prefix(Resolver.probedAddresses).map {
            Endpoint(address: $0, port: port)
        }
        let deadline = clock.now().adding(milliseconds: Resolver.probeMilliseconds)
        Task.detached { [weak self] in
            let outcomes = await ConnectProbe.run(endpoints, deadline: deadline)
            self?.probed(host, outcomes)
        }
    }

    private func probed(_ host: HostName, _ outcomes: [Endpoint: ConnectProbe.Outcome]) {
        let now = clock.now()
        state.withLock { state in
            for (endpoint, outcome) in outcomes {
                let told: AddressOutcome =
                    switch outcome {
                    case .connected(let microseconds):
                        .connected(milliseconds: (microseconds + 999) / 1_000)
                    case .failed: .unreachable
                    case .timedOut: .timedOut
                    }
                state.rank.report(endpoint.address, for: .name(host), outcome: told, now: now)
            }
        }
    }

    /// Because: the cache's own values hold as many, and more would be a scan of somebody's network.
    static let probedAddresses = 8
    /// How long a probe waits for connections. Because: an address that takes longer is not wanted.
    static let probeMilliseconds: Int64 = 1_500

    /// Adds the IPv6 addresses behind which the network reaches the IPv4 ones, where it has such and
    /// none of the host's own are IPv6. Source: RFC 7050, RFC 6052; RFC 8305 §7.1.
    func translated(
        _ found: ResolvedHost, _ deliver: @escaping @Sendable (ResolvedHost) -> Void
    ) {
        guard options.nat64 != .off, !found.addresses.contains(where: { $0.family == .ipv6 })
        else {
            deliver(found)
            return
        }
        withPrefixes { prefixes in
            let synthesised = NAT64.synthesise(found.addresses, under: prefixes)
            // The IPv4 addresses stay, last: a network that was judged wrongly still gets through.
            deliver(
                found.replacing(
                    addresses: synthesised + found.addresses, synthesised: synthesised))
        }
    }

    private func withPrefixes(_ use: @escaping @Sendable ([NAT64Prefix]) -> Void) {
        switch options.nat64 {
        case .off: use([])
        case .prefixes(let prefixes): use(prefixes)
        case .detect:
            if let known = state.withLock({ $0.nat64 }) {
                use(known)
                return
            }
            guard let name = try? HostName(NAT64.discoveryName) else {
                use([])
                return
            }
            let question = Question(name: name, type: .aaaa)
            let scope = currentScope
            _ = startLookup(question, patience: nil) { [weak self] result in
                guard let answer = try? result.get(), !answer.outcome.isServerFailure else {
                    use([])
                    return
                }
                let prefixes = NAT64.prefixes(in: answer.addresses)
                self?.learn(prefixes, in: scope)
                use(prefixes)
            }
        }
    }

    /// What the network before was like says nothing of this one.
    private func learn(_ prefixes: [NAT64Prefix], in scope: LookupScope) {
        state.withLock { state in
            if scope == currentScope { state.nat64 = prefixes }
        }
    }

    /// The answer where nobody needs to be asked: from a table, else from a rule.
    func fixedAnswer(_ question: Question) -> LookupAnswer? {
        guard question.type == .a || question.type == .aaaa else { return nil }
        let family: IPAddress.Family = question.type == .a ? .ipv4 : .ipv6
        guard let (addresses, label) = fixedAddresses(question.name) else { return nil }
        let records = addresses.filter { $0.family == family }.map {
            ResourceRecord(
                name: WireName(question.name), type: question.type,
                ttlSeconds: Resolver.fixedSeconds, data: .address($0))
        }
        let testimony = Testimony(
            question: question, code: .noError, answers: records,
            negativeTTLSeconds: records.isEmpty ? Resolver.fixedSeconds : nil,
            source: Testimony.Source(resolver: label, transport: .hosts, tries: 0))
        return LookupAnswer(
            testimony: testimony, ttlSeconds: Resolver.fixedSeconds, isCached: false)
    }

    func fixedAddresses(_ name: HostName) -> ([IPAddress], label: String)? {
        for table in options.tables {
            if let addresses = table.addresses(of: name) { return (addresses, table.label) }
        }
        guard case .fixed(let addresses)? = options.routes.target(for: name) else { return nil }
        return (addresses, "route")
    }

    /// What a fixed address claims as its life.
    ///
    /// Because: a rule may be changed with the next configuration; nobody should hold on to it longer.
    static let fixedSeconds: UInt32 = 60

    /// A held failure as it was told first.
    static func result(of held: HeldFailure) -> Result<LookupAnswer, LookupFailure> {
        switch held {
        case .failed(let failure): .failure(failure)
        case .answered(let testimony):
            .success(LookupAnswer(testimony: testimony, ttlSeconds: 0, isCached: true))
        }
    }
}
