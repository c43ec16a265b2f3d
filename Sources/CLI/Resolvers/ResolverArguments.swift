package import HTTPDNS
internal import HTTPDNSExchange
internal import HTTPDNSIDNA
internal import HTTPDNSNames
internal import HTTPDNSProfiles
package import HTTPDNSTrust

extension OptionRule {
    static let account = OptionRule("account", value: "ID", "your account at the provider")
    static let secretEnv = OptionRule(
        "secret-env", value: "VAR", "the variable that holds the secret which signs requests")
    static let keyEnv = OptionRule(
        "key-env", value: "VAR", "the variable that holds the provider's token or key")
    static let endpoint = OptionRule(
        "endpoint", value: "URL", "ask a provider there: a proxy, a test server")
    static let bootstrap = OptionRule(
        "bootstrap", value: "IP[,IP]", isRepeatable: true,
        "addresses of a resolver named by host; else the system resolves it")
    static let method = OptionRule("method", value: "GET|POST", "how DoH asks (GET)")
    static let port = OptionRule("port", value: "N", "the resolver's port")
    static let tcp = OptionRule("tcp", "plain DNS over TCP alone")
    package static let cacert = OptionRule(
        "cacert", value: "FILE", "trust the authorities in this PEM file alone")
    package static let pin = OptionRule(
        "pin", value: "sha256/…", isRepeatable: true,
        "the key that the resolver's verified chain must hold; any of several")
}

/// The resolvers that a command line names, with the options that say how to ask them. Pure but for
/// the environment's variables, from which secrets come.
package struct ResolverArguments: Sendable {
    /// What a command that takes resolvers adds to its options; trust comes on top.
    package static let options: [OptionRule] = [
        .bootstrap, .port, .tcp, .method, .account, .secretEnv, .keyEnv, .endpoint,
    ]

    /// In the order given; empty: the built-in chain.
    package let descriptions: [ResolverDescription]

    /// - Parameter texts: what follows each `@`, or each `--resolver`.
    /// - Throws: ``CommandFault``.
    package init(
        _ texts: [String], _ arguments: ParsedArguments, _ console: Console
    ) throws(CommandFault) {
        let settings = try Settings(arguments, console)
        var descriptions: [ResolverDescription] = []
        for text in texts {
            do throws(DescriptionError) {
                descriptions.append(try ResolverDescription(text))
            } catch {
                throw .usage("\(quoted(url: text)) is not a resolver: \(error.reason)")
            }
        }
        for rule in ResolverArguments.options where arguments.has(rule) {
            guard !texts.isEmpty else {
                throw .usage("--\(rule.name) says how to ask a resolver, but none is named")
            }
            guard descriptions.contains(where: { $0.uses(rule) }) else {
                throw meaningless(rule, descriptions)
            }
        }
        // A question that lost its flag on the way would be answered wrongly: all must carry it.
        for rule in [OptionRule.dnssec, .noRecursion] where arguments.has(rule) {
            let deaf = descriptions.filter { !$0.uses(rule) }
            guard deaf.isEmpty else { throw meaningless(rule, deaf) }
        }
        self.descriptions = descriptions.map { settings.applied(to: $0) }
    }

    /// The roots and pins that resolvers over HTTPS are held to.
    ///
    /// - Throws: ``CommandFault``.
    package func trust(_ arguments: ParsedArguments) throws(CommandFault) -> TrustPolicy {
        var policy = TrustPolicy(roots: arguments.value(.cacert).map { .file($0) } ?? .system)
        let hosts = descriptions.compactMap(\.provenHost)
        for option in [OptionRule.pin, .cacert] where arguments.has(option) {
            guard !hosts.isEmpty || (descriptions.isEmpty && option == .cacert) else {
                throw .usage("--\(option.name) needs a resolver over HTTPS, such as @https://…")
            }
        }
        for text in arguments.values(.pin) {
            do throws(PinError) {
                let pin = try Pin(text)
                for host in hosts { policy.pins.add([pin], for: HostPattern(exactly: host)) }
            } catch {
                throw .usage("--pin \(quoted(text)): \(error)")
            }
        }
        return policy
    }
}

private func meaningless(
    _ rule: OptionRule, _ descriptions: [ResolverDescription]
) -> CommandFault {
    .usage(
        "--\(rule.name) means nothing to "
            + descriptions.map(\.description).joined(separator: ", "))
}

/// The options, read.
private struct Settings {
    var bootstrap: [IPAddress] = []
    var port: Port?
    var isTCPOnly: Bool
    var usesPOST: Bool
    var account: String?
    var secret: Secret?
    var key: Secret?
    var endpoint: HTTPURL?

    private enum Method: String, CaseIterable {
        case get = "GET"
        case post = "POST"
    }

    init(_ arguments: ParsedArguments, _ console: Console) throws(CommandFault) {
        for list in arguments.values(.bootstrap) {
            for text in list.split(separator: ",", omittingEmptySubsequences: false) {
                do throws(AddressError) { bootstrap.append(try IPAddress(String(text))) } catch {
                    throw .usage("--bootstrap \(quoted(String(text))): \(error)")
                }
            }
        }
        port = try arguments.number(.port, in: 1...65_535).flatMap { Port(UInt16($0)) }
        isTCPOnly = arguments.has(.tcp)
        usesPOST = try arguments.choice(.method, Method.self) == .post
        account = arguments.value(.account)
        secret = try Settings.secret(.secretEnv, arguments, console)
        key = try Settings.secret(.keyEnv, arguments, console)
        guard let text = arguments.value(.endpoint) else { return }
        do throws(URLFault) { endpoint = try HTTPURL(text) } catch {
            throw .usage("--endpoint \(quoted(url: text)): \(error)")
        }
    }

    /// A secret never stands on a command line, where every user of the machine can read it.
    private static func secret(
        _ rule: OptionRule, _ arguments: ParsedArguments, _ console: Console
    ) throws(CommandFault) -> Secret? {
        guard let name = arguments.value(rule) else { return nil }
        guard let text = console.variable(name), !text.isEmpty else {
            // The name is not shown: who mistakes the option writes the secret there.
            throw .usage(
                "--\(rule.name) names a variable that is not set; put the secret in a variable "
                    + "of the environment and give its name")
        }
        return Secret(text)
    }

    func applied(to description: ResolverDescription) -> ResolverDescription {
        var description = ResolverDescription(kind: kind(description.kind))
        description.bootstrap = bootstrap
        description.usesPOST = usesPOST
        guard case .provider = description.kind else { return description }
        description.account = account
        description.secret = secret
        description.key = key
        description.endpoint = endpoint
        return description
    }

    private func kind(_ kind: ResolverDescription.Kind) -> ResolverDescription.Kind {
        switch kind {
        case .datagram(let host, let own, let isTCP):
            .datagram(host, port ?? own, isTCPOnly: isTCP || isTCPOnly)
        case .dot(let host, let own): .dot(host, port ?? own)
        case .doh(let url): .doh(moved(url))
        case .jsonDoH(let url): .jsonDoH(moved(url))
        case .system, .provider: kind
        }
    }

    private func moved(_ url: HTTPURL) -> HTTPURL {
        guard let port else { return url }
        let origin = Origin(scheme: url.origin.scheme, host: url.origin.host, port: port)
        return HTTPURL(origin: origin, target: url.target)
    }
}

extension ResolverDescription {
    /// Whether an option changes how this resolver is asked.
    fileprivate func uses(_ rule: OptionRule) -> Bool {
        switch (rule, kind) {
        case (.bootstrap, .system): false
        case (.bootstrap, _): true
        case (.port, .datagram), (.port, .dot), (.port, .doh), (.port, .jsonDoH): true
        case (.tcp, .datagram): true
        case (.method, .doh): true
        case (.method, .provider(let profile)): profile.kind == .doh
        case (.account, .provider(let profile)): profile.knows(.account)
        case (.secretEnv, .provider(let profile)): profile.knows(.secret)
        case (.keyEnv, .provider(let profile)): profile.knows(.key) || profile.knows(.secret)
        case (.endpoint, .provider(let profile)): profile.kind != .udp
        case (.dnssec, _): speaksDNS || speaksJSON
        case (.noRecursion, _): speaksDNS
        default: false
        }
    }

    /// Whether DNS messages carry the question, with all their flags.
    private var speaksDNS: Bool {
        switch kind {
        case .datagram, .dot, .doh: true
        case .jsonDoH, .system: false
        case .provider(let profile): profile.kind == .doh || profile.kind == .udp
        }
    }

    private var speaksJSON: Bool {
        switch kind {
        case .jsonDoH: true
        case .datagram, .dot, .doh, .system: false
        case .provider(let profile): profile.kind == .jsonDoH
        }
    }

    /// Whom the certificate must prove; nil where there is no TLS.
    var provenHost: Host? {
        if case .dot(let host, _) = kind { return host }
        let url: HTTPURL? =
            switch kind {
            case .doh(let url), .jsonDoH(let url): url
            case .provider(let profile): endpoint ?? profile.url
            case .datagram, .dot, .system: nil
            }
        guard let url, url.origin.scheme == .https else { return nil }
        return url.origin.host
    }

    /// How a question travels, in the words of the JSON.
    package var transportName: String {
        switch kind {
        case .datagram(_, _, let isTCPOnly): isTCPOnly ? "tcp" : "udp"
        case .dot: "tls"
        case .doh, .jsonDoH: "https"
        case .system: "system"
        case .provider(let profile):
            switch profile.kind {
            case .doh, .jsonDoH: "https"
            case .udp: "udp"
            case .dot: "tls"
            case .aliyun, .aliyunV2, .dnspod, .dnspodDES, .dnspodAES, .volcengine, .baidu,
                .template:
                "httpdns"
            }
        }
    }
}

extension Profile {
    fileprivate func knows(_ credential: Credential) -> Bool {
        needs.contains(credential) || takes.contains(credential)
    }
}
