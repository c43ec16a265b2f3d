package import HTTPDNSForwardProxy
package import HTTPDNSNames
package import HTTPDNSTrust

/// What one `proxy` is to do, read from its arguments. Pure but for the file of the token.
package struct ProxyPlan: Sendable {
    package let settings: ForwardProxyConfiguration
    package let resolvers: ResolverArguments
    package let overrides: [HostName: [IPAddress]]
    package let trust: TrustPolicy
    package let configuration: ToolConfiguration
    /// What is in flight may end by itself for so long after Ctrl-C.
    package let grace: Duration
    package let printsEnvironment: Bool
    /// The option that gives the token, as it stands in a hint: ` --token-file FILE`; or nothing.
    let tokenHint: String
    /// Nil: nothing is recorded.
    let capture: FetchCapture?
    package let isJSON: Bool
    package let isVerbose: Bool

    /// - Throws: ``CommandFault``: the option at fault.
    package init(
        _ arguments: ParsedArguments, _ configuration: ToolConfiguration, _ console: Console
    ) throws(CommandFault) {
        if let word = arguments.words.first {
            throw .usage("unexpected \(quoted(word)): httpdns proxy takes options only")
        }
        var settings = ForwardProxyConfiguration(port: ProxyPlan.usualPort)
        if let text = arguments.value(.listen) { try ProxyPlan.listen(text, &settings) }
        settings.servesOtherMachines = arguments.has(.serveOthers)
        settings.allowsLocalTargets = arguments.has(.allowLocal)
        settings.token = try ProxyPlan.token(arguments, console)
        for text in arguments.values(.unprovenPort) {
            guard let port = Port(text) else {
                throw .usage("--unproven-port \(quoted(text)): expected a port from 1 to 65535")
            }
            settings.unprovenPorts.insert(port)
        }
        self.settings = settings
        let named = arguments.values(.resolver).map {
            $0.hasPrefix("@") ? String($0.dropFirst()) : $0
        }
        resolvers = FetchPlan.trusting(
            arguments, try ResolverArguments(named, arguments, configuration, console))
        overrides = configuration.overrides.merging(try FetchPlan.overrides(arguments)) { $1 }
        trust = try ProxyPlan.trust(arguments, configuration, console)
        self.configuration = configuration
        grace = try arguments.duration(.grace) ?? .seconds(5)
        printsEnvironment = arguments.has(.printEnv)
        tokenHint =
            arguments.has(.tokenEnv)
            ? " --token-env VAR" : arguments.has(.tokenFile) ? " --token-file FILE" : ""
        capture = try FetchCapture(arguments)
        isJSON = arguments.has(.json)
        isVerbose = arguments.has(.verbose)
    }

    /// Nothing is served by `--print-env`: options that say how to serve would be ignored.
    ///
    /// - Throws: ``CommandFault``: the first of them.
    static func checkEnvironment(_ arguments: ParsedArguments) throws(CommandFault) {
        guard arguments.has(.printEnv) else { return }
        guard !arguments.has(.json) else {
            throw .usage("--print-env prints lines for a shell, of which --json has no form")
        }
        let ofServing: [OptionRule] =
            [
                .resolver, .resolve, .cacert, .verifyPin, .unprovenPort, .allowLocal, .grace,
                .captureFile, .verbose,
            ] + ResolverArguments.options
        for rule in ofServing where arguments.has(rule) {
            throw .usage(
                "--\(rule.name) is for a proxy that serves, and --print-env only prints variables")
        }
    }

    private static func listen(
        _ text: String, _ settings: inout ForwardProxyConfiguration
    ) throws(CommandFault) {
        let fault = CommandFault.usage(
            "--listen \(quoted(text)): write IP:PORT, such as 127.0.0.1:8353 or [::1]:8353")
        guard let colon = text.lastIndex(of: ":") else { throw fault }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        let number = text[text.index(after: colon)...]
        guard let address = try? IPAddress(String(host)) else { throw fault }
        settings.address = address
        settings.port = Port(number)
        guard settings.port != nil || number == "0" else { throw fault }
    }

    private static func token(
        _ arguments: ParsedArguments, _ console: Console
    ) throws(CommandFault) -> Secret? {
        guard !arguments.has(.tokenEnv) || !arguments.has(.tokenFile) else {
            throw .usage("--token-env and --token-file: the token is in one place")
        }
        if let name = arguments.value(.tokenEnv) {
            guard let text = console.variable(name), !text.isEmpty else {
                // The name is not shown: who mistakes the option writes the token there.
                throw .usage("--token-env names a variable of the environment that is not set")
            }
            return Secret(text)
        }
        guard let path = arguments.value(.tokenFile) else { return nil }
        guard let file = try FileText.readGuarded(path) else {
            throw .usage("--token-file \(quoted(path)): there is no such file")
        }
        guard !file.isOpenToOthers else {
            throw .usage(
                "--token-file \(quoted(path)) can be read or changed by others: chmod 600 it")
        }
        let line = file.text.split(whereSeparator: \.isNewline).first.map { String($0) } ?? ""
        guard !line.isEmpty else { throw .usage("--token-file \(quoted(path)) is empty") }
        return Secret(line)
    }

    private static func trust(
        _ arguments: ParsedArguments, _ configuration: ToolConfiguration, _ console: Console
    ) throws(CommandFault) -> TrustPolicy {
        for text in arguments.values(.verifyPin) where PinArgument.split(text).pattern == nil {
            throw .usage(
                "--pin \(quoted(text)): a proxy has many hosts; write HOST=sha256/…")
        }
        // No pin is without a host of its own, so this one stands for none.
        return try arguments.trustPolicy(
            for: .address(ForwardProxyConfiguration().address), configuration.trust, console)
    }

    /// Because: it is registered for nothing that people run, and ends as DNS does.
    private static let usualPort = Port(8_353)
}
