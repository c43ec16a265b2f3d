/// Tokens that are known by how they begin, whatever they are called.
///
/// Source: the services' documentation of their tokens, and RFC 7515 §3.1 for web tokens, whose base64
/// of `{"` is `eyJ`.
struct TokenForm: Sendable, Hashable {
    private enum Alphabet: Sendable, Hashable {
        /// Of whatever alphabet: ``SecretNames/isOfToken(_:)``.
        case any
        case alphanumeric
        /// These, `-` and `_`; and with dots.
        case url, dotted
        /// Capitals and digits.
        case capital
    }

    private enum Look: Sendable, Hashable {
        case any
        /// Capitals, small letters and digits: words that people write have no such mixture.
        case mixed
        /// As ``TokenForm/looksRandom(_:)`` has it.
        case random
    }

    let mark: [UInt8]
    /// With its mark.
    private let least: Int
    private let alphabet: Alphabet
    private let look: Look

    private init(
        _ mark: String, _ least: Int, _ alphabet: Alphabet, _ look: Look = .any
    ) {
        self.mark = Array(mark.utf8)
        self.least = least
        self.alphabet = alphabet
        self.look = look
    }

    func permits(_ octet: UInt8) -> Bool {
        switch alphabet {
        case .any: SecretNames.isOfToken(octet)
        case .alphanumeric: TextScanner.isAlphanumeric(octet)
        case .url: TextScanner.isAlphanumeric(octet) || octet == 0x2D || octet == 0x5F
        case .dotted:
            TextScanner.isAlphanumeric(octet) || octet == 0x2D || octet == 0x5F || octet == 0x2E
        case .capital: (0x30...0x39).contains(octet) || (0x41...0x5A).contains(octet)
        }
    }

    /// Whether it is one, by as much as has come of it.
    func isOne(_ token: ArraySlice<UInt8>) -> Bool {
        guard token.count >= least else { return false }
        switch look {
        case .any: return true
        case .mixed: return TokenForm.isMixed(token.dropFirst(mark.count))
        case .random: return TokenForm.looksRandom(token)
        }
    }

    /// Whether it may still turn out to be one.
    func isOpen(_ token: ArraySlice<UInt8>) -> Bool { token.count < TokenForm.mostUndecided }

    /// Another may begin in what is not known to be one.
    var isVague: Bool { look != .any }

    /// What goes on with base64 behind its first mark may have any octet of a token in it.
    var isWeb: Bool { alphabet == .any }

    private static func isMixed(_ octets: ArraySlice<UInt8>) -> Bool {
        octets.contains { (0x30...0x39).contains($0) }
            && octets.contains { (0x41...0x5A).contains($0) }
            && octets.contains { (0x61...0x7A).contains($0) }
    }

    /// Letters and digits take turns: names, words and dates that dashes join do not look so.
    private static func looksRandom(_ octets: ArraySlice<UInt8>) -> Bool {
        var turns = 0
        var last: Bool?
        for octet in octets {
            guard TextScanner.isAlphanumeric(octet) else {
                last = nil
                continue
            }
            let isDigit = (0x30...0x39).contains(octet)
            if let last, last != isDigit { turns += 1 }
            last = isDigit
        }
        return turns >= 2
    }

    /// The one whose mark a word ends with.
    static func beginning(at word: [UInt8]) -> TokenForm? {
        guard let last = word.last, isEnd(last) else { return nil }
        // Words have such ends often, and such ends of four octets nearly never.
        var recent: UInt32 = 0
        for octet in word.suffix(4) { recent = recent << 8 | UInt32(octet) }
        guard mayBegin(recent) || recent & 0xFF_FFFF == 0x65_794A else { return nil }
        return marked.first { $0.mark.last == last && word.suffix($0.mark.count) == $0.mark[...] }
    }

    /// How many of the last octets of a word may be those of a mark that is not whole.
    static func begun(at word: [UInt8]) -> Int {
        let longest = min(word.count, longestMark - 1)
        return (1...max(longest, 1)).reversed().first { count in
            count <= word.count
                && marked.contains {
                    $0.mark.count > count && $0.mark.prefix(count) == word.suffix(count)
                }
        } ?? 0
    }

    private static func isEnd(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x4A, 0x5F, 0x2D, 0x2E, 0x61, 0x41: true
        default: false
        }
    }

    /// False for nearly all of the last four octets of a text: true where a mark ends with them, but for
    /// that of a web token.
    static func mayBegin(_ recent: UInt32) -> Bool {
        switch recent & 0xFF {
        // `gh?_`, `pat_`, `ive_`, `est_`, `npm_`
        case 0x5F:
            recent & 0xFFFF_0000 == 0x6768_0000 || recent == 0x7061_745F
                || recent == 0x6976_655F || recent == 0x6573_745F || recent == 0x6E70_6D5F
        // `pat-`, `ox?-`, `ypi-`, `sk-`
        case 0x2D:
            recent == 0x7061_742D || recent & 0xFFFF_0000 == 0x6F78_0000
                || recent == 0x7970_692D || recent & 0xFF_FFFF == 0x73_6B2D
        // `a29.`, `SG.`
        case 0x2E: recent == 0x6132_392E || recent & 0xFF_FFFF == 0x53_472E
        // `AIza`
        case 0x61: recent == 0x4149_7A61
        // `AKIA`, `ASIA`
        case 0x41: recent == 0x414B_4941 || recent == 0x4153_4941
        default: false
        }
    }

    /// In a path behind words that such a token stands behind: `/reset-password/…`.
    static let segment = TokenForm("", SecretNames.machineMadeOctets, .url, .random)
    /// The last part of the address of a webhook.
    static let webhook = TokenForm("", SecretNames.machineMadeOctets, .url)

    private static let marked: [TokenForm] =
        [
            // Because: the smallest web token has more; `eyJ` also begins words.
            TokenForm("eyJ", 20, .any),
            TokenForm("github_pat_", 27, .url), TokenForm("glpat-", 22, .dotted),
            TokenForm("sk-", 23, .url, .mixed), TokenForm("AIza", 39, .url),
            TokenForm("AKIA", 20, .capital), TokenForm("ASIA", 20, .capital),
            TokenForm("ya29.", 25, .dotted), TokenForm("npm_", 34, .alphanumeric),
            TokenForm("pypi-", 25, .url, .mixed), TokenForm("SG.", 23, .dotted, .mixed),
        ]
        + ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"].map { TokenForm($0, 20, .alphanumeric) }
        + ["xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-"].map { TokenForm($0, 15, .url) }
        + ["sk_live_", "rk_live_", "sk_test_", "rk_test_"].map {
            TokenForm($0, 18, .alphanumeric)
        }

    /// Because: `github_pat_` has 11.
    private static let longestMark = 11
    /// Because: what no mixture is in by then has none.
    private static let mostUndecided = 64
}
