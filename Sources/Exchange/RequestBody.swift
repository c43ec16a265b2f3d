/// What a request carries.
public enum RequestBody: Sendable {
    /// No body: `GET` and the like carry no `Content-Length`, `POST`, `PUT` and `PATCH` carry 0.
    case none
    case bytes([UInt8])
    case stream(any RequestBodySource)
}

/// A body that is pulled as the network takes it.
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
}

extension RequestBodySource {
    /// A stream cannot be read twice unless it says so.
    public var canRewind: Bool { false }
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
