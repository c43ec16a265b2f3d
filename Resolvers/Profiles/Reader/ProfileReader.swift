package import HTTPDNSExchange
internal import HTTPDNSJSON
package import HTTPDNSNames
package import HTTPDNSWire

/// The fields of a file, each checked by itself.
package struct ProfileParts: Sendable {
    package fileprivate(set) var id = ""
    package fileprivate(set) var title = ""
    package fileprivate(set) var kind = Profile.Kind.doh
    package fileprivate(set) var url: HTTPURL?
    package fileprivate(set) var bootstrap: [IPAddress] = []
    package fileprivate(set) var dotName: HostName?
    package fileprivate(set) var dotPort = Port.dnsOverTLS
    package fileprivate(set) var template: ProviderTemplate?
    package fileprivate(set) var queriesPerSecond: Int?
    package fileprivate(set) var needs: [Profile.Credential] = []
    package fileprivate(set) var takes: [Profile.Credential] = []
    package fileprivate(set) var supportedTypes: Set<RecordType>?
    package fileprivate(set) var source = ""
    package fileprivate(set) var sourceUnread = ""
    package fileprivate(set) var date = ""
    package fileprivate(set) var notes = ""
}

extension Profile {
    /// Reads and checks one file.
    ///
    /// Refused are: unknown keys, a missing source or date, `http` where the protocol has `https` (or
    /// without a reason), no address to connect to, and addresses and URLs that are none.
    ///
    /// - Throws: ``ProfileError``.
    package static func parse(file: String, text: String) throws(ProfileError) -> Profile {
        let reader: ProfileReader
        do {
            reader = try ProfileReader(file: file, JSONValue.parse(text, refusesDuplicates: true))
        } catch let error as JSONError {
            throw ProfileError(
                file: file, keyPath: "", what: error.description,
                advice: "see Resolvers/README.md for the form")
        } catch let error as ProfileError {
            throw error
        } catch {
            throw ProfileError(
                file: file, keyPath: "", what: "\(error)", advice: "please report this")
        }
        return Profile(try reader.parts())
    }
}

private struct ProfileReader {
    private let file: String
    private let object: JSONObject

    static let keys = [
        "id", "title", "kind", "url", "tlsName", "bootstrap", "withoutAddresses", "dotName",
        "dotPort", "template", "queriesPerSecond", "needs", "takes", "supports", "cleartext",
        "source", "sourceUnread", "date", "notes",
    ]

    init(file: String, _ value: JSONValue) throws(ProfileError) {
        guard let object = value.object else {
            throw ProfileError(
                file: file, keyPath: "", what: "the file holds \(value.kind)",
                advice: "write one JSON object")
        }
        self.file = file
        self.object = object
        try checkKeys(object, Self.keys, under: "")
    }

    func parts() throws(ProfileError) -> ProfileParts {
        var parts = ProfileParts()
        parts.id = try id()
        parts.title = try text("title", advice: "give the provider's name, for people")
        parts.kind = try kind()
        parts.url = try url(of: parts.kind)
        parts.bootstrap = try bootstrap(of: parts.kind)
        (parts.dotName, parts.dotPort) = try dot(of: parts.kind)
        parts.template = try template(of: parts.kind)
        parts.queriesPerSecond = try queriesPerSecond()
        parts.needs = try credentials("needs")
        parts.takes = try credentials("takes")
        for (index, credential) in parts.takes.enumerated() where parts.needs.contains(credential) {
            throw fault(
                "takes[\(index)]", "\"\(credential.rawValue)\" is among the needs", "remove it here"
            )
        }
        if let template = parts.template { try check(template, parts) }
        parts.supportedTypes = try supportedTypes(of: parts.kind, parts.template)
        parts.source = try source()
        parts.sourceUnread = try optionalText("sourceUnread") ?? ""
        parts.date = try date(of: parts.sourceUnread)
        parts.notes = try optionalText("notes") ?? ""
        return parts
    }

    private func id() throws(ProfileError) -> String {
        let id = try text("id", advice: "give the name that people type")
        guard id.utf8.count <= 40, id.first?.isLetter == true,
            id.utf8.allSatisfy({
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
            })
        else {
            throw fault(
                "id", "\"\(id)\" is no id", "use at most 40 of a-z, 0-9 and -, a letter first")
        }
        guard file == id + ".json" else {
            throw fault("id", "\"\(id)\" is not the file's name", "name the file \(id).json")
        }
        // The command line gives this name another meaning.
        guard id != "system" else { throw fault("id", "\"system\" is taken", "use another id") }
        return id
    }

    private func kind() throws(ProfileError) -> Profile.Kind {
        let known = Profile.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        let text = try text("kind", advice: "use one of \(known)")
        guard let kind = Profile.Kind(rawValue: text) else {
            throw fault("kind", "\"\(text)\" is no protocol", "use one of \(known)")
        }
        return kind
    }

    private func url(of kind: Profile.Kind) throws(ProfileError) -> HTTPURL? {
        guard kind != .udp, kind != .dot else {
            for key in ["url", "tlsName", "cleartext"] where object[key] != nil {
                throw fault(
                    key,
                    kind == .udp
                        ? "plain DNS has no URL and no certificate"
                        : "DNS over TLS has no URL; \"dotName\" is whom it must prove",
                    "remove it; bootstrap names the servers")
            }
            return nil
        }
        let text = try text("url", advice: "give the address to ask, https://host/path")
        let url: HTTPURL
        do { url = try HTTPURL(text) } catch {
            throw fault("url", "\(error)", "write https://host/path")
        }
        guard url.userinfo == nil, url.fragment == nil else {
            throw fault("url", "it has a user name or a fragment", "write https://host/path")
        }
        // A template's braces would be encoded and asked for. Source: RFC 3986 §2 has none.
        guard !text.contains(where: { "{}".contains($0) }) else {
            throw fault("url", "it is a template", "leave out what stands in braces")
        }
        guard kind != .template || url.target == "/" else {
            throw fault("url", "it has a path", "write the path into the template")
        }
        try checkScheme(url, kind)
        guard let name = try tlsName() else { return url }
        guard url.origin.scheme == .https else {
            throw fault("tlsName", "over http there is no certificate", "remove this key")
        }
        let origin = Origin(
            scheme: url.origin.scheme, host: .name(name), port: url.origin.port)
        return HTTPURL(origin: origin, target: url.target)
    }

    /// DoH is HTTPS by definition (RFC 8484 §5); a vendor's service without HTTPS must be excused.
    private func checkScheme(_ url: HTTPURL, _ kind: Profile.Kind) throws(ProfileError) {
        let excuse = try optionalText("cleartext")
        switch (url.origin.scheme, kind) {
        case (.https, _):
            guard excuse == nil else {
                throw fault("cleartext", "the URL is https", "remove this key")
            }
        case (.http, .doh), (.http, .jsonDoH):
            throw fault("url", "it is http, where anyone can forge answers", "use https")
        case (.http, _):
            guard let excuse, !excuse.isEmpty else {
                throw fault(
                    "url", "it is http, where anyone can forge answers",
                    "use https, or say in \"cleartext\" why the provider has none")
            }
        }
    }

    private func tlsName() throws(ProfileError) -> HostName? {
        guard let text = try optionalText("tlsName") else { return nil }
        do { return try HostName(text) } catch {
            throw fault("tlsName", "\(error)", "give the name that the certificate proves")
        }
    }

    private func bootstrap(of kind: Profile.Kind) throws(ProfileError) -> [IPAddress] {
        let advice = "list the servers' addresses in \"ipv4\" and \"ipv6\""
        guard let lists = object["bootstrap"]?.object else {
            throw fault("bootstrap", "missing or not an object", advice)
        }
        try checkKeys(lists, ["ipv4", "ipv6"], under: "bootstrap.")
        let addresses =
            try addresses(lists["ipv4"], .ipv4, at: "bootstrap.ipv4")
            + addresses(lists["ipv6"], .ipv6, at: "bootstrap.ipv6")
        let excuse = try optionalText("withoutAddresses") ?? ""
        guard excuse.isEmpty || (addresses.isEmpty && kind != .udp && kind != .dot) else {
            throw fault("withoutAddresses", "there are addresses, or must be", "remove this key")
        }
        guard !addresses.isEmpty || !excuse.isEmpty else {
            throw fault("bootstrap", "no address: the provider's name is never looked up", advice)
        }
        guard Set(addresses).count == addresses.count else {
            throw fault("bootstrap", "an address stands twice", "remove one")
        }
        return addresses
    }

    private func addresses(
        _ list: JSONValue?, _ family: IPAddress.Family, at path: String
    ) throws(ProfileError) -> [IPAddress] {
        var addresses: [IPAddress] = []
        for (index, text) in try strings(list, at: path).enumerated() {
            let path = "\(path)[\(index)]"
            let advice = "write an address of this family, without brackets or port"
            let address: IPAddress
            do { address = try IPAddress(text) } catch {
                throw fault(path, "\(error)", advice)
            }
            guard address.family == family, address.zone == nil else {
                throw fault(path, "\"\(address)\" is of the other family or has a zone", advice)
            }
            addresses.append(address)
        }
        return addresses
    }

    /// The name and port of the same service over TLS.
    private func dot(of kind: Profile.Kind) throws(ProfileError) -> (HostName?, Port) {
        var port = Port.dnsOverTLS
        if let value = object["dotPort"] {
            guard let number = value.integer.flatMap({ UInt16(exactly: $0) }),
                let given = Port(number)
            else { throw fault("dotPort", "\(value) is no port", "write a number to 65535") }
            port = given
        }
        guard let text = try optionalText("dotName") else {
            guard kind != .dot, object["dotPort"] == nil else {
                throw fault("dotName", "missing", "give the name that the certificate proves")
            }
            return (nil, port)
        }
        guard kind == .doh || kind == .dot else {
            throw fault("dotName", "only the kinds doh and dot have it", "remove this key")
        }
        do { return (try HostName(text), port) } catch {
            throw fault("dotName", "\(error)", "give the name that the certificate proves")
        }
    }

    private func template(of kind: Profile.Kind) throws(ProfileError) -> ProviderTemplate? {
        guard kind == .template else {
            guard object["template"] == nil else {
                throw fault("template", "only the kind template has it", "remove this key")
            }
            return nil
        }
        return try TemplateReader(object["template"], file: file).template()
    }

    /// A template may use only what its user is asked for.
    private func check(
        _ template: ProviderTemplate, _ parts: ProfileParts
    ) throws(ProfileError) {
        let asked = Set(parts.needs + parts.takes)
        let uses: [(ProviderTemplate.Variable, Profile.Credential)] = [
            (.account, .account), (.accountFirst, .account), (.accountSecond, .account),
            (.secret, .secret), (.key, .key),
        ]
        for (variable, credential) in uses
        where template.uses(variable) && !asked.contains(credential) {
            throw fault(
                "needs", "the template uses {\(variable.rawValue)}",
                "add \"\(credential.rawValue)\" to needs or takes")
        }
        guard !template.sendsKey || parts.url?.origin.scheme == .https else {
            throw fault("url", "the template sends {key}, in clear over http", "use https")
        }
    }

    private func queriesPerSecond() throws(ProfileError) -> Int? {
        guard let value = object["queriesPerSecond"] else { return nil }
        guard let number = value.integer, (1...100_000).contains(number) else {
            throw fault(
                "queriesPerSecond", "\(value) is no limit", "write a number from 1 to 100000")
        }
        return Int(number)
    }

    private func credentials(_ key: String) throws(ProfileError) -> [Profile.Credential] {
        let known = Profile.Credential.allCases.map(\.rawValue).joined(separator: ", ")
        var credentials: [Profile.Credential] = []
        for (index, text) in try strings(object[key], at: key).enumerated() {
            guard let credential = Profile.Credential(rawValue: text) else {
                throw fault("\(key)[\(index)]", "\"\(text)\" is unknown", "use \(known)")
            }
            guard !credentials.contains(credential) else {
                throw fault("\(key)[\(index)]", "\"\(text)\" stands twice", "remove one")
            }
            credentials.append(credential)
        }
        return credentials
    }

    private func supportedTypes(
        of kind: Profile.Kind, _ template: ProviderTemplate?
    ) throws(ProfileError) -> Set<RecordType>? {
        let advice = "list record types such as \"A\", or write [\"any\"]"
        let names = try strings(object["supports"], at: "supports")
        guard !names.isEmpty else { throw fault("supports", "missing or empty", advice) }
        let isAddressesOnly =
            Profile.addressKinds.contains(kind)
            || template.map { $0.response.form != .dnsJSON } ?? false
        guard names != ["any"] || isAddressesOnly else { return nil }
        var types: Set<RecordType> = []
        for (index, name) in names.enumerated() {
            guard let type = RecordType(name: name) else {
                throw fault("supports[\(index)]", "\"\(name)\" is no record type", advice)
            }
            guard !isAddressesOnly || type == .a || type == .aaaa else {
                throw fault(
                    "supports[\(index)]", "this protocol knows addresses only",
                    "list \"A\" and \"AAAA\"")
            }
            types.insert(type)
        }
        return types
    }

    private func source() throws(ProfileError) -> String {
        let advice = "give the https URL of the page that the facts come from"
        let text = try text("source", advice: advice)
        guard let url = try? HTTPURL(text), url.origin.scheme == .https else {
            throw fault("source", "\"\(text)\" is not an https URL", advice)
        }
        return text
    }

    /// A source that was not read has no date, but says by whom the facts were taken from it.
    private func date(of unread: String) throws(ProfileError) -> String {
        let advice = "give the day on which the source was read, as 2026-11-30"
        guard unread.isEmpty else {
            guard object["date"] == nil else {
                throw fault("sourceUnread", "the source has a date", "remove this key or the date")
            }
            return ""
        }
        let text = try text("date", advice: advice)
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { UInt16($0) }
        guard parts.map(\.utf8.count) == [4, 2, 2], numbers.count == 3,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2D }),
            (2_000...2_999).contains(numbers[0]), (1...12).contains(numbers[1]),
            (1...Self.days(in: numbers[1], numbers[0])).contains(numbers[2])
        else { throw fault("date", "\"\(text)\" is no date", advice) }
        return text
    }

    private static func days(in month: UInt16, _ year: UInt16) -> UInt16 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private func text(_ key: String, advice: String) throws(ProfileError) -> String {
        guard let text = try optionalText(key), !text.isEmpty else {
            throw fault(key, "missing or empty", advice)
        }
        return text
    }

    private func optionalText(_ key: String) throws(ProfileError) -> String? {
        guard let value = object[key] else { return nil }
        guard let text = value.string else {
            throw fault(key, "it is \(value.kind)", "write a string")
        }
        return text
    }

    private func strings(_ value: JSONValue?, at path: String) throws(ProfileError) -> [String] {
        guard let value else { return [] }
        guard let array = value.array else {
            throw fault(path, "it is \(value.kind)", "write an array of strings")
        }
        var strings: [String] = []
        for (index, element) in array.enumerated() {
            guard let text = element.string else {
                throw fault("\(path)[\(index)]", "it is \(element.kind)", "write a string")
            }
            strings.append(text)
        }
        return strings
    }

    private func checkKeys(
        _ object: JSONObject, _ known: [String], under path: String
    ) throws(ProfileError) {
        guard let unknown = object.names.first(where: { !known.contains($0) }) else { return }
        throw fault(
            path + unknown, "unknown key", "the keys are \(known.joined(separator: ", "))")
    }

    private func fault(_ keyPath: String, _ what: String, _ advice: String) -> ProfileError {
        ProfileError(file: file, keyPath: keyPath, what: what, advice: advice)
    }
}
