internal import HTTPDNSExchange
package import HTTPDNSJSON
internal import HTTPDNSNames
package import HTTPDNSProfiles
internal import HTTPDNSWire

extension Command {
    /// `httpdns resolvers`: the providers that are known without configuration.
    package static let resolvers = Command(
        "resolvers", summary: "the known providers, what each needs", usage: "[NAME…]",
        options: [.json],
        details: """
            Examples:
              httpdns resolvers                    all of them
              httpdns resolvers aliyun             one, with its servers, source and notes
              httpdns lookup example.com @google   ask one of them
            """
    ) { (arguments, console) throws(CommandFault) in
        var profiles: [Profile] = []
        for name in arguments.words {
            // `@google` is how `lookup` has it.
            let id = name.hasPrefix("@") ? String(name.dropFirst()) : name
            guard let profile = Profiles.named(id) else {
                throw unknownResolver(name, id)
            }
            profiles.append(profile)
        }
        let isList = profiles.isEmpty
        if isList { profiles = Profiles.all }
        if arguments.has(.json) {
            for profile in profiles { console.print(json: ResolverRendering.json(profile)) }
        } else if isList {
            for line in ResolverRendering.table(profiles, console.outputPaint) {
                console.print(line)
            }
        } else {
            let texts = profiles.map { ResolverRendering.page($0, console.outputPaint) }
            console.print(texts.joined(separator: "\n\n"))
        }
        return .succeeded
    }

    private static func unknownResolver(_ typed: String, _ id: String) -> CommandFault {
        let hint = Profiles.nearest(to: id).map { "; did you mean \"\($0)\"?" } ?? ""
        return .usage(
            "unknown resolver \(quoted(typed))" + hint + " (httpdns resolvers lists them)")
    }
}

/// How a provider is shown. Pure.
package enum ResolverRendering {
    package static func table(_ profiles: [Profile], _ paint: Paint) -> [String] {
        var table = TextTable(["NAME", "KIND", "NEEDS", "URL", "TITLE"])
        for profile in profiles {
            table.add([
                profile.id, profile.kind.rawValue, needs(profile), place(profile), profile.title,
            ])
        }
        return table.lines(paint)
    }

    package static func page(_ profile: Profile, _ paint: Paint) -> String {
        let dot: String = profile.dotName.map { "\($0):\(profile.dotPort)" } ?? ""
        let limit: String = profile.queriesPerSecond.map { "\($0) a second" } ?? ""
        var rows: [(String, String)] = [
            ("kind", profile.kind.rawValue),
            ("url", place(profile)),
            ("servers", profile.bootstrap.map(\.description).joined(separator: ", ")),
            ("dot", dot),
            ("limit", limit),
            ("needs", needs(profile)),
            ("takes", profile.takes.map(option).joined(separator: ", ")),
            ("types", types(profile)?.joined(separator: ", ") ?? "any"),
            ("source", profile.source),
            ("unread", profile.sourceUnread),
            ("date", profile.date),
            ("notes", profile.notes),
        ]
        rows.removeAll { $0.1.isEmpty }
        let lines = rows.map { name, text -> String in
            "  " + name + String(repeating: " ", count: 9 - name.count) + text.printable
        }
        return ([paint.bold(profile.id) + "  " + profile.title.printable] + lines)
            .joined(separator: "\n")
    }

    package static func json(_ profile: Profile) -> JSONValue {
        [
            "name": .string(profile.id),
            "title": .string(profile.title),
            "kind": .string(profile.kind.rawValue),
            "url": profile.url.map { .string($0.origin.description + $0.target) } ?? .null,
            "bootstrap": strings(profile.bootstrap.map(\.description)),
            "needs": strings(profile.needs.map(\.rawValue)),
            "takes": strings(profile.takes.map(\.rawValue)),
            "types": types(profile).map(strings) ?? .null,
            "source": .string(profile.source),
            "date": .string(profile.date),
            "notes": .string(profile.notes),
        ]
    }

    private static func strings(_ texts: [String]) -> JSONValue {
        .array(texts.map { .string($0) })
    }

    private static func place(_ profile: Profile) -> String {
        guard let url = profile.url else {
            if let name = profile.dotName { return "tls://\(name):\(profile.dotPort)" }
            return profile.servers.first.map { "udp://\($0)" } ?? ""
        }
        return url.origin.description + (url.target == "/" ? "" : url.target)
    }

    private static func needs(_ profile: Profile) -> String {
        profile.needs.isEmpty ? "-" : profile.needs.map(option).joined(separator: ", ")
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
