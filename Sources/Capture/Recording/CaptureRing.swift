internal import HTTPDNSPlatform

/// The last records.
///
/// Most are never asked for: what a request leaves is kept as it came, on the thread that brings it, and
/// read, its secrets taken out, when somebody asks. Until then it is in no other form than the
/// application's own memory has it.
final class CaptureRing: Sendable {
    /// Which records are forgotten.
    enum Part: Sendable {
        /// All that are here.
        case all
        /// Those that the capture's thread has brought.
        case fromThread
    }

    private enum Slot: Sendable {
        case record(CaptureRecord)
        case draft(SentDraft)
        /// One that was a draft.
        case read(CaptureRecord)

        var record: CaptureRecord? {
            switch self {
            case .record(let record), .read(let record): record
            case .draft: nil
            }
        }
    }

    private struct State: Sendable {
        var slots: [Slot] = []
        /// Where the next one goes, once all slots are taken.
        var next = 0
        /// Drafts that came here by themselves.
        var directRecords: Int64 = 0
    }

    private let capacity: Int
    private let redaction: CaptureRedaction
    private let state = Locked(State())

    init(_ capacity: Int, _ redaction: CaptureRedaction) {
        self.capacity = max(0, capacity)
        self.redaction = redaction
    }

    var isWanted: Bool { capacity > 0 }

    /// How many came without the capture's thread.
    var directRecords: Int64 { state.withLock { $0.directRecords } }

    /// Oldest first.
    var records: [CaptureRecord] {
        let slots = state.withLock { Array($0.slots[$0.next...] + $0.slots[..<$0.next]) }
        let reader = DraftReader(Redactor(redaction))
        var read: [ObjectIdentifier: CaptureRecord] = [:]
        let records = slots.map { slot in
            switch slot {
            case .record(let record), .read(let record): return record
            case .draft(let sent):
                var bodies = BodyStreams()
                let record = reader.whole(reader.read(sent), &bodies)
                read[sent.id] = record
                return record
            }
        }
        if !read.isEmpty { keep(read) }
        return records
    }

    /// What was read need not be read again.
    private func keep(_ read: [ObjectIdentifier: CaptureRecord]) {
        state.withLock { state in
            for place in state.slots.indices {
                guard case .draft(let sent) = state.slots[place], let record = read[sent.id]
                else { continue }
                state.slots[place] = .read(record)
            }
        }
    }

    /// From the capture's thread.
    func add(_ record: CaptureRecord) {
        guard capacity > 0 else { return }
        add(.record(record), direct: 0)
    }

    /// From the thread on which the request ended; all its bodies must be with it.
    func add(_ draft: SentDraft) { add(.draft(draft), direct: 1) }

    private func add(_ slot: Slot, direct: Int64) {
        // What it takes the place of goes when the lock is free again.
        let old = state.withLock { state -> Slot? in
            state.directRecords += direct
            guard state.slots.count >= capacity else {
                state.slots.append(slot)
                return nil
            }
            var old = slot
            swap(&old, &state.slots[state.next])
            state.next = (state.next + 1) % capacity
            return old
        }
        withExtendedLifetime(old) {}
    }

    func clear(_ part: Part) {
        state.withLock { state in
            let slots = Array(state.slots[state.next...] + state.slots[..<state.next])
            state.next = 0
            state.slots = slots.filter { slot in
                switch (part, slot) {
                case (.all, _), (.fromThread, .record): false
                case (.fromThread, .draft), (.fromThread, .read): true
                }
            }
        }
    }
}
