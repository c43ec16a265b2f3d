internal import HTTPDNS
internal import HTTPDNSExchange
internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSTrust

// The resolvers of a configuration file
extension ConfigurationReader {
    private static let resolverMembers = [
        "resolver", "name", "account", "secret", "secretEnv", "key", "keyEnv", "endpoint",
        "bootstrap", "pins", "cacert", "method", "batch",
    ]

    func resolvers(_ value: JSONValue?) throws(CommandFault) -> [ConfiguredResolver] {
        guard let value else { return [] }
        guard let array = value.array else {
            throw fault("resolvers", "\(value.kind), expected an array")
        }
        guard !array.isEmpty else {
            throw fault("resolvers", "an empty list; leave it out for the built-in chain")
        }
        var resolvers: [ConfiguredResolver] = []
        for (index, element) in array.enumerated() {
            let path = "resolvers[\(index)]"
            let resolver = try resolver(element, at: path)
            guard !resolvers.contains(where: { $0.name == resolver.name }) else {
                throw fault(
                    path, "\(quoted(url: resolver.name)) is there already; give it another name")
            }
            resolvers.append(resolver)
        }
        return resolvers
    }

    private func resolver(
        _ value: JSONValue, at path: String
    ) throws(CommandFault) -> ConfiguredResolver {
        guard value.string == nil else {
            let text = try text(value, at: path)
            let description = try description(text, at: path)
            return ConfiguredResolver(
                name: usualName(text, description), description: description,
                trust: ResolverTrust(), place: "\(file): \(path)")
        }
        let object = try object(value, at: path, known: ConfigurationReader.resolverMembers)
        guard let whom = object["resolver"] else {
            throw fault(path, "\"resolver\" is missing: whom to ask, as after @")
        }
        let text = try text(whom, at: path + ".resolver")
        var description = try description(text, at: path + ".resolver")
        try fill(&description, object, at: path)
        var name = usualName(text, description)
        if let given = object["name"] {
            name = try self.text(given, at: path + ".name")
            guard name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
            else { throw fault(path + ".name", "a name has letters, digits and - only") }
        }
        return ConfiguredResolver(
            name: name, hasOwnName: object["name"] != nil, description: description,
            secret: try secret("secret", object, at: path),
            key: try secret("key", object, at: path),
            trust: try trust(object, of: description, at: path), place: "\(file): \(path)")
    }

    /// A profile is called by its id: what `@` takes, and other parts of the file.
    private func usualName(_ text: String, _ description: ResolverDescription) -> String {
        ResolverDescription.isProfilePath(text) ? "\(description)" : text
    }

    private func description(
        _ text: String, at path: String
    ) throws(CommandFault) -> ResolverDescription {
        do throws(DescriptionError) {
            guard ResolverDescription.isProfilePath(text) else {
                return try ResolverDescription(text)
            }
        } catch {
            throw fault(path, "\(quoted(url: text)) is not a resolver: \(error.reason)")
        }
        let whole = beside(text)
        return try .ofProfile(whole, text: try profile(whole)) { fault(path, $0) }
    }

    private func fill(
        _ description: inout ResolverDescription, _ object: JSONObject, at path: String
    ) throws(CommandFault) {
        if let account = object["account"] {
            // The vendor's console shows a number, and people paste it as one.
            if let number = account.integer {
                description.account = String(number)
            } else {
                description.account = try text(account, at: path + ".account")
            }
        }
        if let endpoint = object["endpoint"] {
            let text = try text(endpoint, at: path + ".endpoint")
            do throws(URLFault) { description.endpoint = try HTTPURL(text) } catch {
                throw fault(path + ".endpoint", "\(quoted(url: text)): \(error)")
            }
            if description.endpoint?.userinfo != nil || description.endpoint?.fragment != nil {
                throw fault(path + ".endpoint", "\(quoted(url: text)): \(HTTPURL.plainEndpoint)")
            }
        }
        if let bootstrap = object["bootstrap"] {
            description.bootstrap = try addresses(bootstrap, at: path + ".bootstrap")
        }
        if let method = object["method"] {
            switch try text(method, at: path + ".method").uppercased() {
            case "GET": description.usesPOST = false
            case "POST": description.usesPOST = true
            default: throw fault(path + ".method", "expected \"GET\" or \"POST\"")
            }
        }
        if let batch = object["batch"] {
            guard let isOn = batch.bool else {
                throw fault(path + ".batch", "\(batch.kind), expected true or false")
            }
            description.batchesNames = isOn
        }
        for (member, rule) in ConfigurationReader.rules
        where object[member] != nil && !description.uses(rule) {
            throw fault("\(path).\(member)", "it means nothing to \(description)")
        }
    }

    /// The options that the members stand for.
    private static let rules: [(member: String, rule: OptionRule)] = [
        ("account", .account), ("secret", .secretEnv), ("secretEnv", .secretEnv),
        ("key", .keyEnv), ("keyEnv", .keyEnv), ("endpoint", .endpoint),
        ("bootstrap", .bootstrap), ("method", .method), ("batch", .batch),
    ]

    private func secret(
        _ member: String, _ object: JSONObject, at path: String
    ) throws(CommandFault) -> ConfiguredResolver.SecretPlace? {
        let variable = object[member + "Env"]
        guard let inline = object[member] else {
            guard let variable else { return nil }
            return .variable(try text(variable, at: "\(path).\(member)Env"))
        }
        guard variable == nil else {
            throw fault(
                "\(path).\(member)", "\"\(member)\" and \"\(member)Env\" exclude each other")
        }
        guard !isOpenToOthers else {
            throw .usage(
                "\(file) holds a secret (\(path).\(member)), and others may read or change it: run "
                    + "chmod 600 \(file)")
        }
        return .here(Secret(try text(inline, at: "\(path).\(member)")))
    }

    /// A relative path starts where the configuration file is, wherever the tool is run.
    func beside(_ path: String) -> String {
        guard !path.hasPrefix("/"), let slash = file.lastIndex(of: "/") else { return path }
        return file[...slash] + path
    }

    private func trust(
        _ object: JSONObject, of description: ResolverDescription, at path: String
    ) throws(CommandFault) -> ResolverTrust {
        var trust = ResolverTrust()
        for member in ["cacert", "pins"] where object[member] != nil {
            guard description.provenHost != nil else {
                throw fault("\(path).\(member)", "it needs a resolver over TLS")
            }
        }
        if let file = object["cacert"] {
            trust.rootFile = beside(try text(file, at: path + ".cacert"))
            trust.rootPlace = "\(self.file): \(path).cacert"
        }
        if let pins = object["pins"] {
            for text in try texts(pins, at: path + ".pins") {
                do throws(PinError) { trust.pins.append(try Pin(text)) } catch {
                    throw fault(path + ".pins", "\(quoted(text)): \(error)")
                }
            }
        }
        return trust
    }
}
