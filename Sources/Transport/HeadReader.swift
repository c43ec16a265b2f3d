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
/// 4. libcurl finds the end of the body, by the lines as they came. A `Transfer-Encoding` that it and we
///    might read differently ends the exchange: only `chunked` by itself, on HTTP/1.1, is sure. So does
///    a folded field of framing, which it reads unfolded. Source: RFC 9112 §5.2, §6.1, §6.3; RFC 9113
///    §8.2.2.
/// 5. All lines count against the limit: interim heads and trailers too. So do interim heads by their
///    number: a row of them without end is no answer.
/// 6. An interim head whose fields could not be passed on is left out. Source: RFC 9110 §15.2.
struct HeadReader {
    enum Outcome: Hashable {
        case more
        /// Of 1xx but 101.
        case interim(status: Int, version: HTTPVersion, fields: HTTPFields)
        case final(status: Int, version: HTTPVersion, fields: HTTPFields)
    }

    private enum Part {
        case status
        case fields
        case body
    }

    private let maximumOctets: Int
    private let hasBody: Bool
    private var octetCount = 0
    private var interimCount = 0
    private var part = Part.status
    private var status = 0
    /// The words beside the status; nil where there are none, or none that are text.
    private(set) var reason: String?
    private var version = HTTPVersion.http11
    private var fields = HTTPFields()
    /// A field that says how the body is framed is folded.
    private var hasFoldedFraming = false

    /// - Parameters:
    ///   - maximumOctets: of all lines together.
    ///   - hasBody: false for the answer to `HEAD`, whose framing is that of another one.
    init(maximumOctets: Int, hasBody: Bool = true) {
        self.maximumOctets = maximumOctets
        self.hasBody = hasBody
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
    /// The protocol of the connection, whatever the lines say.
    var isCarriedByHTTP2 = false
    /// The peer breaks the rules by which it says where a response ends: what comes behind this one may
    /// be of it. Source: RFC 9112 §6.1, §6.3.
    private(set) var isInDoubt = false
    /// Where the response ends libcurl stops reading, and says nothing of what it has read behind that
    /// but in its log: no body, or chunks.
    private(set) var endsUnheard = false
    /// A body is framed as others are, and must not be there. Source: RFC 9110 §15.3.6.
    var isEmptyByRule: Bool { isComplete && status == 205 }
    var isOverHTTP2: Bool { isComplete && version == .http2 }

    mutating func read(line raw: UnsafeRawBufferPointer) throws(TransportFailure) -> Outcome {
        let (sum, overflow) = octetCount.addingReportingOverflow(raw.count)
        guard !overflow, sum <= maximumOctets else {
            throw isInterim ? .malformedResponse(endlessRow) : .headTooLarge
        }
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
        let (fields, hasFoldedFraming) = (fields, hasFoldedFraming)
        self.fields = HTTPFields()
        self.hasFoldedFraming = false
        guard status >= 200 else {
            // Source: RFC 9110 §15.2.2: of another protocol, which was not asked for, no response comes.
            guard status != 101 else {
                throw .malformedResponse("the server changes to another protocol unasked (101)")
            }
            part = .status
            interimCount += 1
            guard interimCount < HeadReader.mostInterimHeads else {
                throw .malformedResponse(endlessRow)
            }
            guard (try? fields.check()) != nil else { return .more }
            return .interim(status: status, version: version, fields: fields)
        }
        do { try fields.check() } catch {
            throw .malformedResponse("in the response head: \(error)")
        }
        var (lengths, codings) = (0, 0)
        for field in fields.fields {
            if HTTPFields.same(field.name, HeadReader.length) {
                lengths += 1
            } else if HTTPFields.same(field.name, HeadReader.coding) {
                codings += 1
            }
        }
        if lengths > 0 {
            try HeadReader.checkLengths(fields, count: lengths)
            contentLength = codings > 0 ? nil : HeadReader.statedLength(fields)
        }
        isBodiless = status == 204 || status == 304
        // Source: RFC 9112 §6.3 rule 1: what these are framed by is not looked at.
        let isFramed = hasBody && !isBodiless
        if codings > 0 { try checkCodings(fields, isFramed: isFramed) }
        guard !isFramed || !hasFoldedFraming else {
            throw .malformedResponse("a field that frames the response's body is folded")
        }
        endsWithConnection = version != .http2 && isFramed && codings == 0 && lengths == 0
        endsUnheard = !isFramed || codings > 0 || contentLength == 0
        // Source: RFC 9112 §6.1 (1.0 with a coding; a coding of 204), §6.3 rule 3; RFC 9110 §8.6.
        isInDoubt =
            codings > 0 && (lengths > 0 || version == .http10 || status == 204)
            || status == 204 && lengths > 0 && contentLength != 0
        part = .body
        return .final(status: status, version: version, fields: fields)
    }

    /// The attack: a coding that only one of two readers takes for chunks hands the chunks' own framing
    /// on as a body, and lets a body that was cut off pass for a whole one.
    private func checkCodings(
        _ fields: HTTPFields, isFramed: Bool
    ) throws(TransportFailure) {
        guard version != .http2 else {
            throw .malformedResponse("an HTTP/2 response has the field Transfer-Encoding")
        }
        guard isFramed else { return }
        let codings = fields.all(HeadReader.coding)
        guard codings.count == 1, HTTPFields.same(codings[0], "chunked") else {
            let named = codings.joined(separator: ", ").unicodeScalars
                .prefix(HeadReader.longestShown).map { $0.escaped(asASCII: true) }.joined()
            throw .malformedResponse(
                "the response's Transfer-Encoding is \"\(named)\"; nothing but \"chunked\" was "
                    + "asked for, or says where the body ends")
        }
        guard version != .http10 else {
            throw .malformedResponse("an HTTP/1.0 response has the field Transfer-Encoding")
        }
    }

    /// Interim heads have come, and no final one has begun.
    private var isInterim: Bool {
        interimCount > 0 && (part == .status || (part == .fields && status < 200))
    }

    private var endlessRow: String {
        "\(interimCount) interim responses (1xx) came, and none that is final"
    }

    /// Because: one that says every twenty seconds that the server is at work (102) goes on for five
    /// hours.
    private static let mostInterimHeads = 1_000

    private static let length = "Content-Length"
    private static let coding = "Transfer-Encoding"
    /// Because: longer than all names that are registered, together.
    private static let longestShown = 64

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
    private static func statedLength(_ fields: HTTPFields) -> Int64? {
        guard let value = fields.first(HeadReader.length) else { return nil }
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
        guard (version == .http2) == isCarriedByHTTP2 else {
            throw .malformedResponse("the status line is of another HTTP than the connection")
        }
        let digits = line[(space + 1)...].prefix { $0 != 0x20 }
        guard digits.count == 3, digits.allSatisfy({ (0x30...0x39).contains($0) }),
            case let status = digits.reduce(0, { $0 * 10 + Int($1 - 0x30) }), status >= 100
        else { throw .malformedResponse("the status code is not a number from 100 to 999") }
        self.version = version
        self.status = status
        reason = HeadReader.reason(line[(space + 1)...].dropFirst(digits.count))
    }

    /// Source: RFC 9112 §4: blanks, printable octets, and others that nobody explains.
    private static func reason(_ octets: Line) -> String? {
        let words = trimmed(octets)
        guard !words.isEmpty, words.count <= longestReason,
            !words.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F })
        else { return nil }
        return text(words).text
    }

    /// Because: eight times the longest of the standard, and kept with each response.
    private static let longestReason = 256

    private mutating func readField(_ line: Line) throws(TransportFailure) {
        if let first = line.first, first == 0x20 || first == 0x09 {
            if let name = fields.fields.last?.name {
                hasFoldedFraming =
                    hasFoldedFraming || HTTPFields.same(name, HeadReader.length)
                    || HTTPFields.same(name, HeadReader.coding)
            }
            guard fields.extendLast(by: HeadReader.folded(line)) else {
                throw .malformedResponse("the first header field begins with a space")
            }
            return
        }
        guard let colon = line.firstIndex(of: 0x3A) else {
            throw .malformedResponse("a header line has no colon")
        }
        if fields.fields.isEmpty { fields = HTTPFields(room: HeadReader.usualFields) }
        fields.add(
            unchecked: HeadReader.text(line[..<colon]).text,
            HeadReader.text(HeadReader.trimmed(line[(colon + 1)...])))
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

    private static func trimmed(_ octets: Line) -> Line {
        var (first, end) = (octets.startIndex, octets.endIndex)
        while first < end, isSpace(octets[first]) { first += 1 }
        while first < end, isSpace(octets[end - 1]) { end -= 1 }
        return octets[first..<end]
    }

    /// What a line adds to the one before it.
    private static func folded(_ line: Line) -> FieldText {
        FieldText(octets: [0x20] + Array(trimmed(line)))
    }

    private static func isSpace(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 }

    private static func text(_ octets: Line) -> FieldText {
        let octets = UnsafeRawBufferPointer(rebasing: octets)
        // Nearly all of it, and then nothing is to be repaired.
        if isASCII(octets) { return FieldText(String(decoding: octets, as: UTF8.self)) }
        return FieldText(octets: octets)
    }

    private static func isASCII(_ octets: UnsafeRawBufferPointer) -> Bool {
        var seen: UInt8 = 0
        for octet in octets { seen |= octet }
        return seen < 0x80
    }

    /// libcurl's own memory, lent for the call.
    private typealias Line = Slice<UnsafeRawBufferPointer>
}

extension HeadReader {
    /// Reads the answer to `request`.
    init(_ request: TransportRequest) {
        self.init(
            maximumOctets: request.limits.maximumHeadOctets, hasBody: request.method != .head)
    }
}
