package import HTTPDNSExchange
internal import HTTPDNSPlatform
package import HTTPDNSTrust

/// A whole response in memory: for answers that are small and wanted at once.
package struct CollectedResponse: Sendable {
    package let head: ResponseHead
    package let body: [UInt8]
    /// The proof of the peer's identity; nil for plain `http`.
    package let peer: VerifiedPeer?
    package let facts: TransferFacts

    package init(
        head: ResponseHead, body: [UInt8], peer: VerifiedPeer? = nil,
        facts: TransferFacts = TransferFacts()
    ) {
        self.head = head
        self.body = body
        self.peer = peer
        self.facts = facts
    }
}

extension Transport {
    /// Performs one exchange and collects its response.
    ///
    /// Ends by the request's deadline. When the calling task is cancelled, the exchange ends and
    /// ``TransportFailure/cancelled`` is thrown.
    ///
    /// - Throws: ``TransportFailure``; `bodyTooLarge` once more than `maximumBodyOctets` came.
    package func collect(
        _ request: TransportRequest, maximumBodyOctets: Int
    ) async throws(TransportFailure) -> CollectedResponse {
        var limited = request
        let cap = Int64(maximumBodyOctets)
        limited.limits.maximumBodyOctets = min(limited.limits.maximumBodyOctets ?? cap, cap)
        let collector = ResponseCollector(maximumBodyOctets: maximumBodyOctets)
        let prepared = limited
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard collector.begin(continuation) else { return }
                collector.attach(start(prepared, observer: collector))
            }
        } onCancel: {
            collector.cancel()
        }
        return try result.get()
    }
}

/// Gathers what the transport tells, and answers its one waiter once.
///
/// `waiting` until `finished` or a cancel before the start; a cancel while running goes to the
/// transfer, which then finishes by itself. Whatever comes after the end is ignored.
private final class ResponseCollector: TransferObserver {
    typealias Outcome = Result<CollectedResponse, TransportFailure>

    private struct State {
        var waiter: CheckedContinuation<Outcome, Never>?
        var transfer: Transfer?
        var isCancelled = false
        var isFinished = false
        var isTooLarge = false
        var head: ResponseHead?
        var body: [UInt8] = []
        var peer: VerifiedPeer?
    }

    private let state = Locked(State())
    private let maximumBodyOctets: Int

    init(maximumBodyOctets: Int) { self.maximumBodyOctets = maximumBodyOctets }

    /// Takes the waiter; false when the task was cancelled before, and the waiter has its answer.
    func begin(_ waiter: CheckedContinuation<Outcome, Never>) -> Bool {
        let mayStart = state.withLock { state in
            guard !state.isCancelled else { return false }
            state.waiter = waiter
            return true
        }
        if !mayStart { waiter.resume(returning: .failure(.cancelled)) }
        return mayStart
    }

    /// Remembers the running transfer, or ends it when a cancel came in between.
    func attach(_ transfer: Transfer) {
        let mustEnd = state.withLock { state in
            if !state.isFinished { state.transfer = transfer }
            return state.isCancelled || state.isTooLarge
        }
        if mustEnd { transfer.cancel() }
    }

    func cancel() {
        let transfer = state.withLock { state in
            state.isCancelled = true
            return state.transfer
        }
        transfer?.cancel()
    }

    func verified(_ peer: VerifiedPeer?, connection: ConnectionFacts) {
        state.withLock { $0.peer = peer }
    }

    func received(_ head: ResponseHead) {
        let announced = ResponseCollector.announcedOctets(head.fields)
        let tooLarge: Transfer? = state.withLock { state in
            state.head = head
            guard announced > maximumBodyOctets else { return nil }
            // Nothing of it is worth waiting for.
            state.isTooLarge = true
            return state.transfer
        }
        tooLarge?.cancel()
    }

    func received(body: UnsafeRawBufferPointer) -> Flow {
        let tooLarge: Transfer? = state.withLock { state in
            guard !state.isTooLarge, body.count <= maximumBodyOctets - state.body.count else {
                state.isTooLarge = true
                state.body = []
                return state.transfer
            }
            state.body.append(contentsOf: body)
            return nil
        }
        tooLarge?.cancel()
        return .more
    }

    /// How long the body will be; 0 when that is not said, or is said of a coded one.
    private static func announcedOctets(_ fields: HTTPFields) -> Int {
        guard !fields.contains("Content-Encoding") else { return 0 }
        // Several are equal. Source: ``HeadReader``.
        return fields.first("Content-Length").flatMap { Int($0) } ?? 0
    }

    func finished(_ result: Result<TransferFacts, TransportFailure>) {
        let (waiter, outcome) = state.withLock { state in
            state.isFinished = true
            state.transfer = nil
            let waiter = state.waiter
            state.waiter = nil
            return (waiter, ResponseCollector.outcome(state, result))
        }
        waiter?.resume(returning: outcome)
    }

    private static func outcome(
        _ state: State, _ result: Result<TransferFacts, TransportFailure>
    ) -> Outcome {
        if state.isTooLarge { return .failure(.bodyTooLarge) }
        switch result {
        case .failure(let failure): return .failure(failure)
        case .success(let facts):
            guard let head = state.head else {
                return .failure(.unexpected("an exchange ended well without a response head"))
            }
            return .success(
                CollectedResponse(
                    head: head, body: state.body, peer: state.peer, facts: facts))
        }
    }
}
