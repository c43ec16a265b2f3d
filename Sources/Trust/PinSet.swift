public import HTTPDNSNames

/// Which keys are accepted for which hosts; empty: no host is pinned.
///
/// One entry applies to a host: that of the most specific pattern that matches it. An exempt pattern
/// makes its hosts unpinned under a wider pattern that pins.
public struct PinSet: Sendable, Hashable {
    private enum Entry: Sendable, Hashable {
        case exempt
        case pinned(PinRule)

        var rule: PinRule? {
            if case .pinned(let rule) = self { rule } else { nil }
        }
    }

    private var entries: [HostPattern: Entry] = [:]

    public init() {}

    public var isEmpty: Bool { entries.isEmpty }

    /// Puts the hosts of `pattern` under `rule`; pins that the pattern has already stay, the rest of
    /// an older rule does not.
    ///
    /// - Throws: ``PinSetError/noPins(_:)``, ``PinSetError/solePin(_:_:)``; nothing is added then.
    public mutating func add(
        _ rule: PinRule, for pattern: HostPattern
    ) throws(PinSetError) {
        var rule = rule
        guard !rule.pins.isEmpty else { throw .noPins(pattern.description) }
        if case .pinned(let present) = entries[pattern] { rule.pins.formUnion(present.pins) }
        if let sole = rule.pins.first, rule.pins.count == 1, rule.backup == .required,
            rule.enforcement == .enforce
        {
            throw .solePin(pattern.description, sole)
        }
        entries[pattern] = .pinned(rule)
    }

    /// Accepts `pins` for the hosts of `pattern`, besides those it has.
    ///
    /// - Throws: ``PinSetError``; nothing is added then.
    public mutating func add(
        _ pins: some Sequence<Pin>, for pattern: HostPattern, backup: PinRule.Backup = .required
    ) throws(PinSetError) {
        try add(PinRule(pins, backup: backup), for: pattern)
    }

    /// Accepts only `pins` for the hosts of `pattern`, one or many: for pins that a person gave for one
    /// run. Without a pin nobody is accepted.
    package mutating func set(withoutBackup pins: some Sequence<Pin>, for pattern: HostPattern) {
        entries[pattern] = .pinned(PinRule(pins, backup: .waived))
    }

    /// Accepts `pins`, written as ``Pin/init(_:)`` reads them, for the hosts of `pattern`.
    ///
    /// - Parameters:
    ///   - pins: at least two distinct ones.
    ///   - pattern: `host`, `*.host` or `**.host`.
    ///   - includeSubdomains: reads `host` as `**.host`.
    ///   - backup: ``PinRule/Backup/waived`` takes one pin.
    /// - Throws: ``PinSetError``, which names the text at fault; nothing is added then.
    public mutating func add(
        _ pins: [String], for pattern: String, includeSubdomains: Bool = false,
        backup: PinRule.Backup = .required
    ) throws(PinSetError) {
        let parsedPattern = try PinSet.pattern(pattern, includeSubdomains: includeSubdomains)
        guard !pins.isEmpty else { throw .noPins(pattern) }
        var parsed: [Pin] = []
        for text in pins {
            do { parsed.append(try Pin(text)) } catch { throw .pin(text, error) }
        }
        try add(PinRule(parsed, backup: backup), for: parsedPattern)
    }

    /// Takes the hosts of `pattern` out of the pins of a wider pattern.
    ///
    /// - Throws: ``PinSetError/pattern(_:_:)``.
    public mutating func exempt(_ pattern: String) throws(PinSetError) {
        exempt(try PinSet.pattern(pattern, includeSubdomains: false))
    }

    /// Takes the hosts of `pattern` out of the pins of a wider pattern.
    public mutating func exempt(_ pattern: HostPattern) { entries[pattern] = .exempt }

    /// What speaks for `host`; nil when no pattern matches it.
    public func match(for host: Host) -> PinMatch? {
        let exact = HostPattern(exactly: host)
        // Nothing is more specific.
        if let entry = entries[exact] { return PinMatch(pattern: exact, rule: entry.rule) }
        var best: HostPattern?
        for pattern in entries.keys where pattern.matches(host) {
            if let best, best.specificity >= pattern.specificity { continue }
            best = pattern
        }
        guard let best, let entry = entries[best] else { return nil }
        return PinMatch(pattern: best, rule: entry.rule)
    }

    /// The pins for `host`, sorted, and the pattern they are under; nil when it is not pinned.
    public func pins(for host: Host) -> (pattern: HostPattern, pins: [Pin])? {
        guard let match = match(for: host), let rule = match.rule else { return nil }
        return (match.pattern, rule.sortedPins)
    }

    /// Why `host` may not be asked over `http`: its pins could not be checked. Nil where it may.
    package func refusalOfCleartext(to host: Host, now: WallTime) -> TrustFailure? {
        guard let match = match(for: host), let rule = match.rule, rule.binds(at: now) else {
            return nil
        }
        var facts = TrustFailure.Facts(host: host)
        facts.configuredPins = rule.sortedPins
        facts.pinPattern = match.pattern.description
        facts.now = now
        return TrustFailure(code: .pinnedOverHTTP, facts: facts)
    }

    /// The patterns that have an entry, sorted by their text.
    public var patterns: [HostPattern] {
        entries.keys.sorted { $0.distinctText < $1.distinctText }
    }

    /// What stands under exactly this pattern; nil where nothing does, and where it is exempt.
    public func rule(under pattern: HostPattern) -> PinRule? { entries[pattern]?.rule }

    /// Reads a pattern, in either spelling of "and all below it".
    ///
    /// - Throws: ``PinSetError``.
    package static func pattern(
        _ text: String, includeSubdomains: Bool
    ) throws(PinSetError) -> HostPattern {
        if includeSubdomains, text.hasPrefix("*") { throw .twoSpellings(text) }
        do { return try HostPattern(includeSubdomains ? "**." + text : text) } catch {
            throw .pattern(text, error)
        }
    }

    /// The same text for equal sets, another for different ones.
    var canonicalText: String {
        patterns.map { pattern in
            pattern.distinctText + "=" + (entries[pattern]?.rule?.canonicalText ?? "exempt")
        }.joined(separator: ";")
    }
}

/// Which text of a pin set is wrong.
public enum PinSetError: Error, Sendable, Hashable, CustomStringConvertible {
    case pattern(String, HostPatternError)
    case pin(String, PinError)
    /// A list without a pin, which would pin nothing: most likely a setting that was not read.
    case noPins(String)
    /// One distinct pin and no word that this is meant.
    case solePin(String, Pin)
    /// "Include subdomains" for a pattern that has a wildcard already.
    case twoSpellings(String)

    public var description: String {
        switch self {
        case .pattern(_, let error): error.description
        case .noPins(let pattern):
            "no pin is given for \(pattern): give at least two, or exempt it by name"
        case .pin(let text, let error): "pin \"\(PinSetError.plain(text))\": \(error)"
        case .solePin(let pattern, let pin):
            "\(pattern) has one pin, \(pin): when that key is lost or replaced, every client is "
                + "locked out; add the pin of a backup key, or waive the backup in so many words"
        case .twoSpellings(let text):
            "\"\(PinSetError.plain(text))\" has a wildcard already; include subdomains of a plain "
                + "host, or write '**.host'"
        }
    }

    /// Control characters spelled out and nothing endless, for a terminal.
    private static func plain(_ text: String) -> String {
        text.unicodeScalars.prefix(80).map { $0.escaped(asASCII: false) }.joined()
    }
}
