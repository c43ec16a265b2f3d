package import HTTPDNSNames

/// Reads the date of a cookie's `Expires` attribute. Source: RFC 6265 §5.1.1.
package enum CookieDate {
    /// Nil when the text holds no date.
    package static func parse(_ text: String) -> WallTime? {
        var fields = Fields()
        for token in text.utf8.split(whereSeparator: isDelimiter) { fields.take(token) }
        return fields.time
    }

    private static func isDelimiter(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    private typealias Token = Substring.UTF8View.SubSequence

    /// What the tokens read so far have given; the first of each kind counts.
    private struct Fields {
        var clock: (hour: Int64, minute: Int64, second: Int64)?
        var day: Int64?
        var month: Int64?
        var year: Int64?

        mutating func take(_ token: Token) {
            if clock == nil, let found = Self.clock(token) {
                clock = found
            } else if day == nil, let found = Self.number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = Self.month(token) {
                month = found
            } else if year == nil, let found = Self.number(token, digits: 2...4) {
                year = found
            }
        }

        /// Two-digit years: 70 to 99 are of the 1900s, 0 to 69 of the 2000s.
        var time: WallTime? {
            guard let clock, let day, let month, let written = year else { return nil }
            let year = written < 70 ? written + 2000 : written < 100 ? written + 1900 : written
            guard year >= 1601, clock.hour <= 23, clock.minute <= 59, clock.second <= 59,
                (1...CookieDate.days(inMonth: month, of: year)).contains(day)
            else { return nil }
            let days = CookieDate.daysSince1970(year, month, day)
            return WallTime(
                secondsSince1970: days * 86_400 + clock.hour * 3_600 + clock.minute * 60
                    + clock.second)
        }

        /// Up to `digits` digits, then the end or anything that is no digit.
        private static func number(_ token: Token, digits: ClosedRange<Int>) -> Int64? {
            let run = token.prefix { (0x30...0x39).contains($0) }
            guard digits.contains(run.count) else { return nil }
            return run.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }

        private static func clock(_ token: Token) -> (Int64, Int64, Int64)? {
            let parts = token.split(
                separator: 0x3A, maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, let hour = number(parts[0], digits: 1...2),
                let minute = number(parts[1], digits: 1...2),
                let second = number(parts[2], digits: 1...2),
                parts[0].allSatisfy({ (0x30...0x39).contains($0) }),
                parts[1].allSatisfy({ (0x30...0x39).contains($0) })
            else { return nil }
            return (hour, minute, second)
        }

        private static func month(_ token: Token) -> Int64? {
            let start = token.prefix(3).map { $0 | 0x20 }
            guard start.count == 3 else { return nil }
            return CookieDate.months.firstIndex { $0.elementsEqual(start) }.map { Int64($0) + 1 }
        }
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ].map { Array($0.utf8) }

    private static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days of the proleptic Gregorian calendar, counted in 400-year cycles from 1 March.
    private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let cycle = shifted / 400
        let yearOfCycle = shifted - cycle * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let dayOfCycle = yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear
        // 719 468 days lie between 0000-03-01 and 1970-01-01.
        return cycle * 146_097 + dayOfCycle - 719_468
    }
}
