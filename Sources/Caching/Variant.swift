package import HTTPDNSExchange

/// Which requests for one URL a response answers: the fields that its `Vary` names, as they were
/// sent.
///
/// Values are kept as digests: cookies and credentials do not belong on a disk. Besides what `Vary`
/// names,
/// `Authorization` always counts (what one user got is not another's), and so does who decodes the
/// content. Source: RFC 9111 §4.1.
package struct Variant: Sendable, Hashable {
    /// By lower-case name; an empty digest says that the field was not sent.
    package var selected: [String: [UInt8]]
    /// The body was kept decoded: the request left the content's coding to the transport.
    package var isDecoded: Bool

    package init(selected: [String: [UInt8]], isDecoded: Bool) {
        self.selected = selected
        self.isDecoded = isDecoded
    }

    /// The variant that a response to `request` is; nil when it answers no other (`Vary: *`), or
    /// names more fields than any server means.
    package init?(_ request: CacheRequest, answeredWith fields: HTTPFields) {
        guard let names = Variant.names(fields) else { return nil }
        selected = Dictionary(
            names.map { ($0, request.digest(of: $0)) }, uniquingKeysWith: { first, _ in first })
        isDecoded = request.isDecoded
    }

    /// Nil for a star, or too many.
    private static func names(_ fields: HTTPFields) -> Set<String>? {
        var names: Set<String> = [authorization]
        for value in fields.all("Vary") {
            for item in FieldList.items(value) {
                guard item != "*" else { return nil }
                names.insert(item.lowercased())
            }
        }
        return names.count <= maximumNames ? names : nil
    }

    /// Whether a later head selects by the same fields; one without `Vary` does not say.
    func isSelected(by fields: HTTPFields) -> Bool {
        guard fields.contains("Vary") else { return true }
        return Variant.names(fields) == Set(selected.keys)
    }

    package func answers(_ request: CacheRequest) -> Bool {
        isDecoded == request.isDecoded
            && selected.allSatisfy { request.digest(of: $0.key) == $0.value }
    }

    /// The request comes from who asked before, and takes the body in the same coding; all other
    /// fields may differ.
    func isAlike(_ request: CacheRequest) -> Bool {
        isDecoded == request.isDecoded
            && Variant.fixed.allSatisfy { name in
                selected[name].map { request.digest(of: name) == $0 } ?? true
            }
    }

    /// Who asks, and in which coding: no tag leads from one of these to another.
    private static let fixed = [authorization, "cookie", "accept-encoding"]

    static let authorization = "authorization"
    /// Because: servers name a handful; each costs a digest per look.
    static let maximumNames = 32
}

/// A request as the cache sees it: what goes on the wire, and how its values are digested.
package struct CacheRequest: Sendable {
    package let method: HTTPMethod
    package let url: HTTPURL
    /// As sent, cookies and credentials of the URL among them.
    package let fields: HTTPFields
    /// The transport decodes the content.
    package let isDecoded: Bool
    package let directives: CacheDirectives
    private let digest: @Sendable ([UInt8]) -> [UInt8]

    /// - Parameters:
    ///   - decodesAlways: the caller's own `Accept-Encoding` included.
    ///   - passesCodings: nothing is decoded, though there is no such field.
    package init(
        method: HTTPMethod, url: HTTPURL, fields: HTTPFields, decodesAlways: Bool = false,
        passesCodings: Bool = false,
        digest: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        isDecoded = decodesAlways || !passesCodings && !fields.contains("Accept-Encoding")
        directives = CacheDirectives(ofRequest: fields)
        self.digest = digest
    }

    package var key: CacheKey? { CacheKey(url) }

    /// Of all lines of a field as one value, with one form of white space; empty where there is
    /// none.
    func digest(of name: String) -> [UInt8] {
        let values = fields.all(name)
        guard !values.isEmpty else { return [] }
        let items = values.flatMap { FieldList.items($0) }
        return digest(Array((name + ":" + items.joined(separator: ", ")).utf8))
    }

    /// The caller asks about what it has itself, or for a part.
    package var hasOwnConditions: Bool {
        CacheRequest.conditions.contains { fields.contains($0) }
    }

    static let conditions = [
        "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range",
        "Range",
    ]
}
