import HTTPDNS
import HTTPDNSPlatform

/// Takes what an exchange tells, hands redirects over, and is gone when nobody tells it any more.
final class EndWatch: ExchangeObserver {
    private struct State {
        var octets = 0
        var ends: [String] = []
    }

    private let state = Locked(State())
    private let isGone: Locked<Bool>

    /// - Parameter isGone: becomes true with its own end.
    init(_ isGone: Locked<Bool>) { self.isGone = isGone }

    deinit { isGone.withLock { $0 = true } }

    var bodyOctets: Int { state.withLock { $0.octets } }
    /// `whole`, or the failure's label.
    var ends: [String] { state.withLock { $0.ends } }

    func exchange(
        offers redirect: RedirectOffer, answer: @escaping @Sendable (RedirectAnswer) -> Void
    ) { answer(.deliver) }

    func exchange(sends fields: HTTPFields, in framing: SentFraming, of head: RequestHead) {}

    func exchange(received head: ResponseHead, report: ExchangeReport) {}

    func exchange(received body: UnsafeRawBufferPointer) -> Flow {
        state.withLock { $0.octets += body.count }
        return .more
    }

    func exchange(ended result: Result<ExchangeReport, ExchangeFailure>) {
        state.withLock { state in
            switch result {
            case .success: state.ends.append("whole")
            case .failure(let failure): state.ends.append(failure.label)
            }
        }
    }
}
