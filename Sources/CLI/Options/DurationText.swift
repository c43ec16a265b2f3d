/// Lengths of time as people type them.
package enum DurationText {
    /// `2s`, `500ms`, `1.5s`, `2m`, `1h`; a bare number means seconds. Nil for anything else, for
    /// nothing at all, and for more than 24 hours.
    package static func parse(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        // Because: longer texts are not numbers a person means, and would lose digits.
        guard !digits.isEmpty, digits.count <= 12, digits.first != ".", digits.last != ".",
            let number = Double(digits), let scale = scales[String(text.dropFirst(digits.count))]
        else { return nil }
        let milliseconds = (number * scale).rounded()
        guard milliseconds >= 1, milliseconds <= longestMilliseconds else { return nil }
        return .milliseconds(Int64(milliseconds))
    }

    private static let scales: [String: Double] = [
        "": 1_000, "s": 1_000, "ms": 1, "m": 60_000, "h": 3_600_000,
    ]
    /// Because: a command that waits longer than a day was not meant to.
    private static let longestMilliseconds: Double = 86_400_000

    /// Whole seconds for people: `30s`, `5m`, `1h5m`, `2d`. The two largest units; what is less than
    /// the second is left out.
    package static func short(seconds: UInt32) -> String {
        let units: [(UInt32, String)] = [(86_400, "d"), (3_600, "h"), (60, "m"), (1, "s")]
        var rest = seconds
        var parts: [String] = []
        for (size, unit) in units where rest >= size || (unit == "s" && parts.isEmpty) {
            if rest / size > 0 || parts.isEmpty { parts.append("\(rest / size)\(unit)") }
            rest %= size
        }
        return parts.prefix(2).joined()
    }

    /// A time that passed: `3ms`, `0.4ms`, `4.0s`.
    package static func elapsed(milliseconds: Double) -> String {
        guard milliseconds.isFinite, milliseconds >= 0 else { return "0ms" }
        if milliseconds < 1 { return fixed(milliseconds) + "ms" }
        // 999.6 would be shown as 1000ms.
        if milliseconds < 999.5 { return "\(Int(milliseconds.rounded()))ms" }
        return fixed(milliseconds / 1_000) + "s"
    }

    /// A time that passed, to compare with others: `0.42ms`, `3.2ms`, `41ms`, `4.0s`.
    package static func precise(milliseconds: Double) -> String {
        guard milliseconds.isFinite, milliseconds >= 0 else { return "0ms" }
        if milliseconds < 0.995 {
            let hundredths = Int((milliseconds * 100).rounded())
            return "0.\(hundredths < 10 ? "0" : "")\(hundredths)ms"
        }
        if milliseconds < 99.95 { return fixed(milliseconds) + "ms" }
        return elapsed(milliseconds: milliseconds)
    }

    /// One digit after the point.
    private static func fixed(_ number: Double) -> String {
        let tenths = Int(min((number * 10).rounded(), 1e15))
        return "\(tenths / 10).\(tenths % 10)"
    }
}
