internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// What requests leave for the capture's thread.
enum CaptureMessage: Sendable {
    case began(SentDraft)
    case answered(SentDraft)
    /// The next octets of a body that is too long to travel with its record.
    case piece(CapturePiece)
    case ended(SentDraft)
    /// Its record was turned away: what came of its bodies is of no use.
    case abandoned(Int64)
    case flush(@Sendable () -> Void)
    case clear
    /// The file is closed; nothing more goes into it.
    case close(@Sendable () -> Void)
    case stop

    /// Listeners alone want it.
    var isEventOnTheWay: Bool {
        switch self {
        case .began, .answered: true
        case .piece, .ended, .abandoned, .flush, .clear, .close, .stop: false
        }
    }

    /// Octets of bodies, unredacted.
    var octets: Int {
        switch self {
        case .piece(let piece): piece.octets.count
        case .ended(let ended): ended.octets
        case .began, .answered, .abandoned, .flush, .clear, .close, .stop: 0
        }
    }
}

/// Octets of a body under way.
struct CapturePiece: Sendable {
    let id: Int64
    let side: CaptureRecord.Side
    let form: BodyForm
    let octets: [UInt8]
}

/// The messages that wait, and what was turned away.
struct CaptureMailbox: Sendable {
    enum Outcome: Sendable {
        case taken
        case needsThread
        case refused
        /// There is room for the record, and none for its bodies.
        case bodiesRefused
    }

    private var messages: [CaptureMessage] = []
    private var waitingOctets = 0
    private var waitingRecords = 0
    private var isServed = false
    /// Somebody waits for the next message to be seen to at once.
    private var isPressing = false
    /// The thread gathers messages until that moment.
    private var gathersUntil: Monotonic?
    /// Whether the last message is to wake the thread.
    private(set) var wakes = false
    private let limits: CaptureLimits
    var counts = CaptureCounts()
    private var isBehind = false

    init(_ limits: CaptureLimits) { self.limits = limits }

    mutating func add(_ message: CaptureMessage) -> Outcome {
        wakes = false
        guard hasRoom(for: message) else { return .refused }
        if case .ended(let ended) = message, !hasRoom(forBodies: ended.octets) {
            counts.droppedBodies += 1
            return .bodiesRefused
        }
        waitingOctets += message.octets
        switch message {
        case .ended, .began, .answered: waitingRecords += 1
        case .flush, .clear, .close, .stop: isPressing = true
        case .piece, .abandoned: break
        }
        messages.append(message)
        let isFull =
            waitingOctets > limits.maximumWaitingOctets / 4
            || waitingRecords > limits.maximumWaitingRecords / 4
        if isFull { isPressing = true }
        // Else it wakes by itself, and takes all that has come together.
        wakes = isPressing || messages.count == 1
        defer { isServed = true }
        return isServed ? .taken : .needsThread
    }

    private mutating func hasRoom(for message: CaptureMessage) -> Bool {
        switch message {
        // One for each record that left pieces, and they have left the mailbox or lie in it.
        case .abandoned, .flush, .clear, .close, .stop: return true
        case .began, .answered: return waitingRecords < limits.maximumWaitingRecords / 2
        case .ended:
            guard waitingRecords < limits.maximumWaitingRecords else {
                counts.droppedRecords += 1
                return false
            }
            return true
        case .piece(let piece):
            return waitingOctets + piece.octets.count <= limits.maximumWaitingOctets
        }
    }

    /// Whether bodies of that size may still travel with their record.
    private func hasRoom(forBodies octets: Int) -> Bool {
        octets == 0 || waitingOctets + octets <= limits.maximumWaitingOctets
    }

    /// All that has come, once it is time.
    mutating func take(_ now: Monotonic, gatherMilliseconds: Int64) -> [CaptureMessage] {
        guard !messages.isEmpty else { return [] }
        if !isPressing {
            guard let until = gathersUntil else {
                gathersUntil = now.adding(milliseconds: gatherMilliseconds)
                return []
            }
            guard until <= now else { return [] }
        }
        return takeAll()
    }

    /// When ``take(_:gatherMilliseconds:)`` is to be called again without a message.
    var wakeAt: Monotonic? { messages.isEmpty ? nil : gathersUntil }

    mutating func takeAll() -> [CaptureMessage] {
        gathersUntil = nil
        isPressing = false
        waitingOctets = 0
        waitingRecords = 0
        defer { messages = [] }
        return messages
    }

    /// The thread could not be started.
    mutating func takeBack() -> [CaptureMessage] {
        isServed = false
        return takeAll()
    }

    /// False when there is no thread that would hear of it.
    mutating func stop() -> Bool {
        guard isServed else { return false }
        messages.append(.stop)
        isPressing = true
        return true
    }

    /// True when something was dropped since the last time, and for the first of a row.
    mutating func noticesFallingBehind(since earlier: CaptureCounts) -> Bool {
        let isWorse =
            counts.droppedRecords > earlier.droppedRecords
            || counts.droppedBodies > earlier.droppedBodies
        defer { isBehind = isWorse }
        return isWorse && !isBehind
    }
}
