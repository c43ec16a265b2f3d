// Several variants of one URL, of which the origin may say which one is meant.
extension ReuseRules {
    /// The entity tags of variants that do not answer the request by themselves, and that the
    /// origin may name in a 304 for it. Source: RFC 9111 §4.3.1.
    ///
    /// - Parameter chosen: the one that does, whose own tag is not among them, unless another has
    ///   it as well.
    package func otherTags(
        _ variants: [KeptResponse], besides chosen: KeptResponse?, for request: CacheRequest
    ) -> [EntityTag] {
        var tags: [EntityTag] = []
        for kept in variants where kept.number != chosen?.number {
            guard let tag = nameable(kept, request), !tags.contains(tag) else { continue }
            tags.append(tag)
        }
        return tags
    }

    /// The one that a 304 means, the newest of several. Source: RFC 9111 §4.3.3.
    package func named(
        _ tag: EntityTag, among variants: [KeptResponse], for request: CacheRequest
    ) -> KeptResponse? {
        newest(variants.filter { nameable($0, request) == tag })
    }

    /// All that a 304 with that tag freshens besides the one it answers with. Source: RFC 9111
    /// §4.3.4.
    package func alsoNamed(
        _ tag: EntityTag, among variants: [KeptResponse], besides answered: KeptResponse,
        for request: CacheRequest
    ) -> [KeptResponse] {
        variants.filter { $0.number != answered.number && nameable($0, request) == tag }
    }

    /// Its tag, where a 304 to this request may be about it.
    ///
    /// A strong one alone: a weak one may be the same for several languages. And never across
    /// users and codings, whatever the origin says: servers are known that give the tag of a file
    /// to what they compress of it.
    private func nameable(_ kept: KeptResponse, _ request: CacheRequest) -> EntityTag? {
        guard kept.status == 200, kept.policy == policy, let tag = kept.eTag, !tag.isWeak,
            tag.opaque.utf8.count <= ReuseRules.mostTagOctets,
            kept.variant.isAlike(request)
        else { return nil }
        return tag
    }

    /// Because: a digest in hexadecimal and some words; 16 variants of it fit in any request.
    private static let mostTagOctets = 256
}
