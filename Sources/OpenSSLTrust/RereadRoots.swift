internal import HTTPDNSPlatform
package import HTTPDNSTrust

extension OpenSSLVerifier {
    /// A verifier with roots that are read anew, whoever uses those of the policy now. Blocks.
    ///
    /// - Throws: ``TrustSetupError``: then what was read before stays in use.
    package static func rereading(
        _ policy: TrustPolicy, isPublicSuffix: @escaping @Sendable (String) -> Bool
    ) throws(TrustSetupError) -> OpenSSLVerifier {
        // They live as long as a verifier uses them: until this one does, here.
        let fresh = try RootStore.reread(policy)
        defer { withExtendedLifetime(fresh) {} }
        return try OpenSSLVerifier(policy: policy, isPublicSuffix: isPublicSuffix)
    }
}
