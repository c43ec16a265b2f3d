/// What a ``Capture`` keeps, where, and how much of it.
public struct CaptureConfiguration: Sendable {
    /// An SQLite file, of mode 0600; made when it is missing. Nil: none.
    public var path: String?
    /// The last records, in memory; 0: none.
    public var ringRecords = 0
    /// Is told each record that has ended, on the capture's own thread; must return soon: what is
    /// recorded meanwhile waits, and is dropped, with a count, when it becomes too much.
    public var onRecord: (@Sendable (CaptureRecord) -> Void)?
    /// What is taken out before anything is written or told.
    public var redaction = CaptureRedaction()
    public var limits = CaptureLimits()
    /// Whether it records from the start; see ``Capture/isEnabled``.
    public var isEnabled = true
    /// Is told, on the capture's own thread, what goes wrong with it. No request fails for it.
    public var report: (@Sendable (CaptureTrouble) -> Void)?

    /// Into a file, a ring of that many records, or only to listeners.
    public init(path: String? = nil, ringRecords: Int = 0) {
        self.path = path
        self.ringRecords = ringRecords
    }
}

/// How much a ``Capture`` keeps.
public struct CaptureLimits: Sendable, Hashable {
    /// Records in the file; the oldest go first. At least 1.
    public var maximumRecords = 10_000
    /// Octets of records and bodies in the file; at least 65,536. The oldest go first.
    public var maximumOctets = 256 << 20
    /// Records that ended longer ago go; nil: none.
    public var maximumAge: Duration? = .seconds(7 * 86_400)
    /// Of each body; 0 keeps none. What is longer is cut, and its true size kept.
    public var maximumBodyOctets: Int64 = 1 << 20
    /// Octets of bodies that wait for the writer, all records together; beyond it bodies are
    /// dropped.
    public var maximumWaitingOctets = 16 << 20
    /// Records that wait for the writer; beyond it they are dropped.
    public var maximumWaitingRecords = 4_096

    public init() {}
}

/// What happened to a capture that its user may want to know. No request depends on it.
public enum CaptureTrouble: Sendable, Hashable, CustomStringConvertible {
    /// The file was damaged or no database; it was moved to `newPath` and a new one begun.
    case setAside(path: String, newPath: String, because: String)
    /// The file was made by another program, or by a newer version of this library: it is left as
    /// it is, and nothing is kept in it.
    case foreign(path: String, because: String)
    /// The file cannot be used now (no room, no right, locked): what comes for a minute is not kept
    /// in it, then it is tried again. Told once until it works again.
    case quiet(path: String, because: String)
    /// It works again.
    case recovered(path: String)
    /// The writer could not keep up; told once until it has. The counts are those since the
    /// beginning.
    case fellBehind(CaptureCounts)

    /// A bounded label, safe in metrics and JSON.
    public var label: String {
        switch self {
        case .setAside: "set_aside"
        case .foreign: "foreign"
        case .quiet: "quiet"
        case .recovered: "recovered"
        case .fellBehind: "fell_behind"
        }
    }

    public var description: String {
        switch self {
        case .setAside(let path, let newPath, let why):
            "the capture \(path) was damaged (\(why)); it is now \(newPath), and a new one was begun"
        case .foreign(let path, let why):
            "the capture \(path) is not used: \(why); name another file, or remove it"
        case .quiet(let path, let why): "the capture \(path) cannot be used for now: \(why)"
        case .recovered(let path): "the capture \(path) works again"
        case .fellBehind(let counts):
            "the capture cannot keep up: \(counts.droppedRecords) records and "
                + "\(counts.droppedBodies) bodies were dropped so far"
        }
    }
}

/// What a ``Capture`` has done since it was made.
public struct CaptureCounts: Sendable, Hashable {
    /// Records that ended and were passed on.
    public internal(set) var records: Int64 = 0
    /// Records that were lost because the writer could not keep up, or the file could not be used.
    public internal(set) var droppedRecords: Int64 = 0
    /// Bodies that are short because the writer could not keep up.
    public internal(set) var droppedBodies: Int64 = 0
    /// Events that a slow listener of ``Capture/events(holding:)`` did not get.
    public internal(set) var missedEvents: Int64 = 0

    public init() {}
}

/// A record as it grows.
public enum CaptureEvent: Sendable, Hashable {
    /// The request has begun.
    case began(CaptureRecord)
    /// The head of the answer is there.
    case answered(CaptureRecord)
    /// It is over; the record is whole.
    case ended(CaptureRecord)

    /// The record so far.
    public var record: CaptureRecord {
        switch self {
        case .began(let record), .answered(let record), .ended(let record): record
        }
    }
}
