package import HTTPDNS
internal import HTTPDNSExchange
internal import HTTPDNSIDNA
internal import HTTPDNSNames
internal import HTTPDNSProfiles
internal import HTTPDNSTrust

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
    static let batch = OptionRule(
        "batch", "several names in one request, where the provider takes them")
    static let clientSubnet = OptionRule(
        "client-subnet", value: "CIDR", "ask for the answer that clients of this network get")
    static let sdns = OptionRule(
        "sdns", value: "KEY=VALUE", isRepeatable: true,
        "a parameter for the provider's own rules")
    static let method = OptionRule("method", value: "GET|POST", "how DoH asks (GET)")
    static let port = OptionRule("port", value: "N", "the resolver's port")
    static let tcp = OptionRule("tcp", "plain DNS over TCP alone")
    package static let cacert = OptionRule(
        "cacert", value: "FILE", "trust the authorities in this PEM file alone")
    package static let pin = OptionRule(
        "pin", value: "sha256/…", isRepeatable: true,
        "the key that the resolver's verified chain must hold; any of several")
}

/// One resolver, ready to be asked but for its addresses.
package struct NamedResolver: Sendable, Hashable {
    package var description: ResolverDescription
    package var trust = ResolverTrust()
    /// What the configuration file calls it; nil: its description says it.
    package var name: String?

    package init(_ description: ResolverDescription, trust: ResolverTrust = ResolverTrust()) {
        self.description = description
        self.trust = trust
    }

    /// - Throws: ``CommandFault``: a secret is not there.
    init(_ configured: ConfiguredResolver, _ console: Console) throws(CommandFault) {
        description = try configured.described(console)
        trust = configured.trust
        name = configured.hasOwnName ? configured.name : nil
    }
}

/// The resolvers that a command asks, with the options that say how. Pure but for the environment's
/// variables, from which secrets come.
package struct ResolverArguments: Sendable {
    /// What a command that takes resolvers adds to its options; trust comes on top.
    package static let options: [OptionRule] = [
        .bootstrap, .port, .tcp, .method, .account, .secretEnv, .keyEnv, .endpoint, .batch,
    ]

    /// In the order given. Where none was named: those of the configuration file, else the built-in
    /// chain.
    package private(set) var resolvers: [NamedResolver]
    /// Whether the command line names them. Else they are a chain, of which one answer is enough.
    package let areNamed: Bool

    package var descriptions: [ResolverDescription] { resolvers.map(\.description) }

    /// - Parameter texts: what follows each `@`, or each `--resolver`.
    /// - Throws: ``CommandFault``.
    package init(
        _ texts: [String], _ arguments: ParsedArguments, _ configuration: ToolConfiguration,
        _ console: Console
    ) throws(CommandFault) {
        areNamed = !texts.isEmpty
        let settings = try Settings(arguments, console)
        resolvers = []
        for text in texts {
            resolvers.append(try ResolverArguments.resolver(text, configuration, console))
        }
        try ResolverArguments.check(arguments, resolvers.map(\.description))
        for place in resolvers.indices { settings.apply(to: &resolvers[place].description) }
        guard resolvers.isEmpty else { return }
        for resolver in configuration.resolvers {
            resolvers.append(try NamedResolver(resolver, console))
        }
        if resolvers.isEmpty { resolvers = ResolverDescription.builtIn.map { NamedResolver($0) } }
    }

    /// The resolver that a text names: one of the configuration, or by itself.
    static func resolver(
        _ text: String, _ configuration: ToolConfiguration, _ console: Console
    ) throws(CommandFault) -> NamedResolver {
        if let configured = configuration.resolver(named: text) {
            return try NamedResolver(configured, console)
        }
        if let colon = text.firstIndex(of: ":"),
            configuration.resolver(named: String(text[..<colon]))?.hasOwnName == true,
            text[colon...].dropFirst().allSatisfy(\.isNumber)
        {
            throw .usage(
                "\(quoted(url: text)) is not a resolver: the configuration file says where "
                    + "\(text[..<colon]) is; --port N moves it")
        }
        if ResolverDescription.isProfilePath(text) {
            return NamedResolver(
                try .ofProfile(text, text: try FileText.profile(text)) { .usage($0) })
        }
        do throws(DescriptionError) { return NamedResolver(try ResolverDescription(text)) } catch {
            throw .usage("\(quoted(url: text)) is not a resolver: \(error.reason)")
        }
    }

    /// Whether the options mean something to the resolvers.
    private static func check(
        _ arguments: ParsedArguments, _ descriptions: [ResolverDescription]
    ) throws(CommandFault) {
        for rule in options + [.sdns] where arguments.has(rule) {
            guard !descriptions.isEmpty else {
                throw .usage("--\(rule.name) says how to ask a resolver, but none is named")
            }
            guard descriptions.contains(where: { $0.uses(rule) }) else {
                throw meaningless(rule, descriptions)
            }
        }
        // A question that lost its flag on the way would be answered wrongly: all must carry it.
        for rule in [OptionRule.dnssec, .noRecursion, .clientSubnet] where arguments.has(rule) {
            let deaf = descriptions.filter { !$0.uses(rule) }
            guard deaf.isEmpty else { throw meaningless(rule, deaf) }
        }
    }

    /// The same, those that `isPrivate` picks held to the roots in a file.
    package func rooted(
        in file: String, where isPrivate: (ResolverDescription) -> Bool
    ) -> ResolverArguments {
        var rooted = self
        for place in resolvers.indices where isPrivate(resolvers[place].description) {
            rooted.resolvers[place].trust.rootFile = file
            rooted.resolvers[place].trust.rootPlace = nil
        }
        return rooted
    }

    /// The same, held to the roots and pins of `--cacert` and `--pin` where those are given.
    ///
    /// - Throws: ``CommandFault``.
    package func trusting(_ arguments: ParsedArguments) throws(CommandFault) -> ResolverArguments {
        for option in [OptionRule.pin, .cacert] where arguments.has(option) {
            let isProven = descriptions.contains { $0.provenHost != nil }
            guard isProven, areNamed || option == .cacert else {
                throw .usage(
                    "--\(option.name) needs a resolver over TLS, such as @tls://… or @https://…")
            }
        }
        var trusted = self
        var pins: [Pin] = []
        for text in arguments.values(.pin) {
            do throws(PinError) { pins.append(try Pin(text)) } catch {
                throw .usage("--pin \(quoted(text)): \(error)")
            }
        }
        for place in resolvers.indices where resolvers[place].description.provenHost != nil {
            if let file = arguments.value(.cacert) {
                trusted.resolvers[place].trust.rootFile = file
                trusted.resolvers[place].trust.rootPlace = nil
            }
            if !pins.isEmpty { trusted.resolvers[place].trust.pins = pins }
        }
        return trusted
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
    var usesPOST: Bool?
    var usesBatches: Bool
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
        usesPOST = try arguments.choice(.method, Method.self).map { $0 == .post }
        usesBatches = arguments.has(.batch)
        account = arguments.value(.account)
        secret = try Settings.secret(.secretEnv, arguments, console)
        key = try Settings.secret(.keyEnv, arguments, console)
        guard let text = arguments.value(.endpoint) else { return }
        do throws(URLFault) { endpoint = try HTTPURL(text) } catch {
            throw .usage("--endpoint \(quoted(url: text)): \(error)")
        }
        if endpoint?.userinfo != nil || endpoint?.fragment != nil {
            throw .usage("--endpoint \(quoted(url: text)): \(HTTPURL.plainEndpoint)")
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

    /// What was given replaces what the description has.
    func apply(to description: inout ResolverDescription) {
        let old = description
        description = ResolverDescription(kind: kind(old.kind))
        description.bootstrap = bootstrap.isEmpty ? servers(of: old, description.kind) : bootstrap
        description.usesPOST = usesPOST ?? old.usesPOST
        description.tries = old.tries
        guard case .provider = description.kind else { return }
        description.account = account ?? old.account
        description.secret = secret ?? old.secret
        description.key = key ?? old.key
        description.endpoint = endpoint ?? old.endpoint
        description.batchesNames = usesBatches || old.batchesNames
    }

    private func kind(_ kind: ResolverDescription.Kind) -> ResolverDescription.Kind {
        switch kind {
        case .datagram(let host, let own, let isTCP):
            .datagram(host, port ?? own, isTCPOnly: isTCP || isTCPOnly)
        case .dot(let host, let own): .dot(host, port ?? own)
        case .doh(let url): .doh(moved(url))
        case .jsonDoH(let url): .jsonDoH(moved(url))
        case .provider(let profile) where profile.kind == .udp && (port != nil || isTCPOnly):
            profile.bootstrap.first.map {
                .datagram(.address($0), port ?? .dns, isTCPOnly: isTCPOnly)
            } ?? kind
        case .system, .resolvConf, .provider: kind
        }
    }

    /// A provider of plain DNS at another port is still asked at all its addresses.
    private func servers(
        of old: ResolverDescription, _ kind: ResolverDescription.Kind
    ) -> [IPAddress] {
        guard old.bootstrap.isEmpty, case .provider(let profile) = old.kind,
            case .datagram = kind
        else { return old.bootstrap }
        return profile.bootstrap
    }

    private func moved(_ url: HTTPURL) -> HTTPURL {
        guard let port else { return url }
        let origin = Origin(scheme: url.origin.scheme, host: url.origin.host, port: port)
        return HTTPURL(origin: origin, target: url.target)
    }
}

extension HTTPURL {
    /// Neither would be sent.
    static let plainEndpoint = "an endpoint takes no user name, password or fragment"
}

extension ResolverDescription {
    /// Of a profile's text.
    static func ofProfile(
        _ path: String, text: String, fault: (String) -> CommandFault
    ) throws(CommandFault) -> ResolverDescription {
        do throws(DescriptionError) {
            return try ResolverDescription(profile: text, file: path)
        } catch {
            throw fault("\(quoted(path)) is not a resolver: \(error.reason)")
        }
    }

    /// Whether an option changes how this resolver is asked.
    func uses(_ rule: OptionRule) -> Bool {
        switch (rule, kind) {
        case (.bootstrap, .system), (.bootstrap, .resolvConf): false
        case (.bootstrap, _): true
        case (.port, .datagram), (.port, .dot), (.port, .doh), (.port, .jsonDoH): true
        case (.tcp, .datagram): true
        case (.port, .provider(let profile)), (.tcp, .provider(let profile)): profile.kind == .udp
        case (.method, .doh): true
        case (.method, .provider(let profile)): profile.kind == .doh
        case (.account, .provider(let profile)): profile.knows(.account)
        case (.secretEnv, .provider(let profile)): profile.knows(.secret)
        case (.keyEnv, .provider(let profile)): profile.knows(.key) || profile.knows(.secret)
        case (.endpoint, .provider(let profile)): profile.kind != .udp
        case (.batch, _), (.sdns, _): isVendors
        case (.clientSubnet, _): speaksDNS || speaksJSON || isVendors
        case (.dnssec, _): speaksDNS || speaksJSON
        case (.noRecursion, _): speaksDNS
        default: false
        }
    }

    /// Whether DNS messages carry the question, with all their flags.
    private var speaksDNS: Bool {
        switch kind {
        case .datagram, .dot, .doh, .resolvConf: true
        case .jsonDoH, .system: false
        case .provider(let profile): [.doh, .dot, .udp].contains(profile.kind)
        }
    }

    /// Whether an HTTP-DNS service answers, in a form of its own.
    private var isVendors: Bool {
        guard case .provider(let profile) = kind else { return false }
        return ![.doh, .dot, .udp, .jsonDoH].contains(profile.kind)
    }

    private var speaksJSON: Bool {
        switch kind {
        case .jsonDoH: true
        case .datagram, .dot, .doh, .system, .resolvConf: false
        case .provider(let profile): profile.kind == .jsonDoH
        }
    }

    /// Whom the certificate must prove; nil where there is no TLS.
    var provenHost: Host? {
        if case .dot(let host, _) = kind { return host }
        if case .provider(let profile) = kind, profile.kind == .dot {
            return endpoint?.origin.host ?? profile.provenHost
        }
        let url: HTTPURL? =
            switch kind {
            case .doh(let url), .jsonDoH(let url): url
            case .provider(let profile): endpoint ?? profile.url
            case .datagram, .dot, .system, .resolvConf: nil
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
        case .system, .resolvConf: "system"
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
