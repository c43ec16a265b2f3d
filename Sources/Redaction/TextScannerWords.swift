// What octets and words are
extension TextScanner {
    /// What a word may mean where it is written in JSON: behind a backslash `nid` is `id` in a new
    /// line, and `u0026token` is a name behind an ampersand.
    static func names(in word: [UInt8], behind mark: UInt8) -> [[UInt8]] {
        let isUnicode = word.count > 5 && word[0] == 0x75 && word[1] == 0x30 && word[2] == 0x30
        if isUnicode { return [word, Array(word.dropFirst(5))] }
        let isLetter = mark == 0x5C && word.count > 1 && Array("nrtbf".utf8).contains(word[0])
        return isLetter ? [word, Array(word.dropFirst())] : [word]
    }

    /// As it was written: by itself, or as an escape.
    func put(_ octet: UInt8, _ raw: [UInt8]?, _ out: inout [UInt8]) {
        if let raw { out += raw } else { out.append(octet) }
    }

    mutating func hold(_ octet: UInt8, _ raw: [UInt8]?) {
        if let raw { written += raw } else { written.append(octet) }
    }

    func put(_ text: String, _ out: inout [UInt8]) { out.append(contentsOf: text.utf8) }

    static func isOfWord(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x5B, 0x5D, 0x24, 0x25: true
        default: octet >= 0x80
        }
    }

    static func isBlank(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 }

    static func isAlphanumeric(_ octet: UInt8) -> Bool {
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

    static func isScheme(_ word: [UInt8]) -> Bool {
        let lower = word.map { $0 | 0x20 }
        return lower == Array("bearer".utf8) || lower == Array("basic".utf8)
    }

    /// Because: no name of a field is longer.
    static let mostHeld = 128
    /// Because: quotation marks, a level or two of escapes, and spaces.
    static let longestGap = 12
    /// Because: the smallest web token has more; `eyJ` also begins words.
    static let shortestToken = 20
    static let tokenMark = Array("eyJ".utf8)
    /// Because: a URL in a URL in a URL is wrapped up twice; twice as often is more than any.
    static let longestEscape = 9
}
