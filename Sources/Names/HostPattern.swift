/// Which hosts something is for: a set of pins, a route, an exemption.
///
/// - `api.example.com` or an address: that host alone.
/// - `*.example.com`: what lies under it, not `example.com` itself; how deep says ``Wildcard``.
/// - `**.example.com`: `example.com` itself and everything under it.
///
/// Patterns end on label boundaries: `badexample.com` is under none of them.
/// Source: the three forms of OkHttp's `CertificatePinner`.
public struct HostPattern: Sendable, Hashable, CustomStringConvertible {
    package enum Form: Sendable, Hashable {
        case exact(Host)
        case oneLabelUnder(HostName)
        case anyDepthUnder(HostName)
        case under(HostName)
    }

    /// How deep `*.` goes.
    public enum Wildcard: Sendable, Hashable {
        /// As in a certificate: `*.example.com` is not `a.b.example.com`. Source: RFC 9525 §6.3.
        case oneLabel
        /// As in a zone: it is `a.b.example.com` too. Source: RFC 4592 §2.2.
        case anyDepth
    }

    package let form: Form

    /// Only this host.
    public init(exactly host: Host) { form = .exact(host) }

    /// Reads one of the three forms.
    ///
    /// - Throws: ``HostPatternError``.
    public init(_ text: String, wildcard: Wildcard = .oneLabel) throws(HostPatternError) {
        if text.hasPrefix("**.") {
            form = .under(try HostPattern.name(text.dropFirst(3)))
        } else if text.hasPrefix("*.") {
            let suffix = try HostPattern.name(text.dropFirst(2))
            form = wildcard == .oneLabel ? .oneLabelUnder(suffix) : .anyDepthUnder(suffix)
        } else if let address = try? IPAddress(text) {
            form = .exact(.address(address))
        } else {
            form = .exact(.name(try HostPattern.name(text[...])))
        }
    }

    /// True when this pattern speaks of `host`; an address is only ever matched by itself.
    public func matches(_ host: Host) -> Bool {
        switch (form, host) {
        case (.exact(let expected), _): expected == host
        case (.oneLabelUnder(let suffix), .name(let name)):
            name.isSameOrUnder(suffix) && name.labels.count == suffix.labels.count + 1
        case (.anyDepthUnder(let suffix), .name(let name)):
            name != suffix && name.isSameOrUnder(suffix)
        case (.under(let suffix), .name(let name)): name.isSameOrUnder(suffix)
        case (_, .address): false
        }
    }

    /// The text that it was read from, in canonical form.
    public var description: String {
        switch form {
        case .exact(let host): host.description
        case .oneLabelUnder(let suffix), .anyDepthUnder(let suffix): "*." + suffix.text
        case .under(let suffix): "**." + suffix.text
        }
    }

    /// Another text for every other pattern, where ``description`` is what a person wrote.
    package var distinctText: String {
        if case .anyDepthUnder = form { "deep:" + description } else { description }
    }

    /// Of two patterns that match one host, the more specific one has the greater value: exact,
    /// then the longer suffix, then one label before any depth, and that before the suffix itself.
    package var specificity: (Int, Int) {
        switch form {
        case .exact: (.max, 3)
        case .oneLabelUnder(let suffix): (suffix.text.utf8.count, 2)
        case .anyDepthUnder(let suffix): (suffix.text.utf8.count, 1)
        case .under(let suffix): (suffix.text.utf8.count, 0)
        }
    }

    private static func name(_ text: Substring) throws(HostPatternError) -> HostName {
        guard !text.utf8.contains(0x2A) else { throw .wildcardPosition(String(text)) }
        do { return try HostName(String(text)) } catch { throw .name(String(text), error) }
    }
}

/// Why a text is not a host pattern.
public enum HostPatternError: Error, Sendable, Hashable, CustomStringConvertible {
    /// `*` stands elsewhere than alone in the first label.
    case wildcardPosition(String)
    case name(String, NameError)

    public var description: String {
        switch self {
        case .wildcardPosition(let text):
            "'*' in \"\(plain(text))\": a pattern is 'host', '*.host' or '**.host'"
        case .name(let text, let error): "\"\(plain(text))\" is not a host name: \(error)"
        }
    }

    /// Control characters spelled out and nothing endless, for a terminal.
    private func plain(_ text: String) -> String {
        text.unicodeScalars.prefix(80).map { $0.escaped(asASCII: false) }.joined()
    }
}
