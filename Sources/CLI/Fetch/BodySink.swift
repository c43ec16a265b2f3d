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

/// Octets as a terminal may see them, across chunks: what is UTF-8 text stays, control characters and
/// stray octets are escaped.
struct TerminalText {
    /// Octets of the character begun that are still to come. Source: RFC 3629 §3.
    private var missing = 0
    /// 0xC2 begins the C1 controls in UTF-8.
    private var holdsC2 = false

    mutating func shown(_ octets: [UInt8]) -> [UInt8] {
        var shown: [UInt8] = []
        shown.reserveCapacity(octets.count)
        for octet in octets { append(octet, to: &shown) }
        return shown
    }

    private mutating func append(_ octet: UInt8, to shown: inout [UInt8]) {
        if holdsC2 {
            holdsC2 = false
            if (0xA0...0xBF).contains(octet) {
                shown += [0xC2, octet]
                return
            }
            shown += TerminalText.escape(0xC2)
        }
        if missing > 0, (0x80...0xBF).contains(octet) {
            missing -= 1
            shown.append(octet)
            return
        }
        missing = 0
        switch octet {
        case 0x09, 0x0A, 0x20...0x7E: shown.append(octet)
        // Half of a line end, or a way to write over the line.
        case 0x0D: break
        case 0xC2: holdsC2 = true
        case 0xC3...0xDF: begin(octet, more: 1, &shown)
        case 0xE0...0xEF: begin(octet, more: 2, &shown)
        case 0xF0...0xF4: begin(octet, more: 3, &shown)
        default: shown += TerminalText.escape(octet)
        }
    }

    private mutating func begin(_ octet: UInt8, more: Int, _ shown: inout [UInt8]) {
        missing = more
        shown.append(octet)
    }

    private static func escape(_ octet: UInt8) -> [UInt8] {
        Array("\\x{\(String(octet, radix: 16))}".utf8)
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
