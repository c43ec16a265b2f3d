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
    ///
    /// - Parameters:
    ///   - limit: when the addresses as they are must do.
    ///   - deliver: called once; nil when the wait was ended by what this returns.
    func translated(
        _ found: ResolvedHost, by limit: Monotonic,
        _ deliver: @escaping @Sendable (ResolvedHost?) -> Void
    ) -> (any Stoppable)? {
        let own = NAT64.usable(found.addresses)
        guard options.nat64 != .off, !own.contains(where: { $0.family == .ipv6 }) else {
            deliver(found)
            return nil
        }
        return withPrefixes(by: limit) { prefixes in
            guard let prefixes else { return deliver(nil) }
            let synthesised = NAT64.synthesise(own, under: prefixes)
            // The IPv4 addresses stay, last: a network that was judged wrongly still gets through.
            deliver(
                found.replacing(
                    addresses: synthesised + (own.isEmpty ? found.addresses : own),
                    synthesised: synthesised))
        }
    }

    private func withPrefixes(
        by limit: Monotonic, _ use: @escaping @Sendable ([NAT64Prefix]?) -> Void
    ) -> (any Stoppable)? {
        switch options.nat64 {
        case .off: use([])
        case .prefixes(let prefixes): use(prefixes)
        case .detect:
            if let known = state.withLock({ $0.nat64 }) {
                use(known)
                return nil
            }
            guard let name = try? HostName(NAT64.discoveryName) else {
                use([])
                return nil
            }
            let question = Question(name: name, type: .aaaa)
            findPrefixes(question)
            let left = clock.now().milliseconds(since: limit)
            return startLookup(question, patience: .milliseconds(max(0, -left))) { result in
                if case .failure(.cancelled) = result { return use(nil) }
                use(Resolver.prefixes(in: result) ?? [])
            }
        }
        return nil
    }

    /// Asks for the network's prefixes for all who want them, however short their own patience is.
    private func findPrefixes(_ question: Question) {
        let changes = state.withLock { $0.networkChanges }
        _ = startLookup(question, patience: nil, use: .refresh) { [weak self] result in
            guard let prefixes = Resolver.prefixes(in: result) else { return }
            self?.state.withLock { state in
                // Those of the network before lead nowhere on this one.
                if state.networkChanges == changes { state.nat64 = prefixes }
            }
        }
    }

    /// Nil when nothing was learnt.
    private static func prefixes(
        in result: Result<LookupAnswer, LookupFailure>
    ) -> [NAT64Prefix]? {
        guard let answer = try? result.get(), !answer.outcome.isServerFailure else { return nil }
        return NAT64.prefixes(in: answer.addresses)
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
