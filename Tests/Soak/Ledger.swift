import HTTPDNSNames
import HTTPDNSPlatform
import Synchronization

/// Who waits, who was told, how late, and what was wrong.
final class Ledger: Sendable {
    private struct State {
        var lastNumber: UInt64 = 0
        var waiting: [UInt64: String] = [:]
        var begun = 0
        var told = 0
        var outcomes: [String: Int] = [:]
        var latency = Spread()
        var lateness = Spread()
        var recent = Spread()
        var recentOutcomes: [String: Int] = [:]
        var notes: [String: Int] = [:]
        var faults: [String] = []
        var faultCount = 0
    }

    private let state = Locked(State())
    private let clock = SystemMonotonicClock()
    private let allowedMilliseconds: Int64
    private let metronome: Metronome

    init(allowedMilliseconds: Int64, metronome: Metronome) {
        self.allowedMilliseconds = allowedMilliseconds
        self.metronome = metronome
    }

    /// Somebody begins to wait.
    func begin(_ what: @autoclosure () -> String, patienceMilliseconds: Int64) -> Ticket {
        let what = what()
        let number = state.withLock { state in
            state.lastNumber += 1
            state.begun += 1
            state.waiting[state.lastNumber] = what
            return state.lastNumber
        }
        return Ticket(
            number: number, what: what, begun: clock.now(), patience: patienceMilliseconds,
            ledger: self)
    }

    fileprivate func told(_ ticket: Ticket, _ outcome: String, isFirst: Bool) {
        guard isFirst else { return fault("told twice: \(ticket.what), then \(outcome)") }
        let took = clock.now().nanoseconds - ticket.begun.nanoseconds
        let late = took / 1_000_000 - ticket.patience
        state.withLock { state in
            state.waiting[ticket.number] = nil
            state.told += 1
            state.outcomes[outcome, default: 0] += 1
            state.recentOutcomes[outcome, default: 0] += 1
            state.latency.add(microseconds: took / 1_000)
            state.recent.add(microseconds: took / 1_000)
            if late > 0 { state.lateness.add(microseconds: late * 1_000) }
        }
        guard late > allowedMilliseconds else { return }
        // From the alarm to the waiter it takes three threads that the machine may be late to wake.
        if late <= allowedMilliseconds + 3 * metronome.worstLately {
            note("late with the machine")
        } else {
            fault("told \(late) ms after its patience of \(ticket.patience) ms: \(ticket.what)")
        }
    }

    /// Something that must not be.
    func fault(_ what: String) {
        state.withLock { state in
            state.faultCount += 1
            if state.faults.count < Ledger.faultsShown { state.faults.append(what) }
        }
    }

    /// Something that may be, and is counted.
    func note(_ what: String) { state.withLock { $0.notes[what, default: 0] += 1 } }

    private static let faultsShown = 20

    var begun: Int { state.withLock { $0.begun } }
    var told: Int { state.withLock { $0.told } }
    var outcomes: [String: Int] { state.withLock { $0.outcomes } }
    var latency: Spread { state.withLock { $0.latency } }
    var lateness: Spread { state.withLock { $0.lateness } }
    var notes: [String: Int] { state.withLock { $0.notes } }
    var faults: (shown: [String], count: Int) { state.withLock { ($0.faults, $0.faultCount) } }
    /// Some of those who still wait.
    var waiting: [String] { state.withLock { Array($0.waiting.values.prefix(10)) } }

    /// What happened since this was asked last.
    func takeRecent() -> (Spread, [String: Int]) {
        state.withLock { state in
            defer {
                state.recent = Spread()
                state.recentOutcomes = [:]
            }
            return (state.recent, state.recentOutcomes)
        }
    }
}

/// One who waits.
final class Ticket: Sendable {
    let number: UInt64
    let what: String
    let begun: Monotonic
    let patience: Int64
    private let ledger: Ledger
    private let tellings = Atomic<Int>(0)

    fileprivate init(
        number: UInt64, what: String, begun: Monotonic, patience: Int64, ledger: Ledger
    ) {
        self.number = number
        self.what = what
        self.begun = begun
        self.patience = patience
        self.ledger = ledger
    }

    func told(_ outcome: String) {
        let before = tellings.add(1, ordering: .relaxed).oldValue
        ledger.told(self, outcome, isFirst: before == 0)
    }
}

/// A histogram whose buckets are a sixteenth of their value wide.
struct Spread: Sendable {
    private var buckets = [Int](repeating: 0, count: 1_024)
    private(set) var count = 0
    private(set) var largestMicroseconds: Int64 = 0

    mutating func add(microseconds: Int64) {
        let value = max(0, microseconds)
        buckets[Spread.bucket(value)] += 1
        count += 1
        largestMicroseconds = max(largestMicroseconds, value)
    }

    /// The lower edge of the bucket below which so many of a thousand are.
    func microseconds(perMille: Int) -> Int64 {
        var left = count * perMille / 1_000
        for (at, members) in buckets.enumerated() {
            left -= members
            if left < 0 { return Spread.edge(at) }
        }
        return largestMicroseconds
    }

    var text: String {
        [500, 900, 990, 999].map { "p\($0 % 10 == 0 ? $0 / 10 : $0) \(show(perMille: $0))" }
            .joined(separator: ", ") + ", largest \(Spread.milliseconds(largestMicroseconds)) ms"
    }

    func show(perMille: Int) -> String {
        Spread.milliseconds(microseconds(perMille: perMille)) + " ms"
    }

    static func milliseconds(_ microseconds: Int64) -> String {
        "\(microseconds / 1_000).\(microseconds / 100 % 10)"
    }

    private static func bucket(_ value: Int64) -> Int {
        guard value >= 16 else { return Int(value) }
        let exponent = 63 - value.leadingZeroBitCount
        return (exponent - 3) * 16 + Int(value >> (Int64(exponent) - 4) & 15)
    }

    private static func edge(_ bucket: Int) -> Int64 {
        guard bucket >= 16 else { return Int64(bucket) }
        let exponent = Int64(bucket / 16 + 3)
        return 1 << exponent + Int64(bucket % 16) << (exponent - 4)
    }
}
