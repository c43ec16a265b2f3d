internal import HTTPDNSClient
internal import HTTPDNSExchange
internal import HTTPDNSNames

/// The fields of a request as they are on the wire: what was given, without what the transport leaves
/// out, and with what it writes itself.
struct SentFields: Hashable {
    private let given: HTTPFields
    private let framing: SentFraming
    private let origin: Origin
    /// HTTP/2 frames bodies without a word; before an answer nobody knows.
    private let isHTTP2: Bool

    /// Nil where nothing went out.
    ///
    /// - Parameter origin: that was asked, to which a rule may have sent the request.
    init?(_ leg: ExchangeFacts.Leg, to origin: Origin) {
        guard let given = leg.sent, let framing = leg.framing else { return nil }
        self.given = given
        self.framing = framing
        self.origin = origin
        isHTTP2 = leg.answer?.version == .http2
    }

    /// What goes out as it was given.
    var passing: [HTTPFields.Field] {
        given.fields.filter { !RequestFraming.isTransports($0) }
    }

    /// All of them, in the order in which they go out.
    ///
    /// - Parameter passing: ``passing``, without its secrets.
    func whole(_ passing: [CaptureRecord.Field]) -> [CaptureRecord.Field] {
        // In HTTP/2 it is `:authority`.
        var whole = [CaptureRecord.Field("Host", origin.authority)]
        if let proxy = framing.proxy {
            whole += SentFields.credentials(
                "Proxy-Authorization", proxy.credentials.map { _ in "Basic" })
        }
        if framing.proxy != nil { whole.append(.init("Proxy-Connection", "Keep-Alive")) }
        whole += SentFields.credentials(
            "Authorization", framing.credentials.map { $0 == .digest ? "Digest" : "Basic" })
        whole += passing
        if let accepting = framing.accepting, !given.contains("Accept-Encoding") {
            whole.append(.init("Accept-Encoding", accepting))
        }
        switch framing.body {
        case .none: break
        case .octets(let count): whole.append(.init("Content-Length", "\(count)"))
        case .ofUnknownLength:
            if !isHTTP2 { whole.append(.init("Transfer-Encoding", "chunked")) }
        }
        if framing.expectsContinue, !isHTTP2 { whole.append(.init("Expect", "100-continue")) }
        return whole
    }

    /// The secret itself is the transport's alone.
    private static func credentials(_ name: String, _ scheme: String?) -> [CaptureRecord.Field] {
        scheme.map { [.init(name, $0 + " " + CaptureRedaction.placeholder)] } ?? []
    }
}
