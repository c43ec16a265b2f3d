internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSTrust

/// What OkHttp's `CertificatePinner` is built from: patterns and pins.
///
/// Three spellings: a JSON array of `{"pattern": …, "pins": […]}`; lines of `pattern: sha256/…
/// sha256/…`; and the calls themselves, `.add("pattern", "sha256/…")`. All pins of all patterns that
/// match a host count for it in OkHttp, where here the most specific pattern decides: a narrower
/// pattern is given the pins of the wider ones. Source: OkHttp 5, `CertificatePinner`.
package enum OkHttpImport {
    static func list(
        _ root: LocatedJSON, _ text: PolicyText
    ) throws(PinPolicyError) -> PinPolicy {
        var gathered = Gathering(text: text)
        for element in root.array ?? [] {
            let members = try text.members(
                of: element, "an element of the list", known: ["pattern", "pins", "pin"])
            guard let pattern = members["pattern"] else {
                throw text.fault(at: element, "\"pattern\" is missing: the host that is meant")
            }
            var pins: [LocatedJSON] = []
            if let list = members["pins"] { pins = try text.list(list, "pins") }
            if let pin = members["pin"] { pins.append(pin) }
            let name = try text.string(pattern, "pattern")
            guard !pins.isEmpty else {
                throw text.fault(at: element, "no pin is given for \(text.quoted(name))")
            }
            for pin in pins {
                try gathered.add(
                    name, at: pattern.offset, pin: try text.string(pin, "a pin"),
                    pinAt: pin.offset)
            }
        }
        return try gathered.policy()
    }

    static func lines(_ text: PolicyText) throws(PinPolicyError) -> PinPolicy {
        var gathered = Gathering(text: text)
        var start = 0
        for line in text.octets.split(separator: 0x0A, omittingEmptySubsequences: false) {
            defer { start += line.count + 1 }
            try gathered.add(line: Array(line), at: start)
        }
        return try gathered.policy()
    }

    /// Whether OkHttp would take a pattern and a pin, and we do.
    ///
    /// - Throws: ``PinPolicyError``.
    package static func check(pattern: String, pin: String) throws(PinPolicyError) {
        var gathered = Gathering(text: PolicyText(octets: [], name: "pin"))
        try gathered.add(pattern, at: 0, pin: pin, pinAt: 0)
    }

    /// Patterns and pins in the order in which they came.
    private struct Gathering {
        let text: PolicyText
        private var pins: [HostPattern: Set<Pin>] = [:]
        private var offsets: [HostPattern: Int] = [:]

        init(text: PolicyText) { self.text = text }

        mutating func add(
            _ name: String, at offset: Int, pin written: String, pinAt: Int
        ) throws(PinPolicyError) {
            let pattern = try pattern(name, at: offset)
            // OkHttp wants the prefix, so that no other hash is taken for one of SHA-256.
            guard written.hasPrefix("sha256/") else {
                let isOld = written.hasPrefix("sha1/")
                throw text.fault(
                    at: pinAt,
                    "pin \(text.quoted(written)): " + (isOld ? "SHA-1 is broken; " : "")
                        + "pins begin with 'sha256/'")
            }
            do {
                pins[pattern, default: []].insert(try Pin(written))
            } catch { throw text.fault(at: pinAt, "pin \(text.quoted(written)): \(error)") }
            offsets[pattern] = offsets[pattern] ?? offset
        }

        private func pattern(
            _ name: String, at offset: Int
        ) throws(PinPolicyError) -> HostPattern {
            try text.pattern(name, includeSubdomains: false, at: offset)
        }

        /// `pattern: pin pin`, `.add("pattern", "pin", "pin")`, a comment, or nothing.
        mutating func add(line: [UInt8], at start: Int) throws(PinPolicyError) {
            var words = OkHttpImport.words(in: line, at: start)
            guard let first = words.first, !first.text.hasPrefix("#"),
                !first.text.hasPrefix("//")
            else { return }
            let isCall = first.text == ".add" || first.text == "add"
            if isCall { words.removeFirst() }
            guard let pattern = words.first else {
                throw text.fault(at: start, "a pattern is expected: pattern: sha256/…")
            }
            guard isCall || pattern.hasColon, words.count > 1 else {
                throw text.fault(
                    at: pattern.offset,
                    "expected 'pattern: sha256/…' or '.add(\"pattern\", \"sha256/…\")'")
            }
            for pin in words.dropFirst() {
                try add(pattern.text, at: pattern.offset, pin: pin.text, pinAt: pin.offset)
            }
        }

        func policy() throws(PinPolicyError) -> PinPolicy {
            guard !pins.isEmpty else {
                throw PinPolicyError(file: text.name, "no pattern: this would pin nothing")
            }
            try text.checkCount(pins.count, at: 0)
            var set = PinSet()
            for (pattern, own) in pins.sorted(by: { offset($0.key) < offset($1.key) }) {
                let wider = pins.filter { $0.key.covers(pattern) }.flatMap(\.value)
                do {
                    try set.add(PinRule(own.union(wider)), for: pattern)
                } catch { throw text.fault(at: offset(pattern), "\(error)") }
            }
            for crossing in crossings {
                let all = pins.filter { $0.key.matches(.name(crossing)) }.flatMap(\.value)
                do {
                    try set.add(PinRule(all), for: HostPattern(exactly: .name(crossing)))
                } catch { throw PinPolicyError(file: text.name, "\(error)") }
            }
            return PinPolicy(style: .okHttp, pins: set)
        }

        private func offset(_ pattern: HostPattern) -> Int { offsets[pattern] ?? 0 }

        /// Hosts that two patterns match of which neither covers the other: `*.example.com` and
        /// `**.a.example.com` meet in `a.example.com`.
        private var crossings: [HostName] {
            pins.keys.compactMap { pattern in
                guard case .under(let suffix) = pattern.form else { return nil }
                let meets = pins.keys.contains { other in
                    if case .oneLabelUnder = other.form {
                        other.matches(.name(suffix))
                    } else {
                        false
                    }
                }
                let exact = HostPattern(exactly: .name(suffix))
                return meets && pins[exact] == nil ? suffix : nil
            }
        }
    }

    private struct Word {
        var text: String
        let offset: Int
        /// A colon stood behind it.
        var hasColon = false
    }

    /// The words of a line; quotes, commas, brackets and a colon behind the first are not part of them.
    private static func words(in line: [UInt8], at start: Int) -> [Word] {
        var words: [Word] = []
        var begun: Int?
        for (index, octet) in (line + [0x20]).enumerated() {
            let isFirst = words.isEmpty
            // An IPv6 address has colons inside.
            let endsName =
                octet == 0x3A && isFirst
                && (index + 1 >= line.count || PolicyText.isSpace(line[index + 1]))
            if separators.contains(octet) || endsName {
                if let from = begun {
                    words.append(
                        Word(
                            text: String(decoding: line[from..<index], as: UTF8.self),
                            offset: start + from, hasColon: endsName))
                    begun = nil
                }
            } else if begun == nil {
                begun = index
            }
        }
        return words
    }

    /// White space, quotes, comma, brackets, semicolon.
    private static let separators: [UInt8] = [
        0x20, 0x09, 0x0D, 0x22, 0x27, 0x2C, 0x28, 0x29, 0x3B,
    ]
}

extension HostPattern {
    /// Whether every host of `other`, another pattern, is one of this.
    fileprivate func covers(_ other: HostPattern) -> Bool {
        guard self != other else { return false }
        switch other.form {
        case .exact(let host): return matches(host)
        case .oneLabelUnder(let suffix), .anyDepthUnder(let suffix), .under(let suffix):
            guard case .under(let wide) = form else { return false }
            return suffix.isSameOrUnder(wide)
        }
    }
}
