package import HTTPDNSLookup
package import HTTPDNSNames

/// Decides which questions go into one request. Does no I/O.
///
/// Questions that differ in name and type alone are gathered for a moment; a full batch goes at once:
///
///     gathering ── window over, or full ──▶ under way ── answered ──▶ gone
///         └─────────── nobody waits any more ──┴──────────────────────▶ gone
///
/// Rules:
/// 1. A question that stands in the batch already is asked once, and answered to all who asked.
/// 2. A waiter may leave at any moment; when the last one has left, the request is stopped.
/// 3. The request may take as long as the most patient waiter of its batch.
/// 4. What comes for a batch or waiter that is gone is ignored.
package struct BatchGathering: Sendable {
    package struct BatchID: Sendable, Hashable {
        package let number: UInt64
    }

    package struct WaiterID: Sendable, Hashable {
        package let number: UInt64

        package init(number: UInt64) { self.number = number }
    }

    package enum Action: Sendable, Hashable {
        /// Call ``windowEnded(_:)`` then.
        case armWindow(BatchID, at: Monotonic)
        case send(BatchID, [Question], deadline: Monotonic)
        /// Nobody waits for the request any more.
        case stop(BatchID)
    }

    private struct Batch {
        let kind: QuestionKind
        var questions: [Question] = []
        var waiters: [WaiterID: Question] = [:]
        var deadline = Monotonic.zero
        var isUnderWay = false
    }

    private let batching: Batching
    private let windowMilliseconds: Int64
    private var batches: [BatchID: Batch] = [:]
    private var gathering: [QuestionKind: BatchID] = [:]
    private var lastNumber: UInt64 = 0

    package init(_ batching: Batching, windowMilliseconds: Int64) {
        self.batching = batching
        self.windowMilliseconds = windowMilliseconds
    }

    /// Somebody asks.
    package mutating func asked(
        _ question: Question, by waiter: WaiterID, deadline: Monotonic, now: Monotonic
    ) -> [Action] {
        let kind = QuestionKind(question)
        if let id = gathering[kind], var batch = batches[id], fits(question, batch) {
            Self.add(question, waiter, deadline, to: &batch)
            batches[id] = batch
            return isFull(batch) ? send(id) : []
        }
        // One that does not fit sends what was gathered, and begins anew.
        var actions = gathering[kind].map { send($0) } ?? []
        lastNumber &+= 1
        let id = BatchID(number: lastNumber)
        var batch = Batch(kind: kind)
        Self.add(question, waiter, deadline, to: &batch)
        batches[id] = batch
        gathering[kind] = id
        if isFull(batch) {
            actions += send(id)
        } else {
            actions.append(.armWindow(id, at: now.adding(milliseconds: windowMilliseconds)))
        }
        return actions
    }

    /// The window of a batch is over.
    package mutating func windowEnded(_ id: BatchID) -> [Action] {
        guard let batch = batches[id], !batch.isUnderWay else { return [] }
        return send(id)
    }

    /// Nobody is there any more for that answer.
    package mutating func left(_ waiter: WaiterID) -> [Action] {
        for (id, batch) in batches where batch.waiters[waiter] != nil {
            var batch = batch
            let question = batch.waiters.removeValue(forKey: waiter)
            guard !batch.waiters.isEmpty else {
                remove(id, batch)
                return batch.isUnderWay ? [.stop(id)] : []
            }
            if !batch.isUnderWay, !batch.waiters.values.contains(where: { $0 == question }) {
                batch.questions.removeAll { $0 == question }
            }
            batches[id] = batch
            return []
        }
        return []
    }

    /// The request of a batch has ended: who waits, for the answer to which question.
    package mutating func answered(_ id: BatchID) -> [WaiterID: Question] {
        guard let batch = batches[id], batch.isUnderWay else { return [:] }
        remove(id, batch)
        return batch.waiters
    }

    /// False when nobody waits for that request any more.
    package func isWanted(_ id: BatchID) -> Bool { batches[id] != nil }

    private mutating func send(_ id: BatchID) -> [Action] {
        guard var batch = batches[id] else { return [] }
        batch.isUnderWay = true
        batches[id] = batch
        gathering[batch.kind] = nil
        return [.send(id, batch.questions, deadline: batch.deadline)]
    }

    private mutating func remove(_ id: BatchID, _ batch: Batch) {
        batches[id] = nil
        if gathering[batch.kind] == id { gathering[batch.kind] = nil }
    }

    private static func add(
        _ question: Question, _ waiter: WaiterID, _ deadline: Monotonic, to batch: inout Batch
    ) {
        if !batch.questions.contains(question) { batch.questions.append(question) }
        batch.waiters[waiter] = question
        batch.deadline = max(batch.deadline, deadline)
    }

    private func fits(_ question: Question, _ batch: Batch) -> Bool {
        let names = Set(batch.questions.map(\.name))
        guard names.contains(question.name) || names.count < batching.maximumNames else {
            return false
        }
        return batching.joinsFamilies
            || batch.questions.allSatisfy { $0.type == question.type }
    }

    /// Full is what cannot grow: as many names as fit, each with both families.
    private func isFull(_ batch: Batch) -> Bool {
        let families = batching.joinsFamilies ? 2 : 1
        return batch.questions.count >= batching.maximumNames * families
    }
}

/// What questions of one request share.
private struct QuestionKind: Sendable, Hashable {
    let wantsDNSSEC: Bool
    let wantsRecursion: Bool
    let clientSubnet: AddressBlock?
    let serviceParameters: ServiceParameters

    init(_ question: Question) {
        wantsDNSSEC = question.wantsDNSSEC
        wantsRecursion = question.wantsRecursion
        clientSubnet = question.clientSubnet
        serviceParameters = question.serviceParameters
    }
}
