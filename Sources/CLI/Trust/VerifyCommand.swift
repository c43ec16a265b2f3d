internal import HTTPDNSNames
internal import HTTPDNSOpenSSLTrust
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

extension Command {
    /// `httpdns verify`.
    package static let verify = Command(
        "verify", summary: "judge a certificate chain, print it and its pins",
        usage: "HOST[:PORT] | --chain FILE --host NAME",
        options: PeerCheck.options + [.verifyPin, .chain, .host, .starttls]
            + OptionRule.fetchTrust,
        details: details
    ) { (arguments, console) throws(CommandFault) in
        let verdict =
            if let file = arguments.value(.chain) {
                try fileVerdict(file, arguments, console)
            } else {
                try await liveVerdict(arguments, console)
            }
        if arguments.has(.json) {
            console.print(json: VerdictRendering.json(verdict))
        } else if case .failure(.unreached(_, let why, _)) = verdict.result {
            console.note(why)
        } else {
            for line in VerdictRendering.lines(verdict, console.outputPaint) {
                console.print(line)
            }
        }
        return verdict.code
    }.failing { words, fault in VerdictRendering.json(fault, subject: words.first) }

    private static func liveVerdict(
        _ arguments: ParsedArguments, _ console: Console
    ) async throws(CommandFault) -> PeerVerdict {
        if let other = arguments.value(.starttls), other != "none" {
            throw .usage("--starttls \(quoted(other)) is not there; none is")
        }
        guard !arguments.has(.host) else {
            throw .usage("--host belongs to --chain; a live peer is named by itself: HOST[:PORT]")
        }
        guard let text = arguments.words.first else {
            throw .usage(
                "a host is missing: httpdns verify HOST[:PORT], or --chain FILE --host NAME")
        }
        guard arguments.words.count == 1 else {
            throw .usage("unexpected \(quoted(arguments.words[1])): one host at a time")
        }
        let configuration = try ToolConfiguration.load(arguments, console)
        let arguments = configuration.applied(to: arguments, of: "verify")
        let target = try PeerTarget(text)
        return try await PeerCheck(arguments, configuration, console).verdict(
            on: target,
            under: try policy(arguments, configuration, for: target.host, console))
    }

    private static func policy(
        _ arguments: ParsedArguments, _ configuration: ToolConfiguration, for host: Host,
        _ console: Console
    ) throws(CommandFault) -> TrustPolicy {
        var policy = try arguments.trustPolicy(for: host, configuration.trust, console)
        try FetchTrust.apply(arguments, for: host, console, to: &policy)
        return policy
    }

    private static func fileVerdict(
        _ file: String, _ arguments: ParsedArguments, _ console: Console
    ) throws(CommandFault) -> PeerVerdict {
        for rule in [OptionRule.connect, .resolver, .cert, .key, .keyPassEnv]
        where arguments.has(rule) {
            throw .usage("--\(rule.name) means nothing with --chain: nobody is connected to")
        }
        if let word = arguments.words.first {
            throw .usage("unexpected \(quoted(word)): with --chain the host is given by --host")
        }
        guard let name = arguments.value(.host) else {
            throw .usage("--chain needs --host NAME: whom the certificates have to prove")
        }
        let host = try PeerTarget.host(name)
        let certificates = try PinFile.keys(file).compactMap(\.certificate)
        guard let leaf = certificates.first else {
            throw .usage("\(quoted(file)) holds no certificate to judge")
        }
        let moment = try arguments.moment()
        let configuration = try ToolConfiguration.load(arguments, console)
        let verifier = try PeerCheck.verifier(
            try policy(arguments, configuration, for: host, console), at: moment)
        do throws(TrustFailure) {
            let peer = try verifier.verify(
                leaf: leaf, intermediates: Array(certificates.dropFirst()), host: host,
                at: moment ?? SystemWallClock().now())
            return PeerVerdict(subject: file, host: host, result: .success(peer))
        } catch {
            return PeerVerdict(
                subject: file, host: host, isAsOf: moment != nil,
                result: .failure(.untrusted(error)))
        }
    }

    private static var details: String {
        """
        The chain is built to a trusted root and judged as for a request, and nothing is sent. What
        is printed is the verified chain, leaf first, or what was presented where none could be
        built; then the verdict, and on refusal the rule that is broken and what to do. Identity is
        HOST's, whatever --connect or a resolver says about the address.

        One --pin is enough here: it is for this run alone. What was found out about revocation is
        always said; nothing is fetched for it: a list is given by --crl, a staple comes from the
        peer, --revocation required refuses where neither clears the certificate.

        Examples:
          httpdns verify www.example.com
          httpdns verify api.example.com:8443 --pin sha256/… --json
          httpdns verify shop.example --connect 192.0.2.7:8443 --cacert ca.pem
          httpdns verify shop.example --resolver https://dns.example/dns-query
          httpdns verify --chain new.pem --host shop.example --at 2027-01-31
          httpdns verify --chain new.pem --host shop.example --crl issuer.crl.pem

        error.code with --json: that of the verdict (wrong_name, unknown_issuer, expired,
        no_pin_matched, …: exit 1), cannot_connect, timed_out, handshake_failed (exit 9), those of
        lookup, or usage.
        """
    }
}
