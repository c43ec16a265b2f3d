internal import HTTPDNSExchange
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSResolution

/// What a transfer taught about the addresses of its route, told to the resolver.
struct RouteFeedback: Sendable {
    let host: HostName
    let addresses: [IPAddress]

    /// Nil where no name was resolved.
    init?(_ origin: Origin, _ route: Route) {
        guard case .name(let name) = origin.host else { return nil }
        host = name
        addresses = route.addresses
    }

    func tell(
        _ resolver: Resolver, _ result: Result<TransferFacts, TransportFailure>,
        _ failed: FailedAddresses
    ) {
        switch result {
        case .success(let facts):
            guard !facts.isReused, let remote = facts.remote,
                let milliseconds = facts.connectedMilliseconds
            else { return }
            for address in passedOver(before: remote.address) {
                resolver.report(address, for: host, outcome: .unreachable)
            }
            resolver.report(
                remote.address, for: host,
                outcome: .connected(milliseconds: Int64(milliseconds.rounded(.up))))
        case .failure(let failure):
            for one in failed.before {
                resolver.report(
                    one.address, for: host, outcome: one.wasSilent ? .timedOut : .unreachable)
            }
            guard let outcome = failure.addressOutcome else { return }
            for address in failed.remote.map({ [$0] }) ?? addresses {
                resolver.report(address, for: host, outcome: outcome)
            }
        }
    }

    /// Those that came to nothing before this one connected: within a family libcurl goes in order,
    /// and a silent one costs seconds. Not told, each connection would pay for it.
    /// Source: curl 7.88, connect.c, `baller_start_next`.
    private func passedOver(before address: IPAddress) -> [IPAddress] {
        guard let place = addresses.firstIndex(of: address) else { return [] }
        return addresses[..<place].filter { $0.family == address.family }
    }
}

extension ResolvedHost {
    /// What a lookup ends with whose addresses are not to be used.
    var refusal: ResolutionFailure {
        let attempt = LookupAttempt(
            resolver: source.resolver,
            reason: .failed(.refusedAddresses(AddressPolicy.explanation(addresses))))
        guard case .name(let name) = host else { return .failed(.cancelled) }
        return .failed(
            .exhausted(question: .addresses(of: name, .ipv4), attempts: [attempt]))
    }
}

extension TransportFailure {
    /// What the failure says of the address; nil when it says nothing.
    var addressOutcome: AddressOutcome? {
        switch self {
        case .cannotConnect, .handshakeFailed: .unreachable
        case .untrusted: .untrusted
        case .timedOut(phase: .connect): .timedOut
        case .timedOut, .connectionLost, .requestLost, .malformedResponse, .headTooLarge,
            .bodyTooLarge,
            .bodyExpandsTooFar,
            .bodySourceFailed, .cancelled, .unavailable, .unexpected:
            nil
        }
    }
}
