package import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import Synchronization

/// Performs HTTP exchanges through libcurl on one thread of its own.
///
/// Any thread may call ``start(_:observer:)``; one `Transport` serves a whole process. Connections are
/// kept and reused only under the same origin, addresses and policy fingerprint. The thread begins
/// with the first exchange and ends when there has been none for a while, or with the transport: then
/// what still runs is ``TransportFailure/cancelled``.
package final class Transport: Sendable {
    private let mailbox = Mailbox()
    private let options: ConnectionOptions
    private let drowsyMilliseconds: Int64

    package convenience init(_ options: ConnectionOptions = ConnectionOptions()) {
        self.init(options, drowsyMilliseconds: Engine.usualDrowsyMilliseconds)
    }

    /// For tests: how long the thread lives on without work.
    init(_ options: ConnectionOptions = ConnectionOptions(), drowsyMilliseconds: Int64) {
        self.options = options
        self.drowsyMilliseconds = drowsyMilliseconds
    }

    deinit { mailbox.close() }

    /// Begins an exchange; returns at once. The observer is held until it is told `finished`.
    package func start(_ request: TransportRequest, observer: any TransferObserver) -> Transfer {
        let transfer = Transfer(request, mailbox: mailbox)
        if mailbox.post(.start(transfer, observer)) == .needsThread { startThread() }
        return transfer
    }

    /// Takes none of the connections made until now for an exchange that begins later: their network
    /// is gone. Exchanges under way go on.
    package func leaveConnections() { _ = mailbox.post(.leaveConnections) }

    private func startThread() {
        let isStarted = DetachedThread.start(named: "httpdns-http") {
            [mailbox, options, drowsyMilliseconds] in
            Engine.run(mailbox, options, drowsyMilliseconds: drowsyMilliseconds)
        }
        guard !isStarted else { return }
        // No thread to call observers on: the caller's must do.
        Engine.refuseAll(mailbox, .unavailable("the system gives no thread for HTTP"))
    }
}

/// The handle of a running exchange. All calls are legal at any moment, from any thread, inside an
/// observer's calls too.
package final class Transfer: Sendable {
    let request: TransportRequest
    private let mailbox: Mailbox
    private let cancelled = Atomic(false)

    init(_ request: TransportRequest, mailbox: Mailbox) {
        self.request = request
        self.mailbox = mailbox
    }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    /// Ends the exchange; the observer is told ``TransportFailure/cancelled`` unless it had ended.
    package func cancel() {
        cancelled.store(true, ordering: .releasing)
        _ = mailbox.post(.cancel(self))
    }

    /// Goes on after an observer's ``Flow/pause``.
    package func resume() {
        _ = mailbox.post(.resume(self))
    }
}
