package import HTTPDNSExchange

/// Told what happens to one request, redirects included.
///
/// Calls come one at a time and must return at once; ``exchange(ended:)`` comes exactly once, last.
package protocol ExchangeObserver: AnyObject, Sendable {
    /// The server redirects: `answer` is to be called once, from any thread.
    func exchange(
        offers redirect: RedirectOffer, answer: @escaping @Sendable (RedirectAnswer) -> Void)

    /// The fields as they go out, those added here included, and what the transport adds to them; again
    /// for each hop, and for each transfer of one. Nobody needs to listen.
    func exchange(sends fields: HTTPFields, in framing: SentFraming, of head: RequestHead)

    /// An interim response (1xx, but never 101) to what goes out, as it came; for each hop, and for each
    /// transfer of one. Nobody needs to listen.
    func exchange(interim head: ResponseHead)

    /// The head of the response that the caller gets. `report` says how it was reached.
    func exchange(received head: ResponseHead, report: ExchangeReport)

    /// Some of the body, never empty; after `.pause` nothing more until
    /// ``RunningExchange/resumeBody()``.
    func exchange(received body: UnsafeRawBufferPointer) -> Flow

    func exchange(ended result: Result<ExchangeReport, ExchangeFailure>)
}

/// A request in flight. All calls are legal at any moment, from any thread.
package protocol RunningExchange: AnyObject, Sendable {
    /// Ends it; the observer is told ``ExchangeFailure/Cause/cancelled`` unless it had ended.
    func cancel()

    /// Goes on after a ``Flow/pause``.
    func resumeBody()

    /// Nobody wants what is left of its body: it is read away, which keeps the connection, for a moment;
    /// then it is cancelled.
    func endSoon()

    /// What happened so far.
    var report: ExchangeReport { get }
}

extension RunningExchange {
    /// Without a connection there is none to keep.
    package func endSoon() { cancel() }
}

/// A request that its maker starts, once.
package protocol StartedExchange: RunningExchange {
    func start()
}
