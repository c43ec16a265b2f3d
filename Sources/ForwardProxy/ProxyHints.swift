package import HTTPDNSNames

/// How programs are pointed at a proxy.
package enum ProxyHints {
    /// Lines for a shell. Source: curl's manual, ENVIRONMENT; both cases, as programs differ.
    ///
    /// - Parameter token: stands in the lines, as the password of a user.
    package static func environment(_ place: String, token: Secret? = nil) -> [String] {
        let userinfo = token.map { "httpdns:\(encoded($0.revealed))@" } ?? ""
        let url = "http://\(userinfo)\(place)"
        return ["http_proxy", "https_proxy", "HTTPS_PROXY"].map { "export \($0)=\(url)" }
            + ["no_proxy", "NO_PROXY"].map { "export \($0)=localhost,127.0.0.1,::1" }
    }

    /// As it stands in the userinfo of a URL, where no shell changes it. Source: RFC 3986 §2.3.
    private static func encoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { text, octet in
            switch octet {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                text.unicodeScalars.append(Unicode.Scalar(octet))
            default:
                text += "%" + (octet < 16 ? "0" : "") + String(octet, radix: 16, uppercase: true)
            }
        }
    }

    /// For browsers: everything through the proxy, nothing past it when it is gone.
    /// Source: the `FindProxyForURL` of browsers.
    package static func autoConfiguration(_ place: String) -> String {
        """
        function FindProxyForURL(url, host) {
            if (host === "localhost" || /^127\\.[0-9]+\\.[0-9]+\\.[0-9]+$/.test(host)) {
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
