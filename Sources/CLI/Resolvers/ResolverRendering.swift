internal import HTTPDNS
internal import HTTPDNSExchange
package import HTTPDNSJSON
internal import HTTPDNSNames
package import HTTPDNSProfiles
internal import HTTPDNSTrust
internal import HTTPDNSWire

/// How resolvers are shown. Pure.
package enum ResolverRendering {
    private static let vendors = [
        "aliyun", "aliyun-v2", "dnspod", "dnspod-des", "dnspod-aes", "volcengine", "baidu",
        "template",
    ]

    /// Protocols by the spelling of profiles, with the heading they stand under, in the order of the
    /// list.
    private static let groups: [(heading: String, kinds: [String])] = [
        ("HTTP-DNS: a vendor's own protocol over HTTPS", vendors),
        ("DNS over HTTPS (RFC 8484)", ["doh"]),
        ("DNS over TLS (RFC 7858)", ["dot"]),
        ("JSON over HTTPS", ["json-doh"]),
        ("Plain DNS: anyone on the way can read and forge it", ["udp"]),
    ]

    /// All of them, a heading above each protocol; columns are as wide as over all.
    package static func list(
        _ profiles: [Profile], _ configured: [ConfiguredResolver], _ paint: Paint
    ) -> [String] {
        var table = TextTable(["NAME", "NEEDS", "TAKES", "TYPES", "URL", "SERVERS", "TITLE"])
        var headings: [(row: Int, text: String)] = []
        var count = 0
        let known = groups.flatMap(\.kinds)
        for (heading, kinds) in groups + [("Others", [])] {
            let members = profiles.filter {
                kinds.isEmpty
                    ? !known.contains($0.kind.rawValue) : kinds.contains($0.kind.rawValue)
            }
            guard !members.isEmpty else { continue }
            headings.append((count, heading))
            count += members.count
            for profile in members { table.add(cells(profile)) }
        }
        let lines = table.lines(paint)
        var shown = Array(lines.prefix(1))
        for (row, line) in lines.dropFirst().enumerated() {
            if let heading = headings.first(where: { $0.row == row }) {
                shown += ["", paint.bold(heading.text)]
            }
            shown.append(line)
        }
        guard !configured.isEmpty else { return shown }
        return shown + ["", paint.bold("From the configuration file")]
            + configured.map { "\($0.name.printable)  \($0.description.description.printable)" }
    }

    private static func cells(_ profile: Profile) -> [String] {
        let servers = profile.bootstrap.first.map { first in
            profile.bootstrap.count == 1
                ? "\(first)" : "\(first) and \(profile.bootstrap.count - 1) more"
        }
        return [
            profile.id, options(profile.needs), options(profile.takes),
            types(profile)?.joined(separator: " ") ?? "any", place(profile), servers ?? "-",
            profile.title,
        ]
    }

    package static func page(_ profile: Profile, _ paint: Paint) -> String {
        let rows = [
            ("kind", profile.kind.rawValue),
            ("group", group(profile)),
            ("url", place(profile)),
            ("servers", profile.bootstrap.map(\.description).joined(separator: ", ")),
            ("needs", options(profile.needs)),
            ("takes", profile.takes.map(option).joined(separator: ", ")),
            ("types", types(profile)?.joined(separator: ", ") ?? "any"),
            ("source", profile.source),
            ("date", profile.date),
            ("notes", profile.notes),
        ]
        return page(profile.id, profile.title, rows, paint)
    }

    /// A configured resolver; of secrets only where they are.
    package static func page(_ resolver: ConfiguredResolver, _ paint: Paint) -> String {
        let description = resolver.description
        let rows = [
            ("resolver", description.description),
            ("account", description.account ?? ""),
            ("secret", words(resolver.secret)),
            ("key", words(resolver.key)),
            ("endpoint", description.endpoint.map { $0.origin.description + $0.target } ?? ""),
            ("servers", description.bootstrap.map(\.description).joined(separator: ", ")),
            ("cacert", resolver.trust.rootFile ?? ""),
            ("pins", resolver.trust.pins.map(\.description).joined(separator: ", ")),
            ("set in", resolver.place),
        ]
        return page(resolver.name, "", rows, paint)
    }

    private static func page(
        _ name: String, _ title: String, _ rows: [(String, String)], _ paint: Paint
    ) -> String {
        let lines = rows.filter { !$0.1.isEmpty }.map { name, text in
            "  " + name + String(repeating: " ", count: 10 - name.count) + text.printable
        }
        let head = paint.bold(name.printable) + (title.isEmpty ? "" : "  " + title.printable)
        return ([head] + lines).joined(separator: "\n")
    }

    private static func words(_ place: ConfiguredResolver.SecretPlace?) -> String {
        switch place {
        case nil: ""
        case .here: "in the file"
        case .variable: "in a variable of the environment"
        }
    }

    private static func group(_ profile: Profile) -> String {
        groups.first { $0.kinds.contains(profile.kind.rawValue) }?.heading ?? ""
    }

    private static func place(_ profile: Profile) -> String {
        if profile.kind == .dot, let name = profile.dotName { return "tls://\(name)" }
        guard let url = profile.url else {
            return profile.servers.first.map { "udp://\($0)" } ?? ""
        }
        return url.origin.description + (url.target == "/" ? "" : url.target)
    }

    private static func options(_ credentials: [Profile.Credential]) -> String {
        credentials.isEmpty ? "-" : credentials.map(option).joined(separator: ", ")
    }

    /// The option that gives it.
    private static func option(_ credential: Profile.Credential) -> String {
        switch credential {
        case .account: "--account"
        case .secret: "--secret-env"
        case .key: "--key-env"
        }
    }

    private static func types(_ profile: Profile) -> [String]? {
        profile.supportedTypes.map {
            $0.sorted { $0.rawValue < $1.rawValue }.map(\.name)
        }
    }
}

// As JSON: the same keys for all, and when there is none
extension ResolverRendering {
    private static let empty: JSONObject = [
        "name": .null, "title": .null, "kind": .null, "group": .null, "configured": false,
        "url": .null, "bootstrap": [], "needs": [], "takes": [], "types": .null,
        "source": .null, "date": .null, "notes": .null, "error": .null,
    ]

    package static func json(_ profile: Profile) -> JSONValue {
        var object = empty
        object["name"] = .string(profile.id)
        object["title"] = .string(profile.title)
        object["kind"] = .string(profile.kind.rawValue)
        object["group"] = .string(group(profile))
        object["url"] =
            profile.url.map { .string($0.origin.description + $0.target) }
            ?? (profile.kind == .dot ? .string(place(profile)) : .null)
        object["bootstrap"] = strings(profile.bootstrap.map(\.description))
        object["needs"] = strings(profile.needs.map(\.rawValue))
        object["takes"] = strings(profile.takes.map(\.rawValue))
        object["types"] = types(profile).map(strings) ?? .null
        object["source"] = .string(profile.source)
        object["date"] = .string(profile.date)
        object["notes"] = .string(profile.notes)
        return .object(object)
    }

    package static func json(_ resolver: ConfiguredResolver) -> JSONValue {
        let description = resolver.description
        var object = empty
        object["name"] = .string(resolver.name)
        object["title"] = .string(description.description)
        object["configured"] = true
        object["url"] =
            description.endpoint.map { .string($0.origin.description + $0.target) } ?? .null
        object["bootstrap"] = strings(description.bootstrap.map(\.description))
        object["source"] = .string(resolver.place)
        return .object(object)
    }

    package static func json(_ fault: CommandFault, name: String?) -> JSONValue {
        var object = empty
        object["name"] = name.map { .string($0) } ?? .null
        object["error"] = [
            "code": .string(LookupTrouble(fault).label), "message": .string(fault.message),
        ]
        return .object(object)
    }

    private static func strings(_ texts: [String]) -> JSONValue {
        .array(texts.map { .string($0) })
    }
}
