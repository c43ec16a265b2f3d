internal import CHTTPDNSSystem
internal import HTTPDNSPlatform

/// Reads a list of names piece by piece: memory does not grow with the list.
package final class ListReader: Sendable {
    /// One line of the list.
    package struct Line: Sendable, Hashable {
        /// Counts from 1.
        package let number: Int
        package let content: Content

        package enum Content: Sendable, Hashable {
            /// Without its end.
            case text(String)
            /// It is not UTF-8; the octet at `place` (from 0) is the first that is wrong.
            case octets([UInt8], place: Int)
            /// Longer than ``ListCutter/maximumOctets``; so it begins.
            case tooLong(start: [UInt8])
        }
    }

    /// What is read next.
    package enum Piece: Sendable, Hashable {
        /// At least one line.
        case lines([Line])
        case end
        /// The command was told to end while it waited for more.
        case interrupted
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
        await Interruption.awaiting(interrupted: .interrupted) { tell in
            let isStarted = DetachedThread.start(named: "httpdns-list") { tell(self.read()) }
            if !isStarted {
                tell(.failed(.usage("the system gives no thread to read the list with")))
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
                            + "\(ListCutter.endlessOctets) octets"))
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
    /// is no name, and no reason to give up on the others.
    package static let maximumOctets = 65_536
    /// Because: sixty lines that are too long; this is a device, or a file without lines.
    package static let endlessOctets = 4_194_304
    /// Because: a message shows no more of it.
    private static let startOctets = 64

    private var rest: [UInt8] = []
    /// The line that is being read has more octets than `rest`.
    private var isTooLong = false
    /// So many octets of the line were dropped.
    private var dropped = 0
    private var number = 0

    package init() {}

    /// Whether a line seems to have no end; nothing is read after it.
    package var isEndless: Bool { dropped > ListCutter.endlessOctets }

    /// The lines that `piece` completes.
    package mutating func append(_ piece: [UInt8]) -> [ListReader.Line] {
        var lines: [ListReader.Line] = []
        var start = piece.startIndex
        while let end = piece[start...].firstIndex(of: 0x0A) {
            take(piece[start..<end])
            lines.append(line())
            start = end + 1
        }
        take(piece[start...])
        return lines
    }

    /// What stands after the last line end.
    package mutating func finish() -> [ListReader.Line] {
        rest.isEmpty && !isTooLong ? [] : [line()]
    }

    private mutating func take(_ octets: ArraySlice<UInt8>) {
        guard !isTooLong else {
            dropped += octets.count
            return
        }
        rest += octets
        guard rest.count > ListCutter.maximumOctets else { return }
        isTooLong = true
        rest.removeLast(rest.count - ListCutter.startOctets)
    }

    private mutating func line() -> ListReader.Line {
        number += 1
        defer {
            rest.removeAll(keepingCapacity: true)
            isTooLong = false
            dropped = 0
        }
        // A byte order mark says how a file is written; it is no part of its first line.
        if number == 1, rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest.removeFirst(3) }
        return ListReader.Line(number: number, content: content)
    }

    private var content: ListReader.Line.Content {
        if isTooLong { return .tooLong(start: rest) }
        if let text = String(validating: rest, as: UTF8.self) { return .text(text) }
        var scalars = UTF8()
        var octets = rest.makeIterator()
        var place = 0
        while case .scalarValue(let scalar) = scalars.decode(&octets) {
            place += UTF8.width(scalar)
        }
        return .octets(rest, place: place)
    }
}
