package import HTTPDNSLookup
package import HTTPDNSNames
package import HTTPDNSTrust

/// A resolver reached over TLS: who it is, where it is, and what proves that it is the one.
package struct SecureService: Sendable {
    /// What is spoken inside TLS.
    package enum Form: Sendable, Hashable {
        /// Messages behind two octets of length. Source: RFC 7858 §3.3.
        case messages
        /// HTTP/2: what stands in every request's head. Source: RFC 8484, RFC 9113.
        case http2(HTTP2Head)
    }

    /// Whom the certificate must prove: never the address that is dialled.
    package let host: Host
    package let route: Route
    package let verifier: any PeerVerifier
    package let form: Form

    package init(host: Host, route: Route, verifier: any PeerVerifier, form: Form) {
        self.host = host
        self.route = route
        self.verifier = verifier
        self.form = form
    }

    /// As it is judged from now on to the end of a connection.
    var settled: SecureService {
        SecureService(host: host, route: route, verifier: verifier.settled, form: form)
    }

    /// Services that are equal in this may share a connection.
    struct Key: Sendable, Hashable {
        let host: Host
        let addresses: [IPAddress]
        let port: Port
        let policy: PolicyFingerprint
        let form: Form
    }

    var key: Key {
        Key(
            host: host, addresses: route.addresses, port: route.port,
            policy: verifier.fingerprint, form: form)
    }

    /// What we offer in the handshake, in wire form. Source: RFC 7301 §3.1, RFC 7540 §11.1, IANA "TLS
    /// ALPN Protocol IDs".
    ///
    /// HTTP/1.1 is offered so that a server without HTTP/2 says so rather than break off.
    var protocols: [UInt8] {
        switch form {
        case .messages: [3] + Array("dot".utf8)
        case .http2: [2] + Array("h2".utf8) + [8] + Array("http/1.1".utf8)
        }
    }
}

/// What the requests of one service have in common.
package struct HTTP2Head: Sendable, Hashable {
    /// The `:authority`: the origin's, never an address that is dialled.
    package let authority: String
    /// The `:path` of a POST.
    package let path: String
    /// The payload is the body; else it is the whole `:path`.
    package let isPost: Bool
    /// The media type of both directions.
    package let mediaType: String

    package init(authority: String, path: String, isPost: Bool, mediaType: String) {
        self.authority = authority
        self.path = path
        self.isPost = isPost
        self.mediaType = mediaType
    }
}

/// What the server sent in answer to one payload.
package struct StreamReply: Sendable {
    package var octets: [UInt8]
    /// The HTTP status; 200 where there is no HTTP.
    package var status: Int
    package var contentType: String?
    package var age: String?
    /// The `Date` field, where it was asked for.
    package var date: String?
    /// The server that answered: `192.0.2.1:853`.
    package let server: String
    /// How often the question went out.
    package let tries: Int
}

/// Why there is no reply.
package enum StreamFailure: Error, Sendable, Hashable {
    case query(QueryFailure)
    /// The peer has no HTTP/2: it chose none, proven; or an alert said so, which anyone on the way can
    /// forge. Nothing was sent.
    case speaksNoHTTP2
}
