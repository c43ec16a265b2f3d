internal import Foundation
internal import FoundationNetworking
internal import HTTPDNSClient
internal import HTTPDNSExchange
internal import HTTPDNSPlatform

/// One task being answered: takes the exchange's events from the transport's thread to the work queue.
///
/// Rules:
/// 1. Everything that Foundation is told is told on the task's work queue.
/// 2. After a stop nothing is told; while the task is suspended, events wait.
/// 3. Exactly one end is told.
final class Loading: ExchangeObserver, @unchecked Sendable {
    // Safety: `owner`, `buffer` and `isDone` are touched on the work queue alone (`startLoading`,
    // `stopLoading` and `drain` run there); everything else is immutable or behind `state`.

    private enum Event: Sendable {
        case redirect(RedirectOffer, @Sendable (RedirectAnswer) -> Void)
        case head(ResponseHead)
        case body([UInt8])
        case ended(Result<ExchangeReport, ExchangeFailure>)
    }

    private struct State {
        var events: [Event] = []
        var isScheduled = false
        var isHeld = false
        var exchange: (any RunningExchange)?
        /// Octets handed to a delegate and not yet consumed, or waiting to be handed over.
        var pending = 0
        var isPaused = false
        var isStopped = false
    }

    /// Because: the client's own streams use the same figure; see `BodyStream`.
    private static let highWaterOctets = 262_144

    private weak var owner: HTTPDNSURLProtocol?
    private let task: URLSessionTask
    private let session: URLSession
    private let queue: WorkQueue
    private let style: DeliveryStyle
    private let request: HTTPRequest
    private let installation: Installation
    private let cookies: SessionCookies
    private var buffer = Data()
    private var isDone = false
    private let state = Locked(State())

    init(
        _ owner: HTTPDNSURLProtocol, installation: Installation
    ) throws(LoadingFault) {
        guard let task = owner.task, let session = TaskInternals.session(of: task) else {
            throw .missingInternal("the task's session")
        }
        guard let queue = WorkQueue.current() else { throw .missingInternal("the work queue") }
        style = TaskInternals.style(of: task, in: session)
        guard style != .download else { throw .unsupportedTask("download tasks") }
        self.owner = owner
        self.task = task
        self.session = session
        self.queue = queue
        self.installation = installation
        let configuration = session.configuration
        cookies = SessionCookies(
            configuration, request: owner.request,
            isPublicSuffix: installation.client.parts.isPublicSuffix)
        request = try RequestReading(
            task, owner.request, configuration, cookies: cookies,
            toASCII: installation.client.parts.toASCII
        ).request
        if style == .whole { TaskInternals.resumeOffQueue(task) }
    }

    func start() {
        let exchange = installation.client.start(request, observer: self, cookies: cookies)
        let isStopped = state.withLock { state in
            state.exchange = state.isStopped ? nil : exchange
            return state.isStopped
        }
        if isStopped { exchange.cancel() }
    }

    func hold() { state.withLock { $0.isHeld = true } }

    func goOn() {
        state.withLock { $0.isHeld = false }
        schedule()
    }

    func stop() {
        isDone = true
        let exchange = state.withLock { state in
            state.isStopped = true
            state.events = []
            defer { state.exchange = nil }
            return state.exchange
        }
        exchange?.cancel()
    }

    // MARK: On the transport's thread

    func exchange(
        offers redirect: RedirectOffer, answer: @escaping @Sendable (RedirectAnswer) -> Void
    ) {
        post(.redirect(redirect, answer))
    }

    func exchange(received head: ResponseHead, report: ExchangeReport) { post(.head(head)) }

    func exchange(received body: UnsafeRawBufferPointer) -> Flow {
        let octets = [UInt8](body)
        let flow = state.withLock { state -> Flow in
            state.events.append(.body(octets))
            state.pending += octets.count
            let isFull = style == .delegate && state.pending >= Loading.highWaterOctets
            state.isPaused = isFull
            return isFull ? .pause : .more
        }
        schedule()
        return flow
    }

    func exchange(ended result: Result<ExchangeReport, ExchangeFailure>) {
        state.withLock { $0.exchange = nil }
        post(.ended(result))
    }

    private func post(_ event: Event) {
        state.withLock { $0.events.append(event) }
        schedule()
    }

    private func schedule() {
        let isFirst = state.withLock { state in
            guard !state.isScheduled, !state.events.isEmpty else { return false }
            state.isScheduled = true
            return true
        }
        if isFirst { queue.async { self.drain() } }
    }

    // MARK: On the work queue

    private func drain() {
        while let event = next() { deliver(event) }
    }

    private func next() -> Event? {
        state.withLock { state in
            guard !state.isHeld, !state.isStopped, !state.events.isEmpty else {
                state.isScheduled = false
                return nil
            }
            return state.events.removeFirst()
        }
    }

    private func deliver(_ event: Event) {
        guard !isDone, let owner else { return }
        switch event {
        case .redirect(let offer, let answer):
            RedirectAsking(task: task, session: session).ask(offer, answer)
        case .head(let head):
            guard let response = ResponseWriting.response(head) else {
                stop()
                owner.fail(
                    URLError.make(.cannotParseResponse, nil, "Foundation refuses this response"))
                return
            }
            owner.receive(response)
        case .body(let octets):
            switch style {
            case .delegate:
                owner.receive(Data(octets))
                afterDelegate { self.consumed(octets.count) }
            case .whole, .download: buffer.append(contentsOf: octets)
            }
        case .ended(.success):
            isDone = true
            if !buffer.isEmpty { owner.receive(buffer) }
            owner.finish()
        case .ended(.failure(let failure)):
            isDone = true
            owner.fail(failure.urlError)
        }
    }

    /// Runs after what was just handed over has been seen by the delegate: its queue is serial.
    private func afterDelegate(_ work: @escaping @Sendable () -> Void) {
        session.delegateQueue.addOperation(work)
    }

    private func consumed(_ octets: Int) {
        let exchange = state.withLock { state -> (any RunningExchange)? in
            state.pending -= octets
            guard state.isPaused, state.pending < Loading.highWaterOctets / 2 else { return nil }
            state.isPaused = false
            return state.exchange
        }
        exchange?.resumeBody()
    }
}
