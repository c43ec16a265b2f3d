public import HTTPDNSNames
internal import HTTPDNSTrust

/// A point on the wall clock, to the microsecond.
public struct CaptureTime: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Since 1970-01-01T00:00:00Z, leap seconds not counted. Source: POSIX.
    public let microsecondsSince1970: Int64

    public init(microsecondsSince1970: Int64) {
        self.microsecondsSince1970 = microsecondsSince1970
    }

    /// The beginning of a second.
    public init(_ time: WallTime) {
        let (scaled, overflow) = time.secondsSince1970.multipliedReportingOverflow(by: 1_000_000)
        microsecondsSince1970 = overflow ? (time.secondsSince1970 < 0 ? .min : .max) : scaled
    }

    /// Reads `2027-01-31T12:00:00.123456+02:00`; nil for anything else. Source: RFC 3339 §5.6.
    public init?(_ text: String) {
        guard let seconds = WallTime(iso8601: text)?.secondsSince1970 else { return nil }
        var fraction: Int64 = 0
        if let point = text.firstIndex(of: ".") {
            var scale: Int64 = 100_000
            for digit in text[text.index(after: point)...].utf8 {
                guard (0x30...0x39).contains(digit), scale > 0 else { break }
                fraction += Int64(digit - 0x30) * scale
                scale /= 10
            }
        }
        self.init(WallTime(secondsSince1970: seconds), plus: fraction)
    }

    private init(_ time: WallTime, plus fraction: Int64) {
        let whole = CaptureTime(time).microsecondsSince1970
        let (sum, overflow) = whole.addingReportingOverflow(fraction)
        microsecondsSince1970 = overflow ? whole : sum
    }

    /// So much later; stops at the ends of the scale.
    public func adding(milliseconds: Double) -> CaptureTime {
        guard let step = Int64(exactly: (milliseconds * 1_000).rounded()) else { return self }
        let (sum, overflow) = microsecondsSince1970.addingReportingOverflow(step)
        return overflow ? self : CaptureTime(microsecondsSince1970: sum)
    }

    /// `2027-01-31T12:00:00.123Z`, in UTC. Source: RFC 3339 §5.6.
    public var description: String {
        let day = CaptureDay(self)
        let rest = microsecondsSince1970 - day.start.microsecondsSince1970
        let milliseconds = rest / 1_000
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (hours, minutes) = (milliseconds / 3_600_000, milliseconds / 60_000 % 60)
        let (seconds, left) = (milliseconds / 1_000 % 60, milliseconds % 1_000)
        let fraction = left < 10 ? "00\(left)" : left < 100 ? "0\(left)" : "\(left)"
        return "\(day)T\(two(hours)):\(two(minutes)):\(two(seconds)).\(fraction)Z"
    }

    /// The nearest moment whose year has four digits. Source: RFC 3339 §5.6.
    package var ofFourDigits: CaptureTime {
        let (first, last): (Int64, Int64) = (-62_167_219_200_000_000, 253_402_300_799_999_999)
        return CaptureTime(microsecondsSince1970: min(max(first, microsecondsSince1970), last))
    }

    /// The same with as many digits as it takes: of microseconds, where there are any.
    package var exact: String {
        let (_, rest) = microsecondsSince1970.quotientAndRemainder(dividingBy: 1_000)
        let left = rest < 0 ? rest + 1_000 : rest
        guard left > 0 else { return description }
        let digits = left < 10 ? "00\(left)" : left < 100 ? "0\(left)" : "\(left)"
        return "\(description.dropLast())\(digits)Z"
    }

    public static func < (lhs: CaptureTime, rhs: CaptureTime) -> Bool {
        lhs.microsecondsSince1970 < rhs.microsecondsSince1970
    }
}

/// A day in UTC.
public struct CaptureDay: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Since 1970-01-01.
    public let daysSince1970: Int64

    public init(_ time: CaptureTime) {
        let (quotient, rest) = time.microsecondsSince1970.quotientAndRemainder(
            dividingBy: CaptureDay.microsecondsADay)
        daysSince1970 = rest < 0 ? quotient - 1 : quotient
    }

    /// Its first moment; the ends of the scale for days beyond it.
    public var start: CaptureTime {
        let (product, overflow) = daysSince1970.multipliedReportingOverflow(
            by: CaptureDay.microsecondsADay)
        return CaptureTime(microsecondsSince1970: overflow ? .min : product)
    }

    /// `2027-01-31`. Source: Howard Hinnant's "chrono-compatible low-level date algorithms",
    /// `civil_from_days`.
    public var description: String {
        let shifted = daysSince1970 + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        func padded(_ number: Int64, _ width: Int) -> String {
            let digits = "\(number)"
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }

    public static func < (lhs: CaptureDay, rhs: CaptureDay) -> Bool {
        lhs.daysSince1970 < rhs.daysSince1970
    }

    /// Source: ISO 8601: a day without leap seconds.
    private static let microsecondsADay: Int64 = 86_400_000_000
}
