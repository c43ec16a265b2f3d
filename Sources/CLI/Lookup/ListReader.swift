internal import CHTTPDNSSystem
internal import HTTPDNSPlatform

/// Reads a list of names piece by piece: memory does not grow with the list.
package final class ListReader: Sendable {
    /// One line of the list.
    package struct Line: Sendable, Hashable {
        /// Counts from 1.
        package let number: Int
        /// Without its end; nil when it is not UTF-8.
        package let text: String?
    }

    /// What is read next.
    package enum Piece: Sendable, Hashable {
        /// At least one line.
        case lines([Line])
        case end
        case failed(CommandFault)
    }

    private let path: String
    private let descriptor: Int32
    private let cutter = Locked(ListCutter())

    /// Opens a file; `-` is standard input.
    ///
    /// - Throws: ``CommandFault``: usage, with the system's reason.
    package init(_ path: String) throws(CommandFault) {
        self.path = path
        guard path != "-" else {
            descriptor = STDIN_FILENO
            return
        }
        guard let file = fopen(path, "re") else { throw FileText.unreadable(path) }
        descriptor = fileno(file)
    }

    /// The lines that come next. To be called again only when it has returned.
    ///
    /// A thread of its own waits for them: a pipe may be silent for as long as it likes, and the names
    /// in flight must not wait with it.
    package func next() async -> Piece {
        await withCheckedContinuation { continuation in
            let isStarted = DetachedThread.start(named: "httpdns-list") {
                continuation.resume(returning: self.read())
            }
            if !isStarted {
                continuation.resume(
                    returning: .failed(.usage("the system gives no thread to read the list with")))
            }
        }
    }

    private func read() -> Piece {
        while true {
            guard let octets = nextOctets() else { return .failed(FileText.unreadable(path)) }
            let (lines, isEndless) = cutter.withLock { cutter in
                let lines = octets.isEmpty ? cutter.finish() : cutter.append(octets)
                return (lines, cutter.isEndless)
            }
            if isEndless {
                return .failed(
                    .usage(
                        "\(quoted(path)) is no list of names: a line is longer than "
                            + "\(ListCutter.maximumOctets) octets"))
            }
            if !lines.isEmpty { return .lines(lines) }
            if octets.isEmpty { return .end }
        }
    }

    /// Empty at the end; nil when the system refuses.
    private func nextOctets() -> [UInt8]? {
        var piece = [UInt8](repeating: 0, count: ListReader.pieceOctets)
        while true {
            let count = CHTTPDNSSystem.read(descriptor, &piece, piece.count)
            if count >= 0 { return Array(piece.prefix(count)) }
            guard httpdns_errno() == EINTR else { return nil }
        }
    }

    /// Because: a few thousand names, which last for a while.
    private static let pieceOctets = 65_536
}

/// Cuts octets into numbered lines; keeps at most one line. Pure.
package struct ListCutter: Sendable {
    /// Because: a name has 253 octets, and a comment beside it is a sentence; a line longer than this
    /// comes from a file that is no list.
    package static let maximumOctets = 65_536

    /// Whether a line was too long; nothing is read after it.
    package private(set) var isEndless = false
    private var rest: [UInt8] = []
    private var number = 0

    package init() {}

    /// The lines that `piece` completes.
    package mutating func append(_ piece: [UInt8]) -> [ListReader.Line] {
        var lines: [ListReader.Line] = []
        var start = piece.startIndex
        while let end = piece[start...].firstIndex(of: 0x0A) {
            lines.append(line(piece[start..<end]))
            start = end + 1
        }
        rest += piece[start...]
        if rest.count > ListCutter.maximumOctets { isEndless = true }
        return lines
    }

    /// What stands after the last line end.
    package mutating func finish() -> [ListReader.Line] { rest.isEmpty ? [] : [line([])] }

    private mutating func line(_ tail: ArraySlice<UInt8>) -> ListReader.Line {
        number += 1
        defer { rest.removeAll(keepingCapacity: true) }
        let text =
            rest.isEmpty
            ? String(validating: tail, as: UTF8.self)
            : String(validating: rest + tail, as: UTF8.self)
        return ListReader.Line(number: number, text: text)
    }
}
