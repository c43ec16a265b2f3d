internal import HTTPDNSIDNA
package import HTTPDNSNames

/// The domains that complete a short name. Pure.
///
/// Never applied unless it is asked for: a name that is completed by itself is told to servers that
/// have no business with it. Source: RFC 1535.
package struct SearchList: Sendable, Hashable {
    package let domains: [HostName]
    /// A name with at least so many dots is tried as it is first.
    package let dots: Int

    /// Source: resolv.conf(5): "The default for n is 1".
    package static let usualDots = 1

    package init(domains: [HostName], dots: Int = SearchList.usualDots) {
        self.domains = domains
        self.dots = dots
    }

    /// Reads the list of `--search` and the number of `--ndots`.
    ///
    /// - Parameters:
    ///   - system: the text of `/etc/resolv.conf`, for a list that is not given.
    ///   - variable: looks up `LOCALDOMAIN` and `RES_OPTIONS`, which replace what stands there.
    /// - Returns: nil when no search is asked for.
    /// - Throws: ``CommandFault``: a domain that is none.
    package static func read(
        _ arguments: ParsedArguments, system: () -> String, variable: (String) -> String?
    ) throws(CommandFault) -> SearchList? {
        let dots = try arguments.number(.ndots, in: 0...15)
        guard arguments.has(.search) else {
            guard dots == nil else {
                throw .usage("--ndots says when to complete a name, but --search is missing")
            }
            return nil
        }
        if let text = arguments.value(.search), !text.isEmpty {
            var domains: [HostName] = []
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                do throws(NameError) { domains.append(try HostName(unicode: String(part))) } catch {
                    throw .usage("--search \(quoted(String(part))): \(error)")
                }
            }
            return SearchList(domains: domains, dots: dots ?? usualDots)
        }
        let list = SearchList(
            resolvConf: system(), domains: variable("LOCALDOMAIN"),
            options: variable("RES_OPTIONS"))
        return SearchList(domains: list.domains, dots: dots ?? list.dots)
    }

    /// Reads a text in the syntax of resolv.conf(5): the last `domain` or `search` line, and `ndots`.
    package init(resolvConf text: String, domains: String? = nil, options: String? = nil) {
        var names: [Substring] = []
        var dots = SearchList.usualDots
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            switch words.first {
            case "search": names = Array(words.dropFirst())
            case "domain": names = Array(words.dropFirst().prefix(1))
            case "options": dots = SearchList.dots(in: words.dropFirst()) ?? dots
            default: break
            }
        }
        if let domains { names = domains.split(separator: " ") }
        if let options { dots = SearchList.dots(in: options.split(separator: " ")) ?? dots }
        // What is no name cannot complete one; the C library passes it over too.
        self.domains = names.compactMap { try? HostName(unicode: String($0)) }
        self.dots = dots
    }

    /// Source: resolv.conf(5): "The value for n is silently capped to 15".
    private static func dots(in words: some Sequence<Substring>) -> Int? {
        words.compactMap { word in
            word.hasPrefix("ndots:") ? Int(word.dropFirst(6)).map { min(max($0, 0), 15) } : nil
        }.last
    }

    /// The names to ask for, in order; a dot at the end says that the name is complete.
    package func candidates(for name: HostName, typed text: String) -> [HostName] {
        guard !text.hasSuffix(".") else { return [name] }
        let completed = domains.compactMap { try? HostName(name.text + "." + $0.text) }
        let isFirst = name.labels.count - 1 >= dots
        var seen: Set<HostName> = []
        return ((isFirst ? [name] : []) + completed + (isFirst ? [] : [name]))
            .filter { seen.insert($0).inserted }
    }
}
