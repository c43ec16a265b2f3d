/// One option that a command takes: `--name`, `--name VALUE`, `-n VALUE`.
package struct OptionRule: Sendable, Hashable {
    /// Without the dashes: `timeout`.
    package let name: String
    /// The one-letter form, without its dash; nil when there is none.
    package let letter: Character?
    /// What stands for the value in help: `DURATION`; nil for a switch.
    package let value: String?
    /// One line for help.
    package let summary: String
    /// Whether it may be given more than once.
    package let isRepeatable: Bool
    /// Whether the value may be left out; it must then hang on the option: `--search=corp.example`.
    package let isValueOptional: Bool

    package init(
        _ name: String, letter: Character? = nil, value: String? = nil, isRepeatable: Bool = false,
        isValueOptional: Bool = false, _ summary: String
    ) {
        self.name = name
        self.letter = letter
        self.value = value
        self.isRepeatable = isRepeatable
        self.isValueOptional = isValueOptional
        self.summary = summary
    }

    /// As it stands in help: `-x, --reverse IP`.
    package var synopsis: String {
        let short = letter.map { "-\($0), " } ?? ""
        if isValueOptional, let value { return short + "--" + name + "[=\(value)]" }
        return short + "--" + name + (value.map { " " + $0 } ?? "")
    }
}

// Options that mean the same for every command that takes them
extension OptionRule {
    package static let help = OptionRule("help", letter: "h", "show this help")
    package static let version = OptionRule("version", "show the version")
    package static let color = OptionRule(
        "color", value: "WHEN", "auto, always or never; auto follows the terminal and NO_COLOR")
    package static let json = OptionRule("json", "one JSON object a result, a line each")
    package static let verbose = OptionRule("verbose", "say on stderr what is asked, of whom, why")
    package static let timeout = OptionRule(
        "timeout", value: "DURATION", "how long to wait in all: 2s, 500ms")
    package static let config = OptionRule(
        "config", value: "FILE", "a configuration file, or none; else your own is read")

    /// Every command takes these.
    package static let common: [OptionRule] = [.color, .help, .version]
}
