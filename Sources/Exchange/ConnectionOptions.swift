/// How connections to origins are kept.
public struct ConnectionOptions: Sendable, Hashable {
    /// A connection older than this takes no new request, however busy it is.
    ///
    /// Because: it is how late a server's move to another machine is noticed at the most.
    public var maximumAge: Duration = .seconds(3_600)
    /// Connections to one host, over one set of addresses, at the same time; a request beyond waits.
    /// Nil: no limit. HTTP/2 needs one.
    public var maximumPerHost: Int?

    public init() {}
}
