extension OptionRule {
    static let request = OptionRule(
        "request", letter: "X", value: "METHOD", "the method; GET, or POST with --data")
    static let header = OptionRule(
        "header", letter: "H", value: "'NAME: VALUE'", isRepeatable: true, "a field to send")
    static let data = OptionRule(
        "data", letter: "d", value: "DATA|@FILE", "the body; @- reads standard input")
    static let output = OptionRule(
        "output", letter: "o", value: "FILE", "where the body goes; - is standard output")
    static let resolver = OptionRule(
        "resolver", value: "R", isRepeatable: true,
        "whom to ask, in this order, as @R of lookup; else the built-in chain")
    static let resolve = OptionRule(
        "resolve", value: "HOST:IP[,IP]", isRepeatable: true,
        "these addresses instead of asking; never another identity")
    static let include = OptionRule(
        "include", letter: "i", "the head of the answer, too, before the body")
    static let noFollow = OptionRule("no-follow", "hand over a redirect instead of following it")
    static let followToHTTP = OptionRule(
        "follow-to-http",
        "follow a redirect from https to http, too, where nobody proves who answers")
    static let maxRedirects = OptionRule(
        "max-redirects", value: "N", "how many redirects to follow (20)")
    static let cookieJar = OptionRule(
        "cookie-jar", value: "FILE", "cookies from a Netscape cookie file, and back into it")
    static let requests = OptionRule(
        "repeat", value: "N", "send the request N times; counts and times stand at the end")
    static let requestsAtOnce = OptionRule(
        "parallel", value: "N", "with --repeat: requests in flight at once (1)")
}

extension Command {
    /// `httpdns fetch`.
    package static let fetch = Command(
        "fetch", summary: "one request through resolve, rewrite and verify", usage: "URL",
        options: [
            .request, .header, .data, .output, .resolver, .resolve, .cacert, .verifyPin, .include,
            .noFollow, .followToHTTP, .maxRedirects, .cookieJar, .rules, .captureFile, .requests,
            .requestsAtOnce, .timeout, .json,
            .verbose, .config,
        ] + OptionRule.fetchProxy + OptionRule.fetchCache + OptionRule.fetchTrust
            + ResolverArguments.options,
        details: details
    ) { (arguments, console) throws(CommandFault) in
        try FetchPairs.check(arguments)
        let configuration = try ToolConfiguration.load(arguments, console)
        let arguments = configuration.applied(to: arguments, of: "fetch")
        let plan = try FetchPlan(arguments, configuration, console)
        var run = FetchRun(plan: plan, console: console)
        run.capture = try FetchCapture(arguments)
        run.cookies = try plan.cookieFile.map { (path) throws(CommandFault) in
            try CookieFile(path, console)
        }
        guard let rounds = plan.rounds else { return try await run.run() }
        return try await FetchRounds(run: run, rounds: rounds).run()
    }.failing { words, fault in FetchRendering.json(fault, url: words.first) }
        .tellingWhenInterrupted()

    private static var details: String {
        let width = FetchTrouble.codes.map(\.label.count).max() ?? 0
        let codes = FetchTrouble.codes.map { label, meaning, code in
            "  " + label + String(repeating: " ", count: width - label.count + 2)
                + "\(meaning) (exit \(code.rawValue))"
        }.joined(separator: "\n")
        return """
            The request goes to an address that the resolver gave; Host, SNI, certificate, cookies and
            redirects stay those of the URL. Nothing is sent before the peer has proved its name.
            Any HTTP status is a success: --json and --verbose say which it was.

            --cacert FILE is trusted alone, for the origin and for resolvers given by URL; a provider's
            own servers are held to the system's roots.

            For a host with --pin, or with pins of the configuration, "system" and "resolv.conf" are not
            asked unless nothing else is named, which is said; http, where no key is shown, is refused.
            step and fallback of --json say which resolver of the chain answered, and why not the first.

            -H may say Expect: 100-continue and Transfer-Encoding: chunked; Host and Content-Length have
            to be true; Connection and the like are not sent, and said not to be. Nor is
            Proxy-Authorization, which would reach the origin: --proxy-secret-env is for the proxy alone.

            A staple that came and the lists of --crl are checked; what was not is said. A certificate
            that says its servers always staple is refused without a good staple, unless --revocation
            off. --cert is shown to the URL's own host, after it has proved itself, if it asks.

            --cookie-jar reads a file that curl and wget understand, where there is one, sends what
            belongs to each hop, and writes it back with mode 0600, cookies of the session included.
            What other runs have put into it meanwhile stays. Lines that are no cookies are told and
            left in it, remarks are not. A Cookie of -H goes instead of the jar's.

            --rules answers, changes or refuses the request as the file says (httpdns rules check); what
            passes to the system's loader there stays here, where there is none.

            --repeat shares one client: connections, answers and cookies are used again. Bodies are read
            and counted, not shown. With --json there is one object a request, as it ends, with "round".

            --capture keeps a record of each request with its body, its passwords, cookies and tokens
            taken out; a file that is there is gone on with. See httpdns capture --help. What it could
            not keep is exit 2, and the error of --json where the request has none; with --repeat it
            is an object at the end whose "round" is null. By the same list, lines and messages show
            URLs without their secrets; with --json url, finalURL and the like are whole, and so is
            what --include prints.

            Without --proxy none is used, whatever the environment says. http and socks5h proxies are
            told the host's name, and resolve it themselves: the request is then not rewritten, and said
            not to be. socks5 is told the address, which the resolver is asked for as ever. TLS is the
            origin's, through the proxy, and nothing is sent before the origin has proved itself.

            --cache DIR keeps responses by RFC 9111, for the next call, and without a network. Plain
            http is not kept without --cache-http: nobody proved anything there. A request that nothing
            kept may answer ends with not_kept where --cache-mode is only. A directory that cannot be
            used is exit 2, before anything is sent.

            Times: resolve, connect and tls say how long each took in the last hop; firstByte counts
            from the start of that hop, total from the start of all.

            Examples:
              httpdns fetch https://example.com/ --verbose
              httpdns fetch https://example.com/file.iso -o file.iso --resolver google
              httpdns fetch https://shop.example/ --resolve shop.example:192.0.2.7 --cacert ca.pem
              httpdns fetch https://shop.example/ --pin sha256/… --json
              httpdns fetch https://api.example/ --cert me.pem --key me.key --revocation required
              httpdns fetch https://shop.example/cart --cookie-jar cookies.txt
              httpdns fetch https://shop.example/ --repeat 500 --parallel 16
              httpdns fetch https://shop.example/ --capture traffic.sqlite
              httpdns fetch https://shop.example/ --proxy socks5h://127.0.0.1:9050 --verbose
              httpdns fetch https://shop.example/ --cache cache --cache-mode only
              httpdns fetch https://api.example/v1 -d '{"a":1}' -H 'Content-Type: application/json'

            error.code with --json, besides those of lookup and of the verdict (wrong_name,
            unknown_issuer, no_pin_matched, …: exit 1):
            \(codes)
            """
    }
}
