package import HTTPDNSLookup
package import HTTPDNSNames
package import HTTPDNSSecureStream
package import HTTPDNSTrust
package import HTTPDNSWire

/// DNS over TLS: queries and replies over one connection that is kept and shared.
///
/// Source: RFC 7858; strict privacy only (RFC 8310 §5): a server that does not prove itself gets no
/// question.
package struct DoTBackend: TellingBackend {
    package let label: String
    package let isLocal: Bool
    private let client: StreamClient

    /// Asks the server that proves to be `host`.
    ///
    /// - Parameters:
    ///   - host: whom the certificate must name.
    ///   - bootstrap: where to connect, in order; may be empty when `host` is an address.
    ///   - verifier: proves the server's identity.
    /// - Throws: ``QueryFailure/misconfigured(_:)`` without any address.
    package init(
        host: Host, port: Port = .dnsOverTLS, bootstrap: [IPAddress] = [],
        verifier: any PeerVerifier, engine: StreamEngine = .shared
    ) throws(QueryFailure) {
        label = "tls://" + host.uriText + (port == .dnsOverTLS ? "" : ":\(port)")
        var addresses = bootstrap
        if addresses.isEmpty, case .address(let address) = host { addresses = [address] }
        guard let route = Route(addresses: addresses, port: port) else {
            throw .misconfigured(
                "\(label) has no address to connect to: give its bootstrap addresses")
        }
        isLocal = route.addresses.allSatisfy(\.isLoopback)
        client = engine.client(
            for: SecureService(host: host, route: route, verifier: verifier, form: .messages))
    }

    package var isAuthenticated: Bool { true }
    package var supportedTypes: Set<RecordType>? { nil }

    package func networkDidChange() { client.leaveConnection() }

    package func ask(
        _ question: Question, deadline: Monotonic, telling observer: ReplyObserver?
    ) async throws(QueryFailure) -> Testimony {
        let query = try DoTMessages.query(question)
        switch await client.exchange(query, deadline: deadline) {
        case .success(let reply):
            observer?(ReceivedReply(RawReply(.dnsMessage, reply.octets)))
            return try DoTMessages.testimony(from: reply, for: question, resolver: label)
        case .failure(.query(let failure)): throw failure
        case .failure(.speaksNoHTTP2): throw .unexpected("DoTBackend: HTTP/2 was not asked for")
        }
    }
}

/// DNS over TLS without the I/O.
enum DoTMessages {
    /// The message, padded so that its length says nothing of the name; its id is the connection's to
    /// choose. Source: RFC 8467 §4.1.
    static func query(_ question: Question) throws(QueryFailure) -> [UInt8] {
        do {
            return try question.paddedQuery()
        } catch {
            throw .unexpected("DoTMessages.query: \(error)")
        }
    }

    /// - Throws: ``QueryFailure/malformed(_:)``.
    static func testimony(
        from reply: StreamReply, for question: Question, resolver: String
    ) throws(QueryFailure) -> Testimony {
        // A stream has room for every message: the rest was lost behind the server, and what came must
        // not be taken for the whole. Source: RFC 2181 §9.
        if let header = try? MessageHeader(reply.octets), header.flags.isTruncated {
            throw .malformed("a truncated answer over TLS")
        }
        return try HTTPDNSLookup.testimony(
            fromWire: reply.octets, for: question,
            source: Testimony.Source(
                resolver: resolver, transport: .tls, server: reply.server, tries: reply.tries))
    }
}
