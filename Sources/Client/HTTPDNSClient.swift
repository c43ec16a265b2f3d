public import HTTPDNSExchange
package import HTTPDNSNames
internal import HTTPDNSPlatform
public import HTTPDNSResolution
package import HTTPDNSTransport
package import HTTPDNSTrust

/// Sends HTTP requests to the addresses that a resolver gives, as requests for the original host.
///
/// Host, SNI, certificate check, cookies and redirects are those of the logical URL; the address is
/// only where the connection goes. No octet of a request leaves before the peer has proved that it
/// is the origin. Every method may be called from any thread.
public final class HTTPDNSClient: Sendable {
    /// Who finds the addresses.
    public let resolver: Resolver
    package let parts: Parts
    /// Who judges the peers of the next exchange.
    private let current: Locked<any PeerVerifier>

    /// What a client is made of; the assembly puts it together.
    package struct Parts: Sendable {
        package var transport: Transport
        package var verifier: any PeerVerifier
        package var cookies: any CookieKeeper
        /// Turns a host that is not ASCII into A-labels, for redirects.
        package var toASCII: DomainToASCII
        /// True for a name under which others register names; no cookie is set for one.
        package var isPublicSuffix: @Sendable (HostName) -> Bool
        /// Highest HTTP version to offer.
        package var version: HTTPVersion
        /// Is told of peers without a pinned key; nil: nobody.
        package var pinObserver: (any PinObserver)?
        /// Who is asked for a host that nobody else knows, and for which; nil: nobody.
        package var systemFallback: SystemFallbackPart?
        /// Why a host is not asked over `http`: it is pinned. Nil: every host is.
        package var refusesCleartext: (@Sendable (Host) -> TrustFailure?)?
        /// Through which proxies, where a request does not say.
        package var proxies = ProxyPolicy.none
        /// Who watches exchanges that nobody else does; nil: nobody.
        package var tap: (any ExchangeTap)?
        /// Keeps responses; nil: none.
        package var cache: ResponseCache?

        package init(
            transport: Transport, verifier: any PeerVerifier, cookies: any CookieKeeper,
            toASCII: @escaping DomainToASCII,
            isPublicSuffix: @escaping @Sendable (HostName) -> Bool, version: HTTPVersion = .http2
        ) {
            self.isPublicSuffix = isPublicSuffix
            self.transport = transport
            self.verifier = verifier
            self.cookies = cookies
            self.toASCII = toASCII
            self.version = version
        }
    }

    /// The system's resolver, and for which hosts it may be asked.
    package struct SystemFallbackPart: Sendable {
        /// The rule of this moment: asking it takes no lock.
        package let rule: @Sendable () -> @Sendable (Host) -> Bool
        let resolver: Resolver

        package init(
            rule: @escaping @Sendable () -> @Sendable (Host) -> Bool, resolver: Resolver
        ) {
            self.rule = rule
            self.resolver = resolver
        }
    }

    package init(resolver: Resolver, parts: Parts) {
        self.resolver = resolver
        self.parts = parts
        current = Locked(parts.verifier)
    }

    /// Who judges peers now.
    package var verifier: any PeerVerifier { current.withLock { $0 } }

    /// From the next exchange on `verifier` judges. What is in flight ends as it began, redirects
    /// included; no connection that was made under another policy is used again.
    package func judge(with verifier: any PeerVerifier) {
        current.withLock { $0 = verifier }
    }

    /// Sends a request and returns with the head of its response, redirects followed.
    ///
    /// Cancelling the task ends the exchange at any moment; so does dropping the response unread.
    ///
    /// - Parameter request: what to send.
    /// - Returns: the head, and the body as it arrives.
    /// - Throws: ``ExchangeFailure``.
    public func send(_ request: HTTPRequest) async throws(ExchangeFailure) -> HTTPResponse {
        try await send(request) { waiting in
            self.driver(request, observer: waiting, cookies: self.parts.cookies)
        }
    }

    /// - Parameter make: an exchange that tells the observer, not yet started.
    func send(
        _ request: HTTPRequest, _ make: (any ExchangeObserver) -> any StartedExchange
    ) async throws(ExchangeFailure) -> HTTPResponse {
        let waiting = ResponseInflow(url: request.head.url)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiting.wait(continuation)
                let exchange = make(waiting)
                waiting.attach(exchange)
                exchange.start()
            }
        } onCancel: {
            waiting.cancel()
        }
        return try result.get()
    }

    /// Starts a request; returns at once. The observer is held until it is told the end.
    package func start(
        _ request: HTTPRequest, observer: any ExchangeObserver, cookies: (any CookieKeeper)? = nil
    ) -> any RunningExchange {
        let driver = driver(request, observer: observer, cookies: cookies ?? parts.cookies)
        driver.start()
        return driver
    }

    private func driver(
        _ request: HTTPRequest, observer: any ExchangeObserver, cookies: any CookieKeeper
    ) -> ExchangeDriver {
        let (request, observer) = watched(request, observer)
        return ExchangeDriver(request, client: self, observer: observer, cookies: cookies)
    }

    /// The same with whoever watches it in between: once, however many exchanges it becomes.
    func watched(
        _ request: HTTPRequest, _ observer: any ExchangeObserver
    ) -> (HTTPRequest, any ExchangeObserver) {
        guard !request.isWatched, let tap = request.tap ?? parts.tap else {
            return (request, observer)
        }
        var request = request
        request.isWatched = true
        guard let tapped = tap.tap(request, observer: observer) else { return (request, observer) }
        return tapped
    }
}
