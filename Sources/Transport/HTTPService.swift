package import HTTPDNSExchange
package import HTTPDNSLookup
package import HTTPDNSNames
package import HTTPDNSTrust

/// A resolver reached over HTTP: who it is, where it is, and what proves that it is the one.
///
/// Its name is never looked up: a resolver that needs a resolver is a loop, and the first answer of
/// a liar would choose the one who tells the truth.
package struct HTTPService: Sendable {
    /// Whom the certificate must prove, and the `Host` field.
    package let origin: Origin
    package let route: Route
    package let verifier: (any PeerVerifier)?

    /// The bootstrap addresses may be left out when the origin is an address itself; the verifier
    /// is required for `https`.
    ///
    /// - Throws: ``QueryFailure/misconfigured(_:)``.
    package init(
        origin: Origin, bootstrap: [IPAddress], verifier: (any PeerVerifier)?
    ) throws(QueryFailure) {
        var addresses = bootstrap
        if addresses.isEmpty, case .address(let address) = origin.host { addresses = [address] }
        guard let route = Route(addresses: addresses, port: origin.port) else {
            throw .misconfigured(
                "\(origin) has no address to connect to: give its bootstrap addresses")
        }
        guard origin.scheme == .http || verifier != nil else {
            throw .misconfigured("\(origin) needs a verifier, which proves its identity")
        }
        self.origin = origin
        self.route = route
        self.verifier = verifier
    }

    /// The same service at other servers: whom the certificate must prove stays.
    package func at(_ route: Route) -> HTTPService {
        HTTPService(origin: origin, route: route, verifier: verifier)
    }

    private init(origin: Origin, route: Route, verifier: (any PeerVerifier)?) {
        self.origin = origin
        self.route = route
        self.verifier = verifier
    }

    /// True when a middlebox cannot forge what it says.
    package var isAuthenticated: Bool { origin.scheme == .https }

    /// What one exchange asks of the service.
    package struct Call: Sendable {
        package var method = HTTPMethod.get
        /// Begins with `/`.
        package var target: String
        package var fields = HTTPFields()
        package var body = RequestBody.none

        package init(target: String) { self.target = target }
    }

    /// Performs one exchange and collects its response; redirects are not followed.
    ///
    /// - Throws: ``QueryFailure``, by `deadline` at the latest.
    package func response(
        to call: Call, over transport: Transport, maximumBodyOctets: Int, deadline: Monotonic
    ) async throws(QueryFailure) -> CollectedResponse {
        var request = TransportRequest(
            origin: origin, route: route, method: call.method, target: call.target,
            fields: call.fields, body: call.body, verifier: verifier?.settled)
        request.limits.deadline = deadline
        request.limits.maximumHeadOctets = Self.maximumHeadOctets
        do {
            return try await transport.collect(request, maximumBodyOctets: maximumBodyOctets)
        } catch {
            throw QueryFailure(error)
        }
    }

    /// Because: resolvers send a handful of short fields; more is not from a resolver.
    private static let maximumHeadOctets = 64 * 1024
}
