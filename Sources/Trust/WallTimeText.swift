package import HTTPDNSNames

extension WallTime {
    /// Reads `2027-01-31T12:00:00Z`, with an offset in place of the `Z` if need be, or a date alone,
    /// which is its first second in UTC. Nil for anything else, and for days that no month has.
    ///
    /// Source: RFC 3339 §5.6; dates to days as in Howard Hinnant's "chrono-compatible low-level date
    /// algorithms", `days_from_civil`.
    package init?(iso8601 text: String) {
        let octets = Array(text.utf8)
        guard octets.count >= 10, octets[4] == 0x2D, octets[7] == 0x2D,
            let year = WallTime.number(octets[0..<4]), let month = WallTime.number(octets[5..<7]),
            let day = WallTime.number(octets[8..<10]), (1...12).contains(month),
            (1...WallTime.days(in: month, of: year)).contains(day)
        else { return nil }
        let midnight = WallTime.daysSince1970(year, month, day) * 86_400
        guard octets.count > 10 else {
            self.init(secondsSince1970: midnight)
            return
        }
        guard let seconds = WallTime.secondOfDay(octets[10...]) else { return nil }
        self.init(secondsSince1970: midnight + seconds)
    }

    /// `T12:00:00Z`, `t12:00:00.5+02:00`: seconds from midnight UTC of the date before it.
    private static func secondOfDay(_ text: ArraySlice<UInt8>) -> Int64? {
        let octets = Array(text)
        guard octets.count >= 10, [0x54, 0x74, 0x20].contains(octets[0]), octets[3] == 0x3A,
            octets[6] == 0x3A, let hour = number(octets[1..<3]), hour < 24,
            let minute = number(octets[4..<6]), minute < 60,
            let second = number(octets[7..<9]), second < 61
        else { return nil }
        var rest = octets[9...]
        if rest.first == 0x2E {
            let digits = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
            guard !digits.isEmpty else { return nil }
            rest = rest.dropFirst(digits.count + 1)
        }
        guard let offset = offset(Array(rest)) else { return nil }
        return hour * 3_600 + minute * 60 + second - offset
    }

    /// `Z`, `+02:00`: seconds east of UTC.
    private static func offset(_ octets: [UInt8]) -> Int64? {
        if octets == [0x5A] || octets == [0x7A] { return 0 }
        guard octets.count == 6, octets[0] == 0x2B || octets[0] == 0x2D, octets[3] == 0x3A,
            let hours = number(octets[1..<3]), hours < 24,
            let minutes = number(octets[4..<6]), minutes < 60
        else { return nil }
        return (octets[0] == 0x2D ? -1 : 1) * (hours * 3_600 + minutes * 60)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self))
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
