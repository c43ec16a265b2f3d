internal import HTTPDNSClient
internal import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// One plain request on its way through the library's client; tells the proxy's thread what comes.
///
/// The transport is paused while more than ``highWaterOctets`` of the body wait for the client.
final class OriginExchange: ExchangeObserver {
    private struct State {
        var hold = ExchangeHold()
        var waitingOctets = 0
        var isPaused = false
        var localRefusal: Refusal?
    }

    private let turn: Turn
    private let desk: ProxyDesk
    private let state = Locked(State())

    init(turn: Turn, desk: ProxyDesk) {
        self.turn = turn
        self.desk = desk
    }

    /// The host leads to this machine alone, and clients are not to be led here.
    var localRefusal: Refusal? { state.withLock { $0.localRefusal } }

    func start(_ request: HTTPRequest) {
        var request = request
        let (rules, port) = (desk.rules, request.head.url.origin.port)
        request.screen = { [weak self] found in
            do throws(Refusal) { return try rules.screened(found, port) } catch {
                self?.state.withLock { $0.localRefusal = error }
                return nil
            }
        }
        let exchange = desk.client.start(request, observer: self)
        state.withLock { $0.hold.take(exchange) }?.cancel()
    }

    func cancel() { state.withLock { $0.hold.cancel() }?.cancel() }

    /// The client has taken so many octets of the body.
    func drained(_ octets: Int) {
        let exchange = state.withLock { state -> (any RunningExchange)? in
            state.waitingOctets -= octets
            guard state.isPaused, state.waitingOctets < OriginExchange.highWaterOctets / 2 else {
                return nil
            }
            state.isPaused = false
            return state.hold.exchange
        }
        exchange?.resumeBody()
    }

    func exchange(
        offers redirect: RedirectOffer, answer: @escaping @Sendable (RedirectAnswer) -> Void
    ) {
        answer(.deliver)
    }

    func exchange(interim head: ResponseHead) { desk.tell(turn, .hinted(head)) }

    func exchange(received head: ResponseHead, report: ExchangeReport) {
        desk.tell(turn, .responded(head, report))
    }

    func exchange(received body: UnsafeRawBufferPointer) -> Flow {
        let octets = Array(body)
        let flow = state.withLock { state in
            state.waitingOctets += octets.count
            state.isPaused = state.waitingOctets >= OriginExchange.highWaterOctets
            return state.isPaused ? Flow.pause : .more
        }
        desk.tell(turn, .body(octets))
        return flow
    }

    func exchange(ended result: Result<ExchangeReport, ExchangeFailure>) {
        state.withLock { $0.hold.end() }
        desk.tell(turn, .ended(result))
    }

    /// Because: covers the bandwidth-delay product of a 100 Mbit/s, 20 ms path.
    private static let highWaterOctets = 262_144
}

extension Refusal {
    /// Why the origin gave no response.
    init(_ failure: ExchangeFailure) {
        let text = failure.description
        switch failure.cause {
        case .notResolved(let why): self.init(why, failure.url.origin.host)
        case .cannotConnect:
            self.init(502, failure.label, "destination_unavailable", text)
        case .timedOut(let phase):
            self.init(
                504, failure.label,
                phase == "connect" ? "connection_timeout" : "http_response_timeout", text)
        case .connectionLost: self.init(502, failure.label, "connection_terminated", text)
        case .malformedResponse, .headTooLarge:
            self.init(502, failure.label, "http_protocol_error", text)
        case .bodySourceFailed:
            self = Refusal.request(failure.label, text).ending()
        case .unsendable: self.init(400, failure.label, "http_request_error", text)
        case .untrusted: self.init(502, failure.label, "tls_certificate_error", text)
        default: self.init(502, failure.label, "proxy_internal_error", text)
        }
    }
}
