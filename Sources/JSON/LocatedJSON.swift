/// A JSON text as a tree that knows where each value stands: for files that people write, whose faults
/// have to be named by line.
///
/// Unlike ``JSONValue`` it keeps members in the order of the text, and duplicates.
package struct LocatedJSON: Sendable {
    package enum Content: Sendable {
        /// Anything but an array or an object.
        case scalar(JSONValue)
        case array([LocatedJSON])
        case object([Member])
    }

    package struct Member: Sendable {
        package let name: String
        /// Of the quotation mark before the name.
        package let nameOffset: Int
        package let value: LocatedJSON
    }

    package let content: Content
    /// Octets before the value.
    package let offset: Int

    /// Reads a whole JSON text in UTF-8.
    ///
    /// - Throws: ``JSONError``.
    package static func parse(
        _ octets: [UInt8], maximumOctets: Int = JSONValue.defaultMaximumOctets
    ) throws(JSONError) -> LocatedJSON {
        // The one reader decides what JSON is; what follows only finds places in a text that is.
        _ = try JSONValue.parse(octets, maximumOctets: maximumOctets)
        var walk = Walk(octets: octets)
        return walk.whole()
    }

    package var string: String? { scalar?.string }
    package var bool: Bool? { scalar?.bool }
    package var integer: Int64? { scalar?.integer }

    package var array: [LocatedJSON]? {
        if case .array(let array) = content { array } else { nil }
    }

    package var members: [Member]? {
        if case .object(let members) = content { members } else { nil }
    }

    /// What kind of value this is, for messages: `a string`, `null`.
    package var kind: String {
        switch content {
        case .scalar(let value): value.kind
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// The second of two members of one name, if there is one.
    package var duplicate: Member? {
        var seen: Set<String> = []
        return members?.first { !seen.insert($0.name).inserted }
    }

    private var scalar: JSONValue? {
        if case .scalar(let value) = content { value } else { nil }
    }

    /// The line and the column of an octet, counted from 1; columns in characters of Unicode.
    package static func position(of offset: Int, in octets: [UInt8]) -> (line: Int, column: Int) {
        let before = octets.prefix(max(0, offset))
        let line = before.count { $0 == 0x0A } + 1
        let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? before.startIndex
        // Octets that continue a character are no columns. Source: RFC 3629 §3.
        return (line, before[start...].count { $0 & 0xC0 != 0x80 } + 1)
    }
}

/// Steps through a text that is known to be JSON, of bounded depth.
private struct Walk {
    let octets: [UInt8]
    private var at = 0

    init(octets: [UInt8]) { self.octets = octets }

    mutating func whole() -> LocatedJSON {
        if octets.starts(with: [0xEF, 0xBB, 0xBF]) { at = 3 }
        return value()
    }

    private mutating func value() -> LocatedJSON {
        skipSpace()
        let start = at
        switch peek {
        case 0x7B: return LocatedJSON(content: .object(members()), offset: start)
        case 0x5B: return LocatedJSON(content: .array(elements()), offset: start)
        default: return LocatedJSON(content: .scalar(scalar()), offset: start)
        }
    }

    private mutating func elements() -> [LocatedJSON] {
        var elements: [LocatedJSON] = []
        at += 1
        skipSpace()
        while let octet = peek, octet != 0x5D {
            elements.append(value())
            skipSeparator()
        }
        at += 1
        return elements
    }

    private mutating func members() -> [LocatedJSON.Member] {
        var members: [LocatedJSON.Member] = []
        at += 1
        skipSpace()
        while let octet = peek, octet != 0x7D {
            let start = at
            let name = scalar().string ?? ""
            skipSeparator()
            members.append(LocatedJSON.Member(name: name, nameOffset: start, value: value()))
            skipSeparator()
        }
        at += 1
        return members
    }

    private mutating func scalar() -> JSONValue {
        let start = at
        if peek == 0x22 { skipString() } else { skipWord() }
        return (try? JSONValue.parse(Array(octets[start..<at]))) ?? .null
    }

    private mutating func skipString() {
        at += 1
        while let octet = peek, octet != 0x22 { at += octet == 0x5C ? 2 : 1 }
        at = min(at + 1, octets.count)
    }

    private mutating func skipWord() {
        while let octet = peek, !Walk.ends.contains(octet) { at += 1 }
    }

    /// Space, and one comma or colon in it.
    private mutating func skipSeparator() {
        skipSpace()
        if peek == 0x2C || peek == 0x3A { at += 1 }
        skipSpace()
    }

    private mutating func skipSpace() {
        while let octet = peek, Walk.spaces.contains(octet) { at += 1 }
    }

    private var peek: UInt8? { at < octets.count ? octets[at] : nil }

    private static let spaces: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
    private static let ends: [UInt8] = spaces + [0x2C, 0x5D, 0x7D, 0x3A]
}
