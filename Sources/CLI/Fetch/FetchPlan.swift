package import HTTPDNS
package import HTTPDNSClient
package import HTTPDNSExchange
internal import HTTPDNSIDNA
package import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSProfiles
internal import HTTPDNSRuleFile
package import HTTPDNSTrust

/// What one `fetch` is to do, read from its arguments. Pure but for the file of `--data`.
package struct FetchPlan: Sendable {
    package let url: HTTPURL
    package let request: HTTPRequest
    /// The body of ``request`` where it is a large file.
    private let dataFile: DataFile?
    package let resolvers: ResolverArguments
    package let overrides: [HostName: [IPAddress]]
    package let trust: TrustPolicy
    package let configuration: ToolConfiguration
    package let timeout: Duration?
    /// Nil: standard output.
    package let file: String?
    package let includesHead: Bool
    /// Where responses are kept; nil: nowhere.
    package let cache: OfflineCacheSettings?
    /// The file of cookies; nil: none.
    package let cookieFile: String?
    /// Nil: one request whose body is shown.
    package let rounds: Rounds?
    /// What happens to the request before it goes out; nil: nothing.
    let rules: LiveRules?
    package let isJSON: Bool
    package let isVerbose: Bool
    /// What of the options has no effect: told on standard error.
    package let notes: [String]
    /// What of the environment has none: told by `--verbose`.
    package let remarks: [String]

    /// - Throws: ``CommandFault``: the option or the URL at fault.
    package init(
        _ arguments: ParsedArguments, _ configuration: ToolConfiguration, _ console: Console
    ) throws(CommandFault) {
        guard let text = arguments.words.first else {
            throw .usage("a URL is missing: httpdns fetch https://…")
        }
        guard arguments.words.count == 1 else {
            throw .usage("unexpected \(quoted(arguments.words[1])): one URL at a time")
        }
        do throws(URLFault) { url = try HTTPURL(text) } catch {
            let hint = if case .unsupportedScheme = error { FetchPlan.meant(by: text) } else { "" }
            throw .usage("\(quoted(url: text)) is not a URL to fetch: \(error)\(hint)")
        }
        timeout = try arguments.duration(.timeout)
        dataFile = try FetchPlan.file(ofData: arguments.value(.data))
        var request = try FetchPlan.request(to: url, arguments, file: dataFile)
        request.proxies = try FetchProxy.policy(arguments, console.variable)
        self.request = request
        // `@google`, as `lookup` has it, is meant as `google`.
        let named = arguments.values(.resolver).map {
            $0.hasPrefix("@") ? String($0.dropFirst()) : $0
        }
        resolvers = FetchPlan.trusting(
            arguments, try ResolverArguments(named, arguments, configuration, console))
        overrides = configuration.overrides.merging(try FetchPlan.overrides(arguments)) { $1 }
        self.configuration = configuration
        var policy = try arguments.trustPolicy(
            for: url.origin.host, configuration.trust, console)
        try FetchTrust.apply(arguments, for: url.origin.host, console, to: &policy)
        trust = policy
        file = arguments.value(.output).flatMap { $0 == "-" ? nil : $0 }
        includesHead = arguments.has(.include)
        cache = try FetchCache.settings(arguments)
        cookieFile = arguments.value(.cookieJar)
        rules = try arguments.value(.rules).map { (path) throws(CommandFault) in
            LiveRules(try RulesInput.read(path).rules)
        }
        rounds = try Rounds(arguments)
        notes = FetchPlan.ignored(request.head.fields)
        remarks = FetchProxy.remarks(request.proxies)
        try FetchPlan.check(request, policy, hasRules: rules != nil)
        isJSON = arguments.has(.json)
        isVerbose = arguments.has(.verbose)
        guard !isJSON || arguments.value(.output) != "-" else {
            throw .usage("--json and -o - would write the body into the JSON; give -o a file")
        }
    }

    /// What cannot come to a good end is not begun.
    private static func check(
        _ request: HTTPRequest, _ trust: TrustPolicy, hasRules: Bool
    ) throws(CommandFault) {
        let isAskedFirst: Bool
        do throws(RewriteFault) {
            isAskedFirst = try RequestFraming.expectsContinue(request.head.fields)
        } catch {
            throw .usage("--header: \(error)")
        }
        guard !isAskedFirst || request.body.isPresent else {
            throw .usage("--header: Expect asks whether a body is wanted; there is no --data")
        }
        let origin = request.head.url.origin
        // Rules may lead it elsewhere; the library refuses it then if they do not.
        if origin.scheme == .http, !hasRules,
            let refusal = trust.pins.refusalOfCleartext(
                to: origin.host, now: SystemWallClock().now())
        {
            throw CommandFault(
                "\(origin.host) is pinned (\(refusal.facts.pinPattern ?? "")), and over http nobody "
                    + "shows a key: write https, or take the host out of the pins",
                code: .usage, label: refusal.label)
        }
    }

    /// Fields of which nothing comes.
    private static func ignored(_ fields: HTTPFields) -> [String] {
        fields.fields.filter(RequestFraming.isIgnored).map { field in
            let isForProxy = HTTPFields.same(field.name, RequestFraming.proxyCredentials)
            let reason =
                isForProxy
                ? "for it would reach the origin; --proxy-secret-env shows it to the proxy alone"
                : "for how connections are used is decided here"
            return "--header \(field.name): not sent, \(reason)"
        }
    }

    /// The request for one of several exchanges: a body that is read from a file is its own.
    var outgoing: HTTPRequest {
        var outgoing = request
        if let dataFile { outgoing.body = dataFile.body() }
        return outgoing
    }

    private static func file(ofData data: String?) throws(CommandFault) -> DataFile? {
        guard let data, data.hasPrefix("@") else { return nil }
        return try DataFile(String(data.dropFirst()))
    }

    /// How often, and how many at once.
    package struct Rounds: Sendable, Hashable {
        package let count: Int
        package let atOnce: Int

        /// Nil unless asked for.
        ///
        /// - Throws: ``CommandFault``.
        init?(_ arguments: ParsedArguments) throws(CommandFault) {
            let count = try arguments.number(.requests, in: 1...1_000_000_000)
            let atOnce = try arguments.number(.requestsAtOnce, in: 1...10_000)
            guard let count else {
                guard atOnce == nil else {
                    throw .usage("--parallel is for many requests: say how many with --repeat N")
                }
                return nil
            }
            for option in [OptionRule.output, .include] where arguments.has(option) {
                throw .usage(
                    "--\(option.name) and --repeat: the bodies of many requests are not kept")
            }
            self.count = count
            self.atOnce = min(atOnce ?? 1, count)
        }
    }

    static func request(
        to url: HTTPURL, _ arguments: ParsedArguments, method option: OptionRule = .request,
        file: DataFile? = nil
    ) throws(CommandFault) -> HTTPRequest {
        var fields = HTTPFields()
        for text in arguments.values(.header) { try append(text, to: &fields) }
        var body = RequestBody.none
        if let data = arguments.value(.data) {
            body =
                if let file { file.body() } else {
                    .bytes(
                        data.hasPrefix("@")
                            ? try FileOctets.read(String(data.dropFirst())) : Array(data.utf8))
                }
            if !fields.contains("Content-Type") {
                try append("Content-Type: application/x-www-form-urlencoded", to: &fields)
            }
        }
        var method = arguments.has(.data) ? HTTPMethod.post : .get
        if let text = arguments.value(option) {
            guard let named = HTTPMethod(text) else {
                throw .usage(
                    "--\(option.name) \(quoted(text)) is not a method: letters such as GET, PUT")
            }
            method = named
        }
        var request = HTTPRequest(method, url, fields: fields, body: body)
        // Rules that look into bodies have it in memory.
        if let file { request.knownBody = { try? FileOctets.read(file.path) } }
        request.followsRedirects = !arguments.has(.noFollow)
        request.redirects.allowsDowngrade = arguments.has(.followToHTTP)
        if let most = try arguments.number(.maxRedirects, in: 0...1_000) {
            request.redirects.maximumHops = most
        }
        // Without --timeout a download takes as long as it takes; silence still ends it.
        request.limits.total = try arguments.duration(.timeout)
        return request
    }

    private static func append(
        _ text: String, to fields: inout HTTPFields
    ) throws(CommandFault) {
        guard let colon = text.firstIndex(of: ":") else {
            // What follows the first word may be a secret.
            let word = String(text.prefix { $0 != " " && $0 != "=" })
            throw .usage("--header \(quoted(word)) has no colon behind it; write 'Name: value'")
        }
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        var value = text[text.index(after: colon)...].drop(while: isBlank)
        while let last = value.last, isBlank(last) { value.removeLast() }
        do throws(FieldError) {
            try fields.append(String(text[..<colon]), String(value))
        } catch {
            throw .usage("--header: \(error)")
        }
    }

    static func overrides(
        _ arguments: ParsedArguments
    ) throws(CommandFault) -> [HostName: [IPAddress]] {
        var overrides: [HostName: [IPAddress]] = [:]
        for text in arguments.values(.resolve) {
            let fault = { (reason: String) in
                CommandFault.usage("--resolve \(quoted(text)): \(reason); write HOST:IP[,IP]")
            }
            guard let colon = text.firstIndex(of: ":") else { throw fault("no colon") }
            let host: HostName
            do throws(NameError) { host = try HostName(unicode: String(text[..<colon])) } catch {
                throw fault("\(error)")
            }
            for part in text[text.index(after: colon)...].split(
                separator: ",", omittingEmptySubsequences: false)
            {
                let isBracketed = part.hasPrefix("[") && part.hasSuffix("]")
                let address = isBracketed ? part.dropFirst().dropLast() : part
                do throws(AddressError) {
                    overrides[host, default: []].append(try IPAddress(String(address)))
                } catch {
                    throw fault(
                        namesPort(text[colon...])
                            ? "no port stands there: the addresses hold for every port of \(host)"
                            : "\(error)")
                }
            }
        }
        return overrides
    }

    /// `:443:127.0.0.1`, as curl has it.
    private static func namesPort(_ rest: Substring) -> Bool {
        let parts = rest.dropFirst().split(separator: ":", maxSplits: 1)
        return parts.count == 2 && Port(parts[0]) != nil
    }

    /// What was meant by `host:8443/path`, which has the form of a scheme and a colon.
    private static func meant(by text: String) -> String {
        let authority = text.prefix { !"/?#".contains($0) }
        let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, Port(parts[1]) != nil, !parts[0].isEmpty,
            (try? HTTPURL("https://" + text)) != nil
        else { return "" }
        return "; did you mean \(quoted(url: "https://" + text))?"
    }

    /// A provider's own servers have certificates of the public web, whatever the origin has.
    static func trusting(
        _ arguments: ParsedArguments, _ resolvers: ResolverArguments
    ) -> ResolverArguments {
        guard resolvers.areNamed, let file = arguments.value(.cacert) else { return resolvers }
        return resolvers.rooted(in: file) { description in
            if case .provider = description.kind { return description.endpoint != nil }
            return description.provenHost != nil
        }
    }
}
