internal import HTTPDNSDiagnosis
internal import HTTPDNSEvidence
internal import HTTPDNSIDNA
internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

extension Command {
    /// `httpdns diagnose`.
    package static let diagnose = Command(
        "diagnose", summary: "is this name hijacked here, by whom, and would HTTPDNS help",
        usage: "NAME[:PORT]", options: DiagnoseRequest.rules, details: details
    ) { (arguments, whole) throws(CommandFault) in
        let request = try await DiagnoseRequest(arguments, whole)
        let isPageOutput = request.htmlFile == "-"
        let console = isPageOutput ? whole.aside : whole
        let isVerbose = arguments.has(.verbose)
        let diagnosis: Diagnosis
        do throws(TrustSetupError) {
            diagnosis = try await Diagnosis.run(request.name, options: request.options) { event in
                guard isVerbose, let line = DiagnoseRendering.line(of: event) else { return }
                console.note(line)
            }
        } catch { throw .usage("\(error)") }
        if let file = request.htmlFile {
            let page = DiagnosePage(diagnosis, showsRaw: arguments.has(.raw))
            if isPageOutput {
                whole.output.write(page.html)
            } else {
                try page.write(to: file)
                if !arguments.has(.json) { console.note("\(file): a page to show to people") }
            }
        }
        if arguments.has(.json) {
            console.print(json: DiagnoseJSON(showsRaw: arguments.has(.raw)).value(diagnosis))
        } else {
            let rendering = DiagnoseRendering(
                diagnosis, console.outputPaint, showsRaw: arguments.has(.raw))
            for line in rendering.lines { console.print(line) }
        }
        return diagnosis.verdict.exitCode
    }.failing { words, fault in DiagnoseJSON.failure(words.first, fault) }
        .tellingWhenInterrupted()

    private static let details = """
        Asks the hosts file, the system, each name server of resolv.conf by UDP and by TCP, and
        trusted resolvers (--trusted; else those of the configuration or the built-in ones) for the
        name, and for names that nobody has. Every address that any of them gives must then prove
        the name by TLS: that, and never a difference of addresses, decides who is right. All of it
        goes on at once, and ends within --timeout (4.5s).

        Each name server is also asked on a port where it does no DNS, and on a second one where it is
        known to (--other-port names one): a lie on one port alone is somebody's on the path.

        Nothing is sent to a server that is not named here or in resolv.conf, but to the name's own:
        --probe, --dark-address, --identify, --whoami and --nat64 are off unless given. The name's
        servers are sent one request for / in clear and one over TLS, unless --connect-only is given.

        Verdicts: clean, cdn_variation (exit 0); dns_hijacked, tls_intercepted, sni_filtered,
        address_blocked, captive_portal, origin_broken (exit 1); offline, inconclusive (exit 9: no
        reply that would decide it, or nobody to ask).

        --raw keeps what came: DNS messages, the bodies of HTTP-DNS answers (as they were encrypted,
        without what the request held of the account), certificates; in --json in hexadecimal.

        Examples:
          httpdns diagnose www.example.com
          httpdns diagnose www.example.com --html report.html
          httpdns diagnose shop.example --trusted https://dns.example/dns-query --cacert ca.pem
          httpdns diagnose www.example.com --dark-address 192.0.2.53 --identify
          httpdns diagnose www.example.com --nameserver 192.0.2.1 --other-port 5353
          httpdns diagnose www.example.com --probe http://connectivitycheck.gstatic.com/generate_204
          httpdns diagnose bücher.example --json | jq .verdict

        Ctrl-C tells what is known by then (exit 130).

        error.code with --json: usage alone; whatever the network does is a verdict.
        """
}

extension Verdict {
    /// As scripts see it.
    package var exitCode: ExitCode {
        switch self {
        case .clean, .cdnVariation: .succeeded
        case .dnsHijacked, .tlsIntercepted, .sniFiltered, .addressBlocked, .captivePortal,
            .originBroken:
            .negative
        case .offline, .inconclusive: .noReply
        }
    }
}

extension HostName {
    /// In letters of its script and, where that is another spelling, as A-labels.
    var shownBothWays: String {
        let unicode = IDNA.toUnicode(self)
        return unicode == text ? text : "\(unicode) (\(text))"
    }
}
