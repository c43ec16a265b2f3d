internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// Where a body goes as it arrives: a file, standard output, or nowhere.
struct BodySink {
    enum Target {
        /// Opened with the first octet, so that a request that fails empties no file.
        case file(path: String, open: WrittenFile?)
        case output
        /// A terminal obeys control characters whoever sent them.
        case terminal(TerminalText)
        case nowhere
    }

    private var target: Target
    private let console: Console
    private var progress: Progress?
    /// Octets of the body, after decoding.
    private(set) var bodyOctets: Int64 = 0

    init(_ plan: FetchPlan, _ console: Console) {
        self.console = console
        if let file = plan.file {
            target = .file(path: file, open: nil)
            if console.errors.isTerminal { progress = Progress(now: SystemMonotonicClock().now()) }
        } else if plan.isJSON {
            target = .nowhere
        } else {
            target = console.output.isTerminal ? .terminal(TerminalText()) : .output
        }
    }

    /// The length that the head announces, for the progress line.
    mutating func announce(length: Int64?) { progress?.length = length }

    mutating func write(head: String) throws(CommandFault) { try put(Array(head.utf8)) }

    mutating func write(body chunk: [UInt8]) throws(CommandFault) {
        bodyOctets += Int64(chunk.count)
        try put(chunk)
        if let line = progress?.line(after: bodyOctets, now: SystemMonotonicClock().now()) {
            console.errors.write("\r\u{1B}[K" + line)
        }
    }

    /// Makes the file even of an empty body.
    mutating func finish() throws(CommandFault) { try put([]) }

    /// Takes the progress line away.
    func clearProgress() {
        if progress?.isShown == true { console.errors.write("\r\u{1B}[K") }
    }

    /// The file that holds an incomplete body; nil where there is none.
    var partialFile: String? {
        if case .file(let path, .some) = target { path } else { nil }
    }

    private mutating func put(_ octets: [UInt8]) throws(CommandFault) {
        switch target {
        case .file(let path, let open):
            let file: WrittenFile
            if let open { file = open } else { file = try WrittenFile(path) }
            target = .file(path: path, open: file)
            try file.write(octets)
        case .output: console.output.write(octets: octets)
        case .terminal(var text):
            console.output.write(octets: text.shown(octets))
            target = .terminal(text)
        case .nowhere: break
        }
    }
}

/// Octets as a terminal may see them: control characters are escaped, across chunks.
package struct TerminalText {
    /// 0xC2 begins the C1 controls in UTF-8. Source: RFC 3629 §3.
    private var holdsC2 = false
    /// Octets that are still to come of a character. Outside of one, 0x80...0x9F are C1 controls to a
    /// terminal of eight-bit text. Source: ECMA-48 §5.3.
    private var continuations = 0

    package init() {}

    package mutating func shown(_ octets: [UInt8]) -> [UInt8] {
        var shown: [UInt8] = []
        shown.reserveCapacity(octets.count)
        for octet in octets {
            if holdsC2 {
                holdsC2 = false
                if (0x80...0x9F).contains(octet) {
                    shown += TerminalText.escape(octet)
                    continue
                }
                shown.append(0xC2)
                continuations = 1
            }
            let isInside = continuations > 0 && (0x80...0xBF).contains(octet)
            continuations = isInside ? continuations - 1 : TerminalText.length(after: octet)
            switch octet {
            case 0xC2: holdsC2 = true
            case 0x0D: break
            case 0x80...0x9F where !isInside: shown += TerminalText.escape(octet)
            case 0x09, 0x0A, 0x20...0x7E, 0x80...0xFF: shown.append(octet)
            default: shown += TerminalText.escape(octet)
            }
        }
        return shown
    }

    /// How many octets follow the first of a character. Source: RFC 3629 §3.
    private static func length(after first: UInt8) -> Int {
        switch first {
        case 0xC3...0xDF: 1
        case 0xE0...0xEF: 2
        case 0xF0...0xF4: 3
        default: 0
        }
    }

    private static func escape(_ octet: UInt8) -> [UInt8] {
        Array("\\u{\(String(octet, radix: 16))}".utf8)
    }
}

/// The line that a long download draws on a terminal.
struct Progress {
    var length: Int64?
    private let began: Monotonic
    private var drawn: Monotonic?

    init(now: Monotonic) { began = now }

    var isShown: Bool { drawn != nil }

    /// What to draw; nil when it is too early for another one.
    mutating func line(after octets: Int64, now: Monotonic) -> String? {
        guard now.milliseconds(since: drawn ?? began) >= (isShown ? 100 : Progress.quiet) else {
            return nil
        }
        drawn = now
        let elapsed = max(1, now.milliseconds(since: began))
        let rate = Double(octets) / Double(elapsed) * 1_000
        let speed = Progress.size(rate) + "/s"
        guard let length, length > 0, octets <= length else {
            return "\(Progress.size(Double(octets)))  \(speed)"
        }
        let percent = Int(Double(octets) / Double(length) * 100)
        return
            "\(percent)%  \(Progress.size(Double(octets))) of \(Progress.size(Double(length)))  \(speed)"
    }

    /// Because: what takes less than a second needs no progress line.
    private static let quiet: Int64 = 1_000

    /// `12.3 MB`.
    private static func size(_ octets: Double) -> String {
        var value = octets
        var units = ["B", "kB", "MB", "GB"][...]
        while value >= 1_000, units.count > 1 {
            value /= 1_000
            units.removeFirst()
        }
        let tenths = Int(min((value * 10).rounded(), 1e15))
        return "\(tenths / 10).\(tenths % 10) \(units.first ?? "")"
    }
}
