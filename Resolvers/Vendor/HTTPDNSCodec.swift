internal import HTTPDNSJSON
package import HTTPDNSLookup
package import HTTPDNSNames
package import HTTPDNSWire

/// The words of one HTTP-DNS protocol: questions to requests, responses to testimony. No I/O.
package protocol HTTPDNSCodec: Sendable {
    /// The record types that the protocol can ask for; nil means any.
    var supportedTypes: Set<RecordType>? { get }

    /// How its answers are reported to have travelled.
    var answerTransport: AnswerTransport { get }

    /// True when a request holds a secret as it is, so that it must not travel in clear text.
    var sendsSecret: Bool { get }

    /// What to ask the service; `now` dates signatures.
    ///
    /// - Throws: ``QueryFailure/unsupportedType(_:)``, ``QueryFailure/misconfigured(_:)``.
    func request(
        for question: Question, now: WallTime
    ) throws(QueryFailure) -> HTTPDNSRequest

    /// What the service said, whatever octets it sent.
    ///
    /// - Throws: ``QueryFailure/httpStatus(_:)``, ``QueryFailure/rejected(code:)``,
    ///   ``QueryFailure/malformed(_:)``.
    func testimony(
        from response: HTTPDNSResponse, for question: Question, source: Testimony.Source
    ) throws(QueryFailure) -> Testimony
}

/// A `GET` request, less what the service's identity supplies.
package struct HTTPDNSRequest: Sendable, Hashable {
    /// Path and query.
    package let target: String
    /// The `Accept` field.
    package let accept: String
}

/// The parts of a response that the protocols look at.
package struct HTTPDNSResponse: Sendable, Hashable {
    package let status: Int
    package let contentType: String?
    package let body: [UInt8]

    package init(status: Int, contentType: String? = nil, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    /// Redirects are not followed: only a 2xx response holds an answer.
    package var isSuccess: Bool { (200...299).contains(status) }

    /// What to say of a body that is not what it should be.
    func malformed(_ what: String) -> QueryFailure {
        guard let contentType else { return .malformed(what) }
        let isHTML = contentType.lowercased().hasPrefix("text/html")
        let hint = isHTML ? ", perhaps the login page of this network" : ""
        return .malformed("\(what) (Content-Type \(ServerText.shown(contentType))\(hint))")
    }
}

/// Text from a server, made fit for a message.
enum ServerText {
    /// Printable ASCII in quotes, shortened; anything else as `?`.
    static func shown(_ text: String) -> String {
        let octets = text.utf8.prefix(maximumOctets).map { octet in
            (0x20...0x7E).contains(octet) && octet != 0x22 ? octet : 0x3F
        }
        let rest = text.utf8.count > maximumOctets ? "…" : ""
        return "\"" + String(decoding: octets, as: UTF8.self) + rest + "\""
    }

    /// Because: enough to recognise a value, short enough for one line.
    private static let maximumOctets = 60
}

/// How long an answer holds, as services write it.
enum AnswerLifetime {
    /// For answers without one.
    ///
    /// Source: the Aliyun EMAS SDKs for Android and Go take 60 for a missing or useless `ttl`.
    static let defaultSeconds: UInt32 = 60

    /// A number of seconds, 0 when out of range: not to be kept. Source: RFC 2181 §8.
    static func seconds(_ number: Int64) -> UInt32 {
        (0...Int64(Int32.max)).contains(number) ? UInt32(number) : 0
    }

    /// Decimal digits; nil for other text. Too many of them are out of range, not wrong.
    static func seconds(digits text: some StringProtocol) -> UInt32? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text).map { seconds($0) } ?? 0
    }

    /// The member `ttl` or `TTL`: a number, or digits in a string; the default when it is missing.
    static func seconds(json value: JSONValue?) throws(QueryFailure) -> UInt32 {
        switch value {
        case nil, .null: return defaultSeconds
        case .integer(let number): return seconds(number)
        // Too large for 64 bits, or a fraction: nothing that may be kept.
        case .number: return 0
        case .some(let other):
            guard let text = other.string, let seconds = seconds(digits: text) else {
                throw .malformed("the TTL is \(ServerText.shown(other.description)), not seconds")
            }
            return seconds
        }
    }
}
