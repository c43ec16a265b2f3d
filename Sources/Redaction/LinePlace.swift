/// Where in its line a text is, and in which string.
struct LinePlace: Sendable {
    /// A quotation mark that is open, and the backslashes before it.
    struct Quote: Sendable, Hashable {
        let mark: UInt8
        let slashes: Int
        /// How often it is wrapped up: see ``Written``.
        let depth: Int

        func isClosed(by octet: UInt8, _ raw: Written?, slashes before: Int) -> Bool {
            octet == mark && TextScanner.depth(raw) == depth
                && before % (2 * (slashes + 1)) == slashes
        }
    }

    /// Octets before this one in its line.
    private(set) var column = 0
    /// Those before the last word that has begun.
    private(set) var wordColumn = 0
    private(set) var quote: Quote?
    /// Octets before the last quotation mark that has opened something, and before its backslashes.
    private(set) var quoteColumn = 0
    /// That mark stands where a member of `{…}` begins.
    private(set) var isQuoteInFlow = false
    /// Braces that are open.
    private var braces = 0
    /// The last octet that is no blank.
    private var mark: UInt8 = 0
    /// The last octet of all.
    private(set) var last: UInt8 = 0x0A

    /// - Parameter isEndOfLine: the first letter of it is that of an escape, which ends a line.
    mutating func beginWord(isEndOfLine: Bool) { wordColumn = isEndOfLine ? 0 : column }

    /// - Parameters:
    ///   - raw: how it is written, if it does not stand by itself.
    ///   - slashes: the backslashes before the octet.
    ///   - isString: the text is the content of a string, in which `\n` ends a line.
    mutating func take(_ octet: UInt8, _ raw: Written?, slashes: Int, isString: Bool) {
        defer { last = octet }
        // Nearly all octets only have a place.
        guard octet <= 0x27 || [0x6E, 0x72, 0x7B, 0x7D].contains(octet) else {
            column += 1
            if octet != 0x5C { mark = octet }
            return
        }
        switch octet {
        case 0x0A, 0x0D: return begin()
        case 0x6E, 0x72: if isString, slashes % 2 == 1 { return begin() }
        case 0x22, 0x27:
            if let open = quote {
                if open.isClosed(by: octet, raw, slashes: slashes) { quote = nil }
            } else if !isBehindLetter {
                quote = Quote(mark: octet, slashes: slashes, depth: TextScanner.depth(raw))
                quoteColumn = column - ((raw?.slashes ?? 0) > 0 ? 0 : slashes)
                isQuoteInFlow = braces > 0 && (mark == 0x7B || mark == 0x2C)
            }
        case 0x7B: braces += 1
        case 0x7D: braces = max(braces - 1, 0)
        default: break
        }
        column += 1
        if octet > 0x20, octet != 0x5C { mark = octet }
    }

    private mutating func begin() {
        column = 0
        quote = nil
    }

    /// Behind a letter a mark opens nothing.
    var isBehindLetter: Bool {
        switch last {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...0xFF: true
        default: false
        }
    }
}

/// How a value is written: what stands between its name and itself.
struct ValueForm: Sendable {
    /// What stands behind a blank only: an argument of a command, a field of netrc.
    enum Argument: Sendable, Hashable {
        case none
        case word
        /// Of an option: another option may stand there instead.
        case option
    }

    var argument = Argument.none
    /// Behind a colon.
    var isMember = false
    /// Its name is that of a field which is all credentials.
    var isOfCredentials = false
    /// `"name": …`; a quotation mark behind it then begins the value, and ends it.
    var isNameQuoted = false
    /// The same between braces, where a comma ends the value, and no line does.
    var isInFlow = false
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
    var isLine: Bool { isOfCredentials || ((isMember || isBehindArrow) && isBehindBlank) }
}
