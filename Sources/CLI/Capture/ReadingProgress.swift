internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// How far the reading of a large file is, on a terminal.
struct ReadingProgress {
    private let console: Console
    private let path: String
    private let began = SystemMonotonicClock().now()
    private var drawn: Monotonic?

    init(_ console: Console, of path: String) {
        self.console = console
        self.path = path
    }

    /// - Parameter share: 0...1
    mutating func show(_ share: Double) {
        guard console.errors.isTerminal else { return }
        let now = SystemMonotonicClock().now()
        guard now.milliseconds(since: drawn ?? began) >= (drawn == nil ? quiet : 100) else {
            return
        }
        drawn = now
        console.errors.write("\r\u{1B}[K\(path.printable): \(Int(share * 100))% read")
    }

    func clear() { if drawn != nil { console.errors.write("\r\u{1B}[K") } }

    /// Because: what takes less than a second needs no progress line.
    private let quiet: Int64 = 1_000
}
