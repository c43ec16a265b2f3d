// Web views of Apple's systems: compiled there, and held against docs/proxy.md everywhere.
#if canImport(WebKit) && canImport(Network)
    internal import HTTPDNSForwardProxy
    internal import HTTPDNSURLSession
    internal import Network
    internal import WebKit

    @available(macOS 14, iOS 17, *)
    @MainActor
    package func aWebView() throws -> (ForwardProxy, WKWebViewConfiguration) {
        // recipe: a web view
        let proxy = try ForwardProxy(HTTPDNS())
        let port = NWEndpoint.Port(integerLiteral: proxy.endpoint.port.number)
        let store = WKWebsiteDataStore.nonPersistent()
        store.proxyConfigurations = [
            ProxyConfiguration(httpCONNECTProxy: .hostPort(host: "127.0.0.1", port: port))
        ]
        let web = WKWebViewConfiguration()
        web.websiteDataStore = store
        // end
        return (proxy, web)
    }
#endif
