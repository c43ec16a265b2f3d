internal import HTTPDNSJSON
package import HTTPDNSNames
internal import HTTPDNSPinPolicy
package import HTTPDNSTrust

/// What a configuration file says origins must prove; plain values, no file is opened.
package struct ConfiguredTrust: Sendable {
    /// A client's certificate, by files.
    package struct Client: Sendable, Hashable {
        package var certificate: String
        package var key: String
        /// The variable that holds the passphrase of the key.
        package var passphraseVariable: String?
    }

    package var roots: TrustPolicy.Roots?
    package var rootsByHost: [HostPattern: TrustPolicy.Roots] = [:]
    package var minimumTLS: TLSVersion?
    package var revocation = RevocationPolicy()
    package var transparency = TransparencyPolicy()
    /// The file of a pin policy.
    package var pinFile: String?
    package var clients: [HostPattern: Client] = [:]
    package var dangerous = DangerousOptions()
    /// For messages: `config.json: trust`.
    package var place = ""

    package init() {}

    /// As a policy, before the command line has its say.
    ///
    /// - Throws: ``CommandFault``: usage, with the member at fault.
    func policy(_ console: Console) throws(CommandFault) -> TrustPolicy {
        var policy = TrustPolicy(roots: roots ?? .system)
        policy.rootsByHost = rootsByHost
        if let minimumTLS { policy.minimumTLS = minimumTLS }
        policy.revocation = revocation
        policy.transparency = transparency
        policy.dangerous = dangerous
        if let pinFile {
            let octets: [UInt8]
            do throws(CommandFault) { octets = try PinFile.octets(pinFile) } catch {
                throw .usage("\(place).pins: \(error.message)")
            }
            do throws(PinPolicyError) {
                policy.pins = try PinPolicy(octets, named: pinFile).pins
            } catch { throw .usage("\(place).pins: \(error)") }
        }
        for (pattern, client) in clients {
            var identity = ClientIdentity(.files(certificates: client.certificate, key: client.key))
            if let name = client.passphraseVariable {
                guard let text = console.variable(name), !text.isEmpty else {
                    // The name is not shown: who mistakes the member writes the passphrase there.
                    throw .usage(
                        "\(place).clientCertificates.\(pattern).passphraseEnv names a variable of "
                            + "the environment that is not set")
                }
                identity.passphrase = Secret(text)
            }
            policy.clientIdentities[pattern] = identity
        }
        return policy
    }
}

// The member "trust"
extension ConfigurationReader {
    private static let trustMembers = [
        "roots", "rootsByHost", "minimumTLS", "revocation", "crl", "ct", "ctLogs", "ctExempt",
        "pins", "clientCertificates", "dangerous",
    ]

    func trust(_ value: JSONValue?) throws(CommandFault) -> ConfiguredTrust {
        var trust = ConfiguredTrust()
        trust.place = "\(file): trust"
        guard let value else { return trust }
        let object = try object(value, at: "trust", known: ConfigurationReader.trustMembers)
        if let roots = object["roots"] { trust.roots = try self.roots(roots, at: "trust.roots") }
        trust.rootsByHost = try byHost(object["rootsByHost"], at: "trust.rootsByHost") {
            (value, path) throws(CommandFault) in try self.roots(value, at: path)
        }
        trust.minimumTLS = try minimumTLS(object["minimumTLS"])
        trust.revocation = try revocation(object)
        trust.transparency = try transparency(object)
        if let pins = object["pins"] { trust.pinFile = beside(try text(pins, at: "trust.pins")) }
        trust.clients = try byHost(
            object["clientCertificates"], at: "trust.clientCertificates", client)
        trust.dangerous = try dangerous(object["dangerous"])
        return trust
    }

    private func roots(
        _ value: JSONValue, at path: String
    ) throws(CommandFault) -> TrustPolicy.Roots {
        let text = try text(value, at: path)
        if text == "system" { return .system }
        return text.hasSuffix("/") ? .directory(beside(text)) : .file(beside(text))
    }

    private func byHost<Value>(
        _ value: JSONValue?, at path: String,
        _ read: (JSONValue, String) throws(CommandFault) -> Value
    ) throws(CommandFault) -> [HostPattern: Value] {
        guard let value else { return [:] }
        var entries: [HostPattern: Value] = [:]
        for member in try object(value, at: path, known: nil).members {
            let place = "\(path).\(member.name)"
            let pattern = try pattern(member.name, at: place)
            guard entries[pattern] == nil else {
                throw fault(place, "\(pattern) is there already, spelled otherwise")
            }
            entries[pattern] = try read(member.value, place)
        }
        return entries
    }

    private func pattern(_ text: String, at path: String) throws(CommandFault) -> HostPattern {
        do throws(HostPatternError) { return try HostPattern(text) } catch {
            throw fault(path, "\(error); a host, *.corp.example or **.corp.example")
        }
    }

    private func minimumTLS(_ value: JSONValue?) throws(CommandFault) -> TLSVersion? {
        guard let value else { return nil }
        let text = try text(value, at: "trust.minimumTLS")
        guard let version = TLSVersion(rawValue: text) else {
            throw fault("trust.minimumTLS", "\(quoted(text)); write \"1.2\" or \"1.3\"")
        }
        return version
    }

    private func revocation(_ object: JSONObject) throws(CommandFault) -> RevocationPolicy {
        var policy = RevocationPolicy()
        if let value = object["revocation"] {
            let text = try text(value, at: "trust.revocation")
            guard let mode = RevocationPolicy.Mode(rawValue: text) else {
                let words = RevocationPolicy.Mode.allCases.map(\.rawValue)
                throw fault(
                    "trust.revocation",
                    "\(quoted(text)) is none of \(words.joined(separator: ", "))")
            }
            policy.mode = mode
        }
        if let value = object["crl"] {
            policy.lists = try texts(value, at: "trust.crl").map { .file(beside($0)) }
            guard policy.mode != .off else {
                throw fault("trust.crl", "it says to look, \"revocation\": \"off\" not to")
            }
        }
        return policy
    }

    private func transparency(_ object: JSONObject) throws(CommandFault) -> TransparencyPolicy {
        var policy = TransparencyPolicy()
        if let value = object["ctLogs"] {
            policy.logs = try texts(value, at: "trust.ctLogs").map { .file(beside($0)) }
            policy.mode = .report
        }
        if let value = object["ct"] {
            let text = try text(value, at: "trust.ct")
            guard let mode = FetchTrust.transparencyMode(text) else {
                throw fault(
                    "trust.ct",
                    "\(quoted(text)) is none of off, report, require, require=N (1 to 9)")
            }
            policy.mode = mode
            guard mode == .off || !policy.logs.isEmpty else {
                throw fault("trust.ct", "it needs \"ctLogs\": which logs are known")
            }
        }
        if let value = object["ctExempt"] {
            for text in try texts(value, at: "trust.ctExempt") {
                policy.exempt.insert(try pattern(text, at: "trust.ctExempt"))
            }
        }
        return policy
    }

    @Sendable private func client(
        _ value: JSONValue, at path: String
    ) throws(CommandFault) -> ConfiguredTrust.Client {
        let object = try object(
            value, at: path, known: ["certificate", "key", "passphraseEnv"])
        guard let certificate = object["certificate"] else {
            throw fault(path, "\"certificate\" is missing: a file, PEM")
        }
        let file = beside(try text(certificate, at: path + ".certificate"))
        var client = ConfiguredTrust.Client(certificate: file, key: file)
        if let key = object["key"] { client.key = beside(try text(key, at: path + ".key")) }
        if let name = object["passphraseEnv"] {
            client.passphraseVariable = try text(name, at: path + ".passphraseEnv")
        }
        return client
    }

    /// `{"old.corp.example": {"accepts_expired": "why"}}`.
    private func dangerous(_ value: JSONValue?) throws(CommandFault) -> DangerousOptions {
        var options = DangerousOptions()
        guard let value else { return options }
        let known = DangerousOptions.Option.allCases.map(\.label)
        for member in try object(value, at: "trust.dangerous", known: nil).members {
            let place = "trust.dangerous.\(member.name)"
            let pattern = try pattern(member.name, at: place)
            for entry in try object(member.value, at: place, known: known).members {
                guard let option = DangerousOptions.Option(rawValue: entry.name) else { continue }
                let path = "\(place).\(entry.name)"
                guard let reason = entry.value.string else {
                    throw fault(path, "\(entry.value.kind), expected the reason as a string")
                }
                do throws(DangerousOptionsError) {
                    try options.accept(option, for: pattern, because: reason)
                } catch { throw fault(path, "\(error)") }
            }
        }
        return options
    }
}
