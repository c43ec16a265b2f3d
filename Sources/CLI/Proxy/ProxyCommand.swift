extension OptionRule {
    static let listen = OptionRule(
        "listen", value: "IP:PORT",
        "where to listen (127.0.0.1:8353); port 0 takes a free one")
    static let tokenEnv = OptionRule(
        "token-env", value: "VAR", "the variable that holds the token which clients must show")
    static let tokenFile = OptionRule(
        "token-file", value: "FILE", "the same from a file that only you can read")
    static let unprovenPort = OptionRule(
        "unproven-port", value: "PORT", isRepeatable: true,
        "let CONNECT lead to this port without a proof of who answers there")
    static let allowLocal = OptionRule(
        "allow-local", "let clients reach localhost, loopback and link-local addresses")
    static let serveOthers = OptionRule(
        "serve-other-machines",
        "let --listen be no loopback address: whoever has the token uses this machine's network")
    static let grace = OptionRule(
        "grace", value: "DURATION", "how long what is in flight may go on after Ctrl-C (5s)")
    static let printEnv = OptionRule(
        "print-env",
        "print the variables that point programs of this machine at --listen, with the token, and end"
    )
}

extension Command {
    /// `httpdns proxy`.
    package static let proxy = Command(
        "proxy", summary: "a forward proxy for programs that are not linked to the library",
        usage: "[--listen IP:PORT]",
        options: [
            .listen, .resolver, .resolve, .cacert, .verifyPin, .tokenEnv, .tokenFile,
            .unprovenPort, .allowLocal, .serveOthers, .grace, .printEnv, .captureFile, .json,
            .verbose,
            .config,
        ] + ResolverArguments.options,
        details: details
    ) { (arguments, console) throws(CommandFault) in
        try ProxyPlan.checkEnvironment(arguments)
        let configuration = try ToolConfiguration.load(arguments, console)
        let arguments = configuration.applied(to: arguments, of: "proxy")
        let plan = try ProxyPlan(arguments, configuration, console)
        return try await ProxyRun(plan: plan, console: console).run()
    }.failing { _, fault in ProxyRendering.json(fault) }.tellingWhenInterrupted()

    private static let details = """
        Programs, browsers and web views that use it get addresses from HTTPDNS, and tunnels only to
        addresses that have proved the host's name.

        CONNECT: the host is resolved by the chain, and before anything passes, a handshake of the
        proxy's own judges the certificate of each address (--cacert, --pin, the configuration file). An
        address that fails is left for the next; where none is proven there is no tunnel. The client's
        TLS then runs through untouched. Its server name has to be the host that it asked for.
        --unproven-port 22 is for ports without TLS: there nobody is proven.

        http URLs are fetched as fetch does, without following redirects; https URLs are refused
        outside of a tunnel. A refusal has the header Proxy-Status (RFC 9209) and Httpdns-Reason.

        Ctrl-C ends it: nothing new is begun, what is in flight has --grace, and the exit code is 130.

        Examples:
          httpdns proxy --verbose
          httpdns proxy --listen 127.0.0.1:8888 --resolver google
          httpdns proxy --capture traffic.sqlite      (then: httpdns capture show traffic.sqlite)
          curl -x http://127.0.0.1:8353 https://example.com/
          eval "$(httpdns proxy --print-env)"
          eval "$(httpdns proxy --print-env --token-file token)"
          chromium --proxy-server=http://127.0.0.1:8353
          httpdns proxy --resolve shop.example:192.0.2.7 --cacert ca.pem --json
          PROXY_TOKEN=… httpdns proxy --token-env PROXY_TOKEN

        What is told of a request, in lines, in JSON and in a capture, is without the passwords and
        tokens of its URL.

        With --json there is one object a line: "event" is listening, opened (a tunnel), ended (a
        request or a tunnel), paused or stopped, whose error is capture_failed where --capture could not
        keep a record.
        """
}
