internal import HTTPDNSPlatform

/// Options of `fetch` of which one would be ignored: told, never ignored.
enum FetchPairs {
    /// - Parameter arguments: as they were typed: what a configuration file says is a default.
    /// - Throws: ``CommandFault``: the two.
    static func check(_ arguments: ParsedArguments) throws(CommandFault) {
        if arguments.has(.noFollow) {
            for rule in [OptionRule.maxRedirects, .followToHTTP] where arguments.has(rule) {
                throw .usage("--\(rule.name) is about redirects, and --no-follow follows none")
            }
        }
        if arguments.has(.include), arguments.has(.json), !arguments.has(.output) {
            throw .usage(
                "--include writes the head before the body, which --json leaves out; give -o a file"
            )
        }
        var owners: [PrivateFile.Identity: OptionRule] = [:]
        var names: [String: OptionRule] = [:]
        for rule in [OptionRule.captureFile, .cookieJar, .output, .rules, .cacert, .cert, .key] {
            guard let path = arguments.value(rule), path != "-" else { continue }
            let owner = PrivateFile.identity(path).flatMap { owners[$0] } ?? names[path]
            let isWritten = written.contains(rule) || owner.map { written.contains($0) } ?? false
            if let owner, isWritten {
                throw .usage("--\(owner.name) and --\(rule.name) name one file, \(quoted(path))")
            }
            names[path] = rule
            if let identity = PrivateFile.identity(path) { owners[identity] = rule }
        }
    }

    private static let written: Set<OptionRule> = [.captureFile, .cookieJar, .output]
}
