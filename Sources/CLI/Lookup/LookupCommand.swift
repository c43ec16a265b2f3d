internal import HTTPDNSWire

extension Command {
    /// `httpdns lookup`.
    package static let lookup = Command(
        "lookup", summary: "addresses and records, from any resolver",
        usage: "NAME… [TYPE…] [@RESOLVER…]",
        options: [
            .name, .reverse, .file, .parallel, .json, .short, .seconds, .explain, .verbose,
            .timeout, .repetitions, .watch, .interval, .dnssec, .noRecursion, .clientSubnet,
            .noIDN, .search, .ndots, .config,
        ] + ResolverArguments.options + [.sdns, .cacert, .pin],
        details: details
    ) { (arguments, console) throws(CommandFault) in
        let configuration = try ToolConfiguration.load(arguments, console)
        let arguments = configuration.applied(to: arguments, of: "lookup")
        let search = try SearchList.read(
            arguments, system: { (try? FileText.read("/etc/resolv.conf")) ?? "" },
            variable: console.variable)
        let request = try LookupRequest(arguments, search: search)
        let resolvers = try ResolverArguments(
            request.resolvers, arguments, configuration, console
        ).trusting(arguments)
        return try await LookupDriver(
            request: request, resolvers: resolvers, configuration: configuration,
            console: console
        ).run()
    }.failing { words, fault in
        LookupReport.json(fault, name: words.first { RecordType(name: $0) == nil })
    }
    .tellingWhenInterrupted()

    private static var details: String {
        let width = LookupTrouble.codes.map(\.label.count).max() ?? 0
        let codes = LookupTrouble.codes.map { label, meaning, code in
            "  " + label + String(repeating: " ", count: width - label.count + 2)
                + "\(meaning) (exit \(code.rawValue))"
        }.joined(separator: "\n")
        return """
            TYPE is A and AAAA together, or any of A AAAA CNAME HTTPS SVCB MX NS TXT SOA SRV PTR CAA
            ANY, or a number: TYPE65. Names and types may stand in any order.

            RESOLVER:
              @192.0.2.1  @[2001:db8::1]:5353  @ns.example:53    plain DNS, TCP when cut short
              @udp://…  @tcp://…                                 the same, said outright
              @tls://host[:port]                                 DoT (RFC 7858)
              @https://host[:port]/dns-query                     DoH (RFC 8484)
              @json+https://host/resolve                         JSON over HTTPS
              @./fleet.json                                      a profile of your own
              @system                                            this machine's own resolver
              @google  @aliyun  @dnspod  …                       a provider: httpdns resolvers
              @NAME                                              one of the configuration file
            Several are all asked, and the last line says whether they agree. Without one those of
            the configuration file are asked in order, else the built-in chain: as the library does.

            Examples:
              httpdns lookup www.example.com
              httpdns lookup example.com MX @192.0.2.1
              httpdns lookup example.com @google @cloudflare --json
              httpdns lookup example.com @https://dns.example/dns-query --bootstrap 192.0.2.53
              httpdns lookup example.com @https://dns.example/dns-query --cacert ca.pem --pin sha256/…
              httpdns lookup example.com @aliyun --account 100000 --secret-env ALIYUN_SECRET
              httpdns lookup example.com @aliyun --account 100000 --sdns city=hz --batch
              httpdns lookup example.com @google --client-subnet 198.51.100.0/24
              httpdns lookup -x 192.0.2.1
              httpdns lookup . NS @192.0.2.1                     the root
              httpdns lookup --name mx @192.0.2.1                a name that looks like a type
              httpdns lookup xn--aa.test --no-idn @192.0.2.1     a name as it is typed
              httpdns lookup intra --search=corp.example         intra.corp.example, and that is said
              httpdns lookup example.com --explain               who was asked, when, for how long
              httpdns lookup example.com @192.0.2.1 --repeat 20  the times: min, median, p95, max
              httpdns lookup example.com --watch                 again when its TTL ends
              httpdns lookup example.com --watch --interval 5s >changes.txt
              httpdns lookup --file names.txt --json --parallel 100
              sort -u names.txt | httpdns lookup --file - A --short @192.0.2.1

            --file: names are read as they are needed, and results stand in the order of the list.
            Without --json a record is a line, its cells between tabs. A line that is no name is told
            with its number, and the rest goes on; # begins a comment.

            Ctrl-C: what was answered is printed, what was not is told by name (with --json as an object
            whose error.code is cancelled), and so are the times of --repeat and --watch so far. A
            second one ends at once.

            "ede" in the JSON, and a note otherwise, is why the server answers as it does, in its own
            words (RFC 8914).

            --repeat and --watch: in JSON each object has a "round" and a "time"; a watch prints changes
            alone when it is piped. --repeat N ends a watch after N rounds.

            --search is never on by itself. Without domains the list of /etc/resolv.conf applies
            (LOCALDOMAIN and RES_OPTIONS replace it); a dot at the end says that a name is complete.

            Configuration: --config FILE, else $XDG_CONFIG_HOME/httpdns/config.json or
            ~/.config/httpdns/config.json where it is there; --config none reads no file:
              {"resolvers": ["google",
                 {"resolver": "aliyun", "name": "mine", "account": "100000",
                  "secretEnv": "ALIYUN_SECRET", "batch": true},
                 {"resolver": "https://dns.example/dns-query", "bootstrap": ["192.0.2.53"],
                  "cacert": "ca.pem", "pins": ["sha256/…"], "method": "POST"}],
               "routes": {"*.corp.example": "system"},
               "overrides": {"shop.example": ["192.0.2.7"]},
               "timeouts": {"lookup": "2s", "fetch": "30s"},
               "strategy": "ordered",
               "defaults": {"parallel": 100, "seconds": true},
               "trust": {"roots": "ca.pem", "minimumTLS": "1.3", "pins": "pins.json"}}
            A resolver takes "secret" and "key" too; a file that holds one must be its owner's alone
            (chmod 600). A relative file is looked for beside the file. "trust" is what origins must
            prove to fetch, verify and pins: docs/trust.md has its members. What the command line says
            goes before the file.

            error.code in the JSON is one of:
            \(codes)
            """
    }
}
