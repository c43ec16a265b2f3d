public import HTTPDNSExchange

/// A response under the logical URL; its body is still to come.
public struct HTTPResponse: Sendable {
    public let head: ResponseHead
    /// The body, in order and once. When the response is dropped unread, the exchange is cancelled.
    public let body: ResponseBody

    /// 100...999
    public var status: Int { head.status }

    /// Reads the whole body.
    ///
    /// - Parameter maximumOctets: more is an error, not a cut.
    /// - Returns: the body, and the report of the whole exchange.
    /// - Throws: ``ExchangeFailure``.
    public func collect(
        upTo maximumOctets: Int
    ) async throws(ExchangeFailure) -> (body: [UInt8], report: ExchangeReport) {
        var octets: [UInt8] = []
        var iterator = body.makeAsyncIterator()
        while let chunk = try await iterator.nextChunk() {
            guard octets.count + chunk.count <= maximumOctets else {
                throw body.tooLarge()
            }
            if octets.isEmpty {
                octets = chunk
                // Room for the rest at once: to grow would have the body in memory twice.
                let whole = min(statedOctets ?? 0, maximumOctets, HTTPResponse.mostReservedOctets)
                if whole > chunk.count { octets.reserveCapacity(whole) }
            } else {
                octets += chunk
            }
        }
        return (octets, body.report)
    }

    /// Octets of the body as the head states them; nil where it does not.
    private var statedOctets: Int? {
        guard !head.fields.contains("Content-Encoding"), !head.fields.contains("Transfer-Encoding")
        else { return nil }
        return head.fields.first("Content-Length").flatMap { Int($0) }
    }

    /// The most that is set aside because of a length that a server states.
    ///
    /// Because: a body of this size fits where an application wants it whole; what is larger grows
    /// as it comes.
    private static let mostReservedOctets = 268_435_456
}

/// A response body as it arrives, in chunks; a slow reader holds the sender back.
///
/// It can be read once, by one task.
public struct ResponseBody: AsyncSequence, Sendable {
    /// A chunk, never empty.
    public typealias Element = [UInt8]

    let stream: BodyStream

    /// The one reader; a second one would take chunks from the first.
    public func makeAsyncIterator() -> Iterator { Iterator(stream: stream) }

    /// The report so far; whole once the body has ended.
    public var report: ExchangeReport { stream.report }

    /// Ends the exchange: the reader took enough.
    package func tooLarge() -> ExchangeFailure {
        stream.abandon()
        return ExchangeFailure(.bodyTooLarge, url: stream.head.url, report: stream.report)
    }

    /// Takes the chunks in order.
    public struct Iterator: AsyncIteratorProtocol {
        let stream: BodyStream

        /// As ``nextChunk()``, for `for try await`.
        public mutating func next() async throws -> [UInt8]? { try await nextChunk() }

        /// The next chunk, never empty; nil at the end.
        ///
        /// - Throws: ``ExchangeFailure``: a body that ends short is an error.
        /// - Returns: the chunk.
        public mutating func nextChunk() async throws(ExchangeFailure) -> [UInt8]? {
            try await stream.next()
        }
    }
}
