package import HTTPDNSNames

/// Judges a TLS peer for a transport that knows nothing about certificates.
///
/// Every call takes the *host we mean*; there is no parameter through which the address we connect
/// to could enter. The raw pointers are the TLS library's own (`SSL_CTX *`, `SSL *`).
package protocol PeerVerifier: Sendable {
    /// Names the policy: connections made under another fingerprint are never reused.
    var fingerprint: PolicyFingerprint { get }

    /// Makes `sslContext` accept a peer only when it proves `host` under this policy.
    ///
    /// Called once per connection, on the transport's thread, before the handshake. `onVerdict` is
    /// called during the handshake, on the same thread, at most once per full handshake; it must
    /// not block. The context keeps what it needs alive.
    ///
    /// - Returns: false when the context could not be armed: the connection must then be dropped.
    func arm(
        sslContext: UnsafeMutableRawPointer, for host: Host,
        onVerdict: @escaping @Sendable (Result<VerifiedPeer, TrustFailure>) -> Void
    ) -> Bool

    /// As ``arm(sslContext:for:onVerdict:)``; the connection may go on with a session of an earlier one
    /// that this verifier armed for the same host in the same `scope`.
    ///
    /// A resumed handshake shows no certificate, so `onVerdict` may not be called: what the session's
    /// certificate is worth is judged before the session is offered, and again by ``proof(ssl:for:)``.
    func arm(
        sslContext: UnsafeMutableRawPointer, for host: Host, resuming scope: ResumptionScope,
        onVerdict: @escaping @Sendable (Result<VerifiedPeer, TrustFailure>) -> Void
    ) -> Bool

    /// The connection goes on with an earlier session.
    func isResumed(ssl: UnsafeMutableRawPointer) -> Bool

    /// The last gate, asked before each request, on reused connections too: the proof that the
    /// peer of `ssl` is `host` under *this* policy at this moment.
    ///
    /// - Throws: ``TrustFailure`` when there is none; no request byte may then leave.
    func proof(
        ssl: UnsafeMutableRawPointer, for host: Host
    ) throws(TrustFailure) -> VerifiedPeer

    /// Who judges a connection from its beginning to its end, where the policy may change meanwhile:
    /// asked for once, before the connection or the request begins. Itself, where it does not change.
    var settled: any PeerVerifier { get }

    /// What is known of the end of the connection; asked for at the gate, read when the exchange is
    /// over and `ssl` may be gone. Nil: nobody keeps count, and no end is known to be the peer's.
    func farewell(ssl: UnsafeMutableRawPointer) -> (any PeerFarewell)?
}

extension PeerVerifier {
    package var settled: any PeerVerifier { self }

    /// Who keeps no sessions makes each connection anew.
    package func arm(
        sslContext: UnsafeMutableRawPointer, for host: Host, resuming scope: ResumptionScope,
        onVerdict: @escaping @Sendable (Result<VerifiedPeer, TrustFailure>) -> Void
    ) -> Bool {
        arm(sslContext: sslContext, for: host, onVerdict: onVerdict)
    }

    package func isResumed(ssl: UnsafeMutableRawPointer) -> Bool { false }

    package func farewell(ssl: UnsafeMutableRawPointer) -> (any PeerFarewell)? { nil }
}

/// Which connections to a host may go on with each other's sessions, whatever their addresses.
package struct ResumptionScope: Sendable, Hashable {
    private let port: Port
    /// Counts the networks that a transport has been on: whoever saw a session on one of them would
    /// know us again on the next. Source: RFC 8446 appendix C.4.
    private let network: UInt64

    package init(port: Port, network: UInt64) {
        self.port = port
        self.network = network
    }
}

/// How one TLS connection ended; the object stands for that connection and no other.
package protocol PeerFarewell: AnyObject, Sendable {
    /// The peer has sent `close_notify`, so that nothing behind what came was cut off. Source: RFC 8446
    /// §6.1.
    var isSaid: Bool { get }
}

/// The identity of a policy: two policies that could judge a peer differently differ here.
public struct PolicyFingerprint: Sendable, Hashable {
    /// Canonical text; compared whole, so there are no collisions. Not for display.
    public let text: String

    package init(text: String) { self.text = text }

    /// By length alone: a policy with roots in PEM has a text of 200 KB, which is hashed a few times a
    /// request, and a process has few policies.
    public func hash(into hasher: inout Hasher) { hasher.combine(text.utf8.count) }
}
