extension Command {
    /// `httpdns lookup`.
    package static let lookup = Command(
        "lookup", summary: "addresses and records, from any resolver",
        usage: "NAME… [TYPE…] [@RESOLVER…]",
        options: [
            .name, .reverse, .file, .parallel, .json, .short, .seconds, .explain, .verbose,
            .timeout, .dnssec, .noRecursion,
        ] + ResolverArguments.options + [.cacert, .pin],
        details: details
    ) { (arguments, console) throws(CommandFault) in
        var request = try LookupRequest(arguments)
        let resolvers = try ResolverArguments(request.resolvers, arguments, console)
        if let list = request.list { request.add(list: try FileText.read(list)) }
        let driver = LookupDriver(
            request: request, resolvers: resolvers, trust: try resolvers.trust(arguments),
            console: console)
        return try await driver.run()
    }

    private static var details: String {
        let width = LookupTrouble.codes.map(\.label.count).max() ?? 0
        let codes = LookupTrouble.codes.map { label, meaning, code in
            "  " + label + String(repeating: " ", count: width - label.count + 2)
                + "\(meaning) (exit \(code.rawValue))"
        }.joined(separator: "\n")
        return """
            TYPE is A and AAAA together, or any of A AAAA CNAME HTTPS SVCB MX NS TXT SOA SRV PTR CAA ANY,
            or a number: TYPE65. Names and types may stand in any order.

            RESOLVER:
              @192.0.2.1  @[2001:db8::1]:5353  @ns.example:53    plain DNS, TCP when cut short
              @udp://…  @tcp://…                                 the same, said outright
              @tls://host[:port]                                 DoT (RFC 7858)
              @https://host[:port]/dns-query                     DoH (RFC 8484)
              @json+https://host/resolve                         JSON over HTTPS
              @system                                            this machine's own resolver
              @google  @aliyun  @dnspod  …                       a provider: httpdns resolvers
            Several are all asked, and the last line says whether they agree. Without one the built-in
            chain is asked: the same that the library uses.

            Examples:
              httpdns lookup www.example.com
              httpdns lookup example.com MX @192.0.2.1
              httpdns lookup example.com @google @cloudflare --json
              httpdns lookup example.com @https://dns.example/dns-query --bootstrap 192.0.2.53
              httpdns lookup example.com @aliyun --account 100000 --secret-env ALIYUN_SECRET
              httpdns lookup -x 192.0.2.1
              httpdns lookup --file names.txt --json --parallel 100

            With --file and without --json: a record a line, its cells between tabs.

            error.code in the JSON is one of:
            \(codes)
            """
    }
}
