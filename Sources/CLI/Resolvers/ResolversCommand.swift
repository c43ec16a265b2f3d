internal import HTTPDNS
internal import HTTPDNSJSON
internal import HTTPDNSProfiles

extension Command {
    /// `httpdns resolvers`: the providers that are known without configuration, and those of the
    /// configuration file.
    package static let resolvers = Command(
        "resolvers", summary: "the known providers, what each needs", usage: "[NAME|./FILE…]",
        options: [.json, .timeout, .verbose, .config], details: details
    ) { (arguments, console) throws(CommandFault) in
        // Nothing is waited for here; what is no duration is wrong all the same.
        _ = try arguments.duration(.timeout)
        let configuration = try ToolConfiguration.load(arguments, console)
        var profiles: [Profile] = []
        var configured: [ConfiguredResolver] = []
        for name in arguments.words {
            // `@google` is how `lookup` has it.
            let id = name.hasPrefix("@") ? String(name.dropFirst()) : name
            if let resolver = configuration.resolver(named: id) {
                configured.append(resolver)
            } else if ResolverDescription.isProfilePath(id) {
                profiles.append(try profile(ofFile: id))
            } else if let profile = Profiles.named(id) {
                profiles.append(profile)
            } else {
                throw unknownResolver(name, id)
            }
        }
        let isList = arguments.words.isEmpty
        if isList { (profiles, configured) = (Profiles.all, configuration.resolvers) }
        if arguments.has(.json) {
            for resolver in configured { console.print(json: ResolverRendering.json(resolver)) }
            for profile in profiles { console.print(json: ResolverRendering.json(profile)) }
        } else if isList {
            let lines = ResolverRendering.list(profiles, configured, console.outputPaint)
            lines.forEach(console.print)
        } else {
            let texts =
                configured.map { ResolverRendering.page($0, console.outputPaint) }
                + profiles.map { ResolverRendering.page($0, console.outputPaint) }
            console.print(texts.joined(separator: "\n\n"))
        }
        return .succeeded
    }.failing { words, fault in ResolverRendering.json(fault, name: words.first) }

    private static let details = """
        NEEDS and TAKES name the options of lookup and fetch that give it; a configuration file may
        hold it too (lookup --help). URL is whom the certificate must prove, SERVERS where the question
        goes: no provider is looked up by name.

        Examples:
          httpdns resolvers                    all of them, by protocol
          httpdns resolvers aliyun             one, with its servers, source and notes
          httpdns resolvers ./fleet.json       a profile of your own, checked
          httpdns resolvers --json             an object a line, for programs
          httpdns lookup example.com @google   ask one of them
          httpdns lookup example.com @aliyun --account 100000 --secret-env ALIYUN_SECRET
        """

    /// A profile of one's own, checked as `lookup` checks it.
    private static func profile(ofFile path: String) throws(CommandFault) -> Profile {
        let description = try ResolverDescription.ofProfile(
            path, text: try FileText.profile(path)
        ) { .usage($0) }
        guard case .provider(let profile) = description.kind else {
            throw .usage("\(quoted(path)) is not a resolver")
        }
        return profile
    }

    private static func unknownResolver(_ typed: String, _ id: String) -> CommandFault {
        let hint = Profiles.nearest(to: id).map { "; did you mean \"\($0)\"?" } ?? ""
        return .usage(
            "unknown resolver \(quoted(typed))" + hint + " (httpdns resolvers lists them)")
    }
}
