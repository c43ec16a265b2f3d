/// Writes JSON without white space, members in the order they have.
///
/// Escaped are `"`, `\`, the control characters (DEL and U+0080...U+009F too, which move a terminal's
/// cursor) and U+2028, U+2029; all else stands as UTF-8. Source: RFC 8259 §7.
package struct JSONWriter {
    package private(set) var octets: [UInt8] = []

    package init() {}

    /// One value as octets.
    package static func octets(_ value: JSONValue) -> [UInt8] {
        var writer = JSONWriter()
        writer.write(value)
        return writer.octets
    }

    package mutating func write(_ value: JSONValue) {
        switch value {
        case .null: put("null")
        case .bool(let bool): put(bool ? "true" : "false")
        case .integer(let integer): put(String(integer))
        // JSON has no infinity and no NaN. Source: RFC 8259 §6.
        case .number(let number): put(number.isFinite ? number.description : "null")
        case .string(let string): write(string: string)
        case .array(let array):
            octets.append(0x5B)
            for (index, element) in array.enumerated() {
                if index > 0 { octets.append(0x2C) }
                write(element)
            }
            octets.append(0x5D)
        case .object(let object): write(object: object)
        }
    }

    private mutating func write(object: JSONObject) {
        octets.append(0x7B)
        for (index, member) in object.members.enumerated() {
            if index > 0 { octets.append(0x2C) }
            write(string: member.name)
            octets.append(0x3A)
            write(member.value)
        }
        octets.append(0x7D)
    }

    private mutating func write(string: String) {
        octets.append(0x22)
        // Nearly every string is plain: then its octets stand as they are.
        guard string.utf8.contains(where: { $0 < 0x20 || $0 > 0x7E || $0 == 0x22 || $0 == 0x5C })
        else {
            octets.append(contentsOf: string.utf8)
            octets.append(0x22)
            return
        }
        for scalar in string.unicodeScalars {
            switch scalar.value {
            case 0x22: put("\\\"")
            case 0x5C: put("\\\\")
            case 0x08: put("\\b")
            case 0x09: put("\\t")
            case 0x0A: put("\\n")
            case 0x0C: put("\\f")
            case 0x0D: put("\\r")
            case 0x00...0x1F, 0x7F...0x9F, 0x2028, 0x2029: put(escape(scalar.value))
            default: octets.append(contentsOf: String(scalar).utf8)
            }
        }
        octets.append(0x22)
    }

    private func escape(_ value: UInt32) -> String {
        let digits = String(value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    private mutating func put(_ text: String) { octets.append(contentsOf: text.utf8) }
}

extension JSONValue: CustomStringConvertible {
    /// The compact JSON text.
    package var description: String { String(decoding: JSONWriter.octets(self), as: UTF8.self) }
}
