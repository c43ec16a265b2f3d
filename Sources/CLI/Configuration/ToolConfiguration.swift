package import HTTPDNS
package import HTTPDNSLookup
package import HTTPDNSNames
package import HTTPDNSTrust

/// What a configuration file says, as plain values.
package struct ToolConfiguration: Sendable {
    /// A pattern of names, and the resolvers that are asked for them.
    package struct Route: Sendable, Hashable {
        /// `*.corp.example`.
        package let pattern: String
        /// As after `@`, in order: a provider, an address, the name of a configured resolver.
        package let resolvers: [String]
    }

    /// The file; nil when there is none.
    package var path: String?
    package var resolvers: [ConfiguredResolver] = []
    /// In the order of their patterns.
    package var routes: [Route] = []
    package var overrides: [HostName: [IPAddress]] = [:]
    package var strategy: LookupStrategy?
    /// By command: `lookup`, `fetch`.
    package var timeouts: [String: String] = [:]
    /// Options and their values, for commands that take them.
    package var defaults: [String: String] = [:]
    /// What origins must prove.
    package var trust = ConfiguredTrust()

    package init() {}

    /// The file that `--config` names, or the user's own where there is one.
    ///
    /// - Throws: ``CommandFault``: usage, with the file and the place in it.
    package static func load(
        _ arguments: ParsedArguments, _ console: Console
    ) throws(CommandFault) -> ToolConfiguration {
        let named = arguments.value(.config)
        guard named != "none", let path = named ?? usualPath(console) else {
            return ToolConfiguration()
        }
        guard let file = try FileText.readGuarded(path) else {
            guard named == nil else {
                throw .usage("cannot read \(quoted(path)): No such file or directory")
            }
            return ToolConfiguration()
        }
        let configuration = try ConfigurationReader(
            file: path, isOpenToOthers: file.isOpenToOthers
        ).configuration(file.text)
        if arguments.has(.verbose) { console.note("configuration: \(path)") }
        return configuration
    }

    /// Source: XDG Base Directory Specification 0.8: a relative path there is to be ignored.
    private static func usualPath(_ console: Console) -> String? {
        let tail = "/httpdns/config.json"
        if let base = console.variable("XDG_CONFIG_HOME"), base.hasPrefix("/") {
            return base + tail
        }
        guard let home = console.variable("HOME"), home.hasPrefix("/") else { return nil }
        return home + "/.config" + tail
    }

    /// The arguments with what the file says where the command line is silent.
    package func applied(to arguments: ParsedArguments, of command: String) -> ParsedArguments {
        var arguments = arguments
        let timeout = timeouts[command].map { ["timeout": $0] } ?? [:]
        for (name, value) in defaults.merging(timeout, uniquingKeysWith: { $1 }) {
            arguments = arguments.defaulting(name, to: value)
        }
        return arguments
    }

    /// The options of a resolver that follow the file.
    package var resolverOptions: ResolverOptions {
        var options = ResolverOptions()
        if let strategy { options.strategy = strategy }
        return options
    }

    /// The configured resolver of that name; letters of either case.
    package func resolver(named name: String) -> ConfiguredResolver? {
        resolvers.first { $0.name.lowercased() == name.lowercased() }
    }
}

/// A resolver as the file has it.
package struct ConfiguredResolver: Sendable {
    /// Where a secret is.
    package enum SecretPlace: Sendable, Hashable {
        case here(Secret)
        /// In a variable of the environment, of that name.
        case variable(String)
    }

    /// What it is called after `@`; the text that describes it unless the file says another.
    package let name: String
    /// Whether the file says another.
    package var hasOwnName = false
    /// Without its secrets.
    package var description: ResolverDescription
    package var secret: SecretPlace?
    package var key: SecretPlace?
    /// The roots and pins that it is held to.
    package var trust: ResolverTrust
    /// Where it stands, for messages: `config.json: resolvers[0]`.
    package let place: String

    /// With the secrets in it.
    ///
    /// - Throws: ``CommandFault``: a variable that is not set.
    package func described(_ console: Console) throws(CommandFault) -> ResolverDescription {
        var description = description
        description.secret = try revealed(secret, "secretEnv", console)
        description.key = try revealed(key, "keyEnv", console)
        return description
    }

    private func revealed(
        _ place: SecretPlace?, _ member: String, _ console: Console
    ) throws(CommandFault) -> Secret? {
        switch place {
        case nil: return nil
        case .here(let secret): return secret
        case .variable(let name):
            guard let text = console.variable(name), !text.isEmpty else {
                // The name is not shown: who mistakes the member writes the secret there.
                throw .usage(
                    "\(self.place).\(member) names a variable of the environment that is not set")
            }
            return Secret(text)
        }
    }
}

/// The roots and pins of one resolver.
package struct ResolverTrust: Sendable, Hashable {
    /// A PEM file; nil: the system's roots.
    package var rootFile: String?
    /// Where the file is named, for messages: `config.json: resolvers[0].cacert`; nil: `--cacert`.
    package var rootPlace: String?
    package var pins: [Pin] = []

    package init(rootFile: String? = nil, pins: [Pin] = []) {
        self.rootFile = rootFile
        self.pins = pins
    }

    /// As a policy for the one who answers.
    package func policy(for host: Host?) -> TrustPolicy {
        var policy = TrustPolicy(roots: rootFile.map { .file($0) } ?? .system)
        if let host, !pins.isEmpty {
            policy.pins.set(withoutBackup: pins, for: HostPattern(exactly: host))
        }
        return policy
    }
}
