internal import HTTPDNSNames

/// Reads a URL from left to right, component by component, and notes what it had to repair.
struct URLReader {
    private let octets: [UInt8]
    private var position = 0
    var oddities: Set<URLOddity> = []

    /// Blanks and controls at both ends are dropped, tabs and line breaks everywhere.
    init(_ text: FieldText) {
        let written = text.wire
        var kept = written[...]
        while let first = kept.first, first <= 0x20 { kept.removeFirst() }
        while let last = kept.last, last <= 0x20 { kept.removeLast() }
        if kept.count != written.count { oddities.insert(.surroundingBlanks) }
        octets = kept.filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
        if octets.count != kept.count { oddities.insert(.lineBreakRemoved) }
    }

    /// The scheme in lower case, and steps over its colon; nil and no step when there is none.
    mutating func takeScheme() -> String? {
        guard let colon = octets.firstIndex(of: 0x3A), colon > 0 else { return nil }
        let name = octets[..<colon]
        guard let first = name.first, isLetter(first),
            name.allSatisfy({ isLetter($0) || isDigit($0) || [0x2B, 0x2D, 0x2E].contains($0) })
        else { return nil }
        position = colon + 1
        return String(decoding: name, as: UTF8.self).lowercased()
    }

    var isAtSlash: Bool { position < octets.count && isSlash(octets[position]) }

    var isAtTwoSlashes: Bool {
        position + 1 < octets.count && isSlash(octets[position]) && isSlash(octets[position + 1])
    }

    /// True before a path that does not begin with a slash.
    var isAtPath: Bool {
        position < octets.count && octets[position] != 0x3F && octets[position] != 0x23
    }

    /// Steps over the slashes before an authority, however many there are.
    mutating func skipSlashes() {
        let start = position
        while isAtSlash {
            if octets[position] == 0x5C { oddities.insert(.backslash) }
            position += 1
        }
        if position - start < 2 { oddities.insert(.missingSlashes) }
        if position - start > 2 { oddities.insert(.extraSlashes) }
    }

    /// Source: WHATWG URL §4.4 "authority state", "host state", "port state".
    mutating func takeAuthority(
        _ toASCII: DomainToASCII
    ) throws(URLFault) -> ParsedURL.Authority {
        let end =
            octets[position...].firstIndex { isSlash($0) || $0 == 0x3F || $0 == 0x23 }
            ?? octets.count
        var rest = octets[position..<end]
        position = end
        var userinfo: String?
        if let at = rest.lastIndex(of: 0x40) {
            userinfo = takeUserinfo(rest[..<at])
            rest = rest[(at + 1)...]
        }
        let (written, digits) = splitPort(rest)
        guard !written.isEmpty else { throw .noHost }
        let host = try HostParser.parse(written, oddities: &oddities, toASCII: toASCII)
        return ParsedURL.Authority(host: host, port: try port(digits), userinfo: userinfo)
    }

    private mutating func takeUserinfo(_ written: ArraySlice<UInt8>) -> String? {
        if written.contains(0x40) { oddities.insert(.severalAtSigns) }
        noteControls(written)
        let colon = written.firstIndex(of: 0x3A) ?? written.endIndex
        let user = PercentEncoding.encoded(written[..<colon], .userinfo)
        let password = PercentEncoding.encoded(written[colon...].dropFirst(), .userinfo)
        guard !user.isEmpty || !password.isEmpty else { return nil }
        let text = password.isEmpty ? user : user + [0x3A] + password
        return String(decoding: text, as: UTF8.self)
    }

    /// Host and port at the first colon outside brackets.
    private func splitPort(
        _ text: ArraySlice<UInt8>
    ) -> (host: ArraySlice<UInt8>, port: ArraySlice<UInt8>) {
        var isInBrackets = false
        for (index, octet) in zip(text.indices, text) {
            switch octet {
            case 0x5B: isInBrackets = true
            case 0x5D: isInBrackets = false
            case 0x3A where !isInBrackets: return (text[..<index], text[(index + 1)...])
            default: continue
            }
        }
        return (text, [])
    }

    private func port(_ digits: ArraySlice<UInt8>) throws(URLFault) -> UInt16? {
        guard !digits.isEmpty else { return nil }
        guard digits.allSatisfy(isDigit) else { throw .badPort }
        let significant = digits.drop { $0 == 0x30 }
        guard !significant.isEmpty else { return 0 }
        guard significant.count <= 5,
            let number = UInt16(String(decoding: significant, as: UTF8.self))
        else { throw .badPort }
        return number
    }

    /// The path up to `?` or `#`, behind the given segments.
    ///
    /// Source: WHATWG URL §4.4 "path start state", "path state".
    mutating func takePath(after kept: some Sequence<[UInt8]>) -> String {
        var segments = Array(kept)
        if isAtSlash {
            if octets[position] == 0x5C { oddities.insert(.backslash) }
            position += 1
        }
        let end = octets[position...].firstIndex { $0 == 0x3F || $0 == 0x23 } ?? octets.count
        noteControls(octets[position..<end])
        if octets[position..<end].contains(0x5C) { oddities.insert(.backslash) }
        let written = octets[position..<end].split(
            omittingEmptySubsequences: false, whereSeparator: isSlash)
        position = end
        for (index, segment) in written.enumerated() {
            let isLast = index == written.count - 1
            switch dots(segment) {
            case 1: if isLast { segments.append([]) }
            case 2:
                _ = segments.popLast()
                if isLast { segments.append([]) }
            default: segments.append(PercentEncoding.encoded(segment, .path))
            }
        }
        return segments.map { "/" + String(decoding: $0, as: UTF8.self) }.joined()
    }

    /// 1 for `.`, 2 for `..` (also as `%2e`), else 0.
    private func dots(_ segment: ArraySlice<UInt8>) -> Int {
        var rest = segment
        var count = 0
        while let first = rest.first {
            if first == 0x2E {
                rest = rest.dropFirst()
            } else if rest.count >= 3, first == 0x25, rest[rest.startIndex + 1] == 0x32,
                rest[rest.startIndex + 2] | 0x20 == 0x65
            {
                rest = rest.dropFirst(3)
            } else {
                return 0
            }
            count += 1
            if count > 2 { return 0 }
        }
        return count
    }

    /// The query without its `?`; nil when there is none.
    mutating func takeQuery() -> String? {
        guard position < octets.count, octets[position] == 0x3F else { return nil }
        let end = octets[position...].firstIndex(of: 0x23) ?? octets.count
        let written = octets[(position + 1)..<end]
        position = end
        noteControls(written)
        return String(decoding: PercentEncoding.encoded(written, .query), as: UTF8.self)
    }

    /// The fragment without its `#`; nil when there is none.
    mutating func takeFragment() -> String? {
        guard position < octets.count, octets[position] == 0x23 else { return nil }
        let written = octets[(position + 1)...]
        position = octets.count
        noteControls(written)
        return String(decoding: PercentEncoding.encoded(written, .fragment), as: UTF8.self)
    }

    private mutating func noteControls(_ written: ArraySlice<UInt8>) {
        if written.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            oddities.insert(.controlCharacter)
        }
    }

    private func isSlash(_ octet: UInt8) -> Bool { octet == 0x2F || octet == 0x5C }
    private func isDigit(_ octet: UInt8) -> Bool { (0x30...0x39).contains(octet) }
    private func isLetter(_ octet: UInt8) -> Bool { (0x61...0x7A).contains(octet | 0x20) }
}
