/// Why a trust policy cannot be put to use: its roots, lists or client certificates are not there or
/// not readable.
public enum TrustSetupError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A file or directory of roots cannot be read; the text is the system's reason.
    case unreadable(path: String, reason: String)
    /// There is no certificate in it.
    case noCertificates(source: String)
    /// A certificate in it cannot be parsed; counted from 1.
    case malformedCertificate(source: String, number: Int)
    /// A directory without the hashed names by which roots are found.
    case notHashed(path: String)
    /// The system has no roots where one looks for them.
    case noSystemRoots(tried: [String])
    /// A list of revoked certificates or of logs, or a client's certificate or key, cannot be used;
    /// the text says why. `what` is what it is: `revocation list`.
    case unusable(what: String, source: String, reason: String)
    /// The TLS library refused; the text is its own.
    case unexpected(String)

    public var description: String {
        switch self {
        case .unreadable(let path, let reason): "cannot read roots from \(path): \(reason)"
        case .noCertificates(let source):
            "no certificate in \(source): expected '-----BEGIN CERTIFICATE-----' (PEM)"
        case .malformedCertificate(let source, let number):
            "certificate \(number) in \(source) is malformed"
        case .notHashed(let path):
            "\(path) holds no hashed certificates (1a2b3c4d.0); run 'openssl rehash \(path)'"
        case .noSystemRoots(let tried):
            "this system has no trusted roots (looked in \(tried.joined(separator: ", "))); "
                + "install ca-certificates, or set SSL_CERT_FILE or SSL_CERT_DIR"
        case .unusable(let what, let source, let reason):
            "the \(what) in \(source) cannot be used: \(reason)"
        case .unexpected(let text): "OpenSSL could not load the roots: \(text)"
        }
    }
}
