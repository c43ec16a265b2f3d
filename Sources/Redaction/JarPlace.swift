/// Follows a line of a file of cookies to where its value begins, wherever it stands: in a text, in a
/// string of JSON.
///
///     .a.test ⇥ TRUE ⇥ / ⇥ FALSE ⇥ 1924905600 ⇥ sid ⇥ SECRET
///
/// Source: curl's notes on its files of cookies: seven fields with tabs between them.
struct JarPlace: Sendable {
    private enum Field: Sendable, Hashable {
        case outside
        /// Behind the first `TRUE` or `FALSE`, before its tab.
        case beforePath
        case path, secure, expiry, name
    }

    private var field = Field.outside
    private var count = 0

    /// Whether an octet can mean something.
    var isBusy: Bool { field != .outside }

    /// Whether the word before a tab may be the second field.
    static func begins<Octets: Collection<UInt8>>(_ word: Octets) -> Bool {
        word.elementsEqual(yes) || word.elementsEqual(no)
    }

    /// The second field has come, and perhaps its tab.
    mutating func enter(behindTab: Bool) {
        field = behindTab ? .path : .beforePath
        count = 0
    }

    /// True at the tab behind the name.
    ///
    /// - Parameters:
    ///   - slashes: the backslashes before the octet.
    ///   - isString: the text is the content of a string, in which `\t` is a tab.
    mutating func take(_ octet: UInt8, slashes: Int, isString: Bool) -> Bool {
        if isString, octet == 0x5C { return false }
        let isEscape = isString && slashes % 2 == 1
        let isTab = isEscape ? octet == 0x74 : octet == 0x09
        let isEnd = isEscape ? octet == 0x6E || octet == 0x72 : octet == 0x0A || octet == 0x0D
        guard !isEnd else {
            field = .outside
            return false
        }
        guard isTab else {
            if !permits(octet) { field = .outside }
            count += 1
            return false
        }
        return end()
    }

    private func permits(_ octet: UInt8) -> Bool {
        switch field {
        case .outside, .beforePath: false
        case .path: count > 0 || octet == 0x2F
        case .secure: JarPlace.flags.contains { $0.count > count && $0[count] == octet }
        case .expiry: (0x30...0x39).contains(octet)
        case .name: true
        }
    }

    private mutating func end() -> Bool {
        defer { count = 0 }
        switch field {
        case .outside: return false
        case .beforePath: field = .path
        case .path: field = count > 0 ? .secure : .outside
        case .secure: field = count == 4 || count == 5 ? .expiry : .outside
        case .expiry: field = count > 0 ? .name : .outside
        case .name:
            field = .outside
            return true
        }
        return false
    }

    private static let yes = Array("TRUE".utf8)
    private static let no = Array("FALSE".utf8)
    private static let flags = [yes, no]
}
