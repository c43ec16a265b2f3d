internal import HTTPDNSExchange

/// The reader's side of a response body. When the last reference goes before the end, the exchange is
/// cancelled.
final class BodyStream: Sendable {
    let head: ResponseHead
    private let inflow: ResponseInflow

    init(head: ResponseHead, inflow: ResponseInflow) {
        self.head = head
        self.inflow = inflow
    }

    deinit { inflow.abandon() }

    /// The report so far; whole once the body has ended.
    var report: ExchangeReport { inflow.report }

    /// Nobody wants the rest.
    func abandon() { inflow.abandon() }

    /// The next octets, never empty; nil at the end.
    func next() async throws(ExchangeFailure) -> [UInt8]? { try await inflow.next() }
}
