internal import HTTPDNSIDNA
internal import HTTPDNSNames
internal import HTTPDNSTrust

extension OptionRule {
    static let connect = OptionRule(
        "connect", value: "IP[:PORT]", "connect there instead of asking; never another identity")
    static let at = OptionRule(
        "at", value: "TIME", "judge as of then: 2027-01-31, 2027-01-31T12:00:00Z, unix seconds")
    static let chain = OptionRule(
        "chain", value: "FILE", "judge these certificates (PEM, leaf first) instead; - is input")
    static let host = OptionRule("host", value: "NAME", "whom the chain of --chain has to prove")
    static let planHost = OptionRule(
        "host", value: "NAME", isRepeatable: true,
        "plan for this host alone: what comes next is for it, whatever else the policy has")
    static let starttls = OptionRule(
        "starttls", value: "none", "TLS from the first octet, the only way there is yet")
    static let verifyPin = OptionRule(
        "pin", value: "[HOST=]sha256/…", isRepeatable: true,
        "the key that the verified chain must hold, one is enough; HOST may be *.name, **.name")
    static let policy = OptionRule(
        "policy", value: "FILE", "the pin policy: our own JSON, TrustKit's or OkHttp's")
    static let next = OptionRule(
        "next", value: "FILE", isRepeatable: true,
        "the certificates or public keys that come next; a file a chain")
}

/// Whom a command is to judge: `host`, `host:8443`, `[::1]:8443`.
struct PeerTarget: Sendable, Hashable {
    let host: Host
    let port: Port

    /// - Throws: ``CommandFault``.
    init(_ text: String) throws(CommandFault) {
        if let word = PeerTarget.hostOfURL(text) {
            throw .usage("\(quoted(url: text)) is a URL; write \(word.printable)")
        }
        let (name, port) = try PeerTarget.split(text)
        self.port = port ?? Port.https
        host = try PeerTarget.host(name)
    }

    var description: String { host.description + ":" + port.description }

    /// A host as it is typed, in letters of any script.
    static func host(_ text: String) throws(CommandFault) -> Host {
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
        let bare = isBracketed ? String(text.dropFirst().dropLast()) : text
        if let address = try? IPAddress(bare) { return .address(address) }
        do throws(NameError) { return .name(try HostName(unicode: text)) } catch {
            throw .usage("\(quoted(text)) is not a host: \(error)")
        }
    }

    /// The value of `--connect`: an address, and its port or the default.
    static func endpoint(
        _ text: String, port: Port
    ) throws(CommandFault) -> Endpoint {
        let (name, own) = try split(text)
        let isBracketed = name.hasPrefix("[") && name.hasSuffix("]")
        let bare = isBracketed ? String(name.dropFirst().dropLast()) : name
        do throws(AddressError) {
            return Endpoint(address: try IPAddress(bare), port: own ?? port)
        } catch {
            throw .usage(
                "--connect \(quoted(text)): \(error); write IP, IP:PORT or [IPv6]:PORT")
        }
    }

    /// `h:p` of `https://user@h:p/path`; nil for what is no URL.
    private static func hostOfURL(_ text: String) -> String? {
        guard let slashes = text.firstRange(of: "://") else { return nil }
        let authority = text[slashes.upperBound...].prefix { !"/?#".contains($0) }
        let word = authority.lastIndex(of: "@").map { authority[$0...].dropFirst() } ?? authority
        return word.isEmpty ? "HOST[:PORT]" : String(word)
    }

    /// `[v6]:port`, `v6`, `name:port`, `name`.
    private static func split(_ text: String) throws(CommandFault) -> (String, Port?) {
        let head: Substring
        let tail: Substring
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            head = text[...end]
            tail = text[text.index(after: end)...]
        } else {
            let colons = text.filter { $0 == ":" }.count
            guard colons == 1, let colon = text.firstIndex(of: ":") else { return (text, nil) }
            head = text[..<colon]
            tail = text[colon...]
        }
        guard !tail.isEmpty else { return (String(head), nil) }
        guard tail.hasPrefix(":"), let port = Port(String(tail.dropFirst())) else {
            throw .usage("\(quoted(text)): expected a port from 1 to 65535 behind the colon")
        }
        return (String(head), port)
    }
}

extension ParsedArguments {
    /// The value of ``OptionRule/at``.
    ///
    /// - Throws: ``CommandFault``.
    func moment() throws(CommandFault) -> WallTime? {
        guard let text = value(.at) else { return nil }
        if let seconds = Int64(text.hasPrefix("@") ? String(text.dropFirst()) : text) {
            // Because: OpenSSL counts in time_t, and no certificate is dated beyond the year 9999.
            guard (0...253_402_300_799).contains(seconds) else {
                throw .usage("--at \(quoted(text)): beyond the years 1970 to 9999")
            }
            return WallTime(secondsSince1970: seconds)
        }
        guard let moment = WallTime(iso8601: text) else {
            throw .usage(
                "--at \(quoted(text)) is not a time; write 2027-01-31, 2027-01-31T12:00:00Z or "
                    + "unix seconds")
        }
        return moment
    }

    /// What the configuration file says, and before it the roots of ``OptionRule/cacert`` and the pins
    /// of ``OptionRule/verifyPin``.
    ///
    /// - Throws: ``CommandFault``.
    func trustPolicy(
        for host: Host, _ configured: ConfiguredTrust, _ console: Console
    ) throws(CommandFault) -> TrustPolicy {
        var policy = try trustPolicy(configured, console)
        var typed = PinSet()
        for text in values(.verifyPin) {
            let (pattern, pin) = PinArgument.split(text)
            do throws(PinSetError) {
                // Who types a pin for one run has it at hand for the next one, too.
                try typed.add([pin], for: pattern ?? host.description, backup: .waived)
            } catch {
                throw .usage("--pin \(quoted(text)): \(error)")
            }
        }
        // In place of the file's, not besides: more pins are less.
        for pattern in typed.patterns {
            guard let rule = typed.rule(under: pattern) else { continue }
            policy.pins.set(withoutBackup: rule.pins, for: pattern)
        }
        return policy
    }

    /// The same without pins of the command line.
    ///
    /// - Throws: ``CommandFault``.
    func trustPolicy(
        _ configured: ConfiguredTrust, _ console: Console
    ) throws(CommandFault) -> TrustPolicy {
        var policy = try configured.policy(console)
        guard let file = value(.cacert) else { return policy }
        // Trusted alone, for every host.
        policy.roots = .file(file)
        policy.profile = .privateAuthority
        policy.rootsByHost = [:]
        return policy
    }
}

/// What `--pin` takes.
enum PinArgument {
    /// `HOST=pin` or a pin alone. Base64 has its `=` at the end, behind any `/`.
    static func split(_ text: String) -> (pattern: String?, pin: String) {
        guard let equals = text.firstIndex(of: "="), !text[..<equals].contains("/") else {
            return (nil, text)
        }
        let pin = text[text.index(after: equals)...]
        return pin.isEmpty || pin == "=" ? (nil, text) : (String(text[..<equals]), String(pin))
    }
}
