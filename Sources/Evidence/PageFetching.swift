internal import HTTPDNSDiagnosis
internal import HTTPDNSDigest
internal import HTTPDNSExchange
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSRedaction
internal import HTTPDNSTransport
internal import HTTPDNSTrust

/// Fetches one page and keeps what is compared; follows no redirect.
struct PageFetching: Sendable {
    let transport: Transport
    /// For `https`.
    let verifier: any PeerVerifier
    let deadline: Monotonic

    func page(
        of url: HTTPURL, at addresses: [IPAddress]
    ) async -> Result<FetchEvidence.Page, FetchEvidence.Failure> {
        guard let route = Route(addresses: addresses, port: url.origin.port) else {
            return .failure(.init(reason: "\(url.origin.host) has no address here"))
        }
        var request = TransportRequest(
            origin: url.origin, route: route, method: .get, target: url.target,
            verifier: url.origin.scheme == .https ? verifier : nil, version: .http11,
            decodesContent: false)
        request.limits.deadline = deadline
        request.limits.maximumHeadOctets = PageFetching.mostHeadOctets
        try? request.fields.set("Accept-Encoding", "identity")
        let collector = PageCollector()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                collector.wait(continuation)
                collector.attach(transport.start(request, observer: collector))
            }
        } onCancel: {
            collector.stop()
        }
    }

    /// Because: a page's fields are a few kilobytes; more is no page.
    private static let mostHeadOctets = 65_536
}

/// Reads the beginning of a page, then ends the transfer.
private final class PageCollector: TransferObserver {
    typealias Outcome = Result<FetchEvidence.Page, FetchEvidence.Failure>

    private struct State {
        var waiter: CheckedContinuation<Outcome, Never>?
        var transfer: Transfer?
        var head: ResponseHead?
        var body: [UInt8] = []
        var isStopped = false
    }

    private let state = Locked(State())

    func wait(_ waiter: CheckedContinuation<Outcome, Never>) {
        state.withLock { $0.waiter = waiter }
    }

    func attach(_ transfer: Transfer) {
        let isStopped = state.withLock { state in
            state.transfer = transfer
            return state.isStopped
        }
        if isStopped { transfer.cancel() }
    }

    func stop() {
        let transfer = state.withLock { state in
            state.isStopped = true
            return state.transfer
        }
        transfer?.cancel()
    }

    func verified(_ peer: VerifiedPeer?, connection: ConnectionFacts) {}

    func received(_ head: ResponseHead) { state.withLock { $0.head = head } }

    func received(body: UnsafeRawBufferPointer) -> Flow {
        let isEnough = state.withLock { state in
            let room = PageCollector.mostBodyOctets - state.body.count
            state.body.append(contentsOf: body.prefix(max(room, 0)))
            return state.body.count >= PageCollector.mostBodyOctets
        }
        if isEnough { stop() }
        return .more
    }

    func finished(_ result: Result<TransferFacts, TransportFailure>) {
        let (waiter, outcome) = state.withLock { state in
            let waiter = state.waiter
            state.waiter = nil
            return (waiter, PageCollector.outcome(state, result))
        }
        waiter?.resume(returning: outcome)
    }

    private static func outcome(
        _ state: State, _ result: Result<TransferFacts, TransportFailure>
    ) -> Outcome {
        let isWhole = state.body.count >= mostBodyOctets
        if case .failure(let failure) = result, !(isWhole && state.head != nil) {
            return .failure(.init(reason: TextRedactor().text("\(QueryFailure(failure))")))
        }
        guard let head = state.head else { return .failure(.init(reason: "no response")) }
        var names: [String] = []
        for field in head.fields.fields {
            let name = field.name.lowercased()
            if !names.contains(name), names.count < mostFields { names.append(name) }
        }
        let redactor = TextRedactor()
        // Redacted before it is cut: what is left of a cut name would be judged by itself.
        let location = head.fields.first("Location").map {
            String(redactor.url($0).prefix(longestLocation))
        }
        return .success(
            FetchEvidence.Page(
                status: head.status, location: location, fieldNames: names,
                bodyOctets: state.body.count,
                bodyDigest: (try? Digest.sha256(state.body)) ?? [],
                date: ToldTime(
                    date: head.fields.first("Date").flatMap { CookieDate.parse($0) },
                    age: head.fields.first("Age"))?.time,
                excerpt: Array(state.body.prefix(excerptOctets))))
    }

    /// Because: longer ones are no addresses that a person could read.
    private static let longestLocation = 2_000
    /// Because: enough to see an injected script or a login form; a whole page may be anything.
    private static let mostBodyOctets = 65_536
    /// Because: what a person reads to see what it is.
    private static let excerptOctets = 512
    /// Because: honest servers send a dozen or two.
    private static let mostFields = 64
}
