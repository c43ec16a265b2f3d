internal import CHTTPDNSHTTPParser
package import HTTPDNSExchange

/// Reads requests of HTTP/1 from what one client sends, with http_parser, and holds them to the letter.
///
///     head ── all fields ──▶ .head ── no body ──────────────────────────▶ .end ──▶ head
///                              ├── Content-Length ── octets ────────────▶ .end
///                              └── chunked: line ── octets ── … trailers ▶ .end
///
/// Rules, where http_parser is more lenient than a proxy may be
/// (see docs/decisions/0013-requests-of-clients.md):
/// 1. A line ends with CR LF, nowhere with LF alone. Source: RFC 9112 §2.2.
/// 2. A field is not folded over lines. Source: RFC 9112 §5.2.
/// 3. Behind the octets of a chunk stands CR LF, and a line with a size has no other LF.
///    Source: RFC 9112 §7.1.
/// 4. Heads, targets, fields, chunk lines and trailers have bounds.
/// 5. What broke is not read on.
///
/// Confined to the proxy's thread.
package final class RequestReader {
    package enum Step: Sendable, Hashable {
        /// All octets were taken; more are needed.
        case more
        /// The head is whole: see ``head()``. The next octet belongs to it still.
        case head
        case end
        case broken(RequestBreach)
    }

    private enum Mode {
        case head, plainBody, chunkLine, chunkOctets, trailers
    }

    private enum Piece {
        case none, name, value
    }

    private let raw: OpaquePointer
    private let limits: RequestLimits
    private var mode = Mode.head
    private var target: [UInt8] = []
    private var names: [[UInt8]] = []
    private var values: [[UInt8]] = []
    private var piece = Piece.none
    /// Octets of the head, of the trailers or of one chunk line so far.
    private var sectionOctets = 0
    private var firstOctet: UInt8 = 0
    private var lastOctet: UInt8 = 0
    private var octetBefore: UInt8 = 0
    private var breach: RequestBreach?
    /// What came of the body since it was last taken.
    private var body: [UInt8] = []

    /// Nil when there is no memory.
    package init?(_ limits: RequestLimits) {
        guard let raw = httpdns_http_reader_new() else { return nil }
        self.raw = raw
        self.limits = limits
    }

    deinit { httpdns_http_reader_free(raw) }

    /// Something of a request has come.
    package var hasBegun: Bool { mode != .head || sectionOctets > 0 }

    /// The octets of the body that came with the last calls.
    package func takeBody() -> [UInt8] {
        defer { body = [] }
        return body
    }

    /// Takes octets up to the next thing that is whole; how many, and what that is.
    package func read(_ octets: UnsafeRawBufferPointer) -> (taken: Int, step: Step) {
        if let breach { return (0, .broken(breach)) }
        guard let base = octets.bindMemory(to: UInt8.self).baseAddress, !octets.isEmpty else {
            return (0, .more)
        }
        var position = 0
        while position < octets.count {
            var taken = 0
            let stop = httpdns_http_reader_feed(
                raw, base + position, octets.count - position, &taken, tellPiece,
                Unmanaged.passUnretained(self).toOpaque())
            if sectionOctets == 0 { firstOctet = octets[position] }
            check(UnsafeRawBufferPointer(rebasing: octets[position..<(position + taken)]), stop)
            position += taken
            if let step = step(after: stop, next: position < octets.count ? octets[position] : nil)
            {
                return (position, step)
            }
        }
        return (position, .more)
    }

    private func step(after stop: Int32, next: UInt8?) -> Step? {
        if let breach { return .broken(breach) }
        switch stop {
        case Int32(HTTPDNS_HTTP_HEAD):
            // It is the line feed that the library stopped at.
            guard next == 0x0A, lastOctet == 0x0D else { return broken(.bareLineFeed) }
            sectionOctets = 0
            mode = httpdns_http_reader_is_chunked(raw) == 1 ? .chunkLine : .plainBody
            return .head
        case Int32(HTTPDNS_HTTP_END):
            guard mode != .trailers || endsLine else { return broken(.badChunk) }
            begin()
            return .end
        case Int32(HTTPDNS_HTTP_CHUNK):
            guard endsLine else { return broken(.badChunk) }
            mode = httpdns_http_reader_length(raw) == 0 ? .trailers : .chunkOctets
            sectionOctets = 0
            return nil
        case Int32(HTTPDNS_HTTP_CHUNK_END):
            guard mode == .chunkOctets else { return nil }
            guard endsLine else { return broken(.badChunk) }
            mode = .chunkLine
            return nil
        case Int32(HTTPDNS_HTTP_MORE): return nil
        case Int32(HTTPDNS_HTTP_UNKNOWN_METHOD):
            // What begins otherwise is another protocol: TLS, for one.
            let isWord = (0x41...0x5A).contains(firstOctet)
            return broken(isWord ? .unknownMethod : .notHTTP("no method"))
        default:
            let word = String(cString: httpdns_http_reader_trouble(raw))
            return broken(mode == .head ? .notHTTP(word) : .badBody(word))
        }
    }

    /// The last octets that were taken are CR LF.
    private var endsLine: Bool { octetBefore == 0x0D && lastOctet == 0x0A }

    private func broken(_ breach: RequestBreach) -> Step {
        self.breach = breach
        return .broken(breach)
    }

    private func begin() {
        mode = .head
        target = []
        names = []
        values = []
        piece = .none
        sectionOctets = 0
    }

    /// Holds octets that the library took to what it does not check.
    private func check(_ octets: UnsafeRawBufferPointer, _ stop: Int32) {
        switch mode {
        case .plainBody, .chunkOctets: break
        case .head, .trailers: checkLines(octets, allowed: limits.headOctets, .headTooLarge)
        case .chunkLine: checkLines(octets, allowed: limits.chunkLineOctets, .badChunk)
        }
        if octets.count > 1 {
            octetBefore = octets[octets.count - 2]
        } else if octets.count == 1 {
            octetBefore = lastOctet
        }
        if let last = octets.last { lastOctet = last }
    }

    private func checkLines(
        _ octets: UnsafeRawBufferPointer, allowed: Int, _ excess: RequestBreach
    ) {
        sectionOctets += octets.count
        if sectionOctets > allowed { breach = breach ?? excess }
        var previous = lastOctet
        for octet in octets {
            if octet == 0x0A, previous != 0x0D { breach = breach ?? .bareLineFeed }
            let isBlank = octet == 0x20 || octet == 0x09
            if isBlank, previous == 0x0A, !names.isEmpty || mode == .trailers {
                breach = breach ?? .foldedField
            }
            previous = octet
        }
    }

    fileprivate func tell(_ kind: Int32, _ octets: UnsafeBufferPointer<UInt8>) {
        switch kind {
        case Int32(HTTPDNS_HTTP_BODY): body.append(contentsOf: octets)
        // Trailers are counted, and left out. Source: RFC 9110 §6.5.1.
        case _ where mode != .head: break
        case Int32(HTTPDNS_HTTP_TARGET):
            target.append(contentsOf: octets)
            if target.count > limits.targetOctets { breach = breach ?? .targetTooLong }
        case Int32(HTTPDNS_HTTP_FIELD):
            if piece != .name {
                names.append([])
                values.append([])
                if names.count > limits.fieldCount { breach = breach ?? .tooManyFields }
            }
            piece = .name
            names[names.count - 1].append(contentsOf: octets)
        default:
            piece = .value
            guard !values.isEmpty else { return }
            values[values.count - 1].append(contentsOf: octets)
        }
    }

    /// The head that was read; to be called when the step is `.head`.
    ///
    /// - Throws: ``RequestBreach``.
    package func head() throws(RequestBreach) -> ClientHead {
        let major = httpdns_http_reader_major(raw)
        guard major == 1 else { throw .unknownVersion }
        var fields = HTTPFields()
        for (name, value) in zip(names, values) {
            guard let name = String(validating: name, as: UTF8.self) else { throw .badField }
            // Cookies of sites in Latin-1 or GBK, for one, go on as they came.
            let text = FieldText(octets: RequestReader.trimmed(value))
            do throws(FieldError) { try fields.append(name, text) } catch { throw .badField }
        }
        guard target.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .badTarget }
        let length = httpdns_http_reader_length(raw)
        return ClientHead(
            method: String(cString: httpdns_http_reader_method(raw)),
            target: String(decoding: target, as: UTF8.self),
            minorVersion: Int(httpdns_http_reader_minor(raw)), fields: fields,
            isReadChunked: httpdns_http_reader_is_chunked(raw) == 1,
            readLength: length == .max ? nil : length,
            keepsAlive: httpdns_http_reader_keeps_alive(raw) != 0)
    }

    private static func trimmed(_ octets: [UInt8]) -> ArraySlice<UInt8> {
        var rest = octets[...]
        while let last = rest.last, last == 0x20 || last == 0x09 { rest.removeLast() }
        return rest.drop { $0 == 0x20 || $0 == 0x09 }
    }
}

/// Called by http_parser's callbacks during a feed, on the proxy's thread; keeps nothing but octets.
private func tellPiece(
    _ context: UnsafeMutableRawPointer?, _ kind: Int32, _ octets: UnsafePointer<UInt8>, _ count: Int
) {
    guard let context else { return }
    Unmanaged<RequestReader>.fromOpaque(context).takeUnretainedValue()
        .tell(kind, UnsafeBufferPointer(start: octets, count: count))
}

/// A request as it was read, not yet judged.
package struct ClientHead: Sendable, Hashable {
    package var method: String
    /// Printable ASCII.
    package var target: String
    /// Of HTTP/1.
    package var minorVersion: Int
    package var fields: HTTPFields
    /// How the reader frames the body.
    package var isReadChunked: Bool
    package var readLength: UInt64?
    package var keepsAlive: Bool

    package init(
        method: String, target: String, minorVersion: Int, fields: HTTPFields,
        isReadChunked: Bool = false, readLength: UInt64? = nil, keepsAlive: Bool = true
    ) {
        self.method = method
        self.target = target
        self.minorVersion = minorVersion
        self.fields = fields
        self.isReadChunked = isReadChunked
        self.readLength = readLength
        self.keepsAlive = keepsAlive
    }
}

/// Why what a client sent is no request that is taken.
package enum RequestBreach: Error, Sendable, Hashable {
    case bareLineFeed, foldedField, badChunk, unknownMethod, headTooLarge, targetTooLong
    case tooManyFields, badField, badTarget, unknownVersion
    /// The library's word for it.
    case notHTTP(String)
    case badBody(String)
}

/// How large the parts of a request may be.
package struct RequestLimits: Sendable, Hashable {
    /// The request line and the fields; again for trailers.
    ///
    /// Because: what common servers take is 8 to 64 KiB, and cookies are many.
    package var headOctets = 65_536
    /// Source: RFC 9112 §3: at least 8,000 are to be taken; twice that is more than browsers send.
    package var targetOctets = 16_384
    /// Because: browsers send 20; a hundred more are an application's, a thousand are an attack.
    package var fieldCount = 200
    /// A chunk's size and its extensions. Because: nobody sends extensions, and a size has 16 digits.
    package var chunkLineOctets = 256

    package init() {}
}
