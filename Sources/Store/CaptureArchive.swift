internal import HTTPDNSNames
package import HTTPDNSPlatform

/// Writes a capture's file. One thread's own.
///
/// Rules:
/// 1. The file is opened with the first row, and again after it was moved, replaced or in trouble.
/// 2. What is added waits for ``commit()``, which writes all of it in one transaction.
/// 3. A damaged file is moved aside, and what was to be written goes into a new one; after a third
///    time the archive gives up. Any other trouble makes it rest; what comes meanwhile is lost, and
///    counted.
package final class CaptureArchive {
    /// What happened that its user may want to know.
    package enum Event: Sendable, Hashable {
        case setAside(newPath: String, because: String)
        case foreign(because: String)
        case quiet(because: String)
        case recovered
    }

    private let path: String
    private let room: CaptureRoom
    private let wall: SystemWallClock
    private let clock: any MonotonicSource
    private let report: (Event) -> Void
    private var table: CaptureTable?
    private var rows: [CaptureRow] = []
    private var pieces: [CapturePieceRow] = []
    /// Streams of pieces that no row will name.
    private var abandoned: [Int64] = []
    private var restUntil = Monotonic.zero
    private var isQuiet = false
    private var hasGivenUp = false
    private var timesSetAside = 0
    private var opening: PrivateFile.Identity?
    /// Octets written since the last look at the limits; nil: nobody has looked.
    private var grown: Int64?
    private var grownRecords: Int64 = 0
    private var shrinkAt = Monotonic.zero
    /// Not yet noted in the file.
    private var dropped: Int64 = 0

    package init(
        path: String, room: CaptureRoom, clock: any MonotonicSource = SystemMonotonicClock(),
        report: @escaping (Event) -> Void
    ) {
        self.path = path
        self.room = room
        self.clock = clock
        wall = SystemWallClock()
        self.report = report
    }

    package func add(_ row: CaptureRow) { rows.append(row) }

    package func add(_ piece: CapturePieceRow) { pieces.append(piece) }

    /// The pieces of that stream go, those in the file too: no row will name them.
    package func abandon(_ stream: Int64) {
        pieces.removeAll { $0.stream == stream }
        // Because: what is forgotten here goes as orphans do, when the file is next opened.
        guard !hasGivenUp, abandoned.count < 4_096 else { return }
        abandoned.append(stream)
    }

    /// Records that never came here are noted in the file, too.
    package func noteDropped(_ count: Int64) { dropped += count }

    package var isEmpty: Bool {
        rows.isEmpty && pieces.isEmpty && dropped == 0 && abandoned.isEmpty
    }

    /// Writes what waits.
    ///
    /// - Returns: the numbers of the rows in the order they were added; nil when they were lost.
    package func commit() -> [Int64]? {
        guard !isEmpty else { return [] }
        defer {
            rows.removeAll(keepingCapacity: true)
            pieces.removeAll(keepingCapacity: true)
        }
        let (rows, pieces, dropped, abandoned) = (rows, pieces, dropped, abandoned)
        let numbers = attempt { table throws(DatabaseFault) in
            try table.save(rows, pieces, dropped: dropped)
        }
        guard let numbers else {
            self.dropped += Int64(rows.count)
            // Of these, pieces may be in the file already.
            for row in rows where row.stream != 0 { abandon(row.stream) }
            return nil
        }
        if !abandoned.isEmpty {
            let isDone: Void? = attempt { table throws(DatabaseFault) in
                try table.remove(streams: abandoned)
            }
            if isDone != nil { self.abandoned = [] }
        }
        self.dropped -= dropped
        grownRecords += Int64(rows.count)
        if let octets = grown {
            let pieceOctets = pieces.reduce(0) { $0 + Int64($1.octets.count) }
            grown = octets + rows.reduce(pieceOctets) { $0 + $1.octets - $1.pieceOctets }
        }
        shrinkIfDue()
        return numbers
    }

    /// Forgets everything, in the file too.
    package func removeAll() {
        rows = []
        pieces = []
        attempt { table throws(DatabaseFault) in try table.removeAll() }
    }

    /// A name for the pieces of one record, which begins with the time: see
    /// ``CaptureTable/removeOrphans``.
    package func newStream() -> Int64 {
        wall.microsecondsSince1970() << 10 | Int64.random(in: 0...0x3FF)
    }

    private func shrinkIfDue() {
        let now = clock.now()
        let isFirst = grown == nil
        let mayExceed =
            (grown ?? 0) > room.octets / 32 || grownRecords > max(1, room.records / 32)
        guard isFirst || mayExceed || shrinkAt <= now else { return }
        let wallNow = wall.microsecondsSince1970()
        let (room, orphansBefore) = (room, (wallNow - Self.orphanMicroseconds) << 10)
        let isDone: Void? = attempt { table throws(DatabaseFault) in
            if isFirst { try table.removeOrphans(olderThan: orphansBefore) }
            try table.shrink(to: room, now: wallNow)
        }
        guard isDone != nil else { return }
        grown = 0
        grownRecords = 0
        shrinkAt = now.adding(milliseconds: Self.shrinkMilliseconds)
    }

    /// How long a record may be under way before its pieces count as nobody's.
    ///
    /// Because: another process may be writing a body that streams for hours; a day is more than
    /// any.
    private static let orphanMicroseconds: Int64 = 86_400_000_000
    /// How often old records are looked for.
    ///
    /// Because: an age is told in days; a minute is exact enough, and costs nothing.
    private static let shrinkMilliseconds: Int64 = 60_000
    /// How long the file is left alone after trouble.
    ///
    /// Because: a full disk or a missing right does not heal within seconds.
    private static let restMilliseconds: Int64 = 60_000
    /// Because: a disk that damages the third file damages the fourth.
    private static let maximumTimesSetAside = 2
}

// Trouble
extension CaptureArchive {
    /// Runs `body` on the table; nil when that is not possible now.
    @discardableResult
    private func attempt<Result>(
        _ body: (CaptureTable) throws(DatabaseFault) -> Result
    ) -> Result? {
        guard !hasGivenUp, restUntil <= clock.now() else { return nil }
        // The first try may meet damage, the second a file that another process has just replaced.
        for _ in 0..<3 {
            do throws(DatabaseFault) {
                let result = try body(try opened())
                if isQuiet { report(.recovered) }
                isQuiet = false
                return result
            } catch {
                guard mayTryAgain(after: error) else { return nil }
            }
        }
        return nil
    }

    private func opened() throws(DatabaseFault) -> CaptureTable {
        if let table, PrivateFile.identity(path) == table.identity { return table }
        table = nil
        opening = PrivateFile.identity(path)
        let opened = try CaptureTable(path)
        grown = nil
        table = opened
        return opened
    }

    private func mayTryAgain(after fault: DatabaseFault) -> Bool {
        switch fault {
        case .damaged(let why):
            setAside(because: why)
            return !hasGivenUp
        case .foreign(let why):
            hasGivenUp = true
            table = nil
            report(.foreign(because: why))
        case .busy(let why), .oversized(let why), .unusable(let why):
            table = nil
            restUntil = clock.now().adding(milliseconds: Self.restMilliseconds)
            if !isQuiet { report(.quiet(because: why)) }
            isQuiet = true
        }
        return false
    }

    private func setAside(because why: String) {
        let damaged = table?.identity ?? opening
        table?.abandon()
        table = nil
        // Gone or replaced by another process meanwhile: there is nothing of ours to move.
        guard let damaged, PrivateFile.identity(path) == damaged else { return }
        timesSetAside += 1
        guard timesSetAside <= Self.maximumTimesSetAside else {
            hasGivenUp = true
            report(.quiet(because: "\(why), for the third time"))
            return
        }
        var newPath = "\(path).corrupt-\(wall.now().secondsSince1970)"
        if PrivateFile.identity(newPath) != nil { newPath += "-\(timesSetAside)" }
        let isMoved = PrivateFile.setAside(
            path, damaged, as: newPath, suffixes: ["-wal", "-shm"])
        if isMoved { report(.setAside(newPath: newPath, because: why)) }
    }
}
