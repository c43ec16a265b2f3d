/// A JSON text as a value. Source: RFC 8259.
///
/// - Numbers: a number without a fraction that fits 64 bits is ``integer(_:)``, however it was
///   written (`1`, `1.0`, `1e0`), and is exact; every other one is ``number(_:)``.
/// - Objects: see ``JSONObject`` for order and duplicates.
package enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// Not a whole number, or too large for 64 bits.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

extension JSONValue {
    package var isNull: Bool { self == .null }

    package var bool: Bool? {
        if case .bool(let bool) = self { bool } else { nil }
    }

    /// The number when it is whole and fits 64 bits.
    package var integer: Int64? {
        if case .integer(let integer) = self { integer } else { nil }
    }

    /// Any number, as near as a double comes.
    package var number: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .number(let number): number
        default: nil
        }
    }

    package var string: String? {
        if case .string(let string) = self { string } else { nil }
    }

    package var array: [JSONValue]? {
        if case .array(let array) = self { array } else { nil }
    }

    package var object: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    /// The member of that name; nil when this is no object or has no such member.
    package subscript(name: String) -> JSONValue? { object?[name] }

    /// What kind of value this is, for messages: `a string`, `null`.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// The members of an object.
///
/// Built by us, they keep the order in which they were given; parsed, they are in ascending order of
/// their names, so that texts that say the same are equal. Names are unique: of duplicates in a
/// parsed text the first counts; a later assignment replaces the value and keeps the place.
package struct JSONObject: Sendable, Hashable {
    package struct Member: Sendable, Hashable {
        package let name: String
        package var value: JSONValue
    }

    package private(set) var members: [Member] = []

    package init() {}

    /// The value of that name; assigning nil removes the member.
    package subscript(name: String) -> JSONValue? {
        get {
            for member in members where member.name == name { return member.value }
            return nil
        }
        set {
            let place = members.firstIndex { $0.name == name }
            switch (place, newValue) {
            case (let place?, let value?): members[place].value = value
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (let place?, nil): members.remove(at: place)
            case (nil, nil): break
            }
        }
    }

    package var names: [String] { members.map(\.name) }

    /// The members of a parsed text, in the order that they had there.
    init(parsed: [(name: String, value: JSONValue)]) {
        members.reserveCapacity(parsed.count)
        guard parsed.count <= JSONObject.fewMembers else {
            sort(parsed)
            return
        }
        for (name, value) in parsed {
            var place = members.count
            while place > 0, name < members[place - 1].name { place -= 1 }
            guard place == 0 || members[place - 1].name != name else { continue }
            members.insert(Member(name: name, value: value), at: place)
        }
    }

    private mutating func sort(_ parsed: [(name: String, value: JSONValue)]) {
        let ordered = parsed.enumerated().sorted {
            ($0.element.name, $0.offset) < ($1.element.name, $1.offset)
        }
        for (_, member) in ordered where members.last?.name != member.name {
            members.append(Member(name: member.name, value: member.value))
        }
    }

    /// Because: up to so many each is put in its place at less cost than all are sorted.
    private static let fewMembers = 24
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (name, value) in elements { self[name] = value }
    }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        var object = JSONObject()
        for (name, value) in elements { object[name] = value }
        self = .object(object)
    }
}

extension JSONValue: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    package init(stringLiteral value: String) { self = .string(value) }
}

extension JSONValue: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int64) { self = .integer(value) }
}

extension JSONValue: ExpressibleByFloatLiteral {
    package init(floatLiteral value: Double) { self = .number(value) }
}

extension JSONValue: ExpressibleByBooleanLiteral {
    package init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSONValue: ExpressibleByNilLiteral {
    package init(nilLiteral: ()) { self = .null }
}
