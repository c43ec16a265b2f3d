public import HTTPDNSExchange
internal import HTTPDNSIDNA
internal import HTTPDNSNames
internal import HTTPDNSPlatform

extension ProxyPolicy {
    /// What the variables of this process say: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`.
    ///
    /// What `no_proxy` has that cannot be read is in ``ProxyExceptions/unread`` of ``exceptions``.
    ///
    /// - Throws: ``ProxyFault``: a proxy that was meant and cannot be used must not be passed by.
    public static func ofEnvironment() throws(ProxyFault) -> ProxyPolicy {
        try ProxyPolicy(
            environment: ProcessEnvironment.value,
            toASCII: { (text) throws(NameError) in try IDNA.toASCII(text) })
    }
}

extension ProxyExceptions {
    /// Reads a list as `no_proxy` has it; names that are not ASCII become A-labels (UTS 46). What cannot
    /// be read counts for nothing, and is told by ``unread``.
    public init(_ list: String) {
        self.init(list, toASCII: { (text) throws(NameError) in try IDNA.toASCII(text) })
    }
}
