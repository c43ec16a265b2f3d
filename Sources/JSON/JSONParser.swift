/// Why a text is not JSON that we read.
package struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    package let what: String
    /// Where: `octet 17`; empty for the text as a whole.
    package let place: String
    /// Where, as a number of octets; nil for the text as a whole.
    package let offset: Int?

    package init(_ what: String, at place: String = "", offset: Int? = nil) {
        self.what = what
        self.place = place
        self.offset = offset
    }

    package var description: String { place.isEmpty ? what : "\(what) at \(place)" }
}

extension JSONValue {
    /// More than any provider answer or profile needs. Because: a DNS message has at most 65 535
    /// octets, and its JSON form is a few times longer.
    package static let defaultMaximumOctets = 1_048_576

    /// Deeper text is refused. Because: reading and comparing recur per level, on threads of small
    /// stacks.
    package static let maximumDepth = 64

    /// Reads a whole JSON text in UTF-8, in time linear in its length but for the order of members.
    ///
    /// - Parameter refusesDuplicates: whether two members of one name in an object are an error: where
    ///   a person wrote the text, one of them is not what was meant.
    /// - Throws: ``JSONError`` for text that is too long, nested too deep, or not JSON.
    package static func parse(
        _ octets: [UInt8], maximumOctets: Int = JSONValue.defaultMaximumOctets,
        refusesDuplicates: Bool = false
    ) throws(JSONError) -> JSONValue {
        try check(octets, maximumOctets)
        return try octets.withUnsafeBufferPointer { octets throws(JSONError) in
            var reader = JSONReader(octets, refusesDuplicates: refusesDuplicates)
            return try reader.text()
        }
    }

    /// The same, but for the elements of one array, which are handed over as they are read: of a long
    /// text only one is held at a time. Elements that were handed over are not taken back when the
    /// text turns out to be none later on.
    ///
    /// - Parameters:
    ///   - path: the members that lead to the array; of duplicates the first counts.
    ///   - take: gets each element, and how many octets of the text were read by then.
    /// - Returns: the rest; in the place of the array stands an empty one.
    /// - Throws: ``JSONError``.
    package static func parse(
        _ octets: [UInt8], maximumOctets: Int, handingOver path: [String],
        _ take: (JSONValue, Int) -> Void
    ) throws(JSONError) -> JSONValue {
        try check(octets, maximumOctets)
        return try octets.withUnsafeBufferPointer { octets throws(JSONError) in
            var reader = JSONReader(octets, refusesDuplicates: false)
            return try reader.text(path[...], take)
        }
    }

    private static func check(_ octets: [UInt8], _ maximumOctets: Int) throws(JSONError) {
        guard octets.count <= maximumOctets else {
            throw JSONError("\(octets.count) octets of JSON; at most \(maximumOctets) are read")
        }
        guard String(validating: octets, as: UTF8.self) != nil else {
            throw JSONError("not JSON: it is not UTF-8")
        }
    }

    package static func parse(
        _ text: String, refusesDuplicates: Bool = false
    ) throws(JSONError) -> JSONValue {
        try parse(Array(text.utf8), refusesDuplicates: refusesDuplicates)
    }
}

/// Reads a text from left to right. Source: RFC 8259.
///
/// Not the decoder of Foundation: asked what a value is, it answers by throwing for each kind that
/// it is not, so that a body of a quarter megabyte of numbers cost seconds. Source: measured with Swift
/// 6.3.1.
///
/// Octets are read in place, each after a look at ``end``: an array would be counted as used with each.
private struct JSONReader {
    /// Outlives the reader: see ``JSONValue/parse(_:maximumOctets:refusesDuplicates:)``.
    private let octets: UnsafeBufferPointer<UInt8>
    private let end: Int
    private var at = 0
    private var depth = 0
    private let refusesDuplicates: Bool

    init(_ octets: UnsafeBufferPointer<UInt8>, refusesDuplicates: Bool) {
        self.octets = octets
        end = octets.count
        self.refusesDuplicates = refusesDuplicates
    }

    mutating func text(
        _ path: ArraySlice<String>? = nil, _ take: (JSONValue, Int) -> Void = { _, _ in }
    ) throws(JSONError) -> JSONValue {
        // A byte order mark may be ignored. Source: RFC 8259 §8.1.
        if octets.starts(with: [0xEF, 0xBB, 0xBF]) { at = 3 }
        skipSpace()
        guard at < end else { throw error("no text") }
        let value: JSONValue
        if let path { value = try self.value(at: path, take) } else { value = try self.value() }
        skipSpace()
        guard at == end else { throw error("text after the value") }
        return value
    }

    private mutating func value() throws(JSONError) -> JSONValue {
        switch peek {
        case 0x22: return .string(try string())
        case 0x7B: return .object(try nested { reader throws(JSONError) in try reader.object() })
        case 0x5B: return .array(try nested { reader throws(JSONError) in try reader.array() })
        case .some(0x2D), .some(0x30...0x39): return try number()
        case 0x74: return try word("true", .bool(true))
        case 0x66: return try word("false", .bool(false))
        case 0x6E: return try word("null", .null)
        case nil: throw error("the text ends where a value is expected")
        default: throw error("a value is expected")
        }
    }

    /// The value that begins here; the elements of the array at the end of the path go to `take`.
    private mutating func value(
        at path: ArraySlice<String>, _ take: (JSONValue, Int) -> Void
    ) throws(JSONError) -> JSONValue {
        switch (path.first, peek) {
        case (let name?, 0x7B):
            return .object(
                try nested { reader throws(JSONError) in
                    // The first member of that name, however many there are.
                    var isFound = false
                    return try reader.object { (reader, member) throws(JSONError) in
                        guard !isFound, member == name else { return try reader.value() }
                        isFound = true
                        return try reader.value(at: path.dropFirst(), take)
                    }
                })
        case (nil, 0x5B):
            return .array(
                try nested { reader throws(JSONError) in
                    try reader.elements { (element, end) in take(element, end) }
                    return []
                })
        default: return try value()
        }
    }

    /// Steps over the opening bracket and reads what follows it, its closing bracket included.
    private mutating func nested<Value>(
        _ read: (inout JSONReader) throws(JSONError) -> Value
    ) throws(JSONError) -> Value {
        depth += 1
        guard depth <= JSONValue.maximumDepth else {
            throw error("nested deeper than \(JSONValue.maximumDepth) levels")
        }
        defer { depth -= 1 }
        at += 1
        skipSpace()
        return try read(&self)
    }

    private mutating func array() throws(JSONError) -> [JSONValue] {
        var elements: [JSONValue] = []
        try self.elements { element, _ in elements.append(element) }
        return elements
    }

    private mutating func elements(_ take: (JSONValue, Int) -> Void) throws(JSONError) {
        if self.take(0x5D) { return }
        while true {
            take(try value(), at)
            skipSpace()
            if self.take(0x5D) { return }
            try expect(0x2C, "a comma or the end of the array")
            skipSpace()
        }
    }

    private mutating func object() throws(JSONError) -> JSONObject {
        try object { (reader, _) throws(JSONError) in try reader.value() }
    }

    /// - Parameter value: reads the value of a member of that name.
    private mutating func object(
        _ value: (inout JSONReader, String) throws(JSONError) -> JSONValue
    ) throws(JSONError) -> JSONObject {
        var members: [(name: String, value: JSONValue)] = []
        var names: Set<String> = []
        if take(0x7D) { return JSONObject() }
        while true {
            guard peek == 0x22 else { throw error("a member's name in quotes is expected") }
            let start = at
            let name = try string()
            if refusesDuplicates, !names.insert(name).inserted {
                throw JSONError("the member \"\(name)\" is there already", at: "octet \(start)")
            }
            skipSpace()
            try expect(0x3A, "a colon")
            skipSpace()
            members.append((name, try value(&self, name)))
            skipSpace()
            if take(0x7D) { return JSONObject(parsed: members) }
            try expect(0x2C, "a comma or the end of the object")
            skipSpace()
        }
    }

    private mutating func word(
        _ word: String, _ value: JSONValue
    ) throws(JSONError) -> JSONValue {
        guard octets[at...].starts(with: word.utf8) else { throw error("a value is expected") }
        at += word.utf8.count
        return value
    }

    private var peek: UInt8? { at < end ? octets[at] : nil }

    private mutating func take(_ octet: UInt8) -> Bool {
        guard at < end, octets[at] == octet else { return false }
        at += 1
        return true
    }

    private mutating func expect(_ octet: UInt8, _ what: String) throws(JSONError) {
        guard take(octet) else { throw error("\(what) is expected") }
    }

    /// Source: RFC 8259 §2.
    private mutating func skipSpace() {
        while at < end {
            switch octets[at] {
            case 0x20, 0x09, 0x0A, 0x0D: at += 1
            default: return
            }
        }
    }

    private func error(_ what: String) -> JSONError {
        JSONError("not JSON: \(what)", at: "octet \(at)", offset: at)
    }
}

// Numbers. Source: RFC 8259 §6.
extension JSONReader {
    private mutating func number() throws(JSONError) -> JSONValue {
        let start = at
        _ = take(0x2D)
        if !take(0x30) { try digits() }
        let isWhole = peek != 0x2E && peek != 0x45 && peek != 0x65
        if take(0x2E) { try digits() }
        if take(0x65) || take(0x45) {
            if !take(0x2B) { _ = take(0x2D) }
            try digits()
        }
        guard at - start <= Self.maximumNumberOctets else { throw error("a number too long") }
        let text = String(decoding: octets[start..<at], as: UTF8.self)
        if isWhole, let integer = Int64(text) { return .integer(integer) }
        guard let double = Double(text), double.isFinite else {
            throw error("a number out of range")
        }
        return Int64(exactly: double).map { .integer($0) } ?? .number(double)
    }

    /// One or more.
    private mutating func digits() throws(JSONError) {
        let start = at
        while at < end, (0x30...0x39).contains(octets[at]) { at += 1 }
        guard at > start else { throw error("a digit is expected") }
    }

    /// Because: a double written in full has at most 1,077 octets.
    private static let maximumNumberOctets = 1_100
}

// Strings. Source: RFC 8259 §7.
extension JSONReader {
    private mutating func string() throws(JSONError) -> String {
        at += 1
        var text: [UInt8] = []
        while true {
            let start = at
            at = endOfPlain(from: start)
            guard let octet = peek else { throw error("the text ends inside a string") }
            switch octet {
            case 0x22:
                let rest = UnsafeBufferPointer(rebasing: octets[start..<at])
                at += 1
                // Nearly every string has no escape.
                return text.isEmpty
                    ? String(decoding: rest, as: UTF8.self)
                    : String(decoding: text + rest, as: UTF8.self)
            case 0x5C:
                text += octets[start..<at]
                at += 1
                text += Array(String(Character(try escaped())).utf8)
            default: throw error("a control character in a string")
            }
        }
    }

    /// Where a part of a string ends that stands for itself. Most of a long text is in strings.
    private func endOfPlain(from start: Int) -> Int {
        var place = start
        while place < end {
            let octet = octets[place]
            if octet == 0x22 || octet == 0x5C || octet < 0x20 { break }
            place += 1
        }
        return place
    }

    /// What a backslash and what follows it stand for.
    private mutating func escaped() throws(JSONError) -> Unicode.Scalar {
        guard let octet = peek else { throw error("the text ends inside a string") }
        at += 1
        switch octet {
        case 0x22, 0x5C, 0x2F: return Unicode.Scalar(octet)
        case 0x62: return "\u{8}"
        case 0x66: return "\u{C}"
        case 0x6E: return "\n"
        case 0x72: return "\r"
        case 0x74: return "\t"
        case 0x75: return try scalar()
        default:
            at -= 1
            throw error("an unknown escape")
        }
    }

    /// Four digits, and four more where they are half of a pair.
    private mutating func scalar() throws(JSONError) -> Unicode.Scalar {
        let first = try hexWord()
        var value = first
        if (0xD800...0xDBFF).contains(first) {
            guard take(0x5C), take(0x75) else { throw error("half of a surrogate pair") }
            let second = try hexWord()
            guard (0xDC00...0xDFFF).contains(second) else {
                throw error("half of a surrogate pair")
            }
            value = 0x1_0000 + (first - 0xD800) << 10 + (second - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(value) else { throw error("half of a surrogate pair") }
        return scalar
    }

    private mutating func hexWord() throws(JSONError) -> UInt32 {
        let digits = octets[at...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let word = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw error("four hexadecimal digits are expected") }
        at += 4
        return word
    }
}
