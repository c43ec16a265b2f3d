import Foundation

/// What the reader is told, and which claims were seen to hold.
struct Story {
    /// Claims that did not hold, with what was seen instead.
    private(set) var missed: [String] = []
    private let hasColour: Bool

    init() {
        let environment = ProcessInfo.processInfo.environment
        hasColour =
            isatty(STDOUT_FILENO) == 1 && (environment["NO_COLOR"] ?? "").isEmpty
            && environment["TERM"] != "dumb"
    }

    func title(_ text: String) { print(paint(text, .bold)) }

    func chapter(_ number: Int, _ text: String) {
        print("\n" + paint("\(number). \(text)", .bold))
    }

    func remark(_ text: String) { print("   " + text) }

    /// A fact, under its name; `took` is how long it took to come by.
    func fact(_ name: String, _ text: String, took: Duration? = nil) {
        let time = took.map { "  " + paint("(\(Story.milliseconds($0)))", .dim) } ?? ""
        let label = name.padding(toLength: 16, withPad: " ", startingAt: 0)
        print("   " + paint(label, .dim) + text + time)
    }

    /// Something that must have happened; otherwise `instead` says what was seen.
    mutating func claim(_ text: String, _ holds: Bool, instead: @autoclosure () -> String = "") {
        guard !holds else { return print("   " + paint("✓", .green) + " " + text) }
        let seen = instead()
        let why = seen.isEmpty ? "" : " (seen instead: \(seen))"
        missed.append(text + why)
        print("   " + paint("✗", .red) + " " + text + why)
    }

    static func milliseconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        return String(format: "%.1f ms", Double(seconds) * 1_000 + Double(attoseconds) / 1e15)
    }

    private enum Look: String {
        case bold = "1"
        case dim = "2"
        case green = "32"
        case red = "31"
    }

    /// Plain text when the reader is not at a terminal.
    private func paint(_ text: String, _ look: Look) -> String {
        hasColour ? "\u{1B}[\(look.rawValue)m\(text)\u{1B}[0m" : text
    }
}
