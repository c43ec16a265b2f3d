internal import FoundationEssentials

/// Why a text is not JSON that we read.
package struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    package let what: String
    /// Where: `octet 17`, `answers[2].ttl`; empty when the decoder does not say.
    package let place: String

    package init(_ what: String, at place: String = "") {
        self.what = what
        self.place = place
    }

    package var description: String { place.isEmpty ? what : "\(what) at \(place)" }
}

extension JSONValue {
    /// More than any provider answer or profile needs. Because: a DNS message has at most 65 535
    /// octets, and its JSON form is a few times longer.
    package static let defaultMaximumOctets = 1_048_576

    /// Deeper text is refused. Because: the decoder recurses per level, on threads of small stacks.
    package static let maximumDepth = 64

    /// Reads a whole JSON text in UTF-8.
    ///
    /// - Throws: ``JSONError`` for text that is too long, nested too deep, or not JSON.
    package static func parse(
        _ octets: [UInt8], maximumOctets: Int = JSONValue.defaultMaximumOctets
    ) throws(JSONError) -> JSONValue {
        guard octets.count <= maximumOctets else {
            throw JSONError("\(octets.count) octets of JSON; at most \(maximumOctets) are read")
        }
        var outline = JSONOutline()
        for octet in octets { try outline.read(octet) }
        try outline.finish()
        do {
            return try JSONDecoder().decode(DecodedValue.self, from: Data(octets)).value
        } catch let error as DecodingError {
            throw JSONError(error)
        } catch {
            throw JSONError("not JSON: \(error)")
        }
    }

    package static func parse(_ text: String) throws(JSONError) -> JSONValue {
        try parse(Array(text.utf8))
    }
}

/// What the decoder does not check or does not locate: depth, brackets, commas, control characters.
private struct JSONOutline {
    private var offset = 0
    private var closers: [UInt8] = []
    private var isInString = false
    private var isEscaped = false
    /// The last octet outside strings and white space.
    private var last: UInt8 = 0

    mutating func read(_ octet: UInt8) throws(JSONError) {
        defer { offset += 1 }
        // Source: RFC 8259 §7: control characters in strings are escaped.
        guard octet >= 0x20 || (!isInString && [0x09, 0x0A, 0x0D].contains(octet)) else {
            throw error("control character 0x\(String(octet, radix: 16))")
        }
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if octet == 0x5C {
                isEscaped = true
            } else if octet == 0x22 {
                isInString = false
            }
            return
        }
        try readStructure(octet)
        if octet > 0x20 { last = octet }
    }

    private mutating func readStructure(_ octet: UInt8) throws(JSONError) {
        switch octet {
        case 0x22: isInString = true
        case 0x5B, 0x7B:
            closers.append(octet + 2)
            guard closers.count <= JSONValue.maximumDepth else {
                throw error("nested deeper than \(JSONValue.maximumDepth) levels")
            }
        case 0x5D, 0x7D:
            guard closers.popLast() == octet else { throw error("unexpected closing bracket") }
            // The decoder would let it pass. Source: RFC 8259 §4, §5.
            guard last != 0x2C else { throw error("comma before a closing bracket") }
        default: break
        }
    }

    func finish() throws(JSONError) {
        guard !isInString else { throw error("the text ends inside a string") }
        guard closers.isEmpty else {
            throw error("the text ends with \(closers.count) open brackets")
        }
        guard last != 0 || offset > 0 else { throw error("no text") }
    }

    private func error(_ what: String) -> JSONError {
        JSONError("not JSON: \(what)", at: "octet \(offset)")
    }
}

/// Takes any JSON value out of a decoder, asking for one kind after another.
private struct DecodedValue: Decodable {
    let value: JSONValue

    init(from decoder: any Decoder) throws {
        let single = try decoder.singleValueContainer()
        if single.decodeNil() {
            value = .null
        } else if let string = try Self.ofKind({ try single.decode(String.self) }) {
            value = .string(string)
        } else if let object = try Self.ofKind({ try decoder.container(keyedBy: Name.self) }) {
            value = try .object(Self.object(object))
        } else if let array = try Self.ofKind({ try decoder.unkeyedContainer() }) {
            value = try .array(Self.array(array))
        } else if let bool = try Self.ofKind({ try single.decode(Bool.self) }) {
            value = .bool(bool)
        } else if let integer = try? single.decode(Int64.self) {
            value = .integer(integer)
        } else {
            value = .number(try single.decode(Double.self))
        }
    }

    /// Nil when the value is of another kind; other faults are thrown.
    private static func ofKind<Value>(_ decode: () throws -> Value) throws -> Value? {
        do { return try decode() } catch DecodingError.typeMismatch { return nil }
    }

    private static func object(
        _ container: KeyedDecodingContainer<Name>
    ) throws -> JSONObject {
        var object = JSONObject()
        for name in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
            let member = try container.decode(DecodedValue.self, forKey: name)
            object.append(unique: name.stringValue, member.value)
        }
        return object
    }

    private static func array(_ given: any UnkeyedDecodingContainer) throws -> [JSONValue] {
        var container = given
        var array: [JSONValue] = []
        while !container.isAtEnd { array.append(try container.decode(DecodedValue.self).value) }
        return array
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension JSONError {
    fileprivate init(_ error: DecodingError) {
        switch error {
        case .dataCorrupted(let context), .typeMismatch(_, let context),
            .valueNotFound(_, let context), .keyNotFound(_, let context):
            self.init(
                "not JSON: \(context.debugDescription)", at: JSONError.path(context.codingPath))
        @unknown default:
            self.init("not JSON: \(error)")
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.reduce("") { path, key in
            if let index = key.intValue { return path + "[\(index)]" }
            return path.isEmpty ? key.stringValue : path + "." + key.stringValue
        }
    }
}
