internal import HTTPDNS
internal import HTTPDNSExchange
internal import HTTPDNSIDNA
internal import HTTPDNSJSON
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSTrust

/// Reads a configuration file. Pure but for ``profile``: opens nothing, and asks no variable.
///
/// Rules:
/// 1. An unknown member is an error: a slip of the finger must not be a setting that does nothing.
/// 2. Every error names the file, the place in it and what was expected.
/// 3. So is a member that is there twice, and a list of nothing: neither says what was meant.
/// 4. A file that holds a secret and that others may read is refused.
package struct ConfigurationReader {
    let file: String
    let isOpenToOthers: Bool
    /// The text of a profile that the file names, by its path.
    let profile: @Sendable (String) throws(CommandFault) -> String

    /// - Parameters:
    ///   - file: its path, for messages.
    ///   - isOpenToOthers: whether others than its owner may read or change it.
    ///   - profile: reads a profile that it names.
    package init(
        file: String, isOpenToOthers: Bool,
        profile: @escaping @Sendable (String) throws(CommandFault) -> String = {
            (path) throws(CommandFault) in try FileText.profile(path)
        }
    ) {
        self.file = file
        self.isOpenToOthers = isOpenToOthers
        self.profile = profile
    }

    /// The members of the file, for help and for errors.
    package static let members = [
        "resolvers", "routes", "overrides", "timeouts", "strategy", "defaults", "trust",
    ]

    /// - Throws: ``CommandFault``: usage.
    package func configuration(_ text: String) throws(CommandFault) -> ToolConfiguration {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue.parse(text, refusesDuplicates: true)
        } catch {
            throw .usage("\(place(of: error, in: text)): \(error.what)")
        }
        let root = try object(value, at: "", known: ConfigurationReader.members)
        var configuration = ToolConfiguration()
        configuration.path = file
        configuration.resolvers = try resolvers(root["resolvers"])
        configuration.routes = try routes(root["routes"])
        configuration.overrides = try overrides(root["overrides"])
        configuration.timeouts = try timeouts(root["timeouts"])
        configuration.strategy = try strategy(root["strategy"])
        configuration.defaults = try defaults(root["defaults"])
        configuration.trust = try trust(root["trust"])
        try checkRoutes(configuration)
        return configuration
    }

    /// `config.json:3:7` for `octet 41`.
    private func place(of error: JSONError, in text: String) -> String {
        let words = error.place.split(separator: " ")
        guard words.count == 2, words[0] == "octet", let octet = Int(words[1]) else {
            return file
        }
        let before = text.utf8.prefix(max(octet, 0))
        let line = before.reduce(1) { $1 == 0x0A ? $0 + 1 : $0 }
        let column = before.reversed().prefix { $0 != 0x0A }.count + 1
        return "\(file):\(line):\(column)"
    }

    private func routes(_ value: JSONValue?) throws(CommandFault) -> [ToolConfiguration.Route] {
        guard let value else { return [] }
        let object = try object(value, at: "routes", known: nil)
        var routes: [ToolConfiguration.Route] = []
        for member in object.members {
            let path = "routes.\(member.name)"
            do { _ = try HostPattern(member.name) } catch {
                throw fault(path, "\(error); a name or a pattern such as *.corp.example")
            }
            routes.append(
                ToolConfiguration.Route(
                    pattern: member.name, resolvers: try self.texts(member.value, at: path)))
        }
        return routes
    }

    /// Whom a route names must be somebody.
    private func checkRoutes(_ configuration: ToolConfiguration) throws(CommandFault) {
        for route in configuration.routes {
            for text in route.resolvers where configuration.resolver(named: text) == nil {
                do throws(DescriptionError) { _ = try ResolverDescription(text) } catch {
                    throw fault(
                        "routes.\(route.pattern)",
                        "\(quoted(url: text)) is not a resolver: \(error.reason)")
                }
            }
        }
    }

    private func overrides(
        _ value: JSONValue?
    ) throws(CommandFault) -> [HostName: [IPAddress]] {
        guard let value else { return [:] }
        let object = try object(value, at: "overrides", known: nil)
        var overrides: [HostName: [IPAddress]] = [:]
        for member in object.members {
            let path = "overrides.\(member.name)"
            let host: HostName
            do throws(NameError) { host = try HostName(unicode: member.name) } catch {
                throw fault(path, "\(error)")
            }
            guard overrides[host] == nil else {
                throw fault(path, "\(host) is there already, spelled otherwise")
            }
            overrides[host] = try addresses(member.value, at: path)
        }
        return overrides
    }

    private func timeouts(_ value: JSONValue?) throws(CommandFault) -> [String: String] {
        guard let value else { return [:] }
        let object = try object(
            value, at: "timeouts", known: ["lookup", "fetch", "verify", "pins"])
        var timeouts: [String: String] = [:]
        for member in object.members {
            let path = "timeouts.\(member.name)"
            let text = try text(member.value, at: path)
            guard DurationText.parse(text) != nil else {
                throw fault(path, "\(quoted(text)) is not a duration; write \"2s\" or \"500ms\"")
            }
            timeouts[member.name] = text
        }
        return timeouts
    }

    private func strategy(_ value: JSONValue?) throws(CommandFault) -> LookupStrategy? {
        guard let value else { return nil }
        let words = "write \"ordered\", \"hedged\" or \"raced\""
        switch try text(value, at: "strategy") {
        case "ordered": return .ordered
        case "hedged": return .hedged(after: nil)
        case "raced": return .raced
        case let other: throw fault("strategy", "\(quoted(other)) is no strategy; \(words)")
        }
    }

    /// What may be set for every run. Not more: a script that reads the output must not depend on the
    /// file of whoever runs it.
    package static let defaults = ["parallel", "seconds", "explain", "verbose", "dnssec"]

    private func defaults(_ value: JSONValue?) throws(CommandFault) -> [String: String] {
        guard let value else { return [:] }
        let object = try object(value, at: "defaults", known: ConfigurationReader.defaults)
        var defaults: [String: String] = [:]
        for member in object.members {
            let path = "defaults.\(member.name)"
            switch member.value {
            case .bool(let isOn) where member.name != "parallel":
                if isOn { defaults[member.name] = "" }
            case .integer(let number) where member.name == "parallel":
                guard (1...1_000).contains(number) else {
                    throw fault(path, "\(number) is not a number from 1 to 1000")
                }
                defaults[member.name] = String(number)
            default:
                let expected = member.name == "parallel" ? "a number" : "true or false"
                throw fault(path, "\(member.value.kind), expected \(expected)")
            }
        }
        return defaults
    }
}

// The parts that values are made of
extension ConfigurationReader {
    func object(
        _ value: JSONValue, at path: String, known: [String]?
    ) throws(CommandFault) -> JSONObject {
        guard let object = value.object else {
            throw fault(path, "\(value.kind), expected an object")
        }
        if let known, let stranger = object.names.first(where: { !known.contains($0) }) {
            let hint = Nearest.word(to: stranger, in: known).map { "; did you mean \"\($0)\"?" }
            throw fault(
                path,
                "unknown member \(quoted(stranger))"
                    + (hint ?? "; the members are \(known.joined(separator: ", "))"))
        }
        return object
    }

    func text(_ value: JSONValue, at path: String) throws(CommandFault) -> String {
        guard let text = value.string, !text.isEmpty else {
            throw fault(path, "\(value.string == nil ? value.kind : "empty"), expected a string")
        }
        return text
    }

    func texts(_ value: JSONValue, at path: String) throws(CommandFault) -> [String] {
        if value.string != nil { return [try text(value, at: path)] }
        guard let array = value.array else {
            throw fault(path, "\(value.kind), expected a string or an array of strings")
        }
        guard !array.isEmpty else { throw fault(path, "an empty list, expected one at least") }
        var texts: [String] = []
        for (index, element) in array.enumerated() {
            texts.append(try text(element, at: "\(path)[\(index)]"))
        }
        return texts
    }

    func addresses(_ value: JSONValue, at path: String) throws(CommandFault) -> [IPAddress] {
        var addresses: [IPAddress] = []
        for text in try texts(value, at: path) {
            do throws(AddressError) { addresses.append(try IPAddress(text)) } catch {
                throw fault(path, "\(quoted(text)): \(error)")
            }
        }
        return addresses
    }

    /// `config.json: resolvers[0].account: a number, expected a string`.
    func fault(_ path: String, _ what: String) -> CommandFault {
        .usage(path.isEmpty ? "\(file): \(what)" : "\(file): \(path): \(what)")
    }
}
