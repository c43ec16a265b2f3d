internal import HTTPDNSDoH
public import HTTPDNSExchange
public import HTTPDNSNames
package import HTTPDNSProfiles
internal import HTTPDNSRedaction

/// Names one source of answers, as a person or a configuration spells it.
///
/// `192.0.2.1`, `[2001:db8::1]:5353`, `ns.example:53`, `udp://…`, `tcp://…`, `tls://host` (DoT),
/// `https://host/dns-query` (DoH), `json+https://host/resolve` (JSON over HTTPS), `system`, or the name
/// of a provider: `google`, `google-dot` (the same over TLS), `aliyun`, `dnspod` …
public struct ResolverDescription: Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        case datagram(Host, Port, isTCPOnly: Bool)
        case dot(Host, Port)
        case doh(HTTPURL)
        case jsonDoH(HTTPURL)
        case system
        /// The servers that resolv.conf names, asked directly.
        case resolvConf
        case provider(Profile)
    }

    package let kind: Kind
    /// Addresses of the server; needed where it is named by host. Replaces those of a provider.
    public var bootstrap: [IPAddress] = []
    /// The account at a provider, where it wants one.
    public var account: String?
    /// Signs requests to a provider; never printed.
    public var secret: Secret?
    /// A provider's token or key; never printed.
    public var key: Secret?
    /// Asks there instead of at the provider's own servers: a proxy, a test server.
    public var endpoint: HTTPURL?
    /// DoH by POST instead of GET.
    public var usesPOST = false
    /// Puts names that are asked in the same moment into one request, where the provider takes several.
    public var batchesNames = false
    /// The most requests a second that all resolvers of this account may send; nil takes the
    /// provider's own limit, where its profile knows one.
    public var requestsPerSecond: Int?
    /// Whether names are encrypted, where a provider leaves the choice; nil encrypts when there is a
    /// ``key``.
    public var encryption: NameEncryption?
    /// Where the list of near servers that Aliyun and DNSPod's customers are handed out is kept between
    /// runs; the list is fetched only when this is set. A file of mode 0600.
    public var serverListFile: String?

    /// How Aliyun's second form carries names.
    public enum NameEncryption: Sendable, Hashable {
        /// In clear, inside https.
        case none
        case aesCBC
        case aesGCM
    }

    /// How often plain DNS is asked before it counts as silent; nil takes the back-end's own.
    public var tries: Int?

    /// Reads a description.
    ///
    /// - Throws: ``DescriptionError``.
    public init(_ text: String) throws(DescriptionError) {
        kind = try ResolverDescription.kind(text)
    }

    package init(kind: Kind) { self.kind = kind }

    /// The built-in order: three services of different operators over HTTPS, then the system.
    ///
    /// Because: no one operator's fault may cost an application its names, and the system resolver last
    /// keeps names that only this network knows. Answers of the system prove nothing; the certificate
    /// of the origin still must.
    public static let builtIn: [ResolverDescription] =
        ["cloudflare", "alidns", "google"].compactMap { Profiles.named($0) }
        .map { ResolverDescription(kind: .provider($0)) } + [.system]

    /// The system's own resolver, hosts file included.
    public static let system = ResolverDescription(kind: .system)

    /// The servers of the system's `resolv.conf`, asked directly: any record type, with TTLs, and
    /// without the hosts file. The file is followed when it changes.
    public static let resolvConf = ResolverDescription(kind: .resolvConf)

    /// As it is shown: without the secrets that a URL may hold.
    public var description: String {
        switch kind {
        case .datagram(let host, let port, let isTCPOnly):
            (isTCPOnly ? "tcp://" : "udp://") + host.uriText + ":\(port)"
        case .dot(let host, let port):
            "tls://" + host.uriText + (port == .dnsOverTLS ? "" : ":\(port)")
        case .doh(let url): ResolverDescription.shown(url)
        case .jsonDoH(let url): "json+" + ResolverDescription.shown(url)
        case .system: "system"
        case .resolvConf: "resolv.conf"
        case .provider(let profile): profile.id
        }
    }

    private static func shown(_ url: HTTPURL) -> String {
        TextRedactor().url(url.origin.description + url.target)
    }

    /// The host that this source is asked at, where it has a name.
    package var serverHost: HostName? {
        let host: Host? =
            switch kind {
            case .datagram(let host, _, _), .dot(let host, _): host
            case .doh(let url), .jsonDoH(let url): url.origin.host
            case .system, .resolvConf: nil
            case .provider(let profile): endpoint?.origin.host ?? profile.provenHost
            }
        if case .name(let name) = host { return name }
        return nil
    }

    /// The host that must be resolved before this source can be asked; nil when its address is known.
    public var unresolvedHost: HostName? {
        guard bootstrap.isEmpty else { return nil }
        let host: Host? =
            switch kind {
            case .datagram(let host, _, _), .dot(let host, _): host
            case .doh(let url), .jsonDoH(let url): url.origin.host
            case .system, .resolvConf: nil
            case .provider(let profile):
                endpoint?.origin.host
                    ?? (profile.bootstrap.isEmpty ? profile.provenHost : nil)
            }
        if case .name(let name) = host { return name }
        return nil
    }
}

/// Why a text names no resolver.
public struct DescriptionError: Error, Sendable, Hashable, CustomStringConvertible {
    public let text: String
    /// What is wrong and what to do.
    public let reason: String

    public var description: String {
        "\"\(shown.unicodeScalars.prefix(200).map { $0.escaped(asASCII: false) }.joined())\" is not "
            + "a resolver: \(reason)"
    }

    /// Without the name and password that a URL may hold, and without what else is secret in it.
    private var shown: String {
        TextRedactor().url(TextRedactor.withoutUserinfo(text, isAuthority: true))
    }
}

// Reading
extension ResolverDescription {
    private static func kind(_ text: String) throws(DescriptionError) -> Kind {
        let trouble = { (reason: String) in DescriptionError(text: text, reason: reason) }
        guard !text.isEmpty else { throw trouble("nothing stands there") }
        if text == "system" { return .system }
        if text == "resolv.conf" { return .resolvConf }
        guard let separator = text.range(ofSeparator: "://") else {
            if let profile = Profiles.named(text) { return .provider(profile) }
            try refusePort(behindWordIn: text)
            return try server(text[...], isTCPOnly: false, of: text)
        }
        let rest = text[separator.upperBound...]
        switch text[..<separator.lowerBound].lowercased() {
        case "udp": return try server(rest, isTCPOnly: false, of: text)
        case "tcp": return try server(rest, isTCPOnly: true, of: text)
        case "tls": return try encrypted(rest, of: text)
        case "https": return .doh(try url(text, of: text))
        case "json+https": return .jsonDoH(try url("https://" + rest, of: text))
        case "http", "json+http":
            throw trouble("over plain http nothing proves the answers; use https")
        case let scheme:
            throw trouble(
                "\"\(TextRedactor.withoutUserinfo(scheme, isAuthority: true))\" is not one of udp, "
                    + "tcp, tls, https and json+https")
        }
    }

    private static func url(
        _ url: String, of text: String
    ) throws(DescriptionError) -> HTTPURL {
        // RFC 8484 templates end in {?dns}; the variable is ours to fill.
        let plain = url.hasSuffix("{?dns}") ? String(url.dropLast(6)) : url
        let read: HTTPURL
        do { read = try HTTPURL(plain) } catch {
            throw DescriptionError(text: text, reason: "\(error)")
        }
        // Neither is ever sent: whoever writes one expects what would not happen.
        guard read.userinfo == nil else {
            throw DescriptionError(
                text: text, reason: "a resolver's URL takes no user name or password")
        }
        guard read.fragment == nil else {
            throw DescriptionError(text: text, reason: "a resolver's URL takes no fragment (#…)")
        }
        return read
    }

    /// `system:5` and `google:5` are no servers of that name.
    private static func refusePort(behindWordIn text: String) throws(DescriptionError) {
        guard let colon = text.firstIndex(of: ":"), text.lastIndex(of: ":") == colon else { return }
        let word = String(text[..<colon])
        let host = "; a server of that name is udp://\(text)"
        if word == system.description || word == resolvConf.description {
            throw DescriptionError(
                text: text,
                reason: "\(word) is this machine's own resolver and takes no port" + host)
        }
        if Profiles.named(word) != nil {
            throw DescriptionError(
                text: text,
                reason: "\(word) is a provider, whose servers have ports of their own" + host)
        }
    }

    private static func server(
        _ server: Substring, isTCPOnly: Bool, of text: String
    ) throws(DescriptionError) -> Kind {
        let parts = try split(server, of: text)
        if let address = try? IPAddress(parts.host) {
            return .datagram(.address(address), parts.port, isTCPOnly: isTCPOnly)
        }
        let isBare = server == text[...] && !server.contains(".") && !server.contains(":")
        if isBare {
            let hint = Profiles.nearest(to: text).map { "; did you mean \"\($0)\"?" } ?? ""
            throw DescriptionError(
                text: text,
                reason: "there is no provider of that name" + hint
                    + " (`httpdns resolvers` lists them; a server's host name has a dot)")
        }
        do {
            let name = try HostName(unicode: parts.host)
            return .datagram(.name(name), parts.port, isTCPOnly: isTCPOnly)
        } catch {
            throw DescriptionError(text: text, reason: "\(error)")
        }
    }

    private static func encrypted(
        _ server: Substring, of text: String
    ) throws(DescriptionError) -> Kind {
        let parts = try split(server, of: text, standard: .dnsOverTLS)
        if let address = try? IPAddress(parts.host) { return .dot(.address(address), parts.port) }
        do { return .dot(.name(try HostName(unicode: parts.host)), parts.port) } catch {
            throw DescriptionError(text: text, reason: "\(error)")
        }
    }

    /// `[v6]:port`, `host:port`, or an address or host alone with the standard port.
    private static func split(
        _ server: Substring, of text: String, standard: Port = .dns
    ) throws(DescriptionError) -> (host: String, port: Port) {
        let trouble = { (reason: String) in DescriptionError(text: text, reason: reason) }
        var host = server
        var portText: Substring?
        if server.first == "[" {
            guard let end = server.firstIndex(of: "]") else { throw trouble("\"]\" is missing") }
            host = server[server.index(after: server.startIndex)..<end]
            let tail = server[server.index(after: end)...]
            if !tail.isEmpty {
                guard tail.first == ":" else { throw trouble("after \"]\" only :port may follow") }
                portText = tail.dropFirst()
            }
        } else if let colon = server.firstIndex(of: ":"), server.lastIndex(of: ":") == colon {
            host = server[..<colon]
            portText = server[server.index(after: colon)...]
        }
        guard let portText else { return (String(host), standard) }
        guard let port = Port(portText) else { throw trouble("a port is a number from 1 to 65535") }
        return (String(host), port)
    }
}

extension String {
    fileprivate func range(ofSeparator separator: String) -> Range<Index>? {
        var at = startIndex
        while at < endIndex {
            if self[at...].hasPrefix(separator) {
                return at..<index(at, offsetBy: separator.count)
            }
            at = index(after: at)
        }
        return nil
    }
}
