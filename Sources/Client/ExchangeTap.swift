package import HTTPDNSExchange

/// Stands between an exchange and whoever started it, and sees what passes: a capture.
package protocol ExchangeTap: AnyObject, Sendable {
    /// What the exchange is to run with in place of the two; nil: it is not watched.
    ///
    /// The observer passes on all that it is told, at once and unchanged; the request means the
    /// same.
    func tap(
        _ request: HTTPRequest, observer: any ExchangeObserver
    ) -> (request: HTTPRequest, observer: any ExchangeObserver)?
}

/// What whoever starts a request knows of it beside the request: for captures.
package struct RequestOrigin: Sendable, Hashable {
    /// A session by its `sessionDescription`, `client`, `proxy` …
    package var name: String
    /// The number of the task in its session.
    package var task: Int?
    /// The rule that decided or changed something, by its name.
    package var rule: String?

    package init(_ name: String, task: Int? = nil, rule: String? = nil) {
        self.name = name
        self.task = task
        self.rule = rule
    }
}

extension ExchangeObserver {
    package func exchange(sends fields: HTTPFields, in framing: SentFraming, of head: RequestHead) {
    }

    package func exchange(interim head: ResponseHead) {}
}

/// Sees a request's body as the network takes it; on the transport's thread.
package protocol BodyWatch: AnyObject, Sendable {
    /// What follows begins with the first octet: at first, and for each repeat.
    func bodyBegins()
    /// The next octets.
    func bodySends(_ octets: UnsafeRawBufferPointer)
}

/// A body that is seen as it is read. It is made for one transfer, below whoever knows a source by
/// its identity.
final class WatchedSource: RequestBodySource {
    private let source: any RequestBodySource
    private let watch: any BodyWatch

    init(_ source: any RequestBodySource, _ watch: any BodyWatch) {
        self.source = source
        self.watch = watch
        watch.bodyBegins()
    }

    var length: Int64? { source.length }
    var canRewind: Bool { source.canRewind }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        let read = source.read(into: buffer)
        if case .filled(let count) = read {
            watch.bodySends(UnsafeRawBufferPointer(rebasing: buffer.prefix(max(0, count))))
        }
        return read
    }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) { source.whenReadable(wake) }

    func rewind() -> Bool {
        watch.bodyBegins()
        return source.rewind()
    }

    func letGo() { source.letGo() }
}
