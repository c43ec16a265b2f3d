package import HTTPDNSNames
package import HTTPDNSTrust

/// A peer that did not have the keys which its host is pinned to, as a client met it.
package struct PinSighting: Sendable, Hashable {
    package let host: Host
    package let port: Port
    /// The address connected to; nil where the transport could not say.
    package var address: IPAddress?
    /// Who gave the address.
    package var giver: String?
    package let mismatch: PinMismatch
    /// The verified chain.
    package let chain: [CertificateFacts]
    /// Why the peer was refused; nil where the rule only reports.
    package var refusal: TrustFailure.Code?
}

extension PinSighting {
    /// Of which the way is not known.
    package init(
        ofHost host: Host, port: Port, mismatch: PinMismatch, chain: [CertificateFacts],
        refusal: TrustFailure.Code?
    ) {
        self.init(
            host: host, port: port, address: nil, giver: nil, mismatch: mismatch, chain: chain,
            refusal: refusal)
    }
}

/// Is told of peers without a pinned key, on the transport's thread; must return at once.
package protocol PinObserver: AnyObject, Sendable {
    func sighted(_ sighting: PinSighting)
}
