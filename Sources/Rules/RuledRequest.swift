public import HTTPDNSExchange
internal import HTTPDNSNames

/// A request as rules see it: the logical URL, before anything was looked up.
public struct RuledRequest: Sendable {
    public let method: HTTPMethod
    /// As the application wrote it, or as a rule before changed it.
    public let url: HTTPURL
    public let fields: HTTPFields
    private let readBody: @Sendable () -> [UInt8]?

    /// The body where it is in memory: none for a request without one; nil for a file or a stream,
    /// which is read once, by who sends it.
    public var body: [UInt8]? { readBody() }

    /// A request as it is judged.
    ///
    /// - Parameter body: called when a rule asks for the body, and not before.
    public init(
        _ head: RequestHead, body: @escaping @Sendable () -> [UInt8]? = { [] }
    ) {
        method = head.method
        url = head.url
        fields = head.fields
        readBody = body
    }

    package var head: RequestHead { RequestHead(method: method, url: url, fields: fields) }

    func changed(to head: RequestHead) -> RuledRequest { RuledRequest(head, body: readBody) }

    /// The values of a field; `Host`, where the application leaves it out, as it is sent.
    func values(of name: String) -> [String] {
        let values = fields.all(name)
        guard values.isEmpty, name.lowercased() == "host" else { return values }
        return [url.origin.authority]
    }

    /// `GET https://shop.example/cart?id=7`
    public var line: String { "\(method) \(url.origin)\(url.target)" }

    /// The names and values of the query in order, percent-encoding undone; `+` is a blank.
    ///
    /// Source: WHATWG URL §5.1.
    public var queryItems: [(name: String, value: String)] {
        guard let mark = url.target.firstIndex(of: "?") else { return [] }
        return url.target[mark...].dropFirst().split(separator: "&").map { pair in
            let parts = pair.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (
                RuledRequest.decoded(parts[0]),
                parts.count > 1 ? RuledRequest.decoded(parts[1]) : ""
            )
        }
    }

    private static func decoded(_ text: Substring) -> String {
        let octets = text.utf8.map { $0 == 0x2B ? 0x20 : $0 }
        return String(decoding: PercentEncoding.decoded(octets), as: UTF8.self)
    }
}
