package import HTTPDNSExchange
internal import HTTPDNSTransport

/// What the transport writes beside the fields of a request, as far as it is decided before: for
/// captures, which show what goes out.
package struct SentFraming: Sendable, Hashable {
    package enum Body: Sendable, Hashable {
        case none
        case octets(Int64)
        /// HTTP/1.1 sends it in chunks.
        case ofUnknownLength
    }

    package let body: Body
    /// The value of `Accept-Encoding`, where the request has none of its own.
    package let accepting: String?
    /// `Expect: 100-continue`, in HTTP/1.1.
    package let expectsContinue: Bool
    /// How credentials that are no field of the request's own go out.
    package let credentials: AuthenticationChallenge.Scheme?
    /// The proxy that reads the request.
    package let proxy: Proxy?

    init(_ wire: TransportRequest) {
        body =
            switch wire.body {
            case .bytes(let octets): .octets(Int64(octets.count))
            case .stream(let source): source.length.map { .octets($0) } ?? .ofUnknownLength
            case .none: RequestFraming.needsLength.contains(wire.method.text) ? .octets(0) : .none
            }
        accepting = wire.acceptEncoding
        if case .none = wire.body {
            expectsContinue = false
        } else {
            expectsContinue = wire.expectsContinue
        }
        credentials = wire.authorization?.scheme
        proxy = wire.isReadByProxy ? wire.via?.proxy : nil
    }
}
