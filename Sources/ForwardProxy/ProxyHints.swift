/// How programs are pointed at a proxy.
package enum ProxyHints {
    /// Lines for a shell. Source: curl's manual, ENVIRONMENT; both cases, as programs differ.
    package static func environment(_ place: String) -> [String] {
        ["http_proxy", "https_proxy", "HTTPS_PROXY"].map { "export \($0)=http://\(place)" }
            + ["no_proxy", "NO_PROXY"].map { "export \($0)=localhost,127.0.0.1,::1" }
    }

    /// For browsers: everything through the proxy, nothing past it when it is gone.
    /// Source: the `FindProxyForURL` of browsers.
    package static func autoConfiguration(_ place: String) -> String {
        """
        function FindProxyForURL(url, host) {
            if (isPlainHostName(host) || host === "localhost" || shExpMatch(host, "127.*")) {
                return "DIRECT";
            }
            return "PROXY \(place)";
        }

        """
    }

    static func welcome(_ place: String) -> String {
        """
        This is httpdns proxy, at \(place).

        It resolves by HTTPDNS and opens a tunnel only to an address that has proved the name.
          curl -x http://\(place) https://example.com/
          browsers: HTTP and HTTPS proxy \(place), or the automatic configuration http://\(place)/proxy.pac

        """
    }
}
