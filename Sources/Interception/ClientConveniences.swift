internal import CHTTPDNSSystem
public import Foundation
public import FoundationNetworking
internal import HTTPDNSCaching
public import HTTPDNSClient
internal import HTTPDNSExchange

/// The client in the shape of `URLSession`, without a session: several times faster, and it does
/// not deadlock when a task is cancelled.
///
/// Every call throws `URLError` with an ``ExchangeFailure`` as its underlying error, and
/// `URLError.cancelled` when the task was cancelled. A status of 400 and above is an answer.
extension HTTPDNSClient {
    /// The whole body of an answer.
    ///
    /// - Parameter maximumOctets: a longer body is `URLError.dataLengthExceedsMaximum`; what may be
    ///   long belongs into a file, see ``download(for:)``.
    /// - Throws: `URLError`.
    public func data(
        for request: URLRequest, upTo maximumOctets: Int = usualMaximumOctets
    ) async throws(URLError) -> (Data, HTTPURLResponse) {
        try await collect(HTTPRequest(request), upTo: maximumOctets)
    }

    /// As ``data(for:upTo:)``, of a `GET`.
    ///
    /// - Throws: `URLError`.
    public func data(
        from url: URL, upTo maximumOctets: Int = usualMaximumOctets
    ) async throws(URLError) -> (Data, HTTPURLResponse) {
        try await data(for: URLRequest(url: url), upTo: maximumOctets)
    }

    /// Sends `body` in place of the request's own, and reads the whole answer.
    ///
    /// - Throws: `URLError`.
    public func upload(
        for request: URLRequest, from body: Data
    ) async throws(URLError) -> (Data, HTTPURLResponse) {
        var sent = try HTTPRequest(request)
        sent.body = .bytes([UInt8](body))
        return try await collect(sent, upTo: HTTPDNSClient.usualMaximumOctets)
    }

    /// Sends a file, read as the network takes it, and reads the whole answer.
    ///
    /// - Throws: `URLError`; `URLError.fileDoesNotExist` and its like for the file.
    public func upload(
        for request: URLRequest, fromFile file: URL
    ) async throws(URLError) -> (Data, HTTPURLResponse) {
        var sent = try HTTPRequest(request)
        do throws(LoadingFault) {
            sent.body = try RequestReading.body(ofFile: file, for: request)
        } catch { throw error.urlError(request.url) }
        return try await collect(sent, upTo: HTTPDNSClient.usualMaximumOctets)
    }

    /// Puts the body into a file as it arrives; nothing of it is kept in memory.
    ///
    /// - Returns: a file of mode 0600 in the temporary directory, the caller's to move or remove.
    ///   There is none after an error.
    /// - Throws: `URLError`; `URLError.cannotWriteToFile` when the disk is full, say.
    public func download(
        for request: URLRequest
    ) async throws(URLError) -> (URL, HTTPURLResponse) {
        let response = try await answer(HTTPRequest(request))
        let head = try response.urlResponse
        let file = try TemporaryDownload()
        do {
            var chunks = response.body.makeAsyncIterator()
            while let chunk = try await chunks.nextChunk() { try file.write(chunk) }
            return (try file.kept(), head)
        } catch {
            throw (error as? ExchangeFailure)?.asURLError
                ?? URLError.make(
                    .cannotWriteToFile, request.url, "\(file.url.path) cannot be written: \(error)",
                    underlying: error)
        }
    }

    /// The octets of the body one by one, as they arrive; a slow reader holds the sender back.
    ///
    /// - Throws: `URLError`.
    public func bytes(
        for request: URLRequest
    ) async throws(URLError) -> (ResponseBytes, HTTPURLResponse) {
        let response = try await answer(HTTPRequest(request))
        return (ResponseBytes(body: response.body), try response.urlResponse)
    }

    /// Because: a body in memory that is larger is a mistake or an attack; 1 GiB.
    public static let usualMaximumOctets = 1_073_741_824

    private func answer(_ request: HTTPRequest) async throws(URLError) -> HTTPResponse {
        let response: HTTPResponse
        do throws(ExchangeFailure) { response = try await send(request) } catch {
            throw error.asURLError
        }
        let isUncached = response.body.report.hops.last?.cache?.outcome == .unsatisfied
        guard !isUncached || request.cacheMode != .onlyIfCached else {
            throw LoadingFault.cacheOnly.urlError(URL(string: request.head.url.description))
        }
        return response
    }

    private func collect(
        _ request: HTTPRequest, upTo maximumOctets: Int
    ) async throws(URLError) -> (Data, HTTPURLResponse) {
        let response = try await answer(request)
        let head = try response.urlResponse
        // A bound below 0 lets nothing in, as 0 does.
        let maximumOctets = max(0, maximumOctets)
        var whole = Data(capacity: min(expectedOctets(response), maximumOctets))
        do throws(ExchangeFailure) {
            var chunks = response.body.makeAsyncIterator()
            while let chunk = try await chunks.nextChunk() {
                guard chunk.count <= maximumOctets - whole.count else {
                    throw response.body.tooLarge()
                }
                whole.append(contentsOf: chunk)
            }
        } catch { throw error.asURLError }
        return (whole, head)
    }

    /// What the head announces, believed up to a bound: memory is not taken on a peer's word alone.
    private func expectedOctets(_ response: HTTPResponse) -> Int {
        let announced = response.head.fields.first("Content-Length").flatMap { Int($0) } ?? 0
        return min(max(announced, 0), 268_435_456)
    }
}

/// The octets of a response body, in order and once.
public struct ResponseBytes: AsyncSequence, Sendable {
    /// One octet of the body, after decoding.
    public typealias Element = UInt8

    let body: ResponseBody

    /// The one reader; a second one would take octets from the first.
    public func makeAsyncIterator() -> Iterator { Iterator(chunks: body.makeAsyncIterator()) }

    /// Takes the octets in order.
    public struct Iterator: AsyncIteratorProtocol {
        var chunks: ResponseBody.Iterator
        private var chunk: [UInt8] = []
        private var position = 0

        init(chunks: ResponseBody.Iterator) { self.chunks = chunks }

        /// - Throws: `URLError`: a body that ends short is an error.
        /// - Returns: the next octet; nil at the end.
        public mutating func next() async throws -> UInt8? {
            if position == chunk.count {
                do throws(ExchangeFailure) {
                    guard let more = try await chunks.nextChunk() else { return nil }
                    chunk = more
                } catch { throw error.asURLError }
                position = 0
            }
            guard position < chunk.count else { return nil }
            defer { position += 1 }
            return chunk[position]
        }
    }
}

/// A file that a body goes into; removed unless it is kept.
private final class TemporaryDownload {
    let url: URL
    private let handle: FileHandle
    private var isKept = false

    init() throws(URLError) {
        url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "httpdns-\(UUID().uuidString).download")
        // Made with its mode, and only where there is nothing: a file that is made first and closed
        // to others later is open to them in between, and a link that waits there would be
        // followed.
        let descriptor = httpdns_file_create_private(url.path)
        guard descriptor >= 0 else {
            throw URLError.make(.cannotCreateFile, url, "\(url.path) cannot be made")
        }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    deinit {
        try? handle.close()
        if !isKept { try? FileManager.default.removeItem(at: url) }
    }

    func write(_ chunk: [UInt8]) throws { try handle.write(contentsOf: chunk) }

    func kept() throws -> URL {
        try handle.close()
        isKept = true
        return url
    }
}
