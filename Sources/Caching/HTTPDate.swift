package import HTTPDNSNames

/// Reads dates of HTTP in their three forms, and nothing else. Source: RFC 9110 §5.6.7.
///
///     Sun, 06 Nov 1994 08:49:37 GMT      IMF-fixdate
///     Sunday, 06-Nov-94 08:49:37 GMT     RFC 850
///     Sun Nov  6 08:49:37 1994           asctime
package enum HTTPDate {
    /// Nil for what is none of them: such a date lies in the past for `Expires`, and says nothing
    /// elsewhere.
    ///
    /// - Parameter now: decides the century of two-digit years: a date of more than 50 years ahead
    ///   is of the past.
    package static func parse(_ text: String, now: WallTime) -> WallTime? {
        guard text.utf8.count <= longest else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        switch words.count {
        case 6 where words[0].hasSuffix(",") && words[5] == "GMT":
            guard isDay(words[0].dropLast(), days) else { return nil }
            return time(
                day: digits(words[1], 2), month: month(words[2]), year: digits(words[3], 4),
                clock: words[4])
        case 4 where words[0].hasSuffix(",") && words[3] == "GMT":
            let parts = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard isDay(words[0].dropLast(), longDays), parts.count == 3 else { return nil }
            let make = { (year: Int64?) in
                time(
                    day: digits(parts[0], 2), month: month(parts[1]), year: year, clock: words[2])
            }
            return ofNearCentury(digits(parts[2], 2), now: now, make)
        case 5:
            guard isDay(words[0], days) else { return nil }
            return time(
                day: digits(words[2], words[2].utf8.count == 1 ? 1 : 2), month: month(words[1]),
                year: digits(words[4], 4), clock: words[3])
        default: return nil
        }
    }

    /// An IMF-fixdate.
    package static func text(_ time: WallTime) -> String {
        let seconds = min(max(time.secondsSince1970, 0), latest)
        let (dayNumber, second) = (seconds / 86_400, seconds % 86_400)
        let (year, month, day) = civil(dayNumber)
        let two = { (number: Int64) in number < 10 ? "0\(number)" : "\(number)" }
        let weekday = days[Int((dayNumber + 4) % 7)]
        let four = String(repeating: "0", count: max(0, 4 - "\(year)".utf8.count)) + "\(year)"
        return "\(weekday), \(two(day)) \(months[Int(month - 1)]) \(four) "
            + "\(two(second / 3_600)):\(two(second / 60 % 60)):\(two(second % 60)) GMT"
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let longDays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    /// Source: the longest form is RFC 850's with "Wednesday": 33; white space is allowed for.
    private static let longest = 64
    /// The end of the year 9999, the last that a date can name.
    private static let latest: Int64 = 253_402_300_799
    /// Source: RFC 9110 §5.6.7, for two-digit years: 50 Julian years.
    private static let fiftyYearsSeconds: Int64 = 1_577_880_000

    /// RFC 5322 names are case-sensitive; what differs in case alone is meant all the same.
    private static func isDay(_ word: Substring, _ names: [String]) -> Bool {
        names.contains { $0.lowercased() == word.lowercased() }
    }

    private static func month(_ word: Substring) -> Int64? {
        months.firstIndex { $0.lowercased() == word.lowercased() }.map { Int64($0) + 1 }
    }

    private static func digits(_ word: Substring, _ count: Int) -> Int64? {
        guard word.utf8.count == count, word.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return word.utf8.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    private static func ofNearCentury(
        _ short: Int64?, now: WallTime, _ make: (Int64?) -> WallTime?
    ) -> WallTime? {
        guard let short else { return nil }
        let dayNow = min(max(now.secondsSince1970, 0), latest) / 86_400
        let century = civil(dayNow).year / 100 * 100
        guard let found = make(century + short) else { return make(century - 100 + short) }
        let isFar =
            found.secondsSince1970 > now.secondsSince1970.addingSaturated(fiftyYearsSeconds)
        return isFar ? make(century - 100 + short) : found
    }

    private static func time(
        day: Int64?, month: Int64?, year: Int64?, clock: Substring
    ) -> WallTime? {
        let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
        guard let day, let month, let year, parts.count == 3, let hour = digits(parts[0], 2),
            let minute = digits(parts[1], 2), let second = digits(parts[2], 2),
            hour <= 23, minute <= 59, second <= 60, (1...31).contains(day)
        else { return nil }
        let number = dayNumber(year, month, day)
        // The 30th of February is another day's name.
        guard civil(number) == (year, month, day) else { return nil }
        return WallTime(
            secondsSince1970: number * 86_400 + hour * 3_600 + minute * 60 + min(second, 59))
    }

    /// Days since 1970-01-01 in the proleptic Gregorian calendar, by 400-year cycles from 1 March.
    private static func dayNumber(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let cycle = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfCycle = shifted - cycle * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return cycle * 146_097 + yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100
            + dayOfYear - 719_468
    }

    private static func civil(_ number: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = number + 719_468
        let cycle = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfCycle = shifted - cycle * 146_097
        let yearOfCycle =
            (dayOfCycle - dayOfCycle / 1_460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let monthOfYear = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthOfYear + 2) / 5 + 1
        let month = monthOfYear < 10 ? monthOfYear + 3 : monthOfYear - 9
        return (yearOfCycle + cycle * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}
