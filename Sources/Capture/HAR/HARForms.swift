internal import HTTPDNSNames

extension HARSchema.Form {
    var words: String {
        switch self {
        case .moment, .dateTime: "a date and time with its offset (2027-01-31T12:00:00.123Z)"
        case .looseMoment: "a date and time (2027-01-31T12:00:00)"
        case .uri: "an absolute URL"
        case .requestURI: "an absolute URL (without a fragment)"
        case .address: "an IPv4 or IPv6 address"
        case .method: "a method (letters, digits and marks, without a blank)"
        case .fieldName: "the name of a field"
        case .words: "text without control characters"
        case .version: "a version of the format (1.1, 1.2)"
        case .encoding: "an encoding of text (base64)"
        }
    }

    func fits(_ text: String) -> Bool {
        switch self {
        case .dateTime: HARMoment(text)?.isDateTime ?? false
        case .moment: HARMoment(text).map { $0.isDateTime && $0.hasOffset } ?? false
        case .looseMoment: HARMoment(text) != nil
        case .uri, .requestURI: HARSchema.Form.isURI(text)
        case .address: HARSchema.Form.isAddress(text)
        case .method, .fieldName, .words, .version, .encoding: true
        }
    }

    /// Beyond ``fits(_:)``: what the schema leaves open, and the text of the format does not.
    func fitsStrictly(_ text: String) -> Bool {
        switch self {
        case .moment, .dateTime, .looseMoment: HARMoment(text)?.isOfCalendar ?? false
        case .uri: !text.utf8.contains { $0 < 0x21 || $0 == 0x7F }
        // Source: HAR 1.2, "request": fragments are not included.
        case .requestURI: !text.utf8.contains { $0 < 0x21 || $0 == 0x7F || $0 == 0x23 }
        case .address: true
        case .method: HARSchema.Form.isToken(text)
        // Those of HTTP/2 begin with a colon.
        case .fieldName: HARSchema.Form.isToken(text.hasPrefix(":") ? text.dropFirst() : text[...])
        // Browsers join several fields of one name by line feeds.
        case .words: !text.utf8.contains { $0 < 0x20 && $0 != 0x09 && $0 != 0x0A || $0 == 0x7F }
        case .version: ["", "1.1", "1.2"].contains(text)
        case .encoding: ["", "base64"].contains(text.lowercased())
        }
    }

    /// Source: RFC 9110 §5.6.2.
    private static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { octet in
                switch octet {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: marks.contains(octet)
                }
            }
    }

    private static let marks = Set("!#$%&'*+-.^_`|~".utf8)

    /// Source: RFC 3986 §3: a scheme, a colon, and nothing that ends a URI.
    static func isURI(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), let first = text.first, first.isASCII,
            first.isLetter
        else { return false }
        let isScheme = text[..<colon].allSatisfy {
            $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0))
        }
        return isScheme && !text.contains(where: \.isWhitespace)
    }

    private static func isAddress(_ text: String) -> Bool {
        guard !text.hasPrefix("["), let address = try? IPAddress(text) else { return false }
        // Four plain numbers; or with colons.
        return address.family == .ipv6 || text.split(separator: ".").count == 4
    }
}

extension HARSchema.Bounds {
    var words: String {
        switch self {
        case .any: "a number"
        case .count: "0 or more"
        case .countOrNone: "0 or more, nor -1 for what is not there"
        case .status: "a status of HTTP (100 to 599, or 0 where no answer came)"
        }
    }

    func hold(_ number: Double) -> Bool {
        switch self {
        case .any: true
        case .count: number >= 0
        case .countOrNone: number >= 0 || number == -1
        // Source: RFC 9110 §15; 0 is what browsers write.
        case .status: number == 0 || (100...599).contains(number)
        }
    }
}

/// The digits of a moment, in the order of ISO 8601, separators optional.
private struct HARMoment {
    private(set) var isDateTime = true
    private(set) var hasOffset = false
    /// The day is one of its month, and the offset less than a day.
    private(set) var isOfCalendar = false

    /// Nil unless the text begins with one.
    init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        var numbers: [Int] = []
        for (place, width) in [4, 2, 2, 2, 2, 2].enumerated() {
            let separator: [UInt8] = place == 0 ? [] : [0x2D, 0x2D, 0x54, 0x3A, 0x3A]
            if place > 0 {
                if rest.first == separator[place - 1] {
                    rest = rest.dropFirst()
                } else {
                    isDateTime = false
                }
            }
            let digits = rest.prefix(width)
            guard digits.count == width, digits.allSatisfy({ (0x30...0x39).contains($0) })
            else { return nil }
            numbers.append(digits.reduce(0) { $0 * 10 + Int($1 - 0x30) })
            rest = rest.dropFirst(width)
        }
        let ranges = [0...9999, 1...12, 1...31, 0...23, 0...59, 0...60]
        for (number, range) in zip(numbers, ranges) where !range.contains(number) {
            isDateTime = false
        }
        if rest.first == 0x2E {
            let digits = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
            if digits.isEmpty {
                isDateTime = false
            } else {
                rest = rest.dropFirst(digits.count + 1)
            }
        }
        isOfCalendar = HARMoment.isDay(numbers[0], numbers[1], numbers[2])
        readOffset(rest)
    }

    /// Source: ISO 8601: the Gregorian calendar.
    private static func isDay(_ year: Int, _ month: Int, _ day: Int) -> Bool {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...12).contains(month) && (1...days[month - 1]).contains(day)
    }

    private mutating func readOffset(_ rest: ArraySlice<UInt8>) {
        let octets = Array(rest)
        if octets == [0x5A] || octets == [0x7A] {
            hasOffset = octets == [0x5A]
            return
        }
        let digits = octets.filter { (0x30...0x39).contains($0) }
        hasOffset =
            (octets.first == 0x2B || octets.first == 0x2D) && digits.count == 4
            && (octets.count == 5 || (octets.count == 6 && octets[3] == 0x3A))
        if !hasOffset { isDateTime = false }
        let hours = digits.prefix(2).reduce(0) { $0 * 10 + Int($1 - 0x30) }
        let minutes = digits.dropFirst(2).prefix(2).reduce(0) { $0 * 10 + Int($1 - 0x30) }
        if hours > 23 || minutes > 59 { isOfCalendar = false }
    }
}
