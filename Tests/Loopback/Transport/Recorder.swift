import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSTransport
import HTTPDNSTrust

/// An observer that keeps what it is told and lets tests wait for a stage.
final class Recorder: TransferObserver {
    struct Story: Sendable {
        var connections: [ConnectionFacts] = []
        var peers: [VerifiedPeer?] = []
        var interim: [ResponseHead] = []
        var heads: [ResponseHead] = []
        var bodyOctets = 0
        var body: [UInt8] = []
        var results: [Result<TransferFacts, TransportFailure>] = []
        var failedAt: [Endpoint] = []
        var passedOver: [PassedOver] = []
        var callsAfterEnd = 0

        var head: ResponseHead? { heads.first }
        var text: String { String(decoding: body, as: UTF8.self) }
        var failure: TransportFailure? {
            if case .failure(let failure)? = results.first { failure } else { nil }
        }
        var facts: TransferFacts? {
            if case .success(let facts)? = results.first { facts } else { nil }
        }
    }

    private struct State {
        var story = Story()
        var transfer: Transfer?
        var waiting: [(isMet: @Sendable (Story) -> Bool, wake: CheckedContinuation<Story, Never>)] =
            []
    }

    private let state = Locked(State())
    private let keepsBody: Bool
    private let onHead: (@Sendable () -> Void)?
    private let onBody: @Sendable (Int) -> Flow

    /// `onBody` is given the octets of the chunk.
    init(
        keepsBody: Bool = true, onBody: @escaping @Sendable (Int) -> Flow = { _ in .more },
        onHead: (@Sendable () -> Void)? = nil
    ) {
        self.keepsBody = keepsBody
        self.onHead = onHead
        self.onBody = onBody
    }

    var story: Story { state.withLock { $0.story } }

    /// Waits until the story meets a condition, or is over: then it never will.
    func wait(until isWanted: @escaping @Sendable (Story) -> Bool) async -> Story {
        let isMet: @Sendable (Story) -> Bool = { isWanted($0) || !$0.results.isEmpty }
        return await withCheckedContinuation { continuation in
            let now: Story? = state.withLock { state in
                guard isMet(state.story) else {
                    state.waiting.append((isMet, continuation))
                    return nil
                }
                return state.story
            }
            if let now { continuation.resume(returning: now) }
        }
    }

    func end() async -> Story { await wait { !$0.results.isEmpty } }

    func verified(_ peer: VerifiedPeer?, connection: ConnectionFacts) {
        change {
            $0.connections.append(connection)
            $0.peers.append(peer)
        }
    }

    func received(interim head: ResponseHead) { change { $0.interim.append(head) } }

    func received(_ head: ResponseHead) {
        change { $0.heads.append(head) }
        onHead?()
    }

    func received(body: UnsafeRawBufferPointer) -> Flow {
        let octets = keepsBody ? Array(body) : []
        let count = body.count
        change {
            $0.bodyOctets += count
            $0.body += octets
        }
        return onBody(count)
    }

    func failed(at remote: Endpoint) { change { $0.failedAt.append(remote) } }

    func passedOver(_ addresses: [PassedOver]) { change { $0.passedOver += addresses } }

    func finished(_ result: Result<TransferFacts, TransportFailure>) {
        change { $0.results.append(result) }
    }

    private func change(_ body: @Sendable (inout Story) -> Void) {
        let met: [(CheckedContinuation<Story, Never>, Story)] = state.withLock { state in
            if !state.story.results.isEmpty { state.story.callsAfterEnd += 1 }
            body(&state.story)
            let story = state.story
            let met = state.waiting.filter { $0.isMet(story) }
            state.waiting.removeAll { $0.isMet(story) }
            return met.map { ($0.wake, story) }
        }
        for (continuation, story) in met { continuation.resume(returning: story) }
    }
}
