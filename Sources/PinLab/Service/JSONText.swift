/// JSON as text: written by hand, so that the laboratory can also write what no encoder would.
enum JSONText {
    static func string(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\u{0}"..."\u{1F}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    static func array(_ elements: [String]) -> String {
        "[" + elements.joined(separator: ",") + "]"
    }

    /// The members in order; those without a value are left out.
    static func object(_ members: [(String, String?)]) -> String {
        let present = members.compactMap { name, value in
            value.map { string(name) + ":" + $0 }
        }
        return "{" + present.joined(separator: ",") + "}"
    }
}
