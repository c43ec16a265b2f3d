/// What a request carries.
public enum RequestBody: Sendable {
    /// No body: `GET` and the like carry no `Content-Length`, `POST`, `PUT` and `PATCH` carry 0.
    case none
    case bytes([UInt8])
    case stream(any RequestBodySource)
}

/// A body that is pulled as the network takes it.
///
/// Copies of a request share it. One exchange at a time has it: another that wants it meanwhile fails as
/// ``ExchangeFailure/Cause/bodySourceFailed(_:)``. A later one sends it again from its first
/// octet, after ``rewind()``, or fails as ``ExchangeFailure/Cause/bodyNotReplayable(to:)``; it
/// never sends the rest.
public protocol RequestBodySource: AnyObject, Sendable {
    /// Octets in all, where known; otherwise HTTP/1.1 sends it chunked.
    var length: Int64? { get }
    /// Fills `buffer` with what is ready. Called on the transport's thread: must never block.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead
    /// Given once, before the first `read`: to be called, on any thread, when after a
    /// ``BodyRead/pending`` more is ready.
    func whenReadable(_ wake: @escaping @Sendable () -> Void)
    /// True when ``rewind()`` will do its work: a redirect may then ask for the body again.
    var canRewind: Bool { get }
    /// Goes back to the first octet for a repeat; false when it cannot.
    func rewind() -> Bool
    /// The exchange that read it has ended: nothing is read any more unless ``rewind()`` comes first.
    /// Ends what reads ahead.
    ///
    /// Called on any thread, once an exchange, before the application is told of the end. The
    /// default does nothing.
    func letGo()
}

extension RequestBodySource {
    /// A stream cannot be read twice unless it says so.
    public var canRewind: Bool { false }

    /// Nothing reads ahead unless it says so.
    public func letGo() {}
}

/// What a body source has at this moment.
public enum BodyRead: Sendable, Hashable {
    /// So many octets were put into the buffer; at least 1.
    case filled(Int)
    /// Nothing now; `wake` will be called.
    case pending
    case end
    /// The source broke; the exchange fails with this text.
    case failed(String)
}
