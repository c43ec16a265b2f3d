/// Whether a program is a call whose argument is JSON, by its beginning: `/**/cb({"a":1})`.
///
/// Nothing else is told from the text of a program, whose names are mostly no secrets.
enum CalledJSON: Hashable {
    case called
    case other
    /// More of it has to be seen.
    case open

    private enum Place {
        case outside, slash, comment, star, name, call, object
    }

    init(_ program: [UInt8]) {
        var place = Place.outside
        for octet in program.prefix(CalledJSON.longestBeginning) {
            let isBlank = octet <= 0x20
            switch (place, octet) {
            case (.outside, 0x2F): place = .slash
            case (.slash, 0x2A): place = .comment
            case (.comment, 0x2A), (.star, 0x2A): place = .star
            case (.star, 0x2F): place = .outside
            case (.star, _), (.comment, _): place = .comment
            case (.outside, _) where isBlank || octet == 0x3B || octet >= 0x80: break
            case (.outside, _) where CalledJSON.isOfName(octet): place = .name
            case (.name, _) where CalledJSON.isOfName(octet): break
            case (.name, 0x28): place = .call
            case (.call, _) where isBlank || octet == 0x5B: break
            case (.call, 0x7B): place = .object
            case (.object, _) where isBlank: break
            case (.object, 0x22):
                self = .called
                return
            default:
                self = .other
                return
            }
        }
        self = program.count < CalledJSON.longestBeginning ? .open : .other
    }

    /// Source: what services take for the name of a call-back: `a.b[0].c`.
    private static func isOfName(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x24, 0x2E, 0x5B, 0x5D, 0x5F: true
        default: false
        }
    }

    /// Because: names of call-backs that are made by a machine have some forty octets.
    private static let longestBeginning = 512
}
