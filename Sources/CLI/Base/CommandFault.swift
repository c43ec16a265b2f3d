internal import HTTPDNSCapture
internal import HTTPDNSNames
internal import HTTPDNSRedaction

/// Why a command could not do its work: one line for people, and the exit code.
package struct CommandFault: Error, Sendable, Hashable {
    /// What is wrong with what, and what was expected. May hold text of the user or the network:
    /// it is made printable where it is printed.
    package let message: String
    package let code: ExitCode
    /// `error.code` of `--json`, one of a closed list that the command's help prints; nil where the
    /// command knows no closer word.
    package let label: String?

    package init(_ message: String, code: ExitCode, label: String? = nil) {
        self.message = message
        self.code = code
        self.label = label
    }

    /// The caller's mistake: an option, a value, a file.
    package static func usage(_ message: String) -> CommandFault {
        CommandFault(message, code: .usage)
    }

    /// A word that is none of the known ones.
    package static func unknown(
        _ what: String, _ typed: String, known: [String]
    ) -> CommandFault {
        let hint = Nearest.word(to: typed, in: known).map { "; did you mean \"\($0)\"?" } ?? ""
        return .usage("unknown \(what) \(quoted(typed))" + hint)
    }
}

/// The text in quotes, printable, and cut where it is long.
package func quoted(_ text: String) -> String {
    // Because: a line that names what is wrong must stay a line.
    let limit = 200
    let shown = text.count > limit ? String(text.prefix(limit)) + "…" : text
    return "\"" + shown.printable + "\""
}

/// A URL, or what was meant as one, in quotes; without the name and password that it may hold, and
/// without the secrets of its query.
package func quoted(url text: String) -> String { quoted(shown(url: withoutUserinfo(text))) }

/// A URL as people are shown it, in lines and logs: without what a capture takes out of it. With
/// `--json` the members that are URLs say them whole.
func shown(url text: String) -> String { CaptureRedaction().shown(url: text) }

/// A message as people and logs get it: the URLs in it without what a capture takes out of them.
func shown(message: String) -> String { CaptureRedaction().shown(message: message) }

/// A URL, or what was meant as one, without the name and password that it may hold.
package func withoutUserinfo(_ text: String) -> String {
    // `user:password@host`, without a scheme, is meant as one, too.
    TextRedactor.withoutUserinfo(text, isAuthority: true, placeholder: "…")
}

/// How a command ended, as scripts see it. With several results the highest wins.
package enum ExitCode: Int32, Sendable, Hashable, Comparable {
    /// Answered, succeeded, trusted.
    case succeeded = 0
    /// No such name, no data, or a verdict against.
    case negative = 1
    /// An option or a configuration that cannot work.
    case usage = 2
    /// The server answered with a failure.
    case serverFailure = 3
    /// No reply in time, or unreachable.
    case noReply = 9
    /// Ctrl-C.
    case interrupted = 130

    package static func < (lhs: ExitCode, rhs: ExitCode) -> Bool { lhs.rawValue < rhs.rawValue }
}
