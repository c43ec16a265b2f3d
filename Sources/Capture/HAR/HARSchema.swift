package import HTTPDNSJSON
internal import HTTPDNSNames

/// What HAR 1.2 asks of a file, part by part.
///
/// Source: "HTTP Archive (HAR) format", 1.2, as the published JSON schema of it has it: which
/// members are needed, of which type, in which form. What it does not name is allowed. The strict
/// check asks for what the text says beyond the schema, too: bounds of numbers, moments that there
/// are, and words that can have stood in a request or an answer.
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
        case integer(Bounds)
        case number(Bounds)
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

    /// What a number may be; asked by the strict check alone.
    enum Bounds: Sendable {
        case any
        /// 0 and more.
        case count
        /// The same, or -1: not known, or not there.
        case countOrNone
        /// What a server may have said; 0 where it said nothing.
        case status
    }

    enum Form: Sendable {
        /// RFC 3339, and digits in the order of ISO 8601.
        case moment
        /// The digits alone, whatever follows.
        case looseMoment
        case dateTime
        case uri
        /// The same; the strict check wants it without a fragment.
        case requestURI
        case address
        /// Asked by the strict check alone, as all below.
        case method
        case fieldName
        /// Of a field, or of a line of a head.
        case words
        case version
        case encoding
    }

    /// The parts that can be checked by themselves, by the names of their schemas.
    package static var parts: [String] { shapes.keys.sorted() }

    /// What is wrong with a part; nil when there is no part of that name.
    ///
    /// - Parameters:
    ///   - value: the part.
    ///   - part: its name.
    ///   - place: where it stands.
    ///   - most: how many faults are wanted.
    ///   - isStrict: asks for more than the schema does.
    package static func faults(
        in value: JSONValue, as part: String = "har", at place: String = "", most: Int = 20,
        isStrict: Bool = false
    ) -> [Fault]? {
        guard let shape = shapes[part] else { return nil }
        var check = HARCheck(most: most, isStrict: isStrict)
        check.check(value, shape, at: place)
        return check.faults
    }
}

/// One walk over a text.
private struct HARCheck {
    let most: Int
    let isStrict: Bool
    var faults: [HARSchema.Fault] = []

    init(most: Int, isStrict: Bool) {
        self.most = most
        self.isStrict = isStrict
    }

    mutating func check(_ value: JSONValue, _ shape: HARSchema.Shape, at place: String) {
        guard faults.count < most else { return }
        switch shape {
        case .any: return
        case .string(let form): string(value, form, place)
        case .stringOrNull(let form): if !value.isNull { string(value, form, place) }
        case .nullOr(let shape): if !value.isNull { check(value, shape, at: place) }
        case .integer(let bounds):
            let isWhole = value.number.map { $0 == $0.rounded() } ?? false
            if isWhole {
                number(value, bounds, place)
            } else {
                wrong(value, "a whole number", place)
            }
        case .number(let bounds):
            if value.number == nil { wrong(value, "a number", place) }
            number(value, bounds, place)
        case .boolean: if value.bool == nil { wrong(value, "a boolean", place) }
        case .array(let element):
            guard let elements = value.array else { return wrong(value, "an array", place) }
            for (index, value) in elements.enumerated() where faults.count < most {
                check(value, element, at: "\(place)[\(index)]")
            }
        case .object(let members):
            guard let found = value.object else { return wrong(value, "an object", place) }
            object(found, members, place)
        case .loose(let members): if let found = value.object { object(found, members, place) }
        }
    }

    private mutating func object(
        _ value: JSONObject, _ members: HARSchema.Members, _ place: String
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
        guard let form, !form.fits(text) || (isStrict && !form.fitsStrictly(text)) else { return }
        add("\"\(text.prefix(100))\" is not \(form.words)", place)
    }

    private mutating func number(_ value: JSONValue, _ bounds: HARSchema.Bounds, _ place: String) {
        guard isStrict, let number = value.number, !bounds.hold(number) else { return }
        add("\(value) is not \(bounds.words)", place)
    }

    private mutating func wrong(_ value: JSONValue, _ expected: String, _ place: String) {
        add("\(value.kind), where \(expected) is expected", place)
    }

    private mutating func add(_ what: String, _ place: String) {
        guard faults.count < most else { return }
        faults.append(HARSchema.Fault(place: place, what: what))
    }
}
