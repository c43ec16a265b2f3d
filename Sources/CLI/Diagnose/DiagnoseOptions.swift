internal import HTTPDNS
internal import HTTPDNSDatagram
internal import HTTPDNSDiagnosis
internal import HTTPDNSEvidence
internal import HTTPDNSExchange
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

extension OptionRule {
    static let judgedResolver = OptionRule(
        "resolver", value: "R", isRepeatable: true, "a resolver to be judged, too: as after @")
    static let trusted = OptionRule(
        "trusted", value: "R", isRepeatable: true,
        "measure the others by it: DoH, DoT, HTTP-DNS over TLS, or on this machine; or none")
    static let nameserver = OptionRule(
        "nameserver", value: "IP[:PORT]", isRepeatable: true,
        "judge this in place of resolv.conf's name servers; or none")
    static let noSystem = OptionRule("no-system", "do not ask the system's own resolver")
    static let hosts = OptionRule(
        "hosts", value: "FILE", "a hosts file in place of /etc/hosts; or none")
    static let tlsPort = OptionRule("tls-port", value: "N", "where the name speaks TLS (443)")
    static let httpPort = OptionRule("http-port", value: "N", "where it speaks HTTP (80)")
    static let probe = OptionRule(
        "probe", value: "URL", "a page whose answer is known, to find captive portals by")
    static let probeStatus = OptionRule(
        "probe-status", value: "N", "what it answers where nobody interferes (204)")
    static let probeBody = OptionRule(
        "probe-body", value: "TEXT", "what its page then holds")
    static let darkAddress = OptionRule(
        "dark-address", value: "IP[:PORT]",
        "an address without a name server, such as 192.0.2.53: who answers, intercepts")
    static let otherPort = OptionRule(
        "other-port", value: "N",
        "where the name servers do DNS, too: who lies on one port alone is intercepted")
    static let vacantPort = OptionRule(
        "vacant-port", value: "N",
        "where they do none (one above 61000): who answers there may intercept; or none")
    static let identify = OptionRule("identify", "ask name servers for id.server and version.bind")
    static let whoami = OptionRule(
        "whoami", value: "NAME", "ask each source for this name, which tells who asked")
    static let nat64 = OptionRule(
        "nat64", "ask for ipv4only.arpa, to see how the network translates IPv4")
    static let otherName = OptionRule(
        "other-name", value: "NAME", "the server name to try when the real one fails")
    static let connectOnly = OptionRule(
        "connect-only", "send no HTTP request: addresses and handshakes alone")
    static let html = OptionRule(
        "html", value: "FILE", "write a page to show to people; - is standard output")
    static let raw = OptionRule("raw", "keep messages and certificates as they came")
    static let dialPrivate = OptionRule(
        "dial-private", "connect to private addresses, too, that no trusted resolver gives")
    static let onLoopback = OptionRule(
        "stay-on-loopback", "connect to no address but 127.0.0.0/8 and ::1: for tests")
}

/// What `diagnose` is told, read.
struct DiagnoseRequest {
    let name: HostName
    /// As it was typed, in letters of any script.
    let typed: String
    let options: DiagnosisOptions
    let htmlFile: String?

    static let rules: [OptionRule] = [
        .judgedResolver, .trusted, .nameserver, .noSystem, .hosts, .cacert, .bootstrap, .account,
        .secretEnv, .keyEnv, .endpoint, .method, .tlsPort, .httpPort, .probe, .probeStatus,
        .probeBody, .darkAddress, .otherPort, .vacantPort, .identify, .whoami, .nat64, .otherName,
        .connectOnly, .at, .html, .raw, .json, .timeout, .verbose, .config, .dialPrivate,
        .onLoopback,
    ]

    /// - Throws: ``CommandFault``.
    init(_ arguments: ParsedArguments, _ console: Console) async throws(CommandFault) {
        guard let text = arguments.words.first else {
            throw .usage("a name is missing: httpdns diagnose NAME")
        }
        guard arguments.words.count == 1 else {
            throw .usage("unexpected \(quoted(arguments.words[1])): one name at a time")
        }
        typed = text
        let target = try PeerTarget(text)
        guard case .name(let name) = target.host else {
            throw .usage("\(quoted(text)) is an address: diagnose takes a name")
        }
        self.name = name
        let configuration = try ToolConfiguration.load(arguments, console)
        let arguments = configuration.applied(to: arguments, of: "diagnose")
        htmlFile = arguments.value(.html)
        var options = DiagnosisOptions(trusted: [])
        try DiagnoseRequest.readPlaces(arguments, &options)
        try DiagnoseRequest.readExtras(arguments, &options)
        options.securePort = target.port
        if let port = try arguments.number(.tlsPort, in: 1...65_535) {
            options.securePort = Port(UInt16(port)) ?? .https
        }
        options.trust = try arguments.trustPolicy(configuration.trust, console)
        // Before anybody is asked, a resolver's own address included.
        if htmlFile == "-" { try SideDocument.refuseJSON(.html, arguments) }
        if let htmlFile, htmlFile != "-" { try DiagnosePage.checkWritable(htmlFile) }
        // One deadline for both: what finding resolvers takes, the run has no more.
        options.deadline = SystemMonotonicClock().now().adding(
            milliseconds: options.patience.wholeMilliseconds)
        let makers = DiagnoseResolvers(arguments, configuration, console)
        try await makers.apply(to: &options)
        self.options = options
    }

    private static func readPlaces(
        _ arguments: ParsedArguments, _ options: inout DiagnosisOptions
    ) throws(CommandFault) {
        let servers = arguments.values(.nameserver)
        if servers == ["none"] {
            options.nameservers = []
        } else if !servers.isEmpty {
            var list: [Endpoint] = []
            for server in servers { list.append(try endpoint(server, .nameserver)) }
            options.nameservers = list
        }
        options.asksSystem = !arguments.has(.noSystem)
        if let hosts = arguments.value(.hosts) {
            options.hostsFile = hosts == "none" ? nil : hosts
            options.hostsText = try text(ofHostsFile: options.hostsFile)
        }
        if let dark = arguments.value(.darkAddress) {
            options.darkAddress = try endpoint(dark, .darkAddress)
        }
        try readPorts(arguments, &options)
        if let port = try arguments.number(.httpPort, in: 1...65_535) {
            options.plainPort = Port(UInt16(port)) ?? .http
        }
    }

    private static func readPorts(
        _ arguments: ParsedArguments, _ options: inout DiagnosisOptions
    ) throws(CommandFault) {
        if let port = try arguments.number(.otherPort, in: 1...65_535) {
            options.otherPort = Port(UInt16(port))
        }
        if arguments.value(.vacantPort) == "none" {
            options.asksVacantPorts = false
        } else if let port = try arguments.number(.vacantPort, in: 1...65_535) {
            options.vacantPort = Port(UInt16(port))
        }
        guard options.otherPort == nil || options.otherPort != options.vacantPort else {
            throw .usage("--other-port and --vacant-port: DNS is done there, or it is not")
        }
    }

    private static func readExtras(
        _ arguments: ParsedArguments, _ options: inout DiagnosisOptions
    ) throws(CommandFault) {
        if let text = arguments.value(.probe) {
            do throws(URLFault) { options.probe = try HTTPURL(text) } catch {
                throw .usage("--probe \(quoted(url: text)): \(error)")
            }
        }
        for rule in [OptionRule.probeStatus, .probeBody]
        where arguments.has(rule) && options.probe == nil {
            throw .usage("--\(rule.name) means nothing without --probe: no page is asked for")
        }
        let status = try arguments.number(.probeStatus, in: 100...599) ?? 204
        options.probeExpectation = ProbeExpectation(
            status: status, body: arguments.value(.probeBody))
        options.asksIdentity = arguments.has(.identify)
        options.whoami = try arguments.name(.whoami)
        options.otherServerName = try arguments.name(.otherName)
        options.findsTranslators = arguments.has(.nat64)
        options.fetches = !arguments.has(.connectOnly)
        options.keepsRaw = arguments.has(.raw)
        options.dialsOwnNetwork = arguments.has(.dialPrivate)
        options.staysOnLoopback = arguments.has(.onLoopback)
        options.moment = try arguments.moment()
        if let patience = try arguments.duration(.timeout) { options.patience = patience }
    }

    /// A file that is not there would read as one that does not have the name.
    private static func text(ofHostsFile path: String?) throws(CommandFault) -> [UInt8]? {
        guard let path else { return nil }
        do throws(SmallFile.Fault) {
            return try SmallFile.whole(path, most: DiagnosisOptions.mostHostsOctets)
        } catch { throw .usage("--hosts \(quoted(path)): \(error)") }
    }

    /// `192.0.2.1`, `192.0.2.1:5353`, `[::1]:5353`, `udp://…` too.
    private static func endpoint(
        _ text: String, _ rule: OptionRule
    ) throws(CommandFault) -> Endpoint {
        let bare = text.hasPrefix("@") ? String(text.dropFirst()) : text
        if let found = ResolverDescription.endpoint(bare) { return found }
        throw .usage(
            "--\(rule.name) \(quoted(text)): expected an address, with or without a port")
    }
}

extension ResolverDescription {
    /// The address of plain DNS that a text names.
    static func endpoint(_ text: String) -> Endpoint? {
        guard let description = try? ResolverDescription(text),
            case .datagram(.address(let address), let port, _) = description.kind
        else { return nil }
        return Endpoint(address: address, port: port)
    }
}

extension ParsedArguments {
    fileprivate func name(_ rule: OptionRule) throws(CommandFault) -> HostName? {
        guard let text = value(rule) else { return nil }
        guard case .name(let name) = try PeerTarget.host(text) else {
            throw .usage("--\(rule.name) \(quoted(text)): expected a name")
        }
        return name
    }
}

/// Makes the resolvers of a run.
private struct DiagnoseResolvers {
    let arguments: ParsedArguments
    let configuration: ToolConfiguration
    let console: Console
    private let maker: BackendMaker

    init(
        _ arguments: ParsedArguments, _ configuration: ToolConfiguration, _ console: Console
    ) {
        self.arguments = arguments
        self.configuration = configuration
        self.console = console
        maker = BackendMaker(console: console)
    }

    func apply(to options: inout DiagnosisOptions) async throws(CommandFault) {
        let judged = named(.judgedResolver)
        let trusted = named(.trusted)
        let all = try resolvers((judged + trusted).filter { $0 != "none" })
        let deadline = SystemMonotonicClock().now().adding(
            milliseconds: options.patience.wholeMilliseconds / 3)
        for resolver in all.prefix(judged.count) {
            do throws(QueryFailure) {
                options.resolvers.append(
                    try await maker.backend(for: resolver, deadline: deadline).backend)
            } catch { throw .usage("--resolver \(resolver.description): \(error)") }
        }
        let measures =
            trusted.isEmpty ? try usual() : trusted == ["none"] ? [] : all.dropFirst(judged.count)
        for resolver in measures {
            do throws(QueryFailure) {
                let backend = try await maker.backend(for: resolver, deadline: deadline).backend
                guard backend.isAuthenticated || backend.isLocal else {
                    throw QueryFailure.misconfigured(
                        "nothing proves who answers there; use --resolver to have it judged")
                }
                options.trusted.append(backend)
            } catch {
                if case .misconfigured = error {
                    throw .usage("--trusted \(resolver.description): \(error)")
                }
                options.unusable.append((resolver.description.description, error))
            }
        }
    }

    private func named(_ rule: OptionRule) -> [String] {
        arguments.values(rule).map { $0.hasPrefix("@") ? String($0.dropFirst()) : $0 }
    }

    private func resolvers(_ texts: [String]) throws(CommandFault) -> ArraySlice<NamedResolver> {
        guard !texts.isEmpty else { return [] }
        var named = try ResolverArguments(texts, arguments, configuration, console)
        if let file = arguments.value(.cacert) {
            named = named.rooted(in: file) { $0.provenHost != nil }
        }
        return named.resolvers[...]
    }

    /// Those of the configuration, else the built-in ones, as far as they prove themselves.
    private func usual() throws(CommandFault) -> ArraySlice<NamedResolver> {
        let all = try ResolverArguments([], arguments, configuration, console).resolvers
        return all.filter { $0.description.provenHost != nil }[...]
    }
}
