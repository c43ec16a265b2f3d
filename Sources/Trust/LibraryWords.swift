/// What the words of a TLS library mean, and what to do; its own words stay, as the detail. Pure.
package enum LibraryWords {
    /// Words that stand in a library's text, and their meaning; the first that is there counts.
    package typealias Meanings = [(words: String, meaning: String)]

    /// `the server … (OpenSSL: …)`; the text as it is where nothing is known of it.
    package static func explained(_ text: String, _ meanings: Meanings) -> String {
        guard let known = meanings.first(where: { text.contains($0.words) }) else { return text }
        return "\(known.meaning) (OpenSSL: \(text))"
    }

    /// Of a handshake that failed before a certificate was judged.
    ///
    /// Source: OpenSSL 3.0, ssl/ssl_err.c; RFC 8446 §6.2 for the alerts of the peer.
    package static let handshakes: Meanings = [
        ("wrong version number", notTLS), ("packet length too long", notTLS),
        ("record layer failure", notTLS), ("unknown protocol", notTLS),
        ("unexpected eof", closed), ("SSL_ERROR_SYSCALL", closed),
        ("certificate required", noCertificate), ("bad certificate", badCertificate),
        ("unknown ca", badCertificate), ("certificate unknown", badCertificate),
        ("unsupported protocol", tooOld), ("protocol version", tooOld),
        ("no protocols available", tooOld),
        (
            "handshake failure",
            "the server found no cipher, key or signature that both have, or it demands a certificate "
                + "of the client; see its log"
        ),
        (
            "unrecognized name",
            "the server does not serve that name; check the name, and whether the address is its own"
        ),
        (
            "dh key too small",
            "the server's Diffie-Hellman group is too small; it has to be set anew"
        ),
        ("internal error", "the server had a fault of its own; see its log"),
    ]

    /// Of a connection that broke after the handshake: with TLS 1.3 a server looks at the certificate of
    /// the client only then.
    package static let firstWords: Meanings = handshakes.filter {
        [noCertificate, badCertificate].contains($0.meaning)
    }

    package static let hungUp =
        "the peer closed the connection before it answered; a server that demands a certificate of the "
        + "client does so right after the handshake: give one (--cert, or clientIdentities), or see its "
        + "log"
    private static let notTLS =
        "what answers there does not speak TLS; check the port, and whether plain HTTP or a portal "
        + "is behind it"
    private static let closed =
        "the server closed the connection in the middle of the handshake; it may not serve that name, "
        + "or something on the way cuts it off: try another address or network, and see its log"
    private static let noCertificate =
        "the server demands a certificate of the client; give one (--cert, or clientIdentities)"
    private static let badCertificate =
        "the server does not take the certificate of the client; give another (--cert, or "
        + "clientIdentities)"
    private static let tooOld =
        "the server speaks no version of TLS that is taken here (1.2 and 1.3, or what the policy "
        + "says); it has to be updated"

    /// Of a file with certificates, keys or lists.
    ///
    /// Source: OpenSSL 3.0, crypto/pem/pem_err.c, crypto/asn1/asn1_err.c.
    package static let files: Meanings = [
        (
            "bad base64 decode",
            "what stands between BEGIN and END is no base64; take the file anew from its source"
        ),
        ("bad end line", cutOff), ("not enough data", cutOff), ("short header", cutOff),
        ("too long", broken), ("wrong tag", broken), ("nested asn1 error", broken),
        ("header too long", broken), ("bad object header", broken),
    ]

    private static let cutOff =
        "it is cut off, or its END line is not that of its BEGIN; take the file anew from its source"
    private static let broken =
        "what is in it is not what its BEGIN line says, or it is damaged; take the file anew from its "
        + "source"
}
