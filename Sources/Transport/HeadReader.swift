internal import HTTPDNSExchange

/// Reads response heads from the lines that libcurl hands over: status line, fields, blank line.
///
///     status ── status line ──▶ fields ── blank line ──▶ status (1xx)
///                                           └──────────▶ body (final): trailers are ignored
///
/// Rules:
/// 1. A line that is not HTTP ends the exchange: nothing is guessed.
/// 2. Folded lines are joined by one space. Source: RFC 9112 §5.2.
/// 3. A `Content-Length` that is no number, and two different ones, end the exchange.
///    Source: RFC 9112 §6.3.
/// 4. All lines count against the limit: interim heads and trailers too.
struct HeadReader {
    enum Outcome: Hashable {
        case more
        case final(status: Int, version: HTTPVersion, fields: HTTPFields)
    }

    private enum Part {
        case status
        case fields
        case body
    }

    private let maximumOctets: Int
    private var octetCount = 0
    private var part = Part.status
    private var status = 0
    private var version = HTTPVersion.http11
    private var fields = HTTPFields()

    init(maximumOctets: Int) {
        self.maximumOctets = maximumOctets
    }

    var isComplete: Bool { part == .body }
    /// A line came, be it of an interim head.
    var hasBegun: Bool { octetCount > 0 }
    /// True when only the end of the connection ends the body. Source: RFC 9112 §6.3 rule 8.
    private(set) var endsWithConnection = false
    /// The octets of the body, where the head says so.
    private(set) var contentLength: Int64?
    /// No response of that status has a body. Source: RFC 9110 §15.3.5, §15.4.5.
    private(set) var isBodiless = false
    var isOverHTTP2: Bool { isComplete && version == .http2 }

    mutating func read(line raw: UnsafeRawBufferPointer) throws(TransportFailure) -> Outcome {
        let (sum, overflow) = octetCount.addingReportingOverflow(raw.count)
        guard !overflow, sum <= maximumOctets else { throw .headTooLarge }
        octetCount = sum
        let line = HeadReader.withoutLineEnd(raw)
        switch part {
        case .body: return .more
        case .status:
            try readStatus(line)
            part = .fields
            return .more
        case .fields:
            guard line.isEmpty else {
                try readField(line)
                return .more
            }
            return try endHead()
        }
    }

    private mutating func endHead() throws(TransportFailure) -> Outcome {
        let fields = fields
        self.fields = HTTPFields()
        guard status >= 200 else {
            part = .status
            return .more
        }
        do { try fields.check() } catch {
            throw .malformedResponse("in the response head: \(error)")
        }
        var (lengths, isChunked) = (0, false)
        for field in fields.fields {
            if HTTPFields.same(field.name, "Content-Length") {
                lengths += 1
            } else if HTTPFields.same(field.name, "Transfer-Encoding") {
                isChunked = isChunked || field.value.lowercased().contains("chunked")
            }
        }
        if lengths > 0 {
            try HeadReader.checkLengths(fields, count: lengths)
            contentLength = isChunked ? nil : HeadReader.length(fields)
        }
        isBodiless = status == 204 || status == 304
        endsWithConnection =
            version != .http2 && status != 204 && status != 304 && !isChunked
            && lengths == 0
        part = .body
        return .final(status: status, version: version, fields: fields)
    }

    /// libcurl takes the number that a value begins with; another reader may take another.
    private static func checkLengths(
        _ fields: HTTPFields, count: Int
    ) throws(TransportFailure) {
        if count == 1, let value = fields.first("Content-Length"), isLength(value) { return }
        var known: String?
        for value in fields.all("Content-Length") {
            for item in value.utf8.split(separator: 0x2C, omittingEmptySubsequences: false) {
                let length = String(
                    decoding: item.drop { $0 == 0x20 || $0 == 0x09 }.reversed().drop {
                        $0 == 0x20 || $0 == 0x09
                    }.reversed(), as: UTF8.self)
                guard isLength(length) else {
                    throw .malformedResponse("the response's Content-Length is not a number")
                }
                guard length == known ?? length else {
                    throw .malformedResponse("the response states two different lengths")
                }
                known = length
            }
        }
    }

    /// Of one that was checked: several are equal.
    private static func length(_ fields: HTTPFields) -> Int64? {
        guard let value = fields.first("Content-Length") else { return nil }
        return Int64(
            String(decoding: value.utf8.prefix { (0x30...0x39).contains($0) }, as: UTF8.self))
    }

    private static func isLength(_ text: String) -> Bool {
        (1...longestLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Digits of a length. Because: all such numbers fit in 64 bits, and no body is larger.
    private static let longestLength = 18

    private mutating func readStatus(_ line: Line) throws(TransportFailure) {
        guard let space = line.firstIndex(of: 0x20),
            let version = HeadReader.version(line[..<space])
        else { throw .malformedResponse("the response does not begin with an HTTP status line") }
        let digits = line[(space + 1)...].prefix { $0 != 0x20 }
        guard digits.count == 3, digits.allSatisfy({ (0x30...0x39).contains($0) }),
            case let status = digits.reduce(0, { $0 * 10 + Int($1 - 0x30) }), status >= 100
        else { throw .malformedResponse("the status code is not a number from 100 to 999") }
        self.version = version
        self.status = status
    }

    private mutating func readField(_ line: Line) throws(TransportFailure) {
        if let first = line.first, first == 0x20 || first == 0x09 {
            guard fields.extendLast(by: " " + HeadReader.trimmed(line)) else {
                throw .malformedResponse("the first header field begins with a space")
            }
            return
        }
        guard let colon = line.firstIndex(of: 0x3A) else {
            throw .malformedResponse("a header line has no colon")
        }
        if fields.fields.isEmpty { fields = HTTPFields(room: HeadReader.usualFields) }
        fields.add(
            unchecked: HeadReader.text(line[..<colon]), HeadReader.trimmed(line[(colon + 1)...]))
    }

    /// Because: most responses have fewer.
    private static let usualFields = 16

    private static func version(_ text: Line) -> HTTPVersion? {
        switch String(decoding: UnsafeRawBufferPointer(rebasing: text), as: UTF8.self) {
        case "HTTP/1.0": .http10
        case "HTTP/1.1": .http11
        case "HTTP/2", "HTTP/2.0": .http2
        default: nil
        }
    }

    private static func withoutLineEnd(_ raw: UnsafeRawBufferPointer) -> Line {
        var count = raw.count
        if count > 0, raw[count - 1] == 0x0A { count -= 1 }
        if count > 0, raw[count - 1] == 0x0D { count -= 1 }
        return raw[..<count]
    }

    private static func trimmed(_ octets: Line) -> String {
        var (first, end) = (octets.startIndex, octets.endIndex)
        while first < end, isSpace(octets[first]) { first += 1 }
        while first < end, isSpace(octets[end - 1]) { end -= 1 }
        return text(octets[first..<end])
    }

    private static func isSpace(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 }

    /// UTF-8 where it is, otherwise one character an octet. Source: RFC 9110 §5.5 (ISO-8859-1).
    private static func text(_ octets: Line) -> String {
        let octets = UnsafeRawBufferPointer(rebasing: octets)
        // Nearly all of it, and then nothing is to be repaired.
        if isASCII(octets) { return String(decoding: octets, as: UTF8.self) }
        if let text = String(validating: octets, as: UTF8.self) { return text }
        var text = ""
        for octet in octets { text.unicodeScalars.append(Unicode.Scalar(octet)) }
        return text
    }

    private static func isASCII(_ octets: UnsafeRawBufferPointer) -> Bool {
        var seen: UInt8 = 0
        for octet in octets { seen |= octet }
        return seen < 0x80
    }

    /// libcurl's own memory, lent for the call.
    private typealias Line = Slice<UnsafeRawBufferPointer>
}
