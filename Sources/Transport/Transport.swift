internal import HTTPDNSNames

/// Performs HTTP exchanges through libcurl on one thread of its own.
///
/// Any thread may call ``start(_:observer:)``; one `Transport` serves a whole process. Connections are
/// kept and reused only under the same origin, addresses and policy fingerprint.
package final class Transport: Sendable {
    package init() {}

    /// Begins an exchange; returns at once. The observer is held until it is told `finished`.
    package func start(_ request: TransportRequest, observer: any TransferObserver) -> Transfer {
        Transfer()
    }
}

/// The handle of a running exchange. All calls are legal at any moment, from any thread.
package final class Transfer: Sendable {
    /// Ends the exchange; the observer is told ``TransportFailure/cancelled`` unless it had ended.
    package func cancel() {}

    /// Goes on after an observer's ``Flow/pause``.
    package func resume() {}
}
