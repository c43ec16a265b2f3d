/// Where in its line a text is, and in which string.
struct LinePlace: Sendable {
    /// A quotation mark that is open, and the backslashes before it.
    struct Quote: Sendable, Hashable {
        let mark: UInt8
        let slashes: Int

        func isClosed(by octet: UInt8, slashes before: Int) -> Bool {
            octet == mark && before % (2 * (slashes + 1)) == slashes
        }
    }

    /// Octets before this one in its line.
    private(set) var column = 0
    /// Those before the last word that has begun.
    private(set) var wordColumn = 0
    private(set) var quote: Quote?
    private var last: UInt8 = 0x0A

    /// - Parameter isEndOfLine: the first letter of it is that of an escape, which ends a line.
    mutating func beginWord(isEndOfLine: Bool) { wordColumn = isEndOfLine ? 0 : column }

    /// - Parameters:
    ///   - slashes: the backslashes before the octet.
    ///   - isString: the text is the content of a string, in which `\n` ends a line.
    mutating func take(_ octet: UInt8, slashes: Int, isString: Bool) {
        defer { last = octet }
        guard octet <= 0x27 || octet == 0x6E || octet == 0x72 else {
            column += 1
            return
        }
        switch octet {
        case 0x0A, 0x0D: return begin()
        case 0x6E, 0x72: if isString, slashes % 2 == 1 { return begin() }
        case 0x22, 0x27:
            if let open = quote {
                if open.isClosed(by: octet, slashes: slashes) { quote = nil }
            } else if !LinePlace.isApostrophe(behind: last) {
                quote = Quote(mark: octet, slashes: slashes)
            }
        default: break
        }
        column += 1
    }

    private mutating func begin() {
        column = 0
        quote = nil
    }

    /// Behind a letter a mark opens nothing.
    private static func isApostrophe(behind last: UInt8) -> Bool {
        switch last {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...0xFF: true
        default: false
        }
    }
}

/// How a value is written: what stands between its name and itself.
struct ValueForm: Sendable {
    /// Behind a colon.
    var isMember = false
    /// Its name is that of a field which is all credentials.
    var isOfCredentials = false
    /// `"name": …`
    var isNameQuoted = false
    var isBehindBlank = false
    /// Behind `=>` or `:=`.
    var isBehindArrow = false
    /// Where in its line the name begins.
    var column = 0
    /// The string that the name stands in.
    var enclosing: LinePlace.Quote?
    /// Its lines begin with a dash below the name.
    var isList = false

    var isBehindNothing: Bool { !isBehindBlank && !isBehindArrow }

    /// `Name: a value of several words`, which goes on to the end of the line.
    var isLine: Bool {
        !isNameQuoted && (isOfCredentials || ((isMember || isBehindArrow) && isBehindBlank))
    }
}
