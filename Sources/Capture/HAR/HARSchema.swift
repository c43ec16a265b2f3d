package import HTTPDNSJSON
internal import HTTPDNSNames

/// What HAR 1.2 asks of a file, part by part.
///
/// Source: "HTTP Archive (HAR) format", 1.2, as the published JSON schema of it has it: which
/// members are needed, of which type, in which form. What it does not name is allowed.
package enum HARSchema {
    /// A fault, and where it is.
    package struct Fault: Sendable, Hashable, CustomStringConvertible {
        /// `log.entries[3].request.url`
        package let place: String
        package let what: String

        package var description: String { place.isEmpty ? what : "\(place): \(what)" }
    }

    indirect enum Shape: Sendable {
        case any
        case string(Form?)
        case stringOrNull(Form?)
        /// Also `1.0`, and numbers beyond 64 bits.
        case integer
        case number
        case boolean
        case array(Shape)
        case object(Members)
        /// No type is asked for; what is an object has these members.
        case loose(Members)
        case nullOr(Shape)
    }

    struct Members: Sendable {
        let needed: [String]
        let known: [(name: String, shape: Shape)]

        init(
            _ known: [(name: String, shape: Shape)], needs needed: [String] = [],
            hasComment: Bool = true
        ) {
            self.known = known + (hasComment ? [("comment", .string(nil))] : [])
            self.needed = needed
        }
    }

    enum Form: Sendable {
        /// RFC 3339, and digits in the order of ISO 8601.
        case moment
        /// The digits alone, whatever follows.
        case looseMoment
        case dateTime
        case uri
        case address
    }

    /// The parts that can be checked by themselves, by the names of their schemas.
    package static var parts: [String] { shapes.keys.sorted() }

    /// What is wrong with a part; nil when there is no part of that name.
    ///
    /// - Parameter most: how many faults are wanted.
    package static func faults(
        in value: JSONValue, as part: String = "har", most: Int = 20
    ) -> [Fault]? {
        guard let shape = shapes[part] else { return nil }
        var check = HARCheck(most: most)
        check.check(value, shape, at: "")
        return check.faults
    }
}

/// One walk over a text.
private struct HARCheck {
    let most: Int
    var faults: [HARSchema.Fault] = []

    init(most: Int) { self.most = most }

    mutating func check(_ value: JSONValue, _ shape: HARSchema.Shape, at place: String) {
        guard faults.count < most else { return }
        switch shape {
        case .any: return
        case .string(let form): string(value, form, place)
        case .stringOrNull(let form): if !value.isNull { string(value, form, place) }
        case .nullOr(let shape): if !value.isNull { check(value, shape, at: place) }
        case .integer:
            let isWhole = value.number.map { $0 == $0.rounded() } ?? false
            if !isWhole { wrong(value, "a whole number", place) }
        case .number: if value.number == nil { wrong(value, "a number", place) }
        case .boolean: if value.bool == nil { wrong(value, "a boolean", place) }
        case .array(let element):
            guard let elements = value.array else { return wrong(value, "an array", place) }
            for (index, value) in elements.enumerated() where faults.count < most {
                check(value, element, at: "\(place)[\(index)]")
            }
        case .object(let members):
            guard value.object != nil else { return wrong(value, "an object", place) }
            object(value, members, place)
        case .loose(let members): if value.object != nil { object(value, members, place) }
        }
    }

    private mutating func object(
        _ value: JSONValue, _ members: HARSchema.Members, _ place: String
    ) {
        for name in members.needed where value[name] == nil {
            add("the member \"\(name)\" is missing", place)
        }
        for (name, shape) in members.known {
            guard let member = value[name] else { continue }
            check(member, shape, at: place.isEmpty ? name : place + "." + name)
        }
    }

    private mutating func string(_ value: JSONValue, _ form: HARSchema.Form?, _ place: String) {
        guard let text = value.string else { return wrong(value, "a string", place) }
        guard let form, !form.fits(text) else { return }
        add("\"\(text.prefix(100))\" is not \(form.words)", place)
    }

    private mutating func wrong(_ value: JSONValue, _ expected: String, _ place: String) {
        add("\(value.kind), where \(expected) is expected", place)
    }

    private mutating func add(_ what: String, _ place: String) {
        guard faults.count < most else { return }
        faults.append(HARSchema.Fault(place: place, what: what))
    }
}

extension HARSchema.Form {
    var words: String {
        switch self {
        case .moment, .dateTime: "a date and time with its offset (2027-01-31T12:00:00.123Z)"
        case .looseMoment: "a date and time (2027-01-31T12:00:00)"
        case .uri: "an absolute URL"
        case .address: "an IPv4 or IPv6 address"
        }
    }

    func fits(_ text: String) -> Bool {
        switch self {
        case .dateTime: HARMoment(text)?.isDateTime ?? false
        case .moment: HARMoment(text).map { $0.isDateTime && $0.hasOffset } ?? false
        case .looseMoment: HARMoment(text) != nil
        case .uri: HARSchema.Form.isURI(text)
        case .address: HARSchema.Form.isAddress(text)
        }
    }

    /// Source: RFC 3986 §3: a scheme, a colon, and nothing that ends a URI.
    private static func isURI(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), let first = text.first, first.isASCII,
            first.isLetter
        else { return false }
        let isScheme = text[..<colon].allSatisfy {
            $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0))
        }
        return isScheme && !text.contains(where: \.isWhitespace)
    }

    private static func isAddress(_ text: String) -> Bool {
        guard !text.hasPrefix("["), let address = try? IPAddress(text) else { return false }
        // Four plain numbers; or with colons.
        return address.family == .ipv6 || text.split(separator: ".").count == 4
    }
}

/// The digits of a moment, in the order of ISO 8601, separators optional.
private struct HARMoment {
    private(set) var isDateTime = true
    private(set) var hasOffset = false

    /// Nil unless the text begins with one.
    init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        var numbers: [Int] = []
        for (place, width) in [4, 2, 2, 2, 2, 2].enumerated() {
            let separator: [UInt8] = place == 0 ? [] : [0x2D, 0x2D, 0x54, 0x3A, 0x3A]
            if place > 0 {
                if rest.first == separator[place - 1] {
                    rest = rest.dropFirst()
                } else {
                    isDateTime = false
                }
            }
            let digits = rest.prefix(width)
            guard digits.count == width, digits.allSatisfy({ (0x30...0x39).contains($0) })
            else { return nil }
            numbers.append(digits.reduce(0) { $0 * 10 + Int($1 - 0x30) })
            rest = rest.dropFirst(width)
        }
        let ranges = [0...9999, 1...12, 1...31, 0...23, 0...59, 0...60]
        for (number, range) in zip(numbers, ranges) where !range.contains(number) {
            isDateTime = false
        }
        if rest.first == 0x2E {
            let digits = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
            if digits.isEmpty {
                isDateTime = false
            } else {
                rest = rest.dropFirst(digits.count + 1)
            }
        }
        readOffset(rest)
    }

    private mutating func readOffset(_ rest: ArraySlice<UInt8>) {
        let octets = Array(rest)
        if octets == [0x5A] || octets == [0x7A] {
            hasOffset = octets == [0x5A]
            return
        }
        let digits = octets.filter { (0x30...0x39).contains($0) }
        hasOffset =
            (octets.first == 0x2B || octets.first == 0x2D) && digits.count == 4
            && (octets.count == 5 || (octets.count == 6 && octets[3] == 0x3A))
        if !hasOffset { isDateTime = false }
    }
}
