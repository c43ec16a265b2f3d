public import HTTPDNSExchange
internal import HTTPDNSPlatform

extension ProxyPolicy {
    /// What the variables of this process say: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`.
    ///
    /// - Throws: ``ProxyFault``: a proxy that was meant and cannot be used must not be passed by.
    public static func ofEnvironment() throws(ProxyFault) -> ProxyPolicy {
        try ProxyPolicy(environment: ProcessEnvironment.value)
    }
}
