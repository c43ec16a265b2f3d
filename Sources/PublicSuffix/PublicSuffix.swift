internal import CHTTPDNSPsl
public import HTTPDNSNames

/// The public suffix list that libpsl carries: under which names others register theirs.
///
/// It holds a cookie back from `co.uk`. A name under no rule counts by its last label alone.
/// Source: https://publicsuffix.org/list/, as built into the installed libpsl.
public enum PublicSuffix {
    /// True for a name under which others register names: `com`, `co.uk`, `github.io`.
    ///
    /// Where the library was built without a list, every name of one label is one.
    public static func isPublicSuffix(_ name: HostName) -> Bool {
        guard let list = psl_builtin() else { return name.labels.count == 1 }
        return psl_is_public_suffix(list, name.text) == 1
    }

    /// The longest public suffix of a name among those that registries run (`io` for `me.github.io`,
    /// whose own suffix is a company's); nil where the list knows none, as for `printer.lan`.
    package static func registrySuffix(of name: HostName) -> HostName? {
        guard let list = psl_builtin() else { return nil }
        let labels = name.labels
        for count in labels.indices {
            let text = labels[count...].joined(separator: ".")
            if psl_is_public_suffix2(list, text, PSL_TYPE_ICANN | PSL_TYPE_NO_STAR_RULE) == 1 {
                return try? HostName(text)
            }
        }
        return nil
    }

    /// The suffix and one label before it: `example.co.uk` for `www.example.co.uk`; nil when the
    /// name is itself a public suffix.
    public static func registrableDomain(of name: HostName) -> HostName? {
        guard let list = psl_builtin() else { return nil }
        // What comes back points into the text given, so it is read before that text goes away.
        let found = name.text.withCString { text in
            psl_registrable_domain(list, text).map { String(cString: $0) }
        }
        return found.flatMap { try? HostName($0) }
    }
}
