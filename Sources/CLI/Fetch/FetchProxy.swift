package import HTTPDNSExchange
internal import HTTPDNSIDNA
internal import HTTPDNSNames

extension OptionRule {
    static let fetchedThrough = OptionRule(
        "proxy", value: "URL|env|none",
        "through [http|socks5|socks5h://]HOST:PORT, or as http_proxy and the like say; else none")
    static let noProxy = OptionRule(
        "no-proxy", value: "LIST", isRepeatable: true,
        "hosts that need no proxy: domains, addresses, blocks, each with :port or not, *")
    static let proxyAddress = OptionRule(
        "proxy-address", "tell the proxy the address that the resolver gave, not the name")
    static let proxySecretEnv = OptionRule(
        "proxy-secret-env", value: "VAR", "the variable that holds USER:PASSWORD for the proxy")

    static let fetchProxy: [OptionRule] = [
        .fetchedThrough, .noProxy, .proxyAddress, .proxySecretEnv,
    ]
}

/// Through which proxies a `fetch` goes. Pure.
package enum FetchProxy {
    /// - Throws: ``CommandFault``: the option at fault.
    package static func policy(
        _ arguments: ParsedArguments, _ variable: (String) -> String?
    ) throws(CommandFault) -> ProxyPolicy {
        var policy = ProxyPolicy.none
        switch arguments.value(.fetchedThrough) {
        case nil, "none":
            for rule in [OptionRule.noProxy, .proxyAddress, .proxySecretEnv]
            where arguments.has(rule) {
                throw .usage("--\(rule.name) needs --proxy: no proxy is used without it")
            }
            return .none
        case "env":
            do throws(ProxyFault) {
                policy = try ProxyPolicy(environment: variable, toASCII: toASCII)
            } catch {
                throw .usage("--proxy env: \(error)")
            }
        case .some(let text):
            do throws(ProxyFault) { policy = ProxyPolicy(try Proxy(text)) } catch {
                throw .usage("--proxy: \(error)")
            }
            guard policy.https?.credentials == nil else {
                throw .usage(
                    "--proxy: a password in arguments can be read by everybody on this machine; name a "
                        + "variable with --proxy-secret-env")
            }
        }
        try complete(&policy, arguments, variable)
        return policy
    }

    /// What an environment's list of exceptions has that means nothing: it ends no run.
    package static func remarks(_ policy: ProxyPolicy?) -> [String] {
        (policy?.exceptions.unread ?? []).map {
            "no_proxy: \(quoted(url: $0.text)) excepts nothing: \($0.reason)"
        }
    }

    @Sendable private static func toASCII(_ text: String) throws(NameError) -> String {
        try IDNA.toASCII(text)
    }

    private static func complete(
        _ policy: inout ProxyPolicy, _ arguments: ParsedArguments,
        _ variable: (String) -> String?
    ) throws(CommandFault) {
        let list = arguments.values(.noProxy)
        if !list.isEmpty {
            policy.exceptions = ProxyExceptions(list.joined(separator: ","), toASCII: toASCII)
            if let fault = policy.exceptions.unread.first {
                throw .usage(
                    "--no-proxy \(quoted(url: fault.text)): \(fault.reason); write a domain, an "
                        + "address, a block such as 192.0.2.0/24, each with or without :port, or *")
            }
        }
        if arguments.has(.proxyAddress) {
            policy.http?.target = .address
            policy.https?.target = .address
        }
        guard let name = arguments.value(.proxySecretEnv) else { return }
        guard let secret = variable(name) else {
            throw .usage("--proxy-secret-env: there is no variable \(quoted(name))")
        }
        let parts = secret.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else {
            throw .usage("--proxy-secret-env: \(quoted(name)) does not hold USER:PASSWORD")
        }
        do throws(ProxyFault) {
            let credentials = try Proxy.Credentials(
                user: Secret(String(parts[0])), password: Secret(String(parts[1])))
            policy.http?.credentials = credentials
            policy.https?.credentials = credentials
        } catch { throw .usage("--proxy-secret-env: \(error)") }
    }
}
