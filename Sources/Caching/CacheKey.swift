package import HTTPDNSExchange
internal import HTTPDNSNames

/// What a response is kept under: the logical URL with its query. No address is in it, and no
/// method: only answers to `GET` are kept. Source: RFC 9111 §2.
package struct CacheKey: Sendable, Hashable {
    /// Without fragment and userinfo.
    package let text: String

    /// Nil for a URL that is too long to be kept.
    package init?(_ url: HTTPURL) {
        let text = url.origin.description + url.target
        guard text.utf8.count <= CacheKey.maximumOctets else { return nil }
        self.text = text
    }

    /// What was kept before under that text.
    package init(kept text: String) { self.text = text }

    /// Because: servers take request lines of 8 KiB, some of 32; what is longer is not asked twice.
    package static let maximumOctets = 32_768
}
