public import HTTPDNSNames

/// What a client proves itself with where a server asks for it (mutual TLS): a certificate, those
/// above it, and the private key.
///
/// It is sent to the hosts of its pattern alone, after the server has proved itself, and only when the
/// server asks.
public struct ClientIdentity: Sendable, Hashable {
    /// Where certificate and key are.
    public enum Source: Sendable, Hashable {
        /// PEM files: the certificates, leaf first, and the key; one file may hold both.
        case files(certificates: String, key: String)
        /// PEM texts.
        case pem(certificates: String, key: Secret)
    }

    public var source: Source
    /// Opens an encrypted key. Nobody is ever asked for it on a terminal.
    public var passphrase: Secret?

    public init(_ source: Source, passphrase: Secret? = nil) {
        self.source = source
        self.passphrase = passphrase
    }

    /// Without the key, which its certificate names: a fingerprint is no place for secrets.
    var identity: String {
        switch source {
        case .files(let certificates, let key):
            "files:\(certificates.utf8.count):\(certificates):\(key.utf8.count):\(key)"
        case .pem(let certificates, _): "pem:\(certificates.utf8.count):\(certificates)"
        }
    }
}
