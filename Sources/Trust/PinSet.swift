public import HTTPDNSNames

/// Which keys are accepted for which hosts; empty: no host is pinned.
///
/// One entry applies to a host: that of the most specific pattern that matches it. An entry without
/// pins makes its hosts unpinned under a wider pattern that pins.
public struct PinSet: Sendable, Hashable {
    private var entries: [HostPattern: Set<Pin>] = [:]

    public init() {}

    public var isEmpty: Bool { entries.isEmpty }

    /// Accepts `pins` for the hosts of `pattern`, besides those it has.
    public mutating func add(_ pins: some Sequence<Pin>, for pattern: HostPattern) {
        entries[pattern, default: []].formUnion(pins)
    }

    /// Accepts `pins`, written as ``Pin/init(_:)`` reads them, for the hosts of `pattern`.
    ///
    /// - Throws: ``PinSetError``, which names the text at fault; nothing is added then.
    public mutating func add(_ pins: [String], for pattern: String) throws(PinSetError) {
        let parsedPattern: HostPattern
        do { parsedPattern = try HostPattern(pattern) } catch { throw .pattern(pattern, error) }
        var parsed: [Pin] = []
        guard !pins.isEmpty else { throw .noPins(pattern) }
        for text in pins {
            do { parsed.append(try Pin(text)) } catch { throw .pin(text, error) }
        }
        add(parsed, for: parsedPattern)
    }

    /// Takes the hosts of `pattern` out of the pins of a wider pattern.
    ///
    /// - Throws: ``PinSetError/pattern(_:_:)``.
    public mutating func exempt(_ pattern: String) throws(PinSetError) {
        do { entries[try HostPattern(pattern)] = [] } catch { throw .pattern(pattern, error) }
    }

    /// The pins for `host`, sorted, and the pattern they are under; nil when it is not pinned.
    public func pins(for host: Host) -> (pattern: HostPattern, pins: [Pin])? {
        let entry = entries.filter { $0.key.matches(host) }
            .max { $0.key.specificity < $1.key.specificity }
        guard let entry, !entry.value.isEmpty else { return nil }
        return (entry.key, entry.value.sorted())
    }

    /// The patterns that have an entry, sorted by their text.
    public var patterns: [HostPattern] {
        entries.keys.sorted { $0.distinctText < $1.distinctText }
    }

    /// The same text for equal sets, another for different ones.
    var canonicalText: String {
        patterns.map { pattern in
            pattern.distinctText + "="
                + (entries[pattern] ?? []).sorted().map(\.description).joined(separator: ",")
        }.joined(separator: ";")
    }
}

/// Which text of a pin set is wrong.
public enum PinSetError: Error, Sendable, Hashable, CustomStringConvertible {
    case pattern(String, HostPatternError)
    case pin(String, PinError)
    /// A list without a pin, which would pin nothing: most likely a setting that was not read.
    case noPins(String)

    public var description: String {
        switch self {
        case .pattern(_, let error): error.description
        case .noPins(let pattern):
            "no pin is given for \(pattern): give at least one, or exempt it by name"
        case .pin(let text, let error): "pin \"\(text)\": \(error)"
        }
    }
}
