/// A scenario file: settings, then moments, each with what happens and what must follow.
///
///     # a comment
///     source trusted
///     source plain plain
///     option strategy raced
///
///     0     ask www.example.com A
///           -> trusted asked www.example.com A
///           -> plain asked www.example.com A
///     20    trusted answers www.example.com A 93.184.216.34 ttl 60
///           -> 1 told 93.184.216.34 ttl 60 by trusted
///
/// Moments are milliseconds from the start. What follows is compared whole and in no order; lines that
/// begin with `event` must be among the events told, others may be too. Waiters are counted from 1.
struct Scenario {
    struct Moment {
        let line: Int
        let milliseconds: Int64
        let words: [String]
        var expected: [String] = []
        var events: [String] = []
    }

    struct Fault: Error, CustomStringConvertible {
        let line: Int
        let reason: String

        var description: String { "line \(line): \(reason)" }
    }

    /// `source` and `option` lines, split into words.
    private(set) var settings: [(line: Int, words: [String])] = []
    private(set) var moments: [Moment] = []

    init(_ text: String) throws {
        var number = 0
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            number += 1
            let words = line.prefix { $0 != "#" }.split(separator: " ").map(String.init)
            guard let first = words.first else { continue }
            if first == "source" || first == "option" {
                guard moments.isEmpty else {
                    throw Fault(line: number, reason: "settings stand before the first moment")
                }
                settings.append((number, words))
            } else if first == "->" {
                guard !moments.isEmpty else {
                    throw Fault(line: number, reason: "nothing happened yet")
                }
                let at = moments.count - 1
                if words.dropFirst().first == "event" {
                    moments[at].events.append(words.dropFirst(2).joined(separator: " "))
                } else {
                    moments[at].expected.append(words.dropFirst().joined(separator: " "))
                }
            } else if let milliseconds = Int64(first) {
                if let last = moments.last, last.milliseconds > milliseconds {
                    throw Fault(line: number, reason: "time does not go back")
                }
                moments.append(
                    Moment(
                        line: number, milliseconds: milliseconds, words: Array(words.dropFirst())))
            } else {
                throw Fault(line: number, reason: "\"\(first)\" begins no line")
            }
        }
    }
}
