internal import HTTPDNSClient
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// Who judges resolvers, under a policy that may change while they are asked.
final class ResolverJudge: Sendable {
    private let verifier: Locked<any PeerVerifier>
    /// The client that is watched keeps it. Kept from here, it would keep itself: it sends reports with
    /// a client that asks the resolver, whose back-ends keep this judge.
    private weak let reporter: PinReporter?
    /// No other judge's: equal policies of two may differ a moment later, so they share no connection.
    fileprivate let fingerprint: PolicyFingerprint

    private static let lastNumber = Locked<UInt64>(0)

    init(_ verifier: any PeerVerifier, reporter: PinReporter) {
        self.verifier = Locked(verifier)
        self.reporter = reporter
        let number = Self.lastNumber.withLock { last in
            last += 1
            return last
        }
        fingerprint = PolicyFingerprint(text: "resolvers:\(number)")
    }

    var current: any PeerVerifier { verifier.withLock { $0 } }

    /// Connections from now on are judged by `other`.
    func replace(by other: any PeerVerifier) { verifier.withLock { $0 = other } }

    /// The judge of a service on that port, which reports name.
    func at(_ port: Port) -> any PeerVerifier {
        ServiceJudge(judge: self, port: port, fixed: nil)
    }

    fileprivate func tell(
        _ verdict: Result<VerifiedPeer, TrustFailure>, of host: Host, _ port: Port
    ) {
        let mismatch: PinMismatch
        let chain: [CertificateFacts]
        var refusal: TrustFailure.Code?
        switch verdict {
        case .success(let peer):
            guard case .mismatched(let found) = peer.pinning else { return }
            (mismatch, chain) = (found, peer.chain)
        case .failure(let failure):
            guard let found = failure.facts.mismatch else { return }
            (mismatch, chain, refusal) = (found, failure.facts.chain, failure.code)
        }
        reporter?.sightedResolver(
            PinSighting(
                ofHost: host, port: port, mismatch: mismatch, chain: chain, refusal: refusal))
    }
}

/// The judge of one service.
private struct ServiceJudge: PeerVerifier {
    let judge: ResolverJudge
    let port: Port
    /// Nil: whoever judges at that moment.
    let fixed: (any PeerVerifier)?

    private var verifier: any PeerVerifier { fixed ?? judge.current }

    var fingerprint: PolicyFingerprint { fixed?.fingerprint ?? judge.fingerprint }

    var settled: any PeerVerifier {
        ServiceJudge(judge: judge, port: port, fixed: fixed ?? judge.current)
    }

    func arm(
        sslContext: UnsafeMutableRawPointer, for host: Host,
        onVerdict: @escaping @Sendable (Result<VerifiedPeer, TrustFailure>) -> Void
    ) -> Bool {
        verifier.arm(sslContext: sslContext, for: host) { [judge, port] verdict in
            judge.tell(verdict, of: host, port)
            onVerdict(verdict)
        }
    }

    func proof(
        ssl: UnsafeMutableRawPointer, for host: Host
    ) throws(TrustFailure) -> VerifiedPeer {
        try verifier.proof(ssl: ssl, for: host)
    }

    func farewell(ssl: UnsafeMutableRawPointer) -> (any PeerFarewell)? {
        verifier.farewell(ssl: ssl)
    }
}
