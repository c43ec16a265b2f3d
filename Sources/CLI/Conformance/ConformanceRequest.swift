internal import HTTPDNSJSON
internal import HTTPDNSNames

/// The members of one request of the conformance adapter, read with the fault named.
struct ConformanceRequest {
    let members: JSONObject

    /// What a request lacks.
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    /// Nil when the member is missing or null.
    func value(_ name: String) -> JSONValue? {
        guard let value = members[name], !value.isNull else { return nil }
        return value
    }

    func text(_ name: String) throws(Fault) -> String {
        guard let text = try optionalText(name) else { throw missing(name) }
        return text
    }

    func optionalText(_ name: String) throws(Fault) -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.string else { throw wrong(name, value, "a string") }
        return text
    }

    func integer(_ name: String) throws(Fault) -> Int64 {
        guard let integer = try optionalInteger(name) else { throw missing(name) }
        return integer
    }

    func optionalInteger(_ name: String) throws(Fault) -> Int64? {
        guard let value = value(name) else { return nil }
        guard let integer = value.integer else { throw wrong(name, value, "a whole number") }
        return integer
    }

    func flag(_ name: String, absent: Bool = false) throws(Fault) -> Bool {
        guard let value = value(name) else { return absent }
        guard let flag = value.bool else { throw wrong(name, value, "a boolean") }
        return flag
    }

    /// A list of strings; nil when it is missing.
    func optionalTexts(_ name: String) throws(Fault) -> [String]? {
        guard let value = value(name) else { return nil }
        guard let array = value.array else { throw wrong(name, value, "an array of strings") }
        var texts: [String] = []
        for element in array {
            guard let text = element.string else { throw wrong(name, element, "strings only") }
            texts.append(text)
        }
        return texts
    }

    func texts(_ name: String) throws(Fault) -> [String] { try optionalTexts(name) ?? [] }

    /// A list of objects; empty when it is missing.
    func objects(_ name: String) throws(Fault) -> [ConformanceRequest] {
        guard let value = value(name) else { return [] }
        guard let array = value.array else { throw wrong(name, value, "an array of objects") }
        var objects: [ConformanceRequest] = []
        for element in array {
            guard let object = element.object else { throw wrong(name, element, "objects only") }
            objects.append(ConformanceRequest(members: object))
        }
        return objects
    }

    /// Nil when it is missing.
    func object(_ name: String) throws(Fault) -> ConformanceRequest? {
        guard let value = value(name) else { return nil }
        guard let object = value.object else { throw wrong(name, value, "an object") }
        return ConformanceRequest(members: object)
    }

    /// Octets written in hexadecimal.
    func octets(_ name: String) throws(Fault) -> [UInt8] {
        let digits = try text(name).utf8.map { Hex.value($0) }
        guard digits.count % 2 == 0 else { throw Fault(description: "\(name): half an octet") }
        var octets: [UInt8] = []
        octets.reserveCapacity(digits.count / 2)
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[place], let low = digits[place + 1] else {
                throw Fault(description: "\(name): not hexadecimal at character \(place)")
            }
            octets.append(high << 4 | low)
        }
        return octets
    }

    func missing(_ name: String) -> Fault { Fault(description: "\(name) is missing") }

    private func wrong(_ name: String, _ value: JSONValue, _ expected: String) -> Fault {
        Fault(description: "\(name) is \(value.kind), expected \(expected)")
    }
}
