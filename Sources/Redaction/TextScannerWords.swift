// What octets and words are
extension TextScanner {
    /// What else a word may mean where it is written in JSON: behind a backslash `nid` is `id` in a new
    /// line.
    static func name(in word: [UInt8], behind mark: UInt8) -> [UInt8]? {
        guard mark == 0x5C, word.count > 1, [0x6E, 0x72, 0x74, 0x62, 0x66].contains(word[0])
        else { return nil }
        return Array(word.dropFirst())
    }

    func put(_ text: String, _ out: inout [UInt8]) { out.append(contentsOf: text.utf8) }

    static func isOfWord(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x5B, 0x5D, 0x24, 0x25: true
        default: octet >= 0x80
        }
    }

    static func isBlank(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 }

    package static func isAlphanumeric(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }

    /// Whether what is called so holds what something else is called.
    static func isValue(_ name: [UInt8]) -> Bool {
        let name = SecretNames.comparable(name)
        return name == "value" || name == "content"
    }

    /// `bot123456`, which the token of a bot of Telegram stands behind, in the path of a URL.
    static func isBot(_ name: [UInt8]) -> Bool {
        name.count >= 8 && name.starts(with: Array("bot".utf8))
            && name.dropFirst(3).allSatisfy { (0x30...0x39).contains($0) }
    }

    /// What the head of a part of `multipart/form-data` begins with.
    static func isDisposition(_ word: [UInt8]) -> Bool {
        word.count >= 19 && word.suffix(19).map { $0 | 0x20 } == Array("content-disposition".utf8)
    }

    static func isScheme<Octets: Collection<UInt8>>(_ word: Octets) -> Bool {
        switch word.count {
        case 4: word.elementsEqual(ntlm) { $0 | 0x20 == $1 }
        case 5: word.elementsEqual(basic) { $0 | 0x20 == $1 }
        case 6: word.elementsEqual(bearer) { $0 | 0x20 == $1 }
        case 9: word.elementsEqual(negotiate) { $0 | 0x20 == $1 }
        default: false
        }
    }

    private static let ntlm = Array("ntlm".utf8)
    private static let basic = Array("basic".utf8)
    private static let bearer = Array("bearer".utf8)
    private static let negotiate = Array("negotiate".utf8)

    /// Because: no name of a field is longer.
    static let mostHeld = 128
    /// Because: quotation marks, a level or two of escapes, and spaces.
    static let longestGap = 12
}
