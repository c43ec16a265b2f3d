package import HTTPDNSExchange
package import HTTPDNSLookup
internal import HTTPDNSTrust

extension QueryFailure {
    /// What a failed exchange with a resolver means to a lookup.
    package init(_ failure: TransportFailure) {
        switch failure {
        case .cannotConnect(let why): self = .unreachable(why)
        case .untrusted(let failure):
            let line = failure.description.split(separator: "\n").first.map(String.init)
            self = .untrusted(line ?? failure.label)
        // No certificate was judged: nothing speaks against the peer but that it did not answer.
        case .handshakeFailed(let why): self = .unreachable("the TLS handshake failed: \(why)")
        case .timedOut: self = .timedOut(tries: 1)
        case .connectionLost(let why, _), .requestLost(_, let why): self = .unreachable(why)
        case .malformedResponse(let why): self = .malformed(why)
        case .headTooLarge: self = .malformed("the HTTP header section is too large")
        case .bodyExpandsTooFar(let how): self = .malformed("the HTTP body expands too far: \(how)")
        case .bodyTooLarge: self = .malformed("the HTTP body is larger than any answer")
        case .bodySourceFailed(let why): self = .unexpected(why)
        case .cancelled: self = .cancelled
        case .unavailable(let why): self = .misconfigured(why)
        case .unexpected(let why): self = .unexpected(why)
        }
    }
}
