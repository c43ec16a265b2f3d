public import HTTPDNSNames

/// Which whole names a short one may mean, in the order to try them. Never applied unless asked for:
/// a search list tells other zones' servers what was looked for, and can turn a miss into another
/// host's address. Source: resolv.conf(5), `search` and `ndots`; RFC 1535.
public struct SearchList: Sendable, Hashable {
    /// Suffixes, the first to be tried first.
    public let suffixes: [HostName]
    /// A name with at least so many dots is tried as it is first; others last.
    public let ndots: Int

    /// `ndots` is brought into 0...15. Source: resolv.conf(5).
    public init(suffixes: [HostName], ndots: Int = 1) {
        self.suffixes = suffixes
        self.ndots = min(max(ndots, 0), 15)
    }

    /// The names to try for `name`, each once.
    ///
    /// - Parameters:
    ///   - name: the name as given.
    ///   - isAbsolute: it was written with a dot at its end: it means itself alone.
    /// - Returns: at least the name itself; a name that would be too long with a suffix is left out.
    public func candidates(for name: HostName, isAbsolute: Bool = false) -> [HostName] {
        guard !isAbsolute else { return [name] }
        let dots = name.text.utf8.count { $0 == 0x2E }
        let extended = suffixes.compactMap { try? HostName("\(name.text).\($0.text)") }
        let all = dots >= ndots ? [name] + extended : extended + [name]
        var seen: Set<HostName> = []
        return all.filter { seen.insert($0).inserted }
    }
}
