internal import HTTPDNSExchange
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTransport
internal import HTTPDNSTrust

// What a transfer of an exchange says.
extension ExchangeDriver {
    func heard(
        _ generation: UInt64, _ event: (inout State, Monotonic) -> [ExchangeMachine.Action]
    ) {
        step { state, now in
            state.generation == generation ? event(&state, now) : []
        }
    }

    /// The same for what needs no clock.
    func told(_ generation: UInt64, _ event: (inout State) -> [ExchangeMachine.Action]) {
        let actions = state.withLock { $0.generation == generation ? event(&$0) : [] }
        perform(actions)
    }

    fileprivate func verified(
        _ generation: UInt64, _ peer: VerifiedPeer?, _ connection: ConnectionFacts
    ) {
        told(generation) { state in
            // Before this gate nothing is read from the source of the body.
            state.isBodyTouched = true
            state.machine.verified(peer, connection: connection)
            return []
        }
        // A connection is reported once, however many requests it carries.
        if !connection.isReused, let peer, case .mismatched(let mismatch) = peer.pinning {
            sighted(generation, mismatch, peer.chain, connection.remote.address, refusal: nil)
        }
    }

    /// Tells the observer of pins, with what the exchange knows of the way.
    private func sighted(
        _ generation: UInt64, _ mismatch: PinMismatch, _ chain: [CertificateFacts],
        _ address: IPAddress?, refusal: TrustFailure.Code?
    ) {
        guard let observer = client.parts.pinObserver else { return }
        let hop = state.withLock {
            $0.generation == generation ? $0.machine.reportSoFar.hops.last : nil
        }
        guard let hop else { return }
        observer.sighted(
            PinSighting(
                host: hop.url.origin.host, port: hop.url.origin.port, address: address,
                giver: hop.resolution?.source.resolver, mismatch: mismatch, chain: chain,
                refusal: refusal))
    }

    fileprivate func mayRepeat(
        _ generation: UInt64, after loss: RequestLoss, _ remote: IPAddress?
    ) -> Bool {
        state.withLock {
            $0.generation == generation && $0.machine.mayRepeat(after: loss, remote: remote)
        }
    }

    fileprivate func received(_ generation: UInt64, interim head: ResponseHead) {
        guard state.withLock({ $0.generation == generation && !$0.isOver }) else { return }
        observer.exchange(interim: head)
    }

    fileprivate func received(_ generation: UInt64, _ head: ResponseHead) {
        told(generation) { $0.machine.received(head) }
    }

    fileprivate func received(_ generation: UInt64, body: UnsafeRawBufferPointer) -> Flow {
        let use = state.withLock { state -> ExchangeMachine.BodyUse in
            guard state.generation == generation else { return .discard }
            let use = state.machine.bodyUse
            if use == .hold {
                state.held += body
                state.isHeldBack = true
            }
            return use
        }
        switch use {
        case .deliver: return observer.exchange(received: body)
        case .discard: return .more
        case .hold: return .pause
        }
    }

    fileprivate func finished(
        _ generation: UInt64, _ result: Result<TransferFacts, TransportFailure>,
        _ failed: FailedAddresses
    ) {
        let remote = failed.remote
        let (feedback, isDrained) = state.withLock {
            $0.generation == generation ? ($0.feedback, $0.drainAlarm != nil) : (nil, false)
        }
        if isDrained { drained() }
        feedback?.tell(client.resolver, result, failed)
        if case .failure(.untrusted(let failure)) = result, let mismatch = failure.facts.mismatch {
            sighted(generation, mismatch, failure.facts.chain, remote, refusal: failure.code)
        }
        heard(generation) { state, now in
            state.transfer = nil
            state.finishedGeneration = generation
            // A cancel was for the transfer that is over; one from now on is for the next.
            state.isCancelPending = false
            return state.machine.finished(result, failed, now: now)
        }
    }
}

/// Passes on what one transfer says, with the generation it belongs to.
final class TransferListener: TransferObserver, @unchecked Sendable {
    // Safety: `failed` is touched where the transfer's events come, one at a time.
    private let driver: ExchangeDriver
    private let generation: UInt64
    private let sending: (head: RequestHead, framing: SentFraming)?
    private var failed = FailedAddresses()

    /// - Parameter sending: what goes out; nil: nothing does.
    init(
        driver: ExchangeDriver, generation: UInt64,
        sending: (head: RequestHead, framing: SentFraming)? = nil
    ) {
        self.driver = driver
        self.generation = generation
        self.sending = sending
    }

    func sends(_ fields: HTTPFields) {
        guard let sending else { return }
        driver.observer.exchange(sends: fields, in: sending.framing, of: sending.head)
    }

    func verified(_ peer: VerifiedPeer?, connection: ConnectionFacts) {
        driver.verified(generation, peer, connection)
    }

    func mayRepeat(after loss: RequestLoss, sentTo remote: Endpoint?) -> Bool {
        driver.mayRepeat(generation, after: loss, remote?.address)
    }

    func received(interim head: ResponseHead) { driver.received(generation, interim: head) }

    func received(_ head: ResponseHead) { driver.received(generation, head) }

    func brokeOff(_ facts: TransferFacts) { driver.brokeOff(generation, facts) }

    func received(body: UnsafeRawBufferPointer) -> Flow {
        driver.received(generation, body: body)
    }

    func failed(at remote: Endpoint) { failed.remote = remote.address }

    func passedOver(_ addresses: [PassedOver]) { failed.before = addresses }

    func finished(_ result: Result<TransferFacts, TransportFailure>) {
        driver.finished(generation, result, failed)
    }
}
