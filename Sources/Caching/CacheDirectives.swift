package import HTTPDNSExchange

/// The `Cache-Control` of one message, all lines together. Source: RFC 9111 §5.2.
///
/// A directive that stands twice with two values is in conflict, and one whose argument is no
/// number is of no use; both make a response stale rather than fresh. Source: RFC 9111 §4.2.1.
package struct CacheDirectives: Sendable, Hashable {
    /// A number of seconds as a directive gives it.
    package enum Seconds: Sendable, Hashable {
        case number(Int64)
        /// Without an argument: for `max-stale`, any.
        case unbounded
        /// No number, or two different ones.
        case unusable
    }

    private var values: [String: [String?]] = [:]
    /// `Pragma: no-cache` in a request without `Cache-Control`. Source: RFC 9111 §5.4.
    private var hasOldNoCache = false

    package init(ofRequest fields: HTTPFields) {
        read(fields)
        hasOldNoCache =
            !fields.contains("Cache-Control")
            && fields.all("Pragma").contains { value in
                FieldList.items(value).contains { FieldList.directive($0).name == "no-cache" }
            }
    }

    package init(ofResponse fields: HTTPFields) { read(fields) }

    private mutating func read(_ fields: HTTPFields) {
        for line in fields.all("Cache-Control") {
            for item in FieldList.items(line) {
                let (name, value) = FieldList.directive(item)
                values[name, default: []].append(value)
            }
        }
    }

    package func has(_ name: String) -> Bool { values[name] != nil }

    /// Nil where the directive is not there.
    package func seconds(_ name: String) -> Seconds? {
        guard let given = values[name], let first = given.first else { return nil }
        guard given.allSatisfy({ $0 == first }) else { return .unusable }
        guard let first else { return .unbounded }
        return FieldList.deltaSeconds(first).map { .number($0) } ?? .unusable
    }

    /// Forbids reuse without validation; with field names, too, which is the stricter reading that
    /// RFC
    /// 9111 §5.2.2.4 allows.
    package var noCache: Bool { has("no-cache") || hasOldNoCache }
    package var noStore: Bool { has("no-store") }
    /// What is stale must be validated, offline as well. `proxy-revalidate` and `s-maxage` are for
    /// shared caches, and this is a private one.
    package var mustRevalidate: Bool { has("must-revalidate") }
    package var isImmutable: Bool { has("immutable") }
    package var onlyIfCached: Bool { has("only-if-cached") }
}
